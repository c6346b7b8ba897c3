"""The file's own bytes of records that were read as UTF-8: for csv in another encoding."""

from __future__ import annotations

import numpy as np

from ..data import I64, U8, Input
from ..errors import DamagedInput
from .open import open_text


class Original:
    """Finds records in the file's own bytes, block after block, and checks that nothing differs.

    mark  the byte order mark, (bytes)
    """

    def __init__(self, input: Input, encoding: str, bom: int) -> None:
        self.mark = b""
        if bom:
            self.mark = next(open_text(input, lambda reason: None))[:bom]
        self._file = input.file
        self._encoding = encoding
        self._width = np.zeros(0x110000, np.uint8)  # bytes of each code point in the encoding, 0 where not yet known
        self._chunks = open_text(input, lambda reason: None, bom)
        self._have = b""

    def places(self, block: U8, start: I64, end: I64) -> tuple[U8, I64, I64]:
        """Translate a block of UTF-8 and places in it to the file's bytes: the bytes, and the places in them."""
        if self._encoding == "utf-8":
            return block, start, end
        text = block.tobytes().decode()
        own = text.encode(self._encoding)
        points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        self._learn(points)
        ends = np.concatenate(([0], np.cumsum(self._width[points], dtype=np.int64)))
        before = np.concatenate(([0], np.cumsum((block & 0xC0) != 0x80, dtype=np.int64)))
        if ends[-1] != len(own) or own != self._take(len(own)):
            raise DamagedInput(
                f"{self._file}: its records cannot be written back byte for byte in {self._encoding}; "
                "convert the file to UTF-8 first"
            )
        return np.frombuffer(own, np.uint8), ends[before[start]], ends[before[end]]

    def _learn(self, points: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> None:
        new = np.unique(points[self._width[points] == 0])
        for point in new.tolist():
            self._width[point] = len(chr(point).encode(self._encoding))

    def _take(self, n: int) -> bytes:
        pieces, have = [self._have], len(self._have)
        while have < n and (piece := next(self._chunks, b"")):
            pieces.append(piece)
            have += len(piece)
        data = b"".join(pieces)
        self._have = data[n:]
        return data[:n]
