"""Where a waiting workload stands, in words."""

from typing import Any, get_args

import pytest
from gpol.cli.journal.standings import _LAST, _OUTCOMES, waiting
from gpol.engine.event_parts import DeferralOutcome, Limit, Operand, RuleRef
from gpol.engine.explain.standing import CandidateStanding, FlavorStanding, HoldStanding, Remedy, Standing
from gpol.engine.outcome.nomination import CandidateOutcome

RULE = RuleRef(name="q", file="p.gpol", line=7)


def limit(kind: str = "owned", node: str = "all", resource: str = "gpu") -> Limit:
    """Five are asked for, two are there, in thousandths."""
    values = {"node": node, "limit": kind, "flavor": "a", "resource": resource, "asked": 5000, "available": 2000, "deficit": 3000}
    return Limit.model_validate({**values, "source": RULE})


def told(**said: Any) -> list[str]:
    """The lines of a workload that waits in q, with what is said of it."""
    base: dict[str, Any] = {"workload": "w", "state": "pending", "time": 0, "queue": "q", "priority": 5, "asked_priority": 5}
    return waiting(Standing.model_validate({**base, "submitted": 0, "evictions": 0, "reason": "WaitingForQuota", **said}))


def flavor(**said: Any) -> FlavorStanding:
    """What is said of flavor a for GPUs."""
    base: dict[str, Any] = {"pod_set": "main", "resources": ("gpu",), "flavor": "a", "reason": "WaitingForQuota", "limit": None}
    return FlavorStanding.model_validate({**base, **said})


def candidate(name: str, queue: str, outcome: CandidateOutcome, *compared: tuple[str, str], **said: Any) -> CandidateStanding:
    """A candidate and what was compared."""
    operands = tuple(Operand(name=name, value=value) for name, value in compared)
    return CandidateStanding(workload=name, queue=queue, outcome=outcome, operands=operands, **said)


def test_every_end_of_a_cycle_has_words() -> None:
    """Whatever a cycle may come to, but for an admission, is told in words; and so is what came of each candidate."""
    assert set(_LAST) == set(get_args(DeferralOutcome))
    assert set(_OUTCOMES) == set(get_args(CandidateOutcome))


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ({"rule": RULE}, ["why: WaitingForQuota by q (p.gpol:7)"]),
        ({"position": 2, "waiting": 3}, ["place: 2 of 3 in queue q, priority 5"]),
        ({"position": 2, "waiting": 3, "parked": True}, ["place: 2 of 3 in queue q, priority 5, parked until something becomes free"]),
        ({"asked_priority": 9}, ["priority: asked for 9, counts as 5"]),
        ({"operands": (Operand(name="first in line", value="x"),)}, ["first in line: x"]),
        ({"outcome": "overlapping"}, ["last cycle: its victims were preempted for another workload in the same cycle"]),
        (
            {"outcome": "preempting", "victims": ("a", "b"), "now": "evicts"},
            [
                "last cycle: it preempts its victims and waits until they have stopped: a, b",
                "as things stand: it preempts the candidates that are taken, once it is next",
            ],
        ),
        (
            {
                "also": (
                    HoldStanding(reason="Suspended", rule=RULE, operands=(Operand(name="queue", value="stopped"),)),
                    HoldStanding(reason="OnHold"),
                )
            },
            ["also: Suspended by q (p.gpol:7) (queue stopped)", "also: OnHold"],
        ),
        (
            {"limit": limit()},
            ["limit: what it may use of what is owned at all: asks for 5 gpu on a, 2 gpu available, 3 gpu more needed"],
        ),
        (
            {"limit": limit("borrowing"), "reason": "ExceedsMaxQuota"},
            ["why: ExceedsMaxQuota", "limit: its borrowing limit at all: asks for 5 gpu on a, at most 2 gpu, 3 gpu more needed"],
        ),
    ],
)
def test_lines(said: dict[str, Any], lines: list[str]) -> None:
    """What is known is told, and nothing else."""
    assert [line for line in told(**said) if line != "why: WaitingForQuota"] == lines


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({"limit": limit()}, "flavor a for main (gpu): WaitingForQuota, 3 gpu more needed"),
        (
            {"limits": (limit(), limit(resource="cpu")), "because": ("nobody goes",)},
            "flavor a for main (gpu): WaitingForQuota, 3 gpu more needed, 3 cpu more needed, nobody goes",
        ),
        ({"reason": "Fits", "borrows": True}, "flavor a for main (gpu): Fits, borrowing"),
        (
            {"flavor": "", "reason": "NoMatchingFlavor", "because": ("the queue serves no gpu",)},
            "any flavor for main (gpu): NoMatchingFlavor, the queue serves no gpu",
        ),
    ],
)
def test_flavors(said: dict[str, Any], line: str) -> None:
    """Each flavor says its reason, every limit that is short, and what no limit says."""
    assert told(flavors=(flavor(**said),))[1:] == [line]


