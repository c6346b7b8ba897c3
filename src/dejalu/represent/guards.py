"""Guards: what must be the same in two texts before one counts as a copy of the other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from .. import kernels
from ..data import U64, text_buffers
from ..errors import UsageError
from ..kernels.reference import guards as readable

GUARDS = ("numbers", "negation", "urls")


def guards(text: pa.LargeStringArray, names: Sequence[str]) -> U64:
    """Hash what each text says in these guards; texts with different hashes differ in one of them.

    Args:
        text: (n,) texts; a null counts as an empty text.
        names: out of numbers, negation, urls.

    Returns:
        (n,) uint64; 0 for a text that says nothing in any of them.

    Raises:
        UsageError: an unknown guard.
    """
    _check(names)
    data, offsets = text_buffers(text)
    return kernels.guards(data, offsets, numbers="numbers" in names, negation="negation" in names, urls="urls" in names)


def explain_guards(text: str, names: Sequence[str] = GUARDS) -> dict[str, list[str]]:
    """List what each guard sees in one text: numbers and addresses each once, sorted; negations as they come.

    By the plain-Python twin of the kernel: for looking, not for many texts.

    >>> explain_guards("Don't take 1,000 mg, see https://example.org/dose.")
    {'numbers': ['1000'], 'negation': ["n't"], 'urls': ['example.org/dose']}

    Raises:
        UsageError: an unknown guard.
    """
    _check(names)
    found = readable.scan(text.encode("utf-8", "surrogatepass"))
    seen = {"numbers": sorted(set(found.numbers)), "negation": found.negation, "urls": sorted(set(found.urls))}
    return {name: seen[name] for name in GUARDS if name in names}


def _check(names: Sequence[str]) -> None:
    unknown = sorted(set(names) - set(GUARDS))
    if unknown:
        raise UsageError(f"differ: {', '.join(unknown)} is unknown; the guards are {', '.join(GUARDS)}")
