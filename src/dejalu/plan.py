"""Every parameter of a run: frozen, validated in one place, explained, and saved with the output.

`Plan` holds what decides the answer; it is written to plan.json (no paths) and reproduces the run.
`Execution` holds what may only change the cost: threads, batches, partitions, where the store lies. It is never
saved in plan.json, since the answer is the same for every value.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from .candidates.bands import MAX_SLOTS, Bands, choose_bands
from .errors import UsageError

METHODS = ("minhash", "exact", "bytes", "auto", "short", "containment", "tfidf", "simhash")
UNITS = ("word", "char")
SHINGLES = {"simhash": ("word", 1), "tfidf": ("word", 1), "short": ("char", 3)}  # of the other methods: 5 words
WEIGHTS = ("none", "tf", "tfidf", "keywords")
GUARDS = ("numbers", "negation", "urls")
MODES = ("drop", "tag", "report")
ON_ERROR = ("stop", "skip")
STORES = ("auto", "memory", "files")


LEAST_MEMORY = 64 << 20  # bytes
UNITS_OF_MEMORY = {"": 1, "B": 1} | {
    letter + unit: base**power
    for power, letter in enumerate("KMGT", 1)
    for unit, base in (("", 1024), ("IB", 1024), ("B", 1000))
}


def _bytes(value: Any) -> int:
    """Read an amount of memory: a number of bytes, or text with a unit."""
    number: Any = value
    unit = ""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", value)
        number, unit = (float(found[1]), found[2].upper()) if found else (-1, "")
    if isinstance(number, bool) or not isinstance(number, int | float) or number < 0 or unit not in UNITS_OF_MEMORY:
        raise UsageError(f"memory={value!r}: must be a number of bytes, or like 600MB, 2GB, 1.5GiB; 0 = half of memory")
    size = int(number * UNITS_OF_MEMORY[unit])
    if 0 < size < LEAST_MEMORY:
        raise UsageError(f"memory={value!r}: must be at least {LEAST_MEMORY >> 20}MiB")
    return size


def _p(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What decides the answer. Every field has the same name on the command line (`--text-column` for `text_column`).

    Raises:
        UsageError: a value is out of its range; the message gives the value, the range and what to do.
    """

    method: str = _p(
        "minhash",
        "minhash (near duplicates), exact (equal token sequences), bytes (equal bytes), short (titles, posts, names), "
        "auto (short texts by short, others by minhash), containment (inside another text), tfidf (same rare wording) "
        "or simhash (fingerprints)",
    )
    threshold: float = _p(
        0.8,
        "smallest similarity that counts as a duplicate, in (0, 1]: Jaccard of the shingle sets, or as the method says",
    )
    shingle: int = _p(
        None,
        "length of a shingle, in tokens (or code points with unit char) (default 5; 1 with simhash and tfidf, 3 with "
        "short)",
    )
    unit: str = _p(
        None,
        "what shingles are made of: word (tokens) or char (code points of the tokens) (default word; char with short)",
    )
    slots: int = _p(128, "number of 32-bit slots of a MinHash signature")
    distance: int = _p(3, "simhash: largest Hamming distance of the fingerprints of duplicates")
    bits: int = _p(64, "simhash: bits of a fingerprint, 64 or 128")
    weights: str = _p("tf", "simhash: weight of a feature: none, tf (occurrences), tfidf, keywords (jieba's extractor)")
    keywords: int = _p(20, "simhash with weights keywords: number of keywords of a text")
    verify: str | None = _p(
        None, "simhash: jaccard settles by true Jaccard at the threshold instead of the distance alone"
    )
    measure: str = _p("jaccard", "tfidf: jaccard (idf-weighted) or cosine (of TF-IDF vectors)")
    frequencies: str | None = _p(
        None, "tfidf weights: file of document frequencies that an earlier run saved (default: counted in the input)"
    )
    short_below: int = _p(50, "auto: texts of fewer tokens are compared as short texts")
    short_shingle: int = _p(3, "auto: length of a shingle of short texts")
    short_unit: str = _p("char", "auto: unit of the shingles of short texts: word or char")
    differ: tuple[str, ...] = _p((), "texts that differ in one of these are no duplicates: numbers, negation, urls")
    segmenter: str | None = _p(None, "word segmenter for scripts without spaces: jieba")
    keep: str = _p("first", "which copy stays: first, last, longest (UTF-8 bytes), max:COLUMN or min:COLUMN")
    prefer: tuple[str, ...] = _p((), "values of the source column in order of preference, before `keep`")
    within: str | None = _p(None, "column: compare only documents with the same value (language, dump, source)")
    source_column: str | None = _p(None, "column that names each document's source, for `prefer` and the report")
    text_column: tuple[str, ...] = _p((), "text column(s); a.b for nested; found by itself when not given")
    id_column: str | None = _p(None, "id column for the evidence; `id` where there is one")
    encoding: str | None = _p(None, "encoding of csv, txt and html files that are not UTF-8, e.g. gb18030, cp1252")
    on_error: str = _p("stop", "a damaged file or record: stop, or skip (set it aside and count it)")
    mode: str = _p("drop", "drop (remove duplicates), tag (keep all rows, add columns) or report (evidence only)")
    add_columns: tuple[str, ...] = _p((), "columns to add when dropping: copies")
    max_removal: float | None = _p(None, "stop before writing the corpus when a source loses a larger share, in [0, 1]")
    audit: int = _p(0, "number of documents to compare with the whole input exactly, to measure recall")
    kept_cap: int = _p(65_536, "kept documents tested per band key while settling; what it skips is counted")

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        for name in ("prefer", "text_column", "add_columns", "differ"):
            value = getattr(self, name)
            if isinstance(value, str):  # as on the command line: a comma list, but a column's name may hold a comma
                value = (value,) if name == "text_column" else [part for part in value.split(",") if part]
            set_(self, name, tuple(value or ()))
        self._one_of("method", METHODS)
        for name, value in zip(("unit", "shingle"), SHINGLES.get(self.method, ("word", 5)), strict=True):
            if getattr(self, name) is None:
                set_(self, name, value)
        self._one_of("unit", UNITS)
        self._one_of("short_unit", UNITS)
        self._one_of("weights", WEIGHTS)
        self._one_of("measure", ("jaccard", "cosine"))
        if self.verify not in (None, "jaccard"):
            raise UsageError(f"verify={self.verify!r}: must be jaccard, or not given")
        self._one_of("mode", MODES)
        self._one_of("on_error", ON_ERROR)
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, Real) or not 0 < self.threshold <= 1:
            raise UsageError(
                f"threshold={self.threshold!r}: must be a number in (0, 1]; 1.0 means equal shingle sets, 0.8 is usual"
            )
        set_(self, "threshold", float(self.threshold))
        self._whole("shingle", 1, 1_000)
        self._whole("short_shingle", 1, 1_000)
        self._whole("slots", 1, MAX_SLOTS)
        if isinstance(self.bits, bool) or self.bits not in (64, 128):
            raise UsageError(f"bits={self.bits!r}: fingerprints have 64 or 128 bits")
        self._whole("distance", 0, self.bits // 2 - 1)
        self._whole("keywords", 1, 10_000)
        self._whole("short_below", 1, 1 << 30)
        self._whole("audit", 0, 1 << 40)
        self._whole("kept_cap", 1, 1 << 40)
        if self.max_removal is not None and not 0 <= self.max_removal <= 1:
            raise UsageError(f"max_removal={self.max_removal!r}: must be a share in [0, 1], e.g. 0.5 for one half")
        if self.keep not in ("first", "last", "longest"):
            rule, _, column = self.keep.partition(":")
            if rule not in ("max", "min") or not column:
                raise UsageError(f"keep={self.keep!r}: must be first, last, longest, max:COLUMN or min:COLUMN")
        if self.audit and self.method != "minhash":
            if self.banded:
                raise UsageError(f"audit={self.audit}: works with method minhash, not yet with {self.method}")
            raise UsageError(f"audit={self.audit}: method {self.method} misses nothing, so there is nothing to audit")
        for name in self.differ:
            if name not in GUARDS:
                raise UsageError(f"differ: {name!r} is unknown; known are {', '.join(GUARDS)}")
        set_(self, "differ", tuple(name for name in GUARDS if name in self.differ))
        if self.weights == "keywords" and (self.unit, self.shingle) != ("word", 1):
            raise UsageError("weights=keywords: the features are words, so unit must be word and shingle 1")
        if self.prefer and not self.source_column:
            raise UsageError("prefer needs source_column: the column whose values it ranks (--source-column)")
        for name in self.add_columns:
            if name != "copies":
                raise UsageError(f"add_columns: {name!r} is unknown; the one column that can be added is copies")
        if self.encoding is not None:
            import codecs

            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise UsageError(
                    f"encoding={self.encoding!r} is unknown; e.g. utf-8, gb18030, cp1252, utf-16"
                ) from None
        if self.segmenter not in (None, "jieba") and not str(self.segmenter).startswith("callable:"):
            raise UsageError(
                f"segmenter={self.segmenter!r} is unknown; the one that ships is jieba (pip install 'dejalu[jieba]')"
            )
        if self.banded:
            choose_bands(self.threshold, self.slots)  # raises when the slots cannot serve the threshold

    def _one_of(self, name: str, allowed: tuple[str, ...]) -> None:
        if getattr(self, name) not in allowed:
            raise UsageError(f"{name}={getattr(self, name)!r}: must be one of {', '.join(allowed)}")

    def _whole(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
            raise UsageError(f"{name}={value!r}: must be a whole number from {low:,} to {high:,}")
        object.__setattr__(self, name, int(value))

    @property
    def banded(self) -> bool:
        """Whether candidates come from LSH bands."""
        return self.method in ("minhash", "auto") or (self.method == "tfidf" and self.measure == "jaccard")

    @property
    def counted(self) -> bool:
        """Whether document frequencies are needed."""
        return self.method == "tfidf" or (self.method == "simhash" and self.weights == "tfidf")

    @property
    def verified(self) -> bool:
        """Whether texts are looked at again to verify."""
        return self.method not in ("exact", "bytes", "simhash") or (self.method == "simhash" and bool(self.verify))

    @property
    def unused(self) -> tuple[str, ...]:
        """Parameters that were given another value than their default, and that the method does not look at."""
        simhash, shingled = self.method == "simhash", self.method not in ("exact", "bytes")
        used = {
            "threshold": shingled and (not simhash or bool(self.verify)),
            "slots": self.banded,
            "distance": simhash,
            "bits": simhash,
            "weights": simhash,
            "keywords": simhash and self.weights == "keywords",
            "verify": simhash,
            "measure": self.method == "tfidf",
            "frequencies": self.counted,
            "short_below": self.method == "auto",
            "short_shingle": self.method == "auto",
            "short_unit": self.method == "auto",
            "shingle": shingled,
            "unit": shingled,
            "segmenter": self.method != "bytes",
        }
        usual = dict(zip(("unit", "shingle"), SHINGLES.get(self.method, ("word", 5)), strict=True))
        default = {f.name: f.default for f in fields(self)} | usual
        return tuple(name for name, is_used in used.items() if not is_used and getattr(self, name) != default[name])

    @property
    def bands(self) -> Bands:
        """Bands and rows per band: a pure function of threshold and slots."""
        return choose_bands(self.threshold, self.slots)

    @property
    def keep_column(self) -> str | None:
        """The column that `keep` looks at, if any."""
        return self.keep.partition(":")[2] or None

    @property
    def extra_columns(self) -> tuple[str, ...]:
        """Names of the columns, beside text and id, that the run must read."""
        named = (self.keep_column, self.within, self.source_column)
        return tuple(dict.fromkeys(name for name in named if name))

    @property
    def short_cut(self) -> float:
        """Tokens below which one changed word takes a text below the threshold: (2w - 1 + t) / (1 - t).

        A text of n tokens has n - w + 1 shingles; one changed word alters up to w of them, which leaves
        J = (n - 2w + 1) / (n + 1) in the middle of the text. At t = 1 that is every text.
        """
        t, w = self.threshold, self.shingle
        return float("inf") if t >= 1 else (2 * w - 1 + t) / (1 - t)

    def spec(self) -> str:
        """Fingerprint of what shapes a document's sketch; sketches of different specs must never be mixed."""
        features = [self.shingle, self.unit]
        bands = [self.slots, self.segmenter, self.bands.bands, self.bands.rows] if self.banded else [self.segmenter]
        if self.method == "bytes":
            parts: list[Any] = ["bytes"]
        elif self.method == "simhash":
            parts = ["simhash", *features, *bands, self.bits, self.weights, self.keywords, self.frequencies]
        elif self.method == "tfidf" and self.banded:
            parts = ["tfidf", *features, *bands, self.frequencies]
        elif self.banded:  # auto sketches as minhash does
            parts = ["minhash", *features, *bands]
        else:
            parts = ["exact", self.segmenter]
        if self.differ:
            parts += ["guards-1", *self.differ]
        return hashlib.sha256(json.dumps(["dejalu-sketch-1", *parts]).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain JSON values, every parameter named."""
        return {f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v for f in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Plan:
        """Rebuild a plan; an unknown name is an error, so that a newer or misspelled plan is never half followed.

        Raises:
            UsageError: unknown or invalid parameter.
        """
        version = values.get("plan_version", 1)
        if version != 1:
            raise UsageError(f"plan_version={version!r}: this dejalu reads version 1; use the one that wrote it")
        values = {k: v for k, v in values.items() if k != "plan_version"}
        unknown = sorted(set(values) - {f.name for f in fields(cls)})
        if unknown:
            raise UsageError(
                f"unknown parameter {', '.join(unknown)}; known are {', '.join(f.name for f in fields(cls))}"
            )
        return cls(**values)

    def to_json(self) -> str:
        """Return plan.json: stable order, one parameter per line."""
        return json.dumps({"plan_version": 1, **self.to_dict()}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan.json.

        Raises:
            UsageError: the file is missing, no JSON object, or holds an unknown parameter.
        """
        try:
            values = json.loads(Path(path).read_text("utf-8"))
        except (OSError, ValueError) as e:
            raise UsageError(f"{path}: not a readable plan.json ({e})") from e
        if not isinstance(values, dict):
            raise UsageError(f"{path}: not a plan: a JSON object is expected")
        return cls.from_dict(values)

    def with_(self, **changes: Any) -> Plan:
        """Return the plan with some parameters changed, validated again; unit and shingle follow the method."""
        if changes.get("method", self.method) != self.method:
            usual = zip(("unit", "shingle"), SHINGLES.get(self.method, ("word", 5)), strict=True)
            changes = {name: None for name, value in usual if getattr(self, name) == value} | changes
        return replace(self, **changes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """What may only change the cost of a run, never its answer."""

    threads: int = _p(0, "worker threads; 0 = as many as this process may use")
    batch_rows: int = _p(0, "documents per batch; 0 = by size")
    partitions: int = _p(0, "partitions of the work between stages; 0 = chosen by size")
    store: str = _p("auto", "where results wait between stages: memory, files, or auto: memory while they are small")
    tmp: str | None = _p(None, "folder for work files (default: .work in the evidence folder)")
    memory: int | str = _p(
        0, "memory that the run may hold, in bytes or as 600MB, 2GB, 1.5GiB; 0 = half of the machine's or its cgroup's"
    )
    text_cache: int = _p(
        -1, "bytes of text kept from the first pass for verification; -1 = a quarter of the memory, 0 = none"
    )

    def __post_init__(self) -> None:
        for name in ("threads", "batch_rows", "partitions"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise UsageError(f"{name}={value!r}: must be a whole number, 0 or more")
        object.__setattr__(self, "memory", _bytes(self.memory))
        if self.store not in STORES:
            raise UsageError(f"store={self.store!r}: must be one of {', '.join(STORES)}")

    @property
    def workers(self) -> int:
        """Threads to use: as given, else the number of CPUs that this process may use."""
        import os

        if self.threads:
            return self.threads
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
