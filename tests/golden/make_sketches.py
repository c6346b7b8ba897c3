"""Write sketches.json from the plain-Python twins: bottom-k, scaled and weighted sketches, and weights, for ever.

    python tests/golden/make_sketches.py        # refuses to change a value that is already pinned

Run it only to add cases. A pinned value that changes breaks every stored sketch and every stored run.
"""

from __future__ import annotations

import json
from pathlib import Path

from make_text import RAW, TEXTS

from dejalu.kernels.reference import bottom_k, frequencies, shingles, weighted

HERE = Path(__file__).parent
DOCUMENTS = [(0, 0), (1, 1), (0, 1), (1, 2), (2, 9), (7, 1000), (40, 41), (999, 10**6), (3, 10**9), (10**11, 10**12)]


def weight_of(feature: int) -> int:
    """A weight for any feature: what idf could give, and 0 for one in sixteen."""
    return 0 if feature % 16 == 0 else 1024 + feature % 15_000


def sketch_case(name: str, text: str) -> dict[str, object]:
    raw = text.encode("latin-1" if name in RAW else "utf-8")
    out: dict[str, object] = {"raw": raw.hex()}
    for width, unit in ((1, "word"), (4, "word"), (3, "char")):
        made = shingles.shingles(shingles.units(raw, unit=unit), width)
        weights = {v: weight_of(v) for v in dict.fromkeys(made)}
        out[f"{unit} {width}"] = {
            "bottom 20": [f"{v:016x}" for v in bottom_k.bottom_k(made, 20)],
            "scaled 8": [f"{v:016x}" for v in bottom_k.scaled(made, 8)],
            "weighted 64": "".join(f"{v:08x}" for v in weighted.signature(weights, 64)),
        }
    return out


def make() -> dict[str, dict[str, object]]:
    made = {name: sketch_case(name, text) for name, text in TEXTS.items()}
    made["idf"] = {f"{d} of {n}": frequencies.idf(d, n) for d, n in DOCUMENTS}
    made["log2"] = {str(x): frequencies.fixed_log2(x) for x in (1, 2, 3, 1000, 2**32 - 1, 2**63 + 1, 2**64 - 1)}
    return made


def main() -> None:
    path = HERE / "sketches.json"
    made = make()
    pinned = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    changed = [n for n in pinned if pinned[n] != made.get(n)]
    if changed:
        raise SystemExit(f"{path.name}: these pinned cases would change: {', '.join(changed)}")
    path.write_text(json.dumps(made, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(made)} cases, {len(made) - len(pinned)} new")


if __name__ == "__main__":
    main()
