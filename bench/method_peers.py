"""Pairs that datasketch, rensa and the simhash package list: run by bench/methods.py in an environment that has them.

    python bench/method_peers.py ASKED OUT

ASKED is JSON: {"tool": …, "texts": […], "runs": [{"tokens": …, "threshold" or "distance": …}, …], "most": pairs}. OUT
is an npz file with arrays a0, b0, a1, b1, … of positions, two arrays a run, `cpu` in seconds a run (sketches that runs
share are counted in each, imports in none) and `flooded`, runs that gave up at more than `most` pairs.

This file imports nothing but the standard library, NumPy and the tool.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

Run = dict[str, Any]
Listed = Iterator[tuple[int, Iterable[int]]]  # a text and the earlier texts that are listed with it


def words(text: str) -> list[str]:
    """Split at white space, as the READMEs of datasketch and rensa do."""
    return text.split()


def shingles(text: str) -> list[str]:
    """Split as bench/adapter.py does: lower case, 5 words joined by a space; a shorter text is one shingle."""
    own = text.lower().split()
    return [" ".join(own[i : i + 5]) for i in range(max(len(own) - 4, 1))] if own else []


def characters(text: str) -> list[str]:
    """Split into runs of 5 characters, lower case, white space made one blank."""
    own = " ".join(text.lower().split())
    return [own[i : i + 5] for i in range(max(len(own) - 4, 1))] if own else []


TOKENS: dict[str, Callable[[str], list[str]]] = {"words": words, "5 words": shingles, "5 characters": characters}


def sketch_datasketch(texts: list[str], tokens: str) -> list[Any]:
    """Sketch with 128 permutations."""
    from datasketch import MinHash

    return list(MinHash.generator(([t.encode() for t in set(TOKENS[tokens](text))] for text in texts), num_perm=128))


def list_datasketch(sketches: list[Any], run: Run) -> Listed:
    """Query the index with each text, then insert it: what its README calls approximate neighbours, not verified."""
    from datasketch import MinHashLSH

    lsh = MinHashLSH(threshold=run["threshold"], num_perm=128)
    for i, own in enumerate(sketches):
        if own.is_empty():
            continue
        yield i, lsh.query(own)
        lsh.insert(i, own)


def sketch_rensa(texts: list[str], tokens: str) -> list[Any]:
    """Sketch with 128 slots; None for a text without tokens."""
    from rensa import RMinHash

    made = [TOKENS[tokens](text) for text in texts]
    return [s if t else None for s, t in zip(RMinHash.from_token_sets(made, 128, 42), made, strict=True)]


def list_rensa(sketches: list[Any], run: Run) -> Listed:
    """Do as its deduplicator does: candidates of the index, checked against the threshold by their sketches.

    The number of bands is not taken from the threshold there; this many find nearly all pairs at it.
    """
    from rensa import RMinHashLSH

    least = run["threshold"]
    bands = 16 if least >= 0.7 else 32 if least >= 0.5 else 64
    lsh = RMinHashLSH(threshold=least, num_perm=128, num_bands=bands)
    for i, own in enumerate(sketches):
        if own is None:
            continue
        yield i, [j for j in lsh.query(own) if own.jaccard(sketches[j]) >= least]
        lsh.insert(i, own)


def sketch_simhash(texts: list[str], tokens: str) -> list[Any]:
    """Fingerprint as the package does by itself: 4 characters, 64 bits; None for a text without letters.

    With NumPy 2 its weights above 255 overflow and raise; as floating-point numbers they do not, and mean the same.
    """
    import re
    from collections import Counter

    from simhash import Simhash

    letters = re.compile(r"[\w\u4e00-\u9fcc]")
    tokenize = Simhash(0)._tokenize

    def one(text: str) -> Any:
        try:
            return Simhash(text)
        except OverflowError:
            return Simhash({feature: float(count) for feature, count in Counter(tokenize(text)).items()})

    return [one(text) if letters.search(text) else None for text in texts]


def list_simhash(sketches: list[Any], run: Run) -> Listed:
    """Use its index where it can serve the distance, else compare all fingerprints (NumPy)."""
    from simhash import SimhashIndex

    k = run["distance"]
    there = [i for i, own in enumerate(sketches) if own is not None]
    if k <= 3:  # its tables get fewer bits with each step
        index = SimhashIndex([(str(i), sketches[i]) for i in there], k=k)
        for i in there:
            yield i, [j for j in map(int, index.get_near_dups(sketches[i])) if j < i]
        return
    fingerprints = np.array([sketches[i].value for i in there], np.uint64)
    place = np.array(there)
    for n, own in enumerate(fingerprints):
        yield there[n], place[np.flatnonzero(np.bitwise_count(fingerprints[:n] ^ own) <= k)].tolist()


TOOLS: dict[str, tuple[Callable[[list[str], str], list[Any]], Callable[[list[Any], Run], Listed]]] = {
    "datasketch": (sketch_datasketch, list_datasketch),
    "rensa": (sketch_rensa, list_rensa),
    "simhash": (sketch_simhash, list_simhash),
}


def main(asked: str, out: str) -> None:
    """Do all runs of one tool."""
    import logging

    logging.disable(logging.WARNING)  # the simhash package warns of each large bucket
    with open(asked, encoding="utf-8") as source:
        want = json.load(source)
    sketch, listed = TOOLS[want["tool"]]
    list(listed(sketch(["a few words to begin with"], "words"), {"threshold": 0.9, "distance": 0}))  # imports
    made: dict[str, tuple[list[Any], float]] = {}
    arrays: dict[str, Any] = {}
    cpu, flooded = [], []
    for n, run in enumerate(want["runs"]):
        tokens = run.get("tokens", "")
        if tokens not in made:
            began = time.process_time()
            made[tokens] = (sketch(want["texts"], tokens), 0.0)
            made[tokens] = (made[tokens][0], time.process_time() - began)
        sketches, cost = made[tokens]
        a: list[int] = []
        b: list[int] = []
        began = time.process_time()
        for i, others in listed(sketches, run):
            before = len(b)
            b.extend(others)
            a.extend([i] * (len(b) - before))
            if len(b) > want["most"]:
                break
        cpu.append(cost + time.process_time() - began)
        flooded.append(len(b) > want["most"])
        arrays |= {f"a{n}": np.array(a, np.int64), f"b{n}": np.array(b, np.int64)}
    np.savez(out, cpu=np.array(cpu), flooded=np.array(flooded), **arrays)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
