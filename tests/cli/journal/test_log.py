"""log: which events are shown, how, and what cannot be asked of a journal."""

from collections.abc import Callable
from typing import Any

import pytest

Gpol = Callable[..., Any]
EVENTS = [
    (1, "PolicyActivated", None), (2, "WorkloadSubmitted", "g"), (3, "WorkloadAdmitted", "g"), (4, "WorkloadSubmitted", "big"),
    (5, "WorkloadRejected", "big"), (6, "WorkloadSubmitted", "o"), (7, "TimeAdvanced", None), (8, "WorkloadEvicted", "g"),
    (9, "WorkloadAdmitted", "o"), (10, "WorkloadFinished", "o"), (11, "WorkloadAdmitted", "g"), (12, "WorkloadFinished", "g"),
]  # fmt: skip


def test_log_shows_every_event(gpol: Gpol, journal: str) -> None:
    """In json every event is whole, with its seq."""
    records = gpol("log", journal, "--format", "json").records

    assert [(each["seq"], each["event"]["kind"], each["event"].get("workload")) for each in records] == EVENTS


def test_log_names_rule_and_beneficiary(gpol: Gpol, journal: str) -> None:
    """For people an eviction is one line: when, who, for whom, by which rule and line."""
    done = gpol("log", journal, "--kind", "WorkloadEvicted")

    assert done.code == 0
    assert done.out.startswith("       8  2026-03-02T08:10:00Z  WorkloadEvicted    g in guest for o ")
    assert " by reclaim-owned (gpol/fair.gpol:14)" in done.out


def test_log_and_explain_say_what_facts_change(gpol: Gpol, facts: Callable[..., str]) -> None:
    """A capacity, an operator's wish with its note, a new priority, a hold and pods that are done are told in both."""
    submitted = {
        "kind": "WorkloadSubmitted",
        "time": 0,
        "workload": "a",
        "queue": "owner",
        "pod_sets": [{"count": 4, "requests": {"gpu": "2"}}],
    }
    written = facts(
        submitted,
        {"kind": "CapacityChanged", "time": 1_000_000, "flavor": "a100", "capacity": {"gpu": "12"}},
        {"kind": "WorkloadUpdated", "time": 2_000_000, "workload": "a", "priority": 7, "reclaimable": {"main": 1}},
        {"kind": "OperatorAction", "time": 3_000_000, "workload": "a", "by": "ada", "action": "evict", "note": "rack 4"},
        {"kind": "WorkloadUpdated", "time": 4_000_000, "workload": "a", "hold": True},
        {"kind": "WorkloadUpdated", "time": 5_000_000, "workload": "a", "hold": False},
    )
    gpol("run", "lab.gpol", written, "--journal", "j.db")
    log, explained = gpol("log", "j.db").out, gpol("explain", "j.db", "a").out

    assert "1970-01-01T00:00:01Z  CapacityChanged    a100 now 12 gpu\n" in log
    for told in ("priority 7, 1 pod of main is done", "held by its owner", "no longer held by its owner"):
        assert f"  updated: {told}\n" in explained
    assert "1970-01-01T00:00:02Z  WorkloadUpdated    a priority 7, 1 pod of main is done\n" in log
    assert "evict by operator ada: rack 4\n" in log
    assert "evict by operator ada: rack 4\n" in explained


@pytest.mark.parametrize(
    ("filters", "seqs"),
    [
        (("--workload", "o"), [6, 9, 10]),
        (("--queue", "owner"), [6, 9, 10]),
        (("--kind", "WorkloadAdmitted"), [3, 9, 11]),
        (("--kind", "WorkloadAdmitted", "--workload", "g"), [3, 11]),
        (("--since", "2026-03-02T09:10:00Z"), [10, 11, 12]),
        (("--until", "2026-03-02T08:05:00+00:00"), [1, 2, 3, 4, 5, 6]),
        (("--since", "1772438700000000", "--until", "1772439000000000"), [6, 7, 8, 9]),
        (("--workload", "nobody"), []),
        (("--kind", "WorkloadAdmitted", "--kind", "WorkloadEvicted"), [3, 8, 9, 11]),
        (("--cause", "7"), [8, 9]),
        (("--reason", "Denied"), [5]),
        (("--rule", "reclaim-owned"), [8, 9]),
        (("--user", "ada"), []),
        (("--namespace", ""), [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
        (("--after", "10"), [11, 12]),
        (("--after", "12"), []),
        (("--limit", "2"), [1, 2]),
        (("--limit", "3", "--reverse"), [12, 11, 10]),
        (("--workload", "o", "--reverse", "--limit", "2"), [10, 9]),
    ],
)
def test_log_filters(gpol: Gpol, journal: str, filters: tuple[str, ...], seqs: list[int]) -> None:
    """Each filter selects what it says, and all of them must hold."""
    assert [each["seq"] for each in gpol("log", journal, *filters, "--format", "json").records] == seqs


def test_log_says_that_nothing_is_selected(gpol: Gpol, journal: str) -> None:
    """Nothing to show is said on stderr, exit code 0; with something to show nothing is said."""
    nothing, some = gpol("log", journal, "--queue", "owner", "--kind", "WorkloadRejected"), gpol("log", journal, "--queue", "owner")

    assert (nothing.code, nothing.out, nothing.err) == (0, "", "gpol: no event is selected\n")
    assert (some.code, some.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("log", "lab.db", "--since", "yesterday"), "--since: `yesterday` is no time"),
        (("log", "lab.db", "--until", "2026-03-02T08:00:00"), "--until: `2026-03-02T08:00:00` has no zone"),
        (("log", "lab.db", "--since", "9" * 5000), "is no time"),
        (("log", "lab.db", "--since", "2", "--until", "1"), "--since is after --until"),
        (("log", "lab.db", "--kind", "WorkloadEvited"), "did you mean WorkloadEvicted?"),
        (("log", "lab.db", "--kind", "TimeAdvanced", "--kind", "X"), "no event is a `X`"),
        (("log", "lab.db", "--cause", "8"), "--cause: event 8 is a decision and causes nothing; give its own cause, 7"),
        (("log", "lab.db", "--cause", "13"), "--cause: the journal has events 1 to 12, not 13"),
        (("log", "lab.db", "--cause", "o"), "--cause: `o` is no event's number"),
        (("log", "lab.db", "--after", "13"), "--after: the journal has events 1 to 12, not 13"),
        (("log", "lab.db", "--limit", "0"), "--limit"),
        (("log", "no.db"), "no.db"),
        (("verify", "no.db"), "no.db"),
        (("replay", "lab.gpol"), "lab.gpol"),
        (("verify", "lab.db", "--head", "3:xyz"), "--head is a seq"),
        (("verify", "lab.db", "--head", "3:" + "g" * 64), "--head is a seq"),
    ],
)
def test_what_cannot_be_asked_is_told(gpol: Gpol, journal: str, arguments: tuple[str, ...], part: str) -> None:
    """Times, kinds, heads and files that are none are told on stderr, exit code 3."""
    done = gpol(*arguments)

    assert (done.code, done.out) == (3, "")
    assert part in done.err
