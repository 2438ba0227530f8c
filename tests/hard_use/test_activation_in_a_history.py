"""A history may change its policy: `run` takes the fact, and whatever reads the journal goes on with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.dsl.analysis.profiles import shipped

Gpol = Callable[..., Any]

DAY = """policy "day" {
  use gpol.fair
}

flavor a100 { gpu 8 }

cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}

deny too-big for guest { where workload.gpu > 4 } because "too big"
"""

NIGHT = DAY.replace('"day"', '"night"').replace("> 4", "> 8")


def _job(name: str, hour: int, gpus: int) -> dict[str, Any]:
    pods = [{"requests": {"gpu": f"{gpus}"}}]
    return {"kind": "WorkloadSubmitted", "time": f"2026-03-02T{hour:02}:00:00Z", "workload": name, "queue": "guest", "pod_sets": pods}


def _night(**said: Any) -> dict[str, Any]:
    return {"kind": "PolicyActivated", "time": "2026-03-02T20:00:00Z", "file": "policies/night.gpol", **said}


def _write(folder: Path, *facts: dict[str, Any]) -> None:
    (folder / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))


@pytest.fixture
def folder(gpol: Gpol, tmp_path: Path) -> Path:
    """The policy of the day, and in a folder that of the night, under which guests may ask for eight GPUs and not only for four."""
    (tmp_path / "day.gpol").write_text(DAY)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "night.gpol").write_text(NIGHT)
    return tmp_path


@pytest.fixture
def journal(gpol: Gpol, folder: Path) -> str:
    """A day on which eight GPUs are refused, and a night on which they are given."""
    _write(folder, _job("early", 10, 8), _night(by="grace", note="more room at night"), _job("late", 21, 8))
    done = gpol("run", "day.gpol", "facts.jsonl", "--journal", "two.db", "--format", "json")
    assert (done.code, done.err) == (0, "")
    return "two.db"


def test_the_policy_of_the_line_decides_from_then_on(gpol: Gpol, journal: str) -> None:
    """The same request is refused before and admitted after; who changed the policy and why is told."""
    assert gpol("explain", journal, "early").out.splitlines()[0] == "early is rejected at 2026-03-02T21:00:00Z (event 6)"
    late = gpol("explain", journal, "late").out
    assert late.startswith("late is running")
    assert "policy: night.gpol, activated by grace at 2026-03-02T20:00:00Z (event 4): more room at night" in late
    assert "activated by grace: more room at night" in gpol("log", journal).out
    [state, *_] = gpol("state", journal, "--format", "json").records
    assert (state["policy"]["file"], state["policy"]["by"], state["policy"]["note"]) == ("night.gpol", "grace", "more room at night")


@pytest.mark.parametrize("core", ["definition", "arrays"])
def test_it_replays_and_verifies(gpol: Gpol, journal: str, core: str) -> None:
    """Both cores decide it again, and the journal alone is enough: the file of the policy may be gone."""
    Path("policies/night.gpol").unlink()

    assert gpol("replay", journal, "--by", core).code == 0
    assert gpol("verify", journal).code == 0
    assert gpol("fsck", journal).code == 0


def test_impact_plays_it(gpol: Gpol, journal: str) -> None:
    """Another policy stands in the place of both, and impact says so."""
    Path("same.gpol").write_text(NIGHT)
    done = gpol("impact", journal, "same.gpol")

    assert done.code == 2
    assert "the journal activates a policy 2 times; same.gpol stands in the place of each" in done.out
    assert gpol("impact", journal, "same.gpol", "--open-loop").code == 2


def test_export_and_run_make_the_same_journal(gpol: Gpol, journal: str) -> None:
    """The exported facts have the second policy with all its texts, so a run of them ends in the same chain."""
    Path("again").mkdir()
    done = gpol("export", "facts", journal, "-o", "again/facts.jsonl", "-p", "again/day.gpol")
    assert (done.code, done.err) == (0, "")

    assert gpol("run", "again/day.gpol", "again/facts.jsonl", "--as-recorded", "--journal", "again.db").code == 0
    assert gpol("verify", "again.db").out == gpol("verify", journal).out


def test_figures_go_on(gpol: Gpol, folder: Path) -> None:
    """What the queues own follows the policy, and what was used before the change still counts."""
    (folder / "policies" / "night.gpol").write_text(NIGHT.replace("owns 8 gpu", "owns 6 gpu"))
    _write(folder, _job("a", 10, 4), _night(), {"kind": "WorkloadFinished", "time": "2026-03-02T22:00:00Z", "workload": "a"})
    records = gpol("run", "day.gpol", "facts.jsonl", "--format", "json").records

    queues = {each["queue"]: each for each in records if each["kind"] == "queue"}
    assert (queues["owner"]["owned_gpu_milli"], queues["guest"]["gpu_hours"]) == (6000, 48)


def test_the_text_may_stand_in_the_line(gpol: Gpol, folder: Path) -> None:
    """With `text` no file is read, so a history can be one stream."""
    facts = [_job("early", 10, 4), _night(file="night.gpol", text=NIGHT), _job("late", 21, 8)]
    done = gpol("run", "day.gpol", "-", "--journal", "two.db", stdin="".join(json.dumps(fact) + "\n" for fact in facts).encode())

    assert (done.code, done.err) == (0, "")
    assert "night.gpol" in gpol("log", "two.db", "--kind", "PolicyActivated", "--format", "json").out


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"file": "policies/none.gpol"}, "`policies/none.gpol` cannot be read: No such file or directory; correct `file`"),
        ({"file": "policies"}, "`policies` cannot be read: Is a directory"),
        ({"file": ""}, "`file` has to be the name of a file"),
        ({"file": None}, "`text` is missing; give the policy as `text`, or name its file as `file`"),
        ({"file": "n.gpol", "text": "policy {"}, "n.gpol:1:8: error GP0"),
        ({"file": "n.gpol", "text": NIGHT.replace("owns nothing", "owns 1 gpu on b200")}, "n.gpol:9:"),
        ({"file": "n.gpol", "text": NIGHT, "digest": "sha256:" + "0" * 64}, "leave `digest` out, or correct the text"),
        ({"file": "n.gpol", "text": NIGHT, "note": "x" * 4097}, "note: "),
        ({"file": "n.gpol", "text": NIGHT, "why": "x"}, "why: "),
        ({"file": "n.gpol", "text": DAY.replace("guest", "visitor")}, "the policy has no queue `guest`, but `a` runs there"),
        ({"file": "n.gpol", "text": 'profile "p" {\n}\n'}, "`n.gpol` is a profile; give a policy that uses it"),
        ({"file": "n.gpol", "text": NIGHT, "profiles": [{"name": "gpol.fair", "text": "policy"}]}, "PolicyActivated: "),
    ],
)
def test_what_is_no_policy(gpol: Gpol, folder: Path, said: dict[str, Any], told: str) -> None:
    """A line without a policy that can follow ends the run with the line, the cause and the place; what came before stands."""
    _write(folder, _job("a", 10, 4), _night(**said), _job("b", 21, 1))
    done = gpol("run", "day.gpol", "facts.jsonl", "--journal", "two.db")

    assert done.code == 3
    assert done.err.startswith("gpol: facts.jsonl:2: ")
    assert told in done.err
    assert "nothing from this line on was applied" in done.err
    assert gpol("log", "two.db", "--kind", "PolicyActivated", "--format", "json").out.count("PolicyActivated") == 1
    skipped = gpol("run", "day.gpol", "facts.jsonl", "--skip-invalid", "--format", "json")
    assert (skipped.code, skipped.records[-1]["facts"], skipped.records[-1]["skipped"]) == (0, 3, 1)


_OF_NO_USE = [{"name": name, "text": shipped(name)} for name in ("gpol.fair", "kueue.fair")]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"text": NIGHT, "profiles": _OF_NO_USE}, "the policy does not use the profile `kueue.fair`; leave it out of `profiles`"),
        ({"text": NIGHT + "# \u202e\n"}, "a control character U+202E stands in the file"),
    ],
)
def test_what_an_earlier_version_kept_is_played_as_recorded(gpol: Gpol, folder: Path, said: dict[str, Any], told: str) -> None:
    """It took profiles of no use, and control characters in a text. Without `--as-recorded` such a line is refused."""
    _write(folder, _job("a", 10, 4), _night(**{**said, "file": "n.gpol"}))
    refused = gpol("run", "day.gpol", "facts.jsonl")
    played = gpol("run", "day.gpol", "facts.jsonl", "--as-recorded", "--journal", "old.db")

    assert refused.code == 3
    assert told in refused.err
    assert (played.code, played.err) == (0, "")
    (folder / "again").mkdir()
    gpol("export", "facts", "old.db", "-o", "again.jsonl", "-p", "again/day.gpol")
    again = gpol("run", "again/day.gpol", "again.jsonl", "--as-recorded", "--journal", "again.db")
    assert (again.code, again.err) == (0, "")
    heads = [gpol("verify", name, "--format", "json").records[-1]["chain"] for name in ("old.db", "again.db")]
    assert heads[0] == heads[1]
