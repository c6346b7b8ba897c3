"""Reading ahead gives the same items in the same order, errors in their place, and ends when nobody listens."""

from __future__ import annotations

import threading

import pytest

from dejalu.run.ahead import ahead


def test_items_in_order():
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(ahead(iter(()))) == []
    assert list(ahead(iter([None, None]), depth=3)) == [None, None]


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        raise OSError("gone")

    got = ahead(items())
    assert next(got) == 1
    with pytest.raises(OSError, match="gone"):
        next(got)


def test_the_next_item_is_made_meanwhile():
    made = threading.Event()

    def items():
        yield 1
        made.set()
        yield 2

    got = ahead(items())
    assert next(got) == 1
    assert made.wait(10)
    got.close()
    assert not any(t.name == "dejalu-ahead" for t in threading.enumerate())
