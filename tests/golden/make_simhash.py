"""Write simhash.json from the plain-Python twin: fingerprints of texts and of given features, for ever.

    python tests/golden/make_simhash.py        # refuses to change a value that is already pinned

Run it only to add cases. A pinned value that changes breaks every stored fingerprint.
"""

from __future__ import annotations

import json
from pathlib import Path

from make_text import RAW, TEXTS

from dejalu.kernels.reference import shingles, simhash

HERE = Path(__file__).parent
FEATURES = [
    [(3, 1), (5, 1)],  # a tie in bits 1 and 2 gives 0
    [(0xFFFFFFFFFFFFFFFF, 1)],
    [(0x0123456789ABCDEF, 2), (0xFEDCBA9876543210, 1)],
    [(0x0123456789ABCDEF, 1), (0xFEDCBA9876543210, 1)],
    [(0x0123456789ABCDEF, 10**15), (0xAAAAAAAAAAAAAAAA, -3), (7, -(10**15))],
    [],
]


def weight_of(feature: int) -> int:
    """A weight for any feature: what idf could give, and 0 for one in sixteen."""
    return 0 if feature % 16 == 0 else 1024 + feature % 15_000


def hexadecimal(words: list[int]) -> str:
    return " ".join(f"{w:016x}" for w in words)


def text_case(name: str, text: str) -> dict[str, object]:
    raw = text.encode("latin-1" if name in RAW else "utf-8")
    out: dict[str, object] = {"raw": raw.hex()}
    for width, unit in ((1, "word"), (3, "word"), (3, "char")):
        made = shingles.shingles(shingles.units(raw, unit=unit), width)
        weights = {v: weight_of(v) for v in made}
        out[f"{unit} {width}"] = {
            "none": hexadecimal(simhash.fingerprint(simhash.votes(made, once=True), 128)),
            "tf": hexadecimal(simhash.fingerprint(simhash.votes(made, once=False), 128)),
            "weights": hexadecimal(simhash.fingerprint(simhash.votes(made, once=False, weight=weights), 128)),
        }
    return out


def make() -> dict[str, object]:
    made: dict[str, object] = {name: text_case(name, text) for name, text in TEXTS.items()}
    made["features"] = [
        {"votes": [[f"{x:016x}", w] for x, w in votes], "fingerprint": hexadecimal(simhash.fingerprint(votes, 128))}
        for votes in FEATURES
    ]
    return made


def main() -> None:
    path = HERE / "simhash.json"
    made = make()
    pinned = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    changed = [n for n in pinned if pinned[n] != made.get(n)]
    if changed:
        raise SystemExit(f"{path.name}: these pinned cases would change: {', '.join(changed)}")
    path.write_text(json.dumps(made, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(made)} cases, {len(made) - len(pinned)} new")


if __name__ == "__main__":
    main()
