"""Write guards.json from the plain-Python twin: the values that the guards' hashes must keep for ever.

    python tests/golden/make_guards.py          # refuses to change a value that is already pinned

Run it only to add cases. A pinned value that changes breaks every stored index that was made with guards.
"""

from __future__ import annotations

import json
from pathlib import Path

from dejalu.kernels.reference import guards

HERE = Path(__file__).parent
TEXTS = [
    "",
    "plain",
    "5",
    "5 of 12, 12 of 5",
    "-1,234.5",
    "1.234.567,89 007 ½ ٣٫١٤ ๕ 〇",
    "not",
    "I don't, you can’t, nobody did: rock 'n' roll",
    "nicht, pas, nunca, não, не, ليس, नहीं, δεν",
    "这不是真的，但是非常特别",
    "それは本当ではない 않았다 ไม่",
    "http://a.org/x",
    "(see HTTPS://Example.ORG/Path_(1)/), www.b.org! http://t.cn/abc转发",
    "No 5 at http://a.org/7",
    "1" * 40 + " " + "http://" + "x" * 40,
]


def main() -> None:
    names = ("numbers", "negation", "urls")
    made = {
        text: {
            n: f"{guards.guards(text.encode(), **{m: n in (m, 'all') for m in names}):016x}" for n in (*names, "all")
        }
        for text in TEXTS
    }
    path = HERE / "guards.json"
    if path.exists():
        pinned = json.loads(path.read_text("utf-8"))
        changed = [text for text in pinned if made.get(text) != pinned[text]]
        assert not changed, f"pinned values would change: {changed}"
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
