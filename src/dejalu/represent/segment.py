"""Word segmenters for scripts without spaces: text in, the same text with blanks between words out.

A segmenter is any callable that splits a string into words. The kernels then read its output with runs of letters
kept whole,
so that its words are the tokens; everything else (folding, what counts as a letter) stays as in the plain path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..data import I64, U8
from ..errors import UsageError

Segmenter = Callable[[str], Iterable[str]]


def load(name: str | None) -> Segmenter | None:
    """Load a segmenter by its plan name.

    Raises:
        UsageError: the package is missing; the message names the extra.
    """
    if name is None:
        return None
    try:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba reads its dictionary through deprecated pkg_resources
            import jieba
    except ImportError as e:
        raise UsageError("segmenter jieba is not installed: pip install 'dejalu[jieba]'") from e
    jieba.setLogLevel(60)
    jieba.initialize()
    return lambda text: jieba.cut(text, HMM=False)


def segmented(data: U8, offsets: I64, segmenter: Segmenter) -> tuple[U8, I64]:
    """Split each text into words, joined by line ends; invalid UTF-8 becomes U+FFFD, as the kernels would read it.

    Python runs here for each document: a segmenter is Python.
    """
    raw = data.tobytes() if offsets[0] == 0 and offsets[-1] == len(data) else data[offsets[0] : offsets[-1]].tobytes()
    base = int(offsets[0])
    pieces = [
        "\n".join(segmenter(raw[a - base : b - base].decode("utf-8", "replace"))).encode("utf-8", "replace")
        for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]
    lengths = np.fromiter((len(p) for p in pieces), np.int64, len(pieces))
    return np.frombuffer(b"".join(pieces), np.uint8), np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
