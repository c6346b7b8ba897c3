"""Progress: lines where there is no terminal, bars where there is one, from any thread."""

from __future__ import annotations

import io
import os
import re
import sys
import threading

import pytest

from dejalu.cli.progress import Bars, Lines, amount, duration, progress, speed


def test_one_line_when_a_stage_ends() -> None:
    out = io.StringIO()
    lines = Lines(out)
    lines.start("sketch", 100, "documents")
    lines.advance("sketch", 60)
    lines.advance("sketch", 40)
    assert out.getvalue() == ""
    lines.finish("sketch")
    assert re.fullmatch(r"sketch: 100 documents in [\d.]+ s \([\d,.]+/s\)\n", out.getvalue())


def test_lines_in_between_tell_rate_and_time_left() -> None:
    out = io.StringIO()
    lines = Lines(out, every=0.0)
    lines.start("read", 4_000_000, "bytes")
    lines.advance("read", 1_000_000)
    assert re.fullmatch(r"read: 1\.0 MB of 4\.0 MB, .*B/s, .+ left\n", out.getvalue())


def test_total_unknown() -> None:
    out = io.StringIO()
    lines = Lines(out, every=0.0)
    lines.start("sketch", None, "documents")
    lines.advance("sketch", 5)
    assert out.getvalue().startswith("sketch: 5 documents, ")
    assert "left" not in out.getvalue()


def test_unknown_stages_and_threads_do_no_harm() -> None:
    out = io.StringIO()
    lines = Lines(out)
    lines.advance("never begun", 1)
    lines.finish("never begun")
    lines.start("verify", 8_000, "documents")
    threads = [threading.Thread(target=lambda: [lines.advance("verify", 1) for _ in range(1_000)]) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    lines.finish("verify")
    assert out.getvalue().startswith("verify: 8,000 documents in ")
    assert out.getvalue().count("\n") == 1


def test_quiet_writes_nothing() -> None:
    out = io.StringIO()
    with progress(quiet=True, stream=out) as p:
        p.start("read", 1, "files")
        p.advance("read", 1)
        p.finish("read")
    assert out.getvalue() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_bars_on_a_terminal() -> None:
    import pty  # Unix only

    parent, child = pty.openpty()
    with os.fdopen(child, "w") as terminal:
        assert terminal.isatty()
        with progress(stream=terminal) as bars:
            assert isinstance(bars, Bars)
            bars.start("sketch", 1_000, "documents")
            bars.start("texts", None, "documents")
            bars.advance("sketch", 500)
            bars.advance("gone", 1)
            bars.finish("texts")
            bars.finish("sketch")
        drawn = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert "sketch" in drawn
    assert "documents" in drawn


@pytest.mark.parametrize(
    ("n", "unit", "text"),
    [
        (0, "bytes", "0 B"),
        (999, "bytes", "999 B"),
        (1_000, "bytes", "1.0 kB"),
        (2_500_000_000_000, "bytes", "2.5 TB"),
        (12_345, "bands", "12,345 bands"),
    ],
)
def test_amount(n: int, unit: str, text: str) -> None:
    assert amount(n, unit) == text


def test_speed() -> None:
    assert speed(0.123, "files") == "0.1/s"
    assert speed(2_000_000.5, "bytes") == "2.0 MB/s"


def test_duration() -> None:
    assert duration(3.21) == "3.2 s"
    assert duration(61) == "1 min 01 s"
    assert duration(3 * 3600 + 62) == "3 h 01 min"
