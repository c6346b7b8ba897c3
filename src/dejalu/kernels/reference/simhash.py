"""SimHash fingerprints, in plain integers. Twin of `native/simhash.hpp` and `kernels.simhash`.

Source: Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .hashing import avalanche

SECOND = 0xA0761D6478BD642F      # tells the hash of the second word from that of the first


def fingerprint(votes: Iterable[tuple[int, int]], bits: int = 64) -> list[int]:
    """The words of a fingerprint: bit j of a word is 1 if the weights of features with a 1 at j outweigh the others.

    Args:
        votes: features and their weights; a tie gives 0.
    """
    given = list(votes)
    words = [word([(x, w) for x, w in given])]
    if bits == 128:
        words.append(word([(avalanche(x ^ SECOND), w) for x, w in given]))
    return words


def word(votes: Iterable[tuple[int, int]]) -> int:
    """One word of 64 bits."""
    given = list(votes)
    return sum(1 << j for j in range(64) if sum(w if x >> j & 1 else -w for x, w in given) > 0)


def votes(
    shingles: Iterable[int], *, once: bool, weight: Mapping[int, int] | None = None, unseen: int = 1
) -> list[tuple[int, int]]:
    """What the features of a text weigh: each once or as often as it occurs, times its weight."""
    features = dict.fromkeys(shingles) if once else shingles
    return [(x, 1 if weight is None else weight.get(x, unseen)) for x in features]
