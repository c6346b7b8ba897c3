"""What to make of each text when its sketch is wanted by itself: parameters, columns, and how the file names them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from .. import __version__, represent
from ..data import I64, Docs
from ..errors import UsageError
from ..plan import Plan
from ..represent import FeatureWeights, Segmenter

METHODS = ("minhash", "simhash", "bottom-k")
GROUP = 1 << 25  # bytes of sketches in a row group, about
MOST_K, MOST_SCALED = 1 << 20, 1 << 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Sketching:
    """What to make of each text.

    method      minhash, simhash or bottom-k
    plan        its parameters, and how the files are read
    k, scaled   of bottom-k: hashes to keep, or one in so many; the other is 0
    """

    method: str
    plan: Plan
    k: int = 0
    scaled: int = 0

    @classmethod
    def of(cls, method: str, *, k: int | None = None, scaled: int | None = None, **parameters: Any) -> Sketching:
        """Check the parameters and give what was left out its default.

        Raises:
            UsageError: a parameter is out of range, or belongs to another method.
        """
        if method not in METHODS:
            raise UsageError(f"method={method!r}: must be one of {', '.join(METHODS)}")
        if method != "bottom-k":
            if k is not None or scaled is not None:
                raise UsageError(f"k and scaled belong to method bottom-k, not to {method}")
            # Threshold 1 serves any number of slots: no bands are made here.
            return cls(method=method, plan=_plan(method, method=method, threshold=1.0, **parameters))
        if k is not None and scaled is not None:
            raise UsageError(f"k={k} and scaled={scaled}: a sketch has one of them; leave the other out")
        for name, value, most in (("k", k, MOST_K), ("scaled", scaled, MOST_SCALED)):
            if value is not None and not 1 <= value <= most:
                raise UsageError(f"{name}={value}: must be a whole number from 1 to {most:,}")
        k = 0 if scaled is not None else 128 if k is None else k
        return cls(method=method, plan=_plan(method, method="exact", **parameters), k=k, scaled=scaled or 0)

    @property
    def parameters(self) -> dict[str, Any]:
        """All that shapes a sketch."""
        p = self.plan
        own: dict[str, Any] = {"shingle": p.shingle, "unit": p.unit, "segmenter": p.segmenter}
        if self.method == "minhash":
            return {"slots": p.slots, **own}
        if self.method == "simhash":
            if p.weights in ("keywords", "tfidf"):
                name = "keywords" if p.weights == "keywords" else "frequencies"
                own[name] = getattr(p, name)
            return {"bits": p.bits, "weights": p.weights, **own}
        return {"k": self.k, "scaled": self.scaled, **own}

    def metadata(self) -> dict[str, str]:
        """What the file says of itself; sketches of different `spec` must never be compared."""
        if self.method == "bottom-k":  # as `dejalu.bottom_k` says it, so that its `from_table` reads the file
            empty = self._bottom_k(pa.array([], pa.large_string()), None)
            said = {k.decode(): v.decode() for k, v in (empty.to_table().schema.metadata or {}).items()}
        else:
            parts = [f"dejalu-{self.method}-1", *self.parameters.values()]
            said = {"format": parts[0], "spec": hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]}
        return {**said, "dejalu": json.dumps({"version": __version__, "method": self.method, **self.parameters})}

    @property
    def columns(self) -> list[pa.Field]:
        """The columns that hold a sketch."""
        if self.method == "minhash":
            return [pa.field("sketch", pa.list_(pa.uint32()))]
        if self.method == "simhash":
            return [pa.field(name, pa.uint64()) for name in ("sketch", "sketch_2")[: self.plan.bits // 64]]
        return [pa.field("sketch", pa.list_(pa.uint64())), pa.field("shingles", pa.int64())]

    @property
    def group(self) -> int:
        """Rows of a row group: a function of the parameters alone, so that every run writes the same bytes."""
        size = {"minhash": 4 * self.plan.slots, "simhash": 8}.get(self.method, 8 * (self.k or 512))
        return max(1, min(1 << 16, GROUP // size))

    def sketches(
        self, docs: Docs, segmenter: Segmenter | None, weights: FeatureWeights | None
    ) -> tuple[I64, list[pa.Array]]:
        """Tokens of each text (-1: null), and the columns of its sketch."""
        p = self.plan
        if self.method == "bottom-k":
            made = self._bottom_k(docs.text, segmenter)
            tokens = self._signed(docs, "exact", segmenter, None).tokens
            table = made.to_table()
            return tokens, [table.column(f.name).combine_chunks().cast(f.type) for f in self.columns]
        signed = self._signed(docs, self.method, segmenter, weights)
        if self.method == "minhash":
            borders = np.arange(0, (len(docs) + 1) * p.slots, p.slots, dtype=np.int32)[: len(docs) + 1]
            return signed.tokens, [pa.ListArray.from_arrays(borders, signed.signatures.reshape(-1))]
        return signed.tokens, [pa.array(np.ascontiguousarray(word)) for word in signed.fingerprints.T]

    def _signed(
        self, docs: Docs, method: str, segmenter: Segmenter | None, weights: FeatureWeights | None
    ) -> represent.Signed:
        p = self.plan
        return represent.sketch(
            docs,
            method=method,
            shingle=p.shingle,
            unit=p.unit,
            slots=p.slots,
            bits=p.bits,
            weights=p.weights,
            keywords=p.keywords,
            table=weights,
            segmenter=segmenter,
        )

    def _bottom_k(self, text: pa.LargeStringArray, segmenter: Segmenter | None) -> represent.BottomK:
        p = self.plan
        return represent.bottom_k(
            [text],
            k=self.k,
            scaled=self.scaled,
            shingle=p.shingle,
            unit=p.unit,
            segmenter=segmenter,
            segmenter_name=p.segmenter,
        )


def _plan(kind: str, **parameters: Any) -> Plan:
    """The plan of a kind of sketch; it has no threshold, and bottom-k has shingles of its own.

    Raises:
        UsageError: a parameter is out of range, or belongs to another kind.
    """
    plan = Plan(**parameters)
    apart = ("threshold", "shingle", "unit") if kind == "bottom-k" else ("threshold",)
    if unused := [name for name in plan.unused if name not in apart]:
        raise UsageError(f"{', '.join(unused)}: not a parameter of {kind} sketches, as they are set; leave it out")
    return plan
