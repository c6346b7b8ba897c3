"""Speed of the text kernels: raw UTF-8 to a 128-slot signature, one thread; peers beside it in the same run.

    python bench/kernels.py [CORPUS_FOLDER] [--rounds 5] [--megabytes 16] [--peer-python PYTHON] [--json FILE]

CORPUS_FOLDER holds parquet files with columns `text` and `lang`; without it the texts come from the sample that the
package ships, shuffled sentence by sentence. Peers (rensa 0.5.0, datasketch 2.0.0 with xxh32) are optional: they run in
the interpreter that --peer-python names, and their absence is said. They get the same 5-word shingles of `str.split`;
"rensa words" is its README's recipe as it stands, words without shingles.

The machine may be shared, so all candidates take turns, round after round, and each gets its fastest and its median
round of CPU time. Beside each stands the error of its estimate: bias and standard deviation at J = .5 (MinHash of 128
slots: .0442).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve()
TARGETS = {
    ("avx512", "English 2-6 KB"): 700,
    ("avx2", "English 2-6 KB"): 500,
    ("avx512", "Chinese"): 150,
    ("avx2", "Chinese"): 150,
}
RATIOS = {"rensa": 30, "datasketch": 45}


def corpus_texts(folder: Path) -> Iterator[tuple[str, str]]:
    import pyarrow.parquet as pq

    for path in sorted(folder.rglob("*.parquet")):
        names = pq.read_schema(path).names
        if "text" in names and "lang" in names:
            table = pq.read_table(path, columns=["lang", "text"])
            yield from zip(table["lang"].to_pylist(), table["text"].to_pylist(), strict=True)


def shipped_texts() -> Iterator[tuple[str, str]]:
    """Texts of a few KB from the shipped sample; its few words make branch prediction easier than in a corpus."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    import dejalu

    demo = Path(dejalu.__file__).parent / "demo"
    quoted = pc.ParseOptions(newlines_in_values=True)
    poems = [
        t
        for path in sorted(demo.rglob("*.csv"))
        for t in pc.read_csv(path, parse_options=quoted)["text"].to_pylist()
        if t
    ]
    for i in range(0, len(poems), 20):
        yield "zh", "\n".join(poems[i : i + 20])[:1900]
    sentences = [
        s
        for path in sorted(demo.rglob("*.parquet"))
        for t in pq.read_table(path, columns=["text"])["text"].to_pylist()
        for s in (t or "").split(". ")
    ]
    r = random.Random(1)
    for _ in range(6000):
        yield "en", ". ".join(r.choices(sentences, k=40))[: r.randrange(2000, 6000)]


