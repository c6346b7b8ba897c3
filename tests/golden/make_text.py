"""Write text.json from the plain-Python twins: the values that hashes and sketches must keep for ever.

    python tests/golden/make_text.py            # refuses to change a value that is already pinned

Run it only to add cases. A pinned value that changes breaks every stored index.
"""

from __future__ import annotations

import json
from pathlib import Path

from dejalu.kernels.reference import hashing, shingles, sketch, tokens

HERE = Path(__file__).parent
PLAIN = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all; it sleeps until noon."
TEXTS = {
    "empty": "",
    "no token": " … !!! ",
    "one word": "Hello",
    "short": "Green  tea!",
    "plain": PLAIN,
    "long": " ".join(f"{PLAIN} Paragraph {i}, line {i * i}." for i in range(60)),
    "word lengths": " ".join("abcdefghijklmnopqrstuvwxyz0123456789"[:n] for n in range(1, 37)),
    "chinese": "本市图书馆将于下周一起延长开放时间，平日开放至晚上九点。",
    "japanese": "カタカナとひらがなと漢字のﾃｷｽﾄ、コーヒー。",
    "thai": "ภาษาไทยเขียนติดกันไม่มีช่องว่าง",
    "hindi": "दिन की बात और दीन का बात",
    "arabic": "تقع المدينة القديمة على ضفة النهر",
    "folding": "Straße ΣΊΣΥΦΟΣ İstanbul ﬁne ＦＵＬＬ x² co\u00adop e\u0323\u0301 ᾳ Ǆ",
    "pictographs": "Yes 👍🏽 ❤️ 🇫🇷 © 2026",
    "hangul": "한국어 텍스트 \u1112\u1161\u11ab",
    "nul": "before\0after",
    "invalid": b"caf\xe9 and \xed\xa0\x80 more words here".decode("latin-1"),  # see RAW
}
RAW = {"invalid"}  # stored as Latin-1 so that JSON can hold the bytes
SETTINGS = [(5, "word", 128), (3, "word", 64), (5, "char", 128), (1, "word", 16), (2, "word", 300)]


def case(name: str, text: str) -> dict[str, object]:
    raw = text.encode("latin-1" if name in RAW else "utf-8")
    words = tokens.tokens(raw)
    out: dict[str, object] = {
        "raw": raw.hex(),
        "tokens": words,
        "hashes": [f"{hashing.token_hash(w.encode()):016x}" for w in words],
    }
    for width, unit, slots in SETTINGS:
        made = shingles.shingles(shingles.units(raw, unit=unit), width)
        out[f"{unit} {width} {slots}"] = {
            "shingles": [f"{h:016x}" for h in sorted(set(made))[:40]],
            "count": len(set(made)),
            "signature": "".join(f"{v:08x}" for v in sketch.signature(made, slots)),
        }
    return out


def main() -> None:
    import xxhash

    path = HERE / "text.json"
    made = {}
    for name, text in TEXTS.items():
        made[name] = c = case(name, text)
        raw = bytes.fromhex(str(c["raw"]))
        sequence = b"".join(int(h, 16).to_bytes(8, "little") for h in c["hashes"])  # type: ignore[attr-defined]
        c["bytes_hash"] = xxhash.xxh3_128_hexdigest(raw)
        c["token_hash"] = xxhash.xxh3_128_hexdigest(sequence) if sequence else "0" * 32
    pinned = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    changed = [n for n in pinned if pinned[n] != made.get(n)]
    if changed:
        raise SystemExit(f"{path.name}: these pinned cases would change: {', '.join(changed)}")
    path.write_text(json.dumps(made, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(made)} cases, {len(made) - len(pinned)} new")


if __name__ == "__main__":
    main()
