"""Word segmenters for scripts without spaces: text in, the same text with blanks between words out.

A segmenter is any callable that splits a string into words. The kernels then read its output with runs of letters
kept whole, so that its words are the tokens; everything else (folding, what counts as a letter) stays as in the plain
path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..data import I64, U8
from ..errors import UsageError

Segmenter = Callable[[str], Iterable[str]]
CALLABLE = "callable:"


def named(segmenter: str | Segmenter | None) -> str | None:
    """The name of a segmenter in a plan: jieba, or `callable:` and where the callable comes from.

    A plan that names a callable says what was used; it reproduces the run only where that callable is given again.
    """
    if segmenter is None or isinstance(segmenter, str):
        return segmenter
    where = getattr(segmenter, "__module__", type(segmenter).__module__)
    return f"{CALLABLE}{where}.{getattr(segmenter, '__qualname__', type(segmenter).__qualname__)}"


def load(name: str | None, given: str | Segmenter | None = None) -> Segmenter | None:
    """Load a segmenter by its plan name; `given` is the callable, where the name speaks of one.

    Raises:
        UsageError: the package is missing (the message names the extra), or the callable is.
    """
    if name is None:
        return None
    if name.startswith(CALLABLE):
        if given is None or isinstance(given, str) or named(given) != name:
            raise UsageError(
                f"the plan names the segmenter {name.removeprefix(CALLABLE)}, a Python callable: run it from Python "
                "and give it again, dejalu.dedup(..., segmenter=that callable)"
            )
        return given
    jieba = _jieba()
    return lambda text: jieba.cut(text, HMM=False)


def keywords(texts: Iterable[str], most: int) -> list[list[tuple[str, float]]]:
    """The `most` weightiest keywords of each text with their weights, by jieba's TF-IDF extractor.

    Raises:
        UsageError: the package is missing.
    """
    extract = _jieba().analyse.extract_tags
    return [extract(text, topK=most, withWeight=True) for text in texts]


def _jieba() -> Any:
    try:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba reads its dictionary through deprecated pkg_resources
            import jieba
            import jieba.analyse
    except ImportError as e:
        raise UsageError("segmenter jieba is not installed: pip install 'dejalu[jieba]'") from e
    jieba.setLogLevel(60)
    jieba.initialize()
    return jieba


def segmented(data: U8, offsets: I64, segmenter: Segmenter) -> tuple[U8, I64]:
    """Split each text into words, joined by line ends; invalid UTF-8 becomes U+FFFD, as the kernels would read it.

    Python runs here for each document: a segmenter is Python.
    """
    raw = data.tobytes() if offsets[0] == 0 and offsets[-1] == len(data) else data[offsets[0] : offsets[-1]].tobytes()
    base = int(offsets[0])
    spans = zip((offsets[:-1] - base).tolist(), (offsets[1:] - base).tolist(), strict=True)
    try:
        pieces = [
            "\n".join(segmenter(raw[a:b].decode("utf-8", "replace"))).encode("utf-8", "replace") for a, b in spans
        ]
    except TypeError as e:
        raise UsageError(f"segmenter {named(segmenter)}: must give an iterable of str for each text ({e})") from e
    lengths = np.fromiter((len(p) for p in pieces), np.int64, len(pieces))
    return np.frombuffer(b"".join(pieces), np.uint8), np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