def build(folder: Path | None, size: int) -> dict[str, list[bytes]]:
    """Up to `size` bytes of texts for each kind of document."""
    kinds: dict[str, list[bytes]] = {"English 2-6 KB": [], "Chinese": []}
    room = dict.fromkeys(kinds, size)
    for lang, text in corpus_texts(folder) if folder else shipped_texts():
        kind = {"en": "English 2-6 KB", "zh": "Chinese"}.get(lang or "")
        raw = (text or "").encode()
        if kind and room[kind] > 0 and (1000 if kind == "Chinese" else 2000) <= len(raw) <= 6000:
            kinds[kind].append(raw)
            room[kind] -= len(raw)
    english = b"\n".join(kinds["English 2-6 KB"])
    if not english:
        sys.exit(f"{folder}: no parquet file with columns `text` and `lang` that holds English texts of 2-6 KB")
    kinds["English 64 KB"] = [english[i : i + 65536] for i in range(0, len(english) - 65536, 65536)]
    kinds["English 200 B"] = [english[i : i + 200] for i in range(0, min(len(english), size // 2), 200)]
    return {k: v for k, v in kinds.items() if v}


def sketcher(name: str) -> tuple[Callable[[list[bytes]], None], Callable[[list[bytes], list[bytes]], np.ndarray]]:
    """Return (texts to signatures, pairs of texts of distinct words to estimates) of one candidate."""
    if name in ("rensa", "rensa words"):
        from rensa import RMinHash

        width = 5 if name == "rensa" else 1

        def rensa(texts: list[bytes], w: int = width) -> list[RMinHash]:
            return RMinHash.from_token_sets(
                [windows(t.decode("utf-8", "replace").split(), w) for t in texts], num_perm=128, seed=42
            )

        return rensa, lambda a, b: np.array([x.jaccard(y) for x, y in zip(rensa(a, 1), rensa(b, 1), strict=True)])
    if name == "datasketch":
        import xxhash
        from datasketch import MinHash

        def datasketch(texts: list[bytes], w: int = 5) -> list[MinHash]:
            tokens = [[s.encode() for s in windows(t.decode("utf-8", "replace").split(), w)] for t in texts]
            return MinHash.bulk(tokens, num_perm=128, seed=42, hashfunc=xxhash.xxh32_intdigest)

        return datasketch, lambda a, b: np.array(
            [x.jaccard(y) for x, y in zip(datasketch(a, 1), datasketch(b, 1), strict=True)]
        )
    from dejalu import kernels

    def run(texts: list[bytes], w: int = 5) -> np.ndarray:
        data = np.frombuffer(b"".join(texts), np.uint8)
        return kernels.sketch(data, np.cumsum([0, *map(len, texts)], dtype=np.int64), shingle=w, slots=128)[0]

    return run, lambda a, b: kernels.estimate(run(a, 1), run(b, 1), bits=32, slots=128)


def windows(words: list[str], w: int) -> list[str]:
    return words if w == 1 else [" ".join(words[i : i + w]) for i in range(max(1, len(words) - w + 1))]


def work(name: str, path: str) -> None:
    """One turn of one candidate, in its own process: MB/s of CPU time per kind, and the error of its estimate."""
    store = np.load(path, allow_pickle=False)
    run, estimate = sketcher(name)
    r = random.Random(7)
    left, right = [], []
    for _ in range(400):
        words = [f"{r.getrandbits(60):x}" for _ in range(400)]
        left.append(" ".join(words[:300]).encode())
        right.append(" ".join(words[:200] + words[300:]).encode())
    found = estimate(left, right) - 0.5
    out: dict[str, object] = {"error": [float(found.mean()), float(found.std())]}
    slow = peer(name)
    for kind in [k.removesuffix("|data") for k in store.files if k.endswith("|data")]:
        data, offsets = store[kind + "|data"], store[kind + "|offsets"]
        if slow:
            offsets = offsets[: max(2, int(np.searchsorted(offsets, 1_500_000)))]
            raw = data.tobytes()
            texts = [raw[a:b] for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
            call = lambda t=texts: run(t)  # noqa: E731
        else:
            from dejalu import kernels

            call = lambda d=data, o=offsets: kernels.sketch(d, o, shingle=5, slots=128)  # noqa: E731
        best = float("inf")
        for _ in range(1 if slow else 4):
            start = time.process_time()
            call()
            best = min(best, time.process_time() - start)
        out[kind] = int(offsets[-1] - offsets[0]) / best / 1e6
    print(json.dumps(out))


def peer(name: str) -> bool:
    return name.partition(" ")[0] in RATIOS


def turn(name: str, path: str, python: str) -> dict[str, object] | str:
    """Run one turn; a string says why there is none."""
    env = os.environ | ({} if peer(name) else {"DEJALU_ISA": name}) | {"RAYON_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, str(HERE), "--work", name, path], env=env, capture_output=True, text=True, check=False
    )
    lines = done.stderr.strip().splitlines()
    return json.loads(done.stdout) if done.returncode == 0 else (lines[-1] if lines else f"exit {done.returncode}")


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        return work(*sys.argv[2:4])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=16)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    from dejalu import kernels

    names = [*reversed(kernels.available_isas()), "rensa", "rensa words", "datasketch"]
    seen: dict[str, list[dict[str, object]]] = {n: [] for n in names}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "texts.npz")
        kinds = build(args.corpus, args.megabytes * 1_000_000)
        arrays: dict[str, np.ndarray] = {}
        for kind, texts in kinds.items():
            arrays[kind + "|data"] = np.frombuffer(b"".join(texts), np.uint8)
            arrays[kind + "|offsets"] = np.cumsum([0, *map(len, texts)], dtype=np.int64)
            print(f"{kind}: {len(texts):,} texts, {len(arrays[kind + '|data']) / 1e6:.1f} MB", file=sys.stderr)
        np.savez(path, **arrays)
        for i in range(args.rounds):
            for name in [n for n in names if seen[n] or i == 0]:
                result = turn(name, path, args.peer_python if peer(name) else sys.executable)
                if isinstance(result, str):
                    print(
                        f"{name}: left out: {result} (install the peers somewhere and name it: --peer-python)",
                        file=sys.stderr,
                    )
                else:
                    seen[name].append(result)
    report(kinds, {n: s for n, s in seen.items() if s}, args.json)


def report(kinds: dict[str, list[bytes]], seen: dict[str, list[dict[str, object]]], path: Path | None) -> None:
    rows = {n: {k: sorted((s[k] for s in turns), reverse=True) for k in kinds} for n, turns in seen.items()}
    turns = max(map(len, seen.values()))
    print(f"\nraw UTF-8 to 128-slot signature, 5-word shingles, MB/s of one thread: fastest (median) of {turns} turns")
    print(f"{'':14}" + "".join(f"{k:>22}" for k in kinds) + "    estimate at J = .5")
    for n, kinds_of in rows.items():
        cells = "".join(f"{v[0]:>13,.1f} ({statistics.median(v):,.1f})".rjust(22) for v in kinds_of.values())
        bias, spread = seen[n][0]["error"]
        print(f"{n:14}{cells}    bias {bias:+.4f}, sd {spread:.4f}")
    best = next(iter(rows))
    checks = [
        (f"{isa}, {kind}: at least {floor} MB/s", rows[isa][kind][0], floor)
        for (isa, kind), floor in TARGETS.items()
        if isa in rows and kind in kinds
    ]
    kind = "English 2-6 KB"
    checks += [
        (f"{best} against {peer}, {kind}: at least {floor} times", rows[best][kind][0] / rows[peer][kind][0], floor)
        for peer, floor in RATIOS.items()
        if peer in rows
    ]
    print()
    for text, value, floor in checks:
        print(f"{'reached' if value >= floor else 'MISSED '}  {text}: {value:,.0f}")
    if path:
        path.write_text(json.dumps({n: {"turns": t} for n, t in seen.items()}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
