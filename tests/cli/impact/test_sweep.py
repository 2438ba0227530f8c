"""impact of several policies: the table of a sweep, and what is refused before any work is done."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

RUNNING = "protect.warm-up.victim.running"


def test_a_sweep_tells_who_never_ran(gpol: Gpol, lab: Path, journal: str) -> None:
    """One of three is rejected as it was recorded, one more where guests are; where there are 4 GPUs the two that ask for 8 wait."""
    text = (lab / "lab.gpol").read_text()
    (lab / "deny.gpol").write_text(text + 'deny no-guests for guest { where workload.gpu > 0 } because "no"\n')
    (lab / "less.gpol").write_text(text.replace("gpu 8 }", "gpu 4 }").replace("owns 8 gpu", "owns 4 gpu"))
    done = gpol("impact", journal, "deny.gpol", "less.gpol", "--format", "plain")

    rows = [line.split("\t") for line in done.out.splitlines()[:-2]]
    assert [row[3:5] for row in rows] == [["rejected", "waiting"], ["1", "0"], ["2", "0"], ["1", "2"]]


def test_a_sweep_is_one_table(gpol: Gpol, journal: str) -> None:
    """The recorded history first, then each variant: what changes, its figures, and who is hurt most. Exit code 2 where one changes."""
    done = gpol("impact", journal, "lab.gpol", "--set", f"{RUNNING}=10m,30m", "--jobs", "1", "--format", "plain")

    assert done.code == 2
    assert done.out.splitlines()[:4] == [
        "policy\tchanged\tevicted\trejected\twaiting\tmean wait\tp95\tGPU-hours\tmakespan\tworse\tbetter\tmost hurt",
        # g: 0 and 1h, o: 5m; 10 minutes of 8 GPUs are lost.
        "recorded\t-\t1\t1\t0\t21m40s\t1h\t25.3\t3h10m\t-\t-\t-",
        f"lab.gpol {RUNNING}=10m\t0\t1\t1\t0\t21m40s\t1h\t25.3\t3h10m\t0\t0\tnone",
        # g: 0 and 1h, o: 25m; half an hour is lost.
        f"lab.gpol {RUNNING}=30m\t6\t1\t1\t0\t28m20s\t1h\t28.0\t3h30m\t2\t0\towner +20m",
    ]


def test_json_names_what_was_set(gpol: Gpol, journal: str) -> None:
    """One object for the recorded history and one for each variant, with the figures of all queues."""
    done = gpol("impact", journal, "lab.gpol", "--set", f"{RUNNING}=10m", "--jobs", "1", "--format", "json")
    recorded, variant = done.records

    assert done.code == 0
    assert recorded["variant"] == "recorded"
    assert (variant["settings"], variant["changed"], variant["worst_queue"]) == ({RUNNING: "10m"}, 0, None)
    assert variant["total"] == recorded["total"]
    assert variant["queues"]["guest"]["evicted"] == 1


def test_several_policies_are_a_sweep(gpol: Gpol, lab: Path, journal: str) -> None:
    """Without anything set, each policy is a variant, in the order given."""
    (lab / "other.gpol").write_text((lab / "lab.gpol").read_text().replace("10m }", "0s }"))
    done = gpol("impact", journal, "other.gpol", "lab.gpol", "--jobs", "1", "--format", "json")

    assert [record["variant"] for record in done.records] == ["recorded", "other.gpol", "lab.gpol"]
    assert [record.get("changed") for record in done.records] == [None, 6, 0]


def test_files_of_one_name_are_told_apart(gpol: Gpol, lab: Path, journal: str) -> None:
    """By the paths that were given."""
    (lab / "new").mkdir()
    (lab / "new" / "lab.gpol").write_text((lab / "lab.gpol").read_text().replace("workload.gpu > 8", "workload.gpu > 9"))
    done = gpol("impact", journal, "lab.gpol", "new/lab.gpol", "--set", f"{RUNNING}=10m", "--jobs", "1", "--format", "json")

    assert [record["variant"] for record in done.records] == ["recorded", f"lab.gpol {RUNNING}=10m", f"new/lab.gpol {RUNNING}=10m"]
    assert [record.get("policy") for record in done.records] == [None, "lab.gpol", "new/lab.gpol"]


@pytest.mark.usefixtures("few_turns")
def test_a_policy_that_never_rests_fails_by_name(gpol: Gpol, lab: Path, journal: str) -> None:
    """Its row says so, the message names the rule, the others are played; exit code 3."""
    text = """policy "turns" {
  use gpol.fair
  preempt by anyone, reclaim-owned, fair-share, make-room
}
flavor a100 { gpu 8 }
queue owner { owns 8 gpu }
queue guest { owns nothing }
preempt anyone {
  evict from any queue
  where victim.running >= 1m
}
"""
    (lab / "turns.gpol").write_text(text)
    done = gpol("impact", journal, "turns.gpol", "lab.gpol", "--jobs", "1", "--format", "plain")

    assert done.code == 3
    assert "gpol: turns.gpol: time alone evicted" in done.err
    assert done.out.splitlines()[2].startswith("turns.gpol\tfailed")
    assert done.out.splitlines()[3].startswith("lab.gpol\t0\t")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--set", "queue.ownr.owns.a100=4"), "did you mean `queue.owner.owns.a100`?"),
        (("--set", "queue.owner.owns.a100"), "sets nothing; write it as PATH=VALUES"),
        (("--set", "queue.owner.owns.a100=4..8"), "is no range; write it as FIRST..LAST:STEP"),
        (("--set", f"queue.owner.owns.a100=4..{'9' * 19}:4"), "has a number of more than 18 digits"),
        (("--set", "queue.owner.owns.a100=-4..4:4"), "`lab.gpol queue.owner.owns.a100=-4` has 1 error"),
        (("--set", "queue.owner.owns.a100=8,16"), "`lab.gpol queue.owner.owns.a100=16` has 1 error"),
        (("--set", "queue.owner.owns.a100=4", "--set", "queue.owner.owns.a100=8"), "one path is set twice"),
        (("--set", f"{RUNNING}=5m,10m,5m"), f"--set: `{RUNNING}` is given the value `5m` twice; give it once"),
        (
            ("--set", f"{RUNNING}=5m,300s"),
            f"`lab.gpol {RUNNING}=5m` and `lab.gpol {RUNNING}=300s` are the same policy; leave one of them out",
        ),
        (("--set", "queue.owner.owns.a100=4,04"), "owns.a100=4` and `lab.gpol queue.owner.owns.a100=04` are the same policy"),
        (("lab.gpol",), "`lab.gpol` is given twice; give it once"),
        (("lab.gpol", "--set", f"{RUNNING}=5m"), f"`lab.gpol {RUNNING}=5m` is given twice; give it once"),
        (("./lab.gpol",), "`lab.gpol` and `./lab.gpol` are the same policy"),
        (("--set", f"{RUNNING}=1..100:1", "--set", "queue.owner.owns.a100=1..8:1"), "800 policies; a sweep plays at most 200"),
        (("--set", f"{RUNNING}=5m", "--open-loop"), "--open-loop is for one policy"),
        (("--set", f"{RUNNING}=5m", "--journal", "x.db"), "--journal is for one policy"),
        (("--set", f"{RUNNING}=5m", "--backend", "slurm"), "--backend is one of `dask`, `local`, `ray`, not `slurm`"),
        (("--set", f"{RUNNING}=5m", "--scheduler", "tcp://127.0.0.1:1"), "use it with --backend dask"),
        (("--backend", "dask"), "--backend is for a sweep"),
        (("--jobs", "2"), "--jobs is for a sweep"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(gpol: Gpol, journal: str, arguments: tuple[str, ...], said: str) -> None:
    """Each mistake has its message and exit code 3, and nothing is played."""
    done = gpol("impact", journal, "lab.gpol", *arguments)

    assert (done.code, done.out) == (3, "")
    assert said in done.err


def test_a_scheduler_that_does_not_answer_is_told(gpol: Gpol, journal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is named, and what went wrong; exit code 1."""
    import distributed

    def refuse(*_: object, **__: object) -> None:
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", refuse)
    done = gpol("impact", journal, "lab.gpol", "--set", f"{RUNNING}=5m", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:1")

    assert done.code == 1
    assert "no Dask scheduler answers at `tcp://127.0.0.1:1`: timed out" in done.err
