"""--by of run and simulate: who activated the policy is in the journal, and is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.engine.facts import PolicyActivated
from gpol.journal.journal import Journal

Gpol = Callable[..., Any]


def _recorded(path: str) -> PolicyActivated:
    with Journal.open(path) as journal:
        event = journal.at(1).event
    assert isinstance(event, PolicyActivated)
    return event


@pytest.fixture(params=["run", "simulate"])
def command(request: pytest.FixtureRequest, lab: Path, facts: Callable[..., str]) -> tuple[str, ...]:
    """A command that activates the lab's policy in `j.db`."""
    source = facts() if request.param == "run" else "jobs.csv"
    return (request.param, "lab.gpol", source, "--journal", "j.db")


def test_who_activates_is_recorded(gpol: Gpol, command: tuple[str, ...]) -> None:
    """The name stands in PolicyActivated as it was given, also where it is as long as names can be."""
    name = "Größe " + 247 * "x"
    done = gpol(*command, "--by", name)

    assert (done.code, len(name)) == (0, 253)
    assert _recorded("j.db").by == name
    assert gpol("replay", "j.db").code == 0


def test_nobody_is_left_out(gpol: Gpol, command: tuple[str, ...]) -> None:
    """Without a name, or with an empty one, the event has no such field, as before there was the option."""
    gpol(*command)
    gpol(*command[:-1], "empty.db", "--by", "")

    with Journal.open("j.db") as without, Journal.open("empty.db") as empty:
        assert b'"by"' not in without.at(1).payload
        assert without.head == empty.head


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (254 * "x", "--by: the name has 254 characters, and at most 253 are recorded; give a shorter one"),
        ("gr\udcffn", "--by: the name is not UTF-8; give it in UTF-8"),
    ],
)
def test_names_that_no_event_can_hold(gpol: Gpol, lab: Path, command: tuple[str, ...], name: str, problem: str) -> None:
    """A name that is too long or no text is refused before a journal is made."""
    done = gpol(*command, "--by", name)

    assert (done.code, done.err) == (3, f"gpol: {problem}\n")
    assert not (lab / "j.db").exists()


def test_a_name_without_a_journal(gpol: Gpol, command: tuple[str, ...]) -> None:
    """Where nothing would record the name, it is refused and not ignored."""
    done = gpol(*command[:-2], "--by", "grace")

    assert done.code == 3
    assert done.err == "gpol: --by: there is no journal to record the name in; give --journal PATH, or leave --by out\n"


def test_who_activated_is_told(gpol: Gpol, command: tuple[str, ...]) -> None:
    """log, state and explain name who activated the policy; where nobody is named they say nothing of it."""
    gpol(*command, "--by", "grace")
    gpol(*command[:-1], "nobody.db")
    [state, *_] = gpol("state", "j.db", "--format", "json").records
    [explained] = gpol("explain", "j.db", "g", "--format", "json").records
    [silent, *_] = gpol("state", "nobody.db", "--format", "json").records

    assert "PolicyActivated    lab.gpol activated by grace\n" in gpol("log", "j.db").out
    assert "policy lab.gpol, since 2026-03-02T08:00:00Z (event 1), activated by grace, sha256:" in gpol("state", "j.db").out
    assert "  policy: lab.gpol, activated by grace at 2026-03-02T08:00:00Z (event 1)\n" in gpol("explain", "j.db", "g").out
    assert (state["policy"]["by"], explained["policy"], silent["policy"]["by"]) == ("grace", state["policy"], None)
    assert "activated" not in gpol("log", "nobody.db").out + gpol("state", "nobody.db").out + gpol("explain", "nobody.db", "g").out


def test_an_operator_is_told_with_the_eviction(gpol: Gpol, lab: Path, facts: Callable[..., str]) -> None:
    """log and explain name the operator by whose wish a workload was evicted."""
    submitted = {"kind": "WorkloadSubmitted", "time": 0, "workload": "a", "queue": "owner", "pod_sets": [{"requests": {"gpu": "2"}}]}
    written = facts(submitted, {"kind": "OperatorAction", "time": 1, "workload": "a", "by": "ada", "action": "evict"})
    gpol("run", "lab.gpol", written, "--journal", "j.db")

    assert "a in owner by operator ada (2 gpu of a100) EvictedByOperator\n" in gpol("log", "j.db").out
    assert "evicted by operator ada (operator)\n" in gpol("explain", "j.db", "a").out


def test_a_run_of_exported_facts_has_to_be_told(gpol: Gpol, lab: Path, command: tuple[str, ...]) -> None:
    """export facts says that the name has to be given again; a run that is given it ends in the same chain."""
    gpol(*command, "--by", "grace hopper")
    (lab / "again").mkdir()
    exported = gpol("export", "facts", "j.db", "-o", "again/facts.jsonl", "-p", "again/lab.gpol")
    again = ("run", "again/lab.gpol", "again/facts.jsonl", "--as-recorded", "--journal")
    gpol(*again, "again/with.db", "--by", "grace hopper")
    gpol(*again, "again/without.db")

    with Journal.open("j.db") as old, Journal.open("again/with.db") as same, Journal.open("again/without.db") as other:
        assert same.head == old.head != other.head
    told = "note: the policy was activated by `grace hopper`: give the run `--by 'grace hopper'`, or its chain will be another\n"
    assert exported.err == told
