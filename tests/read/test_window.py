"""Filling arrays with a file's bytes: the same as `open_text` gives, whole or broken off, in whatever steps."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import zstandard

from dejalu.data import Input
from dejalu.read.open import open_text
from dejalu.read.window import BLOCK, Fill, Filler, Window, fill_from, whole_frames

RAW = b"".join(b'{"id":%d,"text":"%s"}\n' % (i, b"some words " * (i % 40)) for i in range(3000))


def zst(data: bytes, **options: object) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(data)  # type: ignore[arg-type]


def streamed(data: bytes) -> bytes:
    """A frame that does not say how much it holds."""
    out = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return out.compress(data) + out.flush()


SKIPPABLE = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"notes"
FRAMES = {
    "one": zst(RAW),
    "streamed": streamed(RAW),
    "several": zst(RAW[:7]) + SKIPPABLE + streamed(RAW[7:1000]) + zst(b"") + zst(RAW[1000:], write_checksum=True),
    "raw and runs": zst(bytes(range(256)) * 3, level=1) + zst(b"r" * 200_000),
}


def filled(input: Input, step: int, skip: int = 0) -> tuple[bytes, list[str]]:
    reasons: list[str] = []
    fill: Fill = Filler(input, reasons.append, skip)
    room, parts = np.zeros(step, np.uint8), []
    while n := fill(room):
        parts.append(room[:n].tobytes())
    assert fill(room) == 0
    return b"".join(parts), reasons


def opened(input: Input, skip: int = 0) -> tuple[bytes, list[str]]:
    reasons: list[str] = []
    return b"".join(open_text(input, reasons.append, skip)), reasons


@pytest.mark.parametrize("name", FRAMES)
def test_whole_frames_are_known_by_their_blocks(tmp_path: Path, name: str) -> None:
    data, path = FRAMES[name], tmp_path / "a.zst"
    cuts = sorted({*range(40), *range(len(data) - 40, len(data)), len(data) // 2})
    for cut in [c for c in cuts if 0 < c < len(data)]:
        path.write_bytes(data[:cut])
        with path.open("rb", buffering=0) as file:
            whole = whole_frames(file)
        if whole:  # between two frames
            assert opened(Input(0, "a", str(path), "jsonl", "zst"))[1] == [], cut
    for more, whole in ((b"", True), (b"\0", False), (b"text", False), (SKIPPABLE, True), (SKIPPABLE[:-1], False)):
        path.write_bytes(data + more)
        with path.open("rb", buffering=0) as file:
            assert whole_frames(file) == whole, more


@pytest.mark.parametrize("step", [1000, 1 << 20])
@pytest.mark.parametrize("skip", [0, 3])
def test_whole_files(tmp_path: Path, step: int, skip: int) -> None:
    made = {
        "": RAW,
        "gz": gzip.compress(RAW[:99]) + gzip.compress(RAW[99:]),
        **{f"zst {k}": v for k, v in FRAMES.items()},
    }
    for kind, data in made.items():
        path = tmp_path / "a"
        path.write_bytes(data)
        input = Input(0, "a", str(path), "jsonl", kind.split(" ")[0])
        got = filled(input, step, skip)
        assert got == opened(input, skip), kind
        assert got[1] == [] and (got[0] == RAW[skip:] or "runs" in kind), kind


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_broken_files_give_what_came_before(tmp_path: Path, kind: str) -> None:
    data = gzip.compress(RAW) if kind == "gz" else streamed(RAW)
    path = tmp_path / "a"
    broken = [data[:cut] for cut in (0, 1, 5, 300, len(data) // 2, len(data) - 1)]
    for at in (2, 8, 500, len(data) // 2, len(data) - 2):
        broken.append(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
    broken.append(data + b"\1more")
    for case in broken:
        path.write_bytes(case)
        input = Input(0, "a", str(path), "jsonl", kind)
        assert filled(input, 777) == opened(input)


def test_a_missing_file_is_told_by_open_text(tmp_path: Path) -> None:
    from dejalu.read.open import Unreadable

    for kind in ("", "gz", "zst"):
        fill = Filler(Input(0, "a", str(tmp_path / "none"), "jsonl", kind), lambda reason: None)
        with pytest.raises(Unreadable, match="cannot be read"):
            fill(np.zeros(9, np.uint8))


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 19])
def test_a_window_goes_over_every_byte_once(lasting: bool, size: int) -> None:
    data = RAW[:20_000] if size < 1000 else RAW
    rng = np.random.default_rng(size)
    chunks = [data[a:b] for a, b in zip([0, 10, 700], [10, 700, len(data)], strict=True)]
    window = Window(lambda on_break: fill_from(iter(chunks)), size, lasting=lasting)
    seen, views = b"", []
    while window.read():
        assert window.offset == len(seen)
        used = int(rng.integers(0, len(window.view) + 1)) if not window.final else len(window.view)
        views.append((window.view[:used], window.view[:used].tobytes()))
        seen += views[-1][1]
        window.drop(used)
    assert (seen, window.final, window.broken) == (data, True, "")
    if lasting:
        assert all(view.tobytes() == copy for view, copy in views)


def test_a_window_grows_until_a_record_fits_and_is_bounded_otherwise() -> None:
    data = b"x" * (3 * BLOCK)
    window = Window(lambda on_break: fill_from(iter([data])), 1 << 40)
    sizes = []
    while window.read():
        sizes.append(len(window.view))
    assert sizes == [BLOCK, 2 * BLOCK, 3 * BLOCK]


def test_a_window_tells_why_its_stream_broke_off(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    path.write_bytes(streamed(RAW)[:-1])
    window = Window(lambda on_break: Filler(Input(0, "a", str(path), "jsonl", "zst"), on_break), 1 << 20)
    while window.read():
        window.drop(len(window.view))
    assert window.broken == "the zst stream ends too early" and not window.final
