"""The whole job on texts and tables in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import dejalu

A = " ".join(f"alpha{i}" for i in range(100))
NEAR = A.replace("alpha50", "changed")
B = " ".join(f"beta{i}" for i in range(100))


def test_a_near_copy_joins_the_first():
    result = dejalu.dedup([A, B, NEAR, A.upper()])
    assert result.keep.tolist() == [True, True, False, False]
    assert result.twin.tolist() == [-1, -1, 0, 0]
    assert result.similarity[2] == dejalu.similarity(A, NEAR) == 91 / 101
    assert np.isnan(result.similarity[0])
    assert result.similarity[3] == 1.0
    assert result.clusters() == {0: [2, 3]}
    assert result.removed().to_pylist() == [
        {
            "file": "memory",
            "row": 2,
            "id": None,
            "twin_file": "memory",
            "twin_row": 0,
            "twin_id": None,
            "similarity": 91 / 101,
            "measure": "jaccard",
            "method": "minhash",
        },
        {
            "file": "memory",
            "row": 3,
            "id": None,
            "twin_file": "memory",
            "twin_row": 0,
            "twin_id": None,
            "similarity": 1.0,
            "measure": "equal",
            "method": "exact",
        },
    ]


def test_nothing_in_nothing_out():
    for empty in ([], pa.array([], pa.string()), pa.table({"text": pa.array([], pa.string())})):
        result = dejalu.dedup(empty)
        assert len(result.keep) == 0
        assert result.clusters() == {}
        assert result.removed().num_rows == 0
        assert "0 read" in repr(result)


@pytest.mark.parametrize(
    ("keep", "kept"), [("first", 0), ("last", 3), ("longest", 2), ("max:score", 1), ("min:score", 2)]
)
def test_who_is_kept(keep, kept):
    table = pa.table({"text": [A, A, A + "!!!", A], "score": [2, 9, 1, None], "id": list("abcd")})
    result = dejalu.dedup(table, keep=keep)
    assert np.flatnonzero(result.keep).tolist() == [kept]
    assert set(result.twin[~result.keep].tolist()) == {kept}
    assert set(result.removed().column("twin_id").to_pylist()) == {"abcd"[kept]}


def test_prefer_ranks_sources_before_keep():
    table = pa.table({"text": [A, NEAR, A], "source": ["web", "wiki", "books"]})
    result = dejalu.dedup(table, source_column="source", prefer=["wiki", "books"], keep="last")
    assert result.keep.tolist() == [False, True, False]
    assert [(s["value"], s["removed"]) for s in result.report["sources"]] == [("books", 1), ("web", 1), ("wiki", 0)]


def test_within_compares_only_inside_a_value():
    table = pa.table({"text": [A, A, NEAR, NEAR, A, None], "lang": ["en", "de", "en", "de", None, "en"]})
    result = dejalu.dedup(table, within="lang")
    assert result.keep.tolist() == [True, True, False, False, True, True]
    assert result.twin.tolist() == [-1, -1, 0, 1, -1, -1]


def test_chains_never_remove_on_anothers_account():
    words = [f"c{i:04d}" for i in range(700)]
    docs = [" ".join(words[i * 10 : i * 10 + 100]) for i in range(60)]
    result = dejalu.dedup(docs, threshold=0.7)
    assert np.flatnonzero(result.keep).tolist() == list(range(0, 60, 2))
    again = dejalu.dedup(result.filter(docs), threshold=0.7)
    assert again.keep.all()


def test_exact_and_bytes():
    texts = ["Café au lait!", "cafe\u0301 AU lait", "Café au lait!", "", "", "!!!", "???"]
    exact = dejalu.dedup(texts, method="exact")
    assert exact.keep.tolist() == [True, False, False, True, True, True, True]
    assert set(exact.removed().column("method").to_pylist()) == {"exact"}
    same = dejalu.dedup(texts, method="bytes")
    assert same.keep.tolist() == [True, True, False, True, False, True, True]
    assert set(same.removed().column("method").to_pylist()) == {"bytes"}
    assert set(same.removed().column("measure").to_pylist()) == {"equal"}


def test_threshold_one_means_equal_shingle_sets():
    looped = "a b c a b c a b c"
    result = dejalu.dedup([looped, looped + " a b c", looped.upper(), "a b c a"], threshold=1.0, shingle=3)
    assert result.twin.tolist() == [-1, 0, 0, -1]
    assert result.removed().column("measure").to_pylist() == ["jaccard", "equal"]
    assert result.similarity[1] == 1.0


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan"), "0.8", None.__class__, True])
def test_thresholds_out_of_range_say_so(threshold):
    with pytest.raises(dejalu.UsageError, match=r"\(0, 1\]"):
        dejalu.dedup(["a"], threshold=threshold)


def test_slots_that_cannot_serve_name_those_needed():
    with pytest.raises(dejalu.UsageError, match="slots=104"):
        dejalu.dedup(["a"], threshold=0.05, slots=16)


def test_a_gate_stops_a_run_in_memory():
    with pytest.raises(dejalu.GateClosed, match="max_removal"):
        dejalu.dedup([A] * 2000, max_removal=0.5)
    assert dejalu.dedup([A] * 2000, max_removal=1.0).report["kept"] == 1


def test_segmenter_finds_words():
    pytest.importorskip("jieba")
    text = "本市图书馆将于下周一起延长开放时间" * 3
    result = dejalu.dedup([text, text.replace("图书馆", "博物馆", 1)], segmenter="jieba", threshold=0.5, shingle=2)
    words = result.report["short"]["median"]
    assert words < dejalu.dedup([text]).report["short"]["median"]


def pairs_of_letters(text):
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def test_any_callable_may_be_the_segmenter():
    text = "一二三四五六七八九十"
    result = dejalu.dedup([text, text + "!"], segmenter=pairs_of_letters)
    assert result.report["short"]["median"] == 5
    assert result.report["plan"]["segmenter"].endswith("test_dedup.pairs_of_letters")
    with pytest.raises(dejalu.UsageError, match="give it again"):
        dejalu.dedup([text], plan=dejalu.Plan.from_dict(result.report["plan"]))
    with pytest.raises(dejalu.UsageError, match="jieba"):
        dejalu.dedup([text], segmenter="mecab")
    assert dejalu.minhash([text], segmenter=pairs_of_letters).shape == (1, 128)
    assert dejalu.similarity(text, text[::-1], segmenter=pairs_of_letters, shingle=1) == 0.0
    assert dejalu.pairs([text, text], segmenter=pairs_of_letters).num_rows == 1


def test_pairs_lists_every_true_pair_and_stops_a_flood():
    table = dejalu.pairs([A, NEAR, B, A, "", None])
    rows = list(zip(*(table.column(c).to_pylist() for c in ("a", "b", "similarity")), strict=True))
    j = 91 / 101
    assert rows == [(0, 1, j), (0, 3, 1.0), (1, 3, j)]
    with pytest.raises(dejalu.FloodError, match="max_pairs=2"):
        dejalu.pairs([A, NEAR, B, A], max_pairs=2)
    assert dejalu.pairs([A, NEAR, B, A], max_pairs=3).num_rows == 3
    assert dejalu.pairs([]).num_rows == 0
    with pytest.raises(dejalu.FloodError):
        dejalu.pairs([A] * 100, max_pairs=4949)
    assert dejalu.pairs([A] * 100, max_pairs=4950).num_rows == 4950


def test_texts_read_again_give_what_cached_texts_give(tmp_path):
    docs = [A, B, NEAR, A + " one more", B.replace("beta3 ", "x "), A]
    whole = dejalu.dedup(docs)
    for options in ({"text_cache": 0}, {"store": "files"}, {"text_cache": 0, "store": "files", "tmp": tmp_path}):
        again = dejalu.dedup(docs, **options)
        np.testing.assert_array_equal(again.twin, whole.twin)
        np.testing.assert_array_equal(again.similarity, whole.similarity)
    assert list(tmp_path.iterdir()) == []
    assert dejalu.pairs(docs).equals(dejalu.pairs(docs, threads=2))


def test_audit_measures_recall():
    docs = [" ".join(f"d{g}w{i}" for i in range(60)) + f" extra{c}" for g in range(30) for c in range(3)]
    audit = dejalu.dedup(docs, audit=50).report["audit"]
    assert audit["sampled"] == 50
    assert audit["pairs"] == 100
    assert audit["recall"] == 1.0
    assert 0.8 < audit["low"] <= 1.0


def test_caps_are_counted():
    words = [f"c{i:04d}" for i in range(400)]
    docs = [" ".join(words[i * 10 : i * 10 + 100]) for i in range(30)]
    result = dejalu.dedup(docs, threshold=0.7, kept_cap=1)
    assert result.report["caps"][0]["skipped"] > 0
    assert any("kept_cap" in w for w in result.warnings)


def test_similarity_of_texts_without_tokens_is_zero():
    assert dejalu.similarity("", "") == 0.0
    assert dejalu.similarity("!!!", "???") == 0.0
    assert dejalu.similarity("a", "") == 0.0
    assert dejalu.similarity("a", "A!") == 1.0
    with pytest.raises(dejalu.UsageError):
        dejalu.similarity("a", None)


def test_signatures_estimate_the_similarity():
    signatures = dejalu.minhash([A, NEAR, ""], slots=256)
    assert signatures.dtype == np.uint32
    assert signatures.shape == (3, 256)
    assert abs((signatures[0] == signatures[1]).mean() - 91 / 101) < 0.1
    assert (signatures[2] == 2**32 - 1).all()


def test_plans_are_kept_and_unknown_names_refused():
    plan = dejalu.Plan(threshold=0.7, keep="longest", prefer=("a", "b"), source_column="source")
    import json

    assert dejalu.Plan.from_dict(json.loads(plan.to_json())) == plan
    with pytest.raises(dejalu.UsageError, match="treshold"):
        dejalu.Plan.from_dict({"treshold": 0.7})
    with pytest.raises(TypeError):
        dejalu.dedup([A], treshold=0.7)


def test_the_public_names_are_sorted_and_importable():
    assert dejalu.__all__ == sorted(dejalu.__all__)
    for name in dejalu.__all__:
        assert getattr(dejalu, name) is not None
    assert set(dejalu.__all__) <= set(dir(dejalu))


def test_ids_of_bytes_and_broken_strings():
    """Ids may be digests, or strings that are not UTF-8: they are compared and shown, and never stop a run."""
    broken = pa.array([b"\xff", b"\xff", b"a"], pa.binary())
    text = pa.LargeStringArray.from_buffers(3, *broken.cast(pa.large_binary()).buffers()[1:])
    digests = pa.array([b"12", b"34", b"12"], pa.binary(2))
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"1" * 16, b"2" * 16, b"1" * 16], pa.binary(16)))
    for ids in (broken, text, digests, uuids):
        result = dejalu.dedup(pa.table({"text": [A, NEAR, A], "id": ids}))
        assert result.report["repeated_ids"]["ids"] == 1
        assert result.removed().num_rows == 2
        assert "3 read" in repr(result)
    grouped = pa.table({"text": [A, A, A], "g": pa.array([b"\xff", b"\xff", b"\xfe"])})
    result = dejalu.dedup(grouped, within="g", source_column="g")
    assert result.twin.tolist() == [-1, 0, -1]
    assert [s["value"] for s in result.report["sources"]] == ["fe", "ff"]


def test_within_takes_zero_as_one_value():
    result = dejalu.dedup(pa.table({"text": [A, A, A], "g": [0.0, -0.0, 1.0]}), within="g")
    assert result.twin.tolist() == [-1, 0, -1]


def test_keep_compares_numbers_of_all_formats(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [1, 2], "text": [A, B], "k": [5, 5]}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text(f'{{"id": 3, "text": "{A}", "k": 10}}\n{{"id": 4, "text": "{B}", "k": 4.5}}\n')
    (tmp_path / "c.csv").write_text(f"id,text,k\n5,{A},9\n6,{B},100\n")
    result = dejalu.dedup(tmp_path, keep="max:k")
    assert sorted(result.removed().column("id").to_pylist()) == ['"5"', "1", "2", "4"]
    (tmp_path / "c.csv").write_text(f"id,text,k\n5,{A},nine\n")
    with pytest.raises(dejalu.UsageError, match=r"int64 in a.parquet"):
        dejalu.dedup(tmp_path, keep="max:k")


def test_prefer_may_be_a_comma_list():
    assert dejalu.Plan(prefer="books,wiki", source_column="s").prefer == ("books", "wiki")


def test_filter_takes_items_of_any_kind():
    result = dejalu.dedup([A, B, A])
    assert result.filter([1, 2, 3]) == [1, 2]
    assert result.filter((1, 2, 3)) == (1, 2)
    assert result.filter(np.arange(3)).tolist() == [0, 1]
    with pytest.raises(dejalu.UsageError, match="3 documents, the data has 2"):
        result.filter([1, 2])


def test_numbers_of_numpy_are_numbers():
    plan = dejalu.Plan(threshold=np.float64(0.5), shingle=np.int64(3))
    assert plan == dejalu.Plan(threshold=0.5, shingle=3)
    assert type(plan.shingle) is int


def test_a_gate_stays_until_another_is_named(tmp_path):
    (tmp_path / "in.txt").write_text(A)
    folder = tmp_path / "in"
    folder.mkdir()
    import json

    (folder / "a.jsonl").write_text("".join(json.dumps({"text": A}) + "\n" for _ in range(1200)))
    out = tmp_path / "out"
    with pytest.raises(dejalu.GateClosed):
        dejalu.dedup(folder, out, max_removal=0.5)
    with pytest.raises(dejalu.GateClosed, match=r"max_removal=0\.5"):
        dejalu.dedup(folder, out, resume=True)
    assert dejalu.dedup(folder, out, resume=True, max_removal=1.0).report["kept"] == 1


def test_odd_entries_of_a_folder_are_counted(tmp_path):
    import os

    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nothing.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    result = dejalu.dedup(tmp_path)
    assert result.report["read"] == 1
    assert result.report["skipped"]["not_a_file"] == 2


def test_a_file_is_met_where_it_lies(tmp_path):
    (tmp_path / "x.txt").write_text(A)
    (tmp_path / "a-link.txt").symlink_to(tmp_path / "x.txt")
    result = dejalu.dedup(tmp_path)
    assert [i.file for i in result.inputs] == ["x.txt"]
    assert result.report["skipped"]["repeated"] == 1


def test_a_plan_of_another_version_is_refused():
    with pytest.raises(dejalu.UsageError, match="plan_version=99"):
        dejalu.Plan.from_dict({"plan_version": 99})


def test_a_segmenter_that_gives_no_words_is_named():
    for wrong in (lambda text: None, lambda text: [1]):
        with pytest.raises(dejalu.UsageError, match="segmenter callable"):
            dejalu.dedup([A], segmenter=wrong)


def test_two_runs_never_share_a_work_folder(tmp_path):
    pytest.importorskip("fcntl")
    from dejalu.run import lock

    (tmp_path / "in.txt").write_text(A)
    work = tmp_path / "out-evidence" / ".work"
    work.mkdir(parents=True)
    with lock.take(work):
        for how in ({"resume": True}, {"overwrite": True}):
            with pytest.raises(dejalu.OutputError, match="another run"):
                dejalu.dedup(tmp_path / "in.txt", tmp_path / "out", **how)
    assert dejalu.dedup(tmp_path / "in.txt", tmp_path / "out", overwrite=True).report["kept"] == 1


def test_apply_trusts_only_the_evidence_that_was_written(tmp_path):
    from dejalu import flow

    (tmp_path / "in.csv").write_text(f"id,text\n1,{A}\n2,{A}\n")
    dejalu.dedup(tmp_path / "in.csv", tmp_path / "out", mode="report")
    evidence = tmp_path / "out-evidence"
    with pytest.raises(dejalu.UsageError, match="drop or tag"):
        flow.apply(evidence, tmp_path / "out", mode="report")
    (evidence / "removed" / "in.csv.parquet").write_bytes(b"something else")
    with pytest.raises(dejalu.OutputError, match="was changed"):
        flow.apply(evidence, tmp_path / "out")
