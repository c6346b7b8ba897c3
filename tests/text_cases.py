"""Texts that are hard on the text kernels, and the way between lists of bytes and Arrow buffers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

PIECE = 8192  # the kernels work through a text in pieces of this size (native/tokenize.hpp)

# One of each kind that folding and tokens tell apart: composition, Hangul, ignorables, unspaced scripts, pictographs.
POINTS = (
    "aAzZ09_ \n.'=<-$\x00\x7f"
    "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0f\u034f\u115f\u3164\U000e0100"
    "\u0300\u0301\u0307\u0308\u0323\u0327\u0331\u0338\u0345\u0483\u05b4\u0651\u093c\u094d\u0e48\u0f71\u0f72\u3099\u309a\u20e3\U0001d165"
    "\u00df\u0130\u0131\u0149\u01c4\u01f0\u0390\u03a3\u1e9b\u1e9e\u1fb3\u1fb7\ufb01\ufdfa\u2126\u212b\u00aa\u00b2\u2122\u2460\uff21\uff10"
    "\u00e9\u00c9\u1ea4\u0439\u0419\u0416\u05d0\u0627\u0915\u0958\u093f\u0ba4\u0e01\u0e31\u0e40\u0eb0\u1000\u1780\u0f40\u0f77"
    "\u4e00\u9fff\u3400\U00020000\u304b\u304c\u30ab\uff76\uff9e\u30fc\u3005\u3007\uf900\uac00\uac01\ud7a3\u1100\u1161\u11a8\u3131"
    "\u2014\u201c\u3002\uff0c\u00a9\u203c\u2764\U0001f600\U0001f1e6\U0001f3fb\u3297\U0001f200\ufffd\ud800\udfff\U0010ffff"
)

BROKEN = [
    b"\xff",
    b"\xc0\x80",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\xf0\x80\x80\x80",
    b"\xf4\x90\x80\x80",
    b"\xe4\xb8",
    b"\xf0\x9f",
    b"\xc3",
    b"\x80",
]

_point = st.sampled_from(POINTS) | st.characters()
_piece = (
    st.lists(_point, max_size=12).map(lambda c: "".join(c).encode("utf-8", "surrogatepass"))
    | st.text("abcXYZ 09", max_size=90).map(str.encode)
    | st.sampled_from(BROKEN)
    | st.binary(max_size=5)
)
# A filler may push what follows to the border of a 64-byte block or of a piece.
_filler = st.sampled_from([0, 0, 0, 60, 63, 64, PIECE - 70, PIECE - 3]) | st.integers(0, 130)
raw_texts = st.tuples(_filler, st.lists(_piece, max_size=8)).map(
    lambda t: (b"ab " * (t[0] // 3) + b"c" * (t[0] % 3)) + b"".join(t[1])
)


def arrow(texts: list[bytes], *, before: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Lay texts out as an Arrow large_string array whose first offset is `before`."""
    data = np.frombuffer(b"\xff" * before + b"".join(texts), np.uint8)
    return data, np.cumsum([before, *map(len, texts)], dtype=np.int64)


def strings(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    raw = data.tobytes()
    return [raw[a:b].decode() for a, b in pairwise(offsets.tolist())]


def grouped(items: list, offsets: np.ndarray) -> list[list]:
    return [items[a:b] for a, b in pairwise(offsets.tolist())]
