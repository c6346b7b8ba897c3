"""The guards' kernel: what texts say in numbers, negations and addresses. Twin: `kernels.reference.guards`."""

from __future__ import annotations

from .. import _native
from .arrays import I64, U8, U64


def guards(data: U8, offsets: I64, *, numbers: bool, negation: bool, urls: bool) -> U64:
    """Hash what each text says in the chosen guards; two texts differ in one of them iff their hashes differ.

    (But for collisions: 64 bits.) Read are the folded texts, by the rules of docs/guards.md.

    Args:
        data, offsets: texts as the buffers of an Arrow large_string array.
        numbers: the set of numbers, as written, without thousands marks.
        negation: the number of negations.
        urls: the set of addresses, without scheme and trailing punctuation.

    Returns:
        (n,) uint64; 0 for a text that says nothing in any of them.

    Raises:
        ValueError: offsets that fall or leave data.
        MemoryError: no memory is left for folding a text.
    """
    return _native.guards(data, offsets, numbers=numbers, negation=negation, urls=urls)
