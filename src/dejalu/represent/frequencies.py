"""Document frequencies of features, and the weights that come of them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .. import kernels
from ..data import I64, U32, U64, SpecMismatch
from ..errors import DamagedInput, OutputError, UsageError

VERSION = "dejalu-frequencies-1"


@dataclass(frozen=True, slots=True)
class Frequencies:
    """In how many of n texts each feature occurs.

    A feature is a shingle hash. Files hold features of at least two texts only: what is in none and what is in one
    weigh nearly the same, and most features of a corpus occur once. So adding what two files hold misses the features
    that each has once.

    features     (r,) uint64, ascending
    documents    (r,) int64: number of texts with the feature
    n            number of texts counted (those with at least one feature)
    spec         what the features are: counts of different features must never be mixed
    """

    features: U64
    documents: I64
    n: int
    spec: str = ""

    @classmethod
    def count(cls, sets: tuple[U64, I64], spec: str = "") -> Frequencies:
        """Count texts given as sets of features: values (m,) uint64, each once per text, and offsets (n + 1,) int64."""
        values, offsets = sets
        n = int(np.count_nonzero(np.diff(offsets)))
        return cls(*kernels.count_features(values, offsets), n, spec)

    def add(self, *others: Frequencies) -> Frequencies:
        """Add the counts of other texts.

        Raises:
            SpecMismatch: they count other features.
        """
        for other in others:
            if other.spec != self.spec:
                raise SpecMismatch(
                    f"frequencies of {other.spec or 'unnamed features'} cannot be added to those of "
                    f"{self.spec or 'unnamed features'}: count both with the same unit, shingle and segmenter"
                )
        every = (self, *others)
        features, documents = kernels.merge_counts([(f.features, f.documents) for f in every])
        return Frequencies(features, documents, sum(f.n for f in every), self.spec)

    def repeated(self) -> tuple[U64, I64]:
        """Features that occur in two texts at least, and the number of texts with each."""
        twice = self.documents >= 2
        return self.features[twice], self.documents[twice]

    def fingerprint(self) -> str:
        """SHA-256 of n, spec and the counts of features in two texts at least, in hexadecimal."""
        features, documents = self.repeated()
        digest = hashlib.sha256(f"{VERSION}\n{self.spec}\n{self.n}\n".encode())
        digest.update(np.ascontiguousarray(features, "<u8").data)
        digest.update(np.ascontiguousarray(documents, "<i8").data)
        return digest.hexdigest()

    def to_table(self) -> pa.Table:
        """Table feature (uint64), documents (int64), with n, spec and checksum in its metadata."""
        features, documents = self.repeated()
        return pa.table({"feature": features, "documents": documents}).replace_schema_metadata(
            {"format": VERSION, "n": str(self.n), "spec": self.spec, "sha256": self.fingerprint()}
        )

    @classmethod
    def from_table(cls, table: pa.Table, name: str = "the table") -> Frequencies:
        """Read what `to_table` wrote.

        Raises:
            UsageError: no table of frequencies.
            DamagedInput: its contents are not what its checksum says.
        """
        meta = table.schema.metadata or {}
        if meta.get(b"format") != VERSION.encode() or table.column_names != ["feature", "documents"]:
            raise UsageError(f"{name}: holds no document frequencies that this version reads ({VERSION})")
        found = cls(
            table.column("feature").to_numpy().astype(np.uint64, copy=False),
            table.column("documents").to_numpy().astype(np.int64, copy=False),
            int(meta[b"n"]),
            meta[b"spec"].decode(),
        )
        if found.fingerprint() != meta.get(b"sha256", b"").decode():
            raise DamagedInput(f"{name}: its counts do not have the checksum it names; count again")
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a parquet file, complete or not at all.

        Raises:
            OutputError: the file cannot be written.
        """
        target = Path(path)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            pq.write_table(self.to_table(), temporary, compression="zstd", use_dictionary=False)
            os.replace(temporary, target)
        except OSError as e:
            temporary.unlink(missing_ok=True)
            raise OutputError(f"{target}: document frequencies cannot be written ({e}); is there such a folder?") from e

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Frequencies:
        """Read what `save` wrote.

        Raises:
            UsageError: no such file, or no file of frequencies.
            DamagedInput: its contents are not what its checksum says.
        """
        try:
            table = pq.read_table(os.fspath(path), partitioning=None)
        except (OSError, pa.ArrowException) as e:
            raise UsageError(f"{os.fspath(path)}: document frequencies cannot be read ({e})") from e
        return cls.from_table(table, os.fspath(path))


def idf(frequencies: Frequencies) -> tuple[U64, U32, int]:
    """Weigh features by their inverse document frequency: ln((1 + n) / (1 + documents)) + 1, in units of 1/1024.

    Returns:
        features (r,) uint64 ascending and weights (r,) uint32 of those that occur in two texts at least, and the weight
        of every other feature: that of one text.
    """
    features, documents = frequencies.repeated()
    n = frequencies.n
    unseen = kernels.idf(np.array([min(1, n)], np.int64), n)
    return features, kernels.idf(documents, n), int(unseen[0])