def test_candidates() -> None:
    """Those who would go come first, by queue; those who were not looked at one by one stand together, whatever their queue."""
    lines = told(
        evicts="in cycles",
        candidates=(
            candidate("v1", "x", "not borrowing"),
            candidate("v2", "y", "not borrowing"),
            candidate("v3", "y", "not borrowing", evicting=True),
            candidate("v4", "y", "taken", ("victim.priority", "1")),
            candidate("v5", "x", "taken", ("victim.priority", "1")),
            candidate("v6", "x", "not allowed", ("reclaims from", "nobody"), rule=RULE),
        ),
    )

    assert lines[1:] == [
        "candidates of x: taken (victim.priority 1): v5",
        "candidates of y: taken (victim.priority 1): v4",
        "candidates of x, y: not borrowing: v1, v2",
        "candidates of y: not borrowing (told to stop): v3",
        "candidates of x: not allowed by q (p.gpol:7) (reclaims from nobody): v6",
    ]


def test_what_holds_decides_the_words() -> None:
    """What could be done for it is told as of one that is held only where that is said, whatever its reason."""
    assert told(reason="Suspended", now="fits")[1:] == ["as things stand: it is admitted once it is next"]
    assert told(held=True, now="fits")[1:] == ["as things stand: once nothing holds it, it is admitted when it is next"]


def test_many_candidates() -> None:
    """Of a group five are named; after twenty groups the others are counted."""
    few = [candidate(f"v{number}", "x", "not borrowing") for number in range(7)]
    many = [candidate(f"s{number:02}", "x", "share", ("share", str(number))) for number in range(22)]

    assert told(evicts="in cycles", candidates=few)[1:] == ["candidates of x: not borrowing: v0, v1, v2, v3, v4 and 2 more"]
    assert told(evicts="in cycles", candidates=many)[-1] == "candidates not shown: 2 share"


@pytest.mark.parametrize(
    ("remedy", "words"),
    [
        (Remedy(kind="ends", workloads=("a", "b")), "a, b ended"),
        (
            Remedy(kind="limits", limits=(limit(), limit("borrowing", "q"))),
            "all owned 3 gpu more on a and q could borrow 3 gpu more on a",
        ),
        (Remedy(kind="limits", limits=(limit("capacity"),)), "a had 3 gpu more that nobody owns"),
        (Remedy(kind="flavor", flavor="b", by=("queue",)), "its queue accepted flavor b"),
        (
            Remedy(kind="flavor", flavor="b", by=("queue", "workload"), needs=("main tolerates x",), evicting=("v",)),
            "its queue and it accepted flavor b (main tolerates x), evicting v",
        ),
        (Remedy(kind="time", until=60_000_000), "nothing else changes until 1970-01-01T00:01:00Z"),
        (Remedy(kind="release"), "nothing held it any more"),
    ],
)
def test_remedies(remedy: Remedy, words: str) -> None:
    """Each remedy is the end of one sentence."""
    assert told(remedies=(remedy,))[1:] == [f"would run, once it is next, if {words}"]
