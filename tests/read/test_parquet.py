"""Parquet: types, nesting, empty files, pieces, damage."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dejalu import kernels, read
from dejalu.data import text_buffers
from dejalu.errors import DamagedInput, UsageError

from .helpers import load, merge, one, texts

WORDS = ["a note", None, "", "é中", "nan"]


def write(path, table, **options):
    pq.write_table(table, path, **options)
    return path


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
def test_every_string_type_reads_alike(tmp_path, kind):
    array = pa.array(WORDS, pa.string())
    array = array.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else array.cast(kind)
    path = write(tmp_path / "a.parquet", pa.table({"id": range(5), "text": array}), row_group_size=2)
    docs, _ = load(path)
    assert docs["text"] == [None if w is None else w.encode() for w in WORDS]
    assert docs["row"] == docs["id"] == [0, 1, 2, 3, 4]


def test_invalid_utf8_goes_through_as_bytes(tmp_path):
    data = pa.array([b"ok", b"bad \xff\xed\xa0\x80", b""], pa.binary())
    array = pa.StringArray.from_buffers(3, data.buffers()[1], data.buffers()[2])
    docs, _ = load(write(tmp_path / "a.parquet", pa.table({"text": array})))
    assert docs["text"] == [b"ok", b"bad \xff\xed\xa0\x80", b""]
    assert "invalid" not in docs


def test_nested_text_and_literal_dotted_names(tmp_path):
    inner = pa.array([{"b": "x", "c": 1}, {"b": None, "c": 2}, None])
    table = pa.table({"a": inner, "n": [1, 2, 3]})
    path = write(tmp_path / "a.parquet", table)
    docs, _ = load(path, text_columns=("a.b",), extra=("a.c", "n"))
    assert docs == {"row": [0, 1, 2], "text": [b"x", None, None], "a.c": [1, 2, None], "n": [1, 2, 3]}
    both = write(tmp_path / "b.parquet", table.append_column("a.b", pa.array(["lit", "lit", None])))
    assert texts(both, text_columns=("a.b",)) == ["lit", "lit", None]


def test_several_text_columns_never_run_together(tmp_path):
    table = pa.table(
        {"t": ["a", "a b", "a\x1f", None, None, "", "..."], "u": ["b c", "c", "\x1eb", "x", None, "", "!"]}
    )
    path = write(tmp_path / "a.parquet", table)
    mark = "\U0001fffd"
    assert texts(path, text_columns=["t", "u"]) == [
        f"a{mark}\x1f\x1eb c",
        f"a b{mark}\x1f\x1ec",
        f"a\x1f\x1f{mark}\x1f\x1e\x1eb",
        f"{mark}\x1f\x1ex",
        None,
        "\x1f\x1e",
        "...\x1f\x1e!",
    ]


def test_a_border_is_a_token_that_no_field_can_hold(tmp_path):
    rows = [("a b", "c"), ("a", "b c"), ("a \U0001fffd", "b c"), ("...", "\ufe0f!"), ("ㅤ", ""), ("\u0301", "x")]
    table = pa.table({"t": [t for t, _ in rows], "u": [u for _, u in rows]})
    (docs,) = read.from_memory(table).batches(0, read.from_memory(table).resolve(text_columns=["t", "u"]))
    data, spans, ends = kernels.tokens(*text_buffers(docs.text))
    words = [data[a:b].tobytes().decode() for a, b in pairwise(spans.tolist())]
    found = [words[a:b] for a, b in pairwise(ends.tolist())]
    mark = "\U0001fffd"
    assert found[:5] == [["a", "b", mark, "c"], ["a", mark, "b", "c"], ["a", "\U0001fffc", mark, "b", "c"], [], []]
    assert found[5][-2:] == [mark, "x"]


def test_empty_forms(tmp_path):
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    assert texts(write(tmp_path / "rows0.parquet", schema.empty_table())) == []
    with pq.ParquetWriter(tmp_path / "groups0.parquet", schema):
        pass
    assert texts(tmp_path / "groups0.parquet") == []
    assert texts(write(tmp_path / "null.parquet", pa.table({"id": [4, 5], "text": pa.nulls(2)}))) == [None, None]


def test_the_text_column_is_found_or_asked_for(tmp_path):
    one_string = write(tmp_path / "one.parquet", pa.table({"n": [1], "headline": ["h"], "v": [1.5]}))
    assert read.resolve(one(one_string)).text == ("headline",)
    named = write(tmp_path / "named.parquet", pa.table({"title": ["t"], "body": ["b"], "content": ["c"]}))
    assert read.resolve(one(named)).text == ("content",)
    several = one(
        write(
            tmp_path / "several.parquet",
            pa.table(
                {
                    "title": ["The heron"],
                    "abstract": ["grey"],
                    "n": [1],
                }
            ),
        )
    )
    with pytest.raises(UsageError, match=r"several\.parquet: .*title: 'The heron'; abstract: 'grey'.*--text-column"):
        read.resolve(several)
    with pytest.raises(UsageError, match=r"no column 'url'; it has title, abstract, n"):
        read.resolve(several, text_columns=("title",), id_column="url")
    with pytest.raises(UsageError, match="column 'n' holds int64, not text"):
        read.resolve(several, text_columns=("n",))
    numbers = one(write(tmp_path / "numbers.parquet", pa.table({"n": [1], "text": [2]})))
    with pytest.raises(UsageError, match=r"no column holds strings \(columns: n \(int64\), text \(int64\)\)"):
        read.resolve(numbers)


def test_pieces_are_runs_of_row_groups_and_each_reads_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("dejalu.read.parquet.PIECE_BYTES", 3000)
    words = [f"{i} " + "w" * 100 for i in range(100)]
    path = write(tmp_path / "a.parquet", pa.table({"text": words}), row_group_size=7, use_dictionary=False)
    where = one(path)
    columns = read.resolve(where)
    pieces = read.pieces(where, columns)
    assert len(pieces) == 4 and [p.index for p in pieces] == [0, 1, 2, 3]
    assert sum(p.rows for p in pieces) == 100
    for p in pieces:
        docs = merge(read.read(where, p, columns))
        assert docs["row"] == list(range(p.first_row, p.first_row + p.rows))
        assert docs["text"] == [words[i].encode() for i in docs["row"]]
        assert read.Piece.from_json(p.to_json()) == p
    assert texts(path) == words


def test_rows_skip_row_groups_without_any(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"text": [str(i) for i in range(50)]}), row_group_size=5)
    where = one(path)
    wanted = np.array([0, 7, 8, 31, 49], np.int64)
    docs = merge(read.rows(where, read.resolve(where), wanted))
    assert docs == {"row": wanted.tolist(), "text": [b"0", b"7", b"8", b"31", b"49"]}
    assert merge(read.rows(where, read.resolve(where), np.zeros(0, np.int64))) == {"row": [], "text": []}


def test_a_dictionary_of_long_texts_is_laid_out_in_bounded_batches(tmp_path):
    words = ["x" * 100_000, "y" * 100_000]
    table = pa.table({"text": [words[i % 2] for i in range(4000)]})
    where = one(write(tmp_path / "a.parquet", table))
    columns = read.resolve(where)
    sizes = [docs.text.nbytes for piece in read.pieces(where, columns) for docs in read.read(where, piece, columns)]
    assert sum(sizes) > 400_000_000 and max(sizes) < 18_000_000


def test_only_the_columns_asked_for_are_read(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"text": ["a"], "id": ["k\0"], "lang": ["en"], "n": [2**63 - 1]}))
    docs, _ = load(path, extra=("n",))
    assert docs == {"row": [0], "text": [b"a"], "id": ["k\0"], "n": [2**63 - 1]}


@pytest.mark.parametrize("cut", [0, 10, -5, -200])
def test_a_damaged_file_names_itself_or_is_set_aside(tmp_path, cut):
    path = write(tmp_path / "a.parquet", pa.table({"text": ["abc " * 50] * 100}))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DamagedInput, match=r"a\.parquet: not a readable parquet file .*--on-error skip"):
        load(path)
    docs, problems = load(path, skip=True)
    assert docs["row"] == []
    assert [(p.file, p.row, p.line) for p in problems] == [("a.parquet", -1, None)]


def test_damage_inside_is_of_the_whole_file(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"text": [f"{i} abc" * 50 for i in range(1000)]}), compression="zstd")
    data = bytearray(path.read_bytes())
    data[50:150] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(DamagedInput, match=r"a\.parquet: not a readable parquet file"):
        load(path)
    _, problems = load(path, skip=True)
    assert [p.row for p in problems] == [-1]


@pytest.mark.heavy
def test_columns_over_2_gib(tmp_path):
    block = "word " * 200_000
    with pq.ParquetWriter(tmp_path / "a.parquet", pa.schema([("text", pa.string())]), compression="zstd") as out:
        for i in range(0, 2400, 50):
            out.write_table(pa.table({"text": [f"doc {k} {block}" for k in range(i, i + 50)]}))
    where = one(tmp_path / "a.parquet")
    columns = read.resolve(where)
    sizes = [docs.text.nbytes for p in read.pieces(where, columns) for docs in read.read(where, p, columns)]
    assert sum(sizes) > 2_400_000_000 and max(sizes) < 64 << 20
