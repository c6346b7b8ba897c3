"""Work files that are damaged or deleted under a running job are noticed and made again; the answer stays the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import steady, write_jsonl
from test_determinism import rows

from dejalu import flow
from dejalu.plan import Execution, Plan
from dejalu.run.meter import Silent


class Saboteur(Silent):
    """Harms the work files of a kind when a stage begins."""

    def __init__(self, work: Path, stage: str, pattern: str, harm) -> None:
        self.work, self.stage, self.pattern, self.harm, self.harmed = work, stage, pattern, harm, 0

    def start(self, stage, total, unit):
        if stage == self.stage:
            for path in sorted(self.work.glob(self.pattern))[::2]:
                self.harm(path)
                self.harmed += 1


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def run(source, out, **options):
    settings = Execution(text_cache=0, partitions=3, memory="64MiB", store="files", **options)
    return lambda progress: flow.run([source], out, plan=Plan(), execution=settings, progress=progress)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    data = rows()
    for i in range(3):
        write_jsonl(folder / "in" / f"{i}.jsonl", data[i::3])
    run(folder / "in", folder / "out")(None)
    return folder


@pytest.mark.parametrize("harm", [flip, cut, Path.unlink], ids=["a flipped bit", "cut short", "deleted"])
@pytest.mark.parametrize(
    ("stage", "pattern"),
    [("candidates", "store/sketch/*.table"), ("verify", "store/texts/*.table"), ("verify", "store/sketch/*.table")],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_harmed_work_is_done_again(undisturbed, tmp_path, harm, stage, pattern, threads, monkeypatch):
    from dejalu.run.budget import Budget

    whole = Budget.of

    def tight(execution, available):
        """No table is kept open, so that the files are read again and again."""
        budget = whole(execution, available)
        return type(budget)(**{f: getattr(budget, f) for f in budget.__slots__} | {"sketches": 0, "packed": 0})

    monkeypatch.setattr(Budget, "of", tight)
    out = tmp_path / "out"
    saboteur = Saboteur(tmp_path / "out-evidence" / ".work", stage, pattern, harm)
    run(undisturbed / "in", out, threads=threads)(saboteur)
    assert saboteur.harmed > 0
    assert steady(out) == steady(undisturbed / "out")
