"""`explain` names who uses what a waiting workload lacks, what keeps each of them, until when, and how much. By the command alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Gpol

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 40 }

priority vip 100 { never evicted }

cohort all {
  queue owner { owns 40 gpu on a100 }
  queue guest { owns nothing }
}

protect kept for guest { where victim.user = "boss" }
protect warm-up { where victim.running < 1h }
"""

Told = Callable[..., str]


@pytest.fixture
def told(gpol: Gpol) -> Told:
    """Runs the command in a folder with the policy; gives what it printed."""
    Path("lab.gpol").write_text(POLICY)

    def run(*arguments: str) -> str:
        done = gpol(*arguments)
        assert done.code == 0
        return done.out

    return run


def play(told: Told, *submissions: dict[str, Any]) -> None:
    """Run submissions as facts into `j.db`; each says its `at`, `workload`, `queue` and `gpu`, and what else it says."""
    facts = []
    for given in submissions:
        at, gpu, rest = given["at"], given["gpu"], {key: value for key, value in given.items() if key not in ("at", "gpu")}
        facts.append({"kind": "WorkloadSubmitted", "time": f"2026-03-02T{at}:00Z", "pod_sets": [{"requests": {"gpu": str(gpu)}}], **rest})
    Path("facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
    told("run", "lab.gpol", "facts.jsonl", "--journal", "j.db", "--as-recorded")


def job(at: str, workload: str, queue: str, gpu: int, **said: Any) -> dict[str, Any]:
    """One submission."""
    return {"at": at, "workload": workload, "queue": queue, "gpu": gpu, **said}


def kept(told: Told, workload: str, *more: str) -> list[str]:
    """The lines about who is kept."""
    return [line.strip() for line in told("explain", "j.db", workload, *more).splitlines() if line.strip().startswith("kept")]


def candidates(told: Told, workload: str) -> list[dict[str, Any]]:
    """The same as data."""
    found: list[dict[str, Any]] = json.loads(told("explain", "j.db", workload, "--format", "json"))["standing"]["candidates"]
    return found


def test_a_class_that_is_never_evicted(told: Told) -> None:
    """The workload, its queue, what it uses, its class and the class's line."""
    play(told, job("08:00", "v", "guest", 30, priority="vip"), job("12:00", "o", "owner", 40))
    assert kept(told, "o") == ["kept: v of guest, 30 gpu of a100: its class is never evicted: vip (lab.gpol:7)"]
    [found] = candidates(told, "o")
    assert (found["workload"], found["outcome"], found["rule"]["name"]) == ("v", "never evicted", "vip")
    assert found["usage"] == [{"flavor": "a100", "resource": "gpu", "amount": 30000}]


def test_a_policy_that_evicts_nobody(told: Told) -> None:
    """Where no preempt rules are used that is said, in the same form as of the rules."""
    Path("lab.gpol").write_text(POLICY.replace("  use gpol.fair\n", "  use gpol.fair\n  preempt by nothing\n"))
    play(told, job("08:00", "g", "guest", 30), job("12:00", "o", "owner", 40))
    printed = told("explain", "j.db", "o")
    assert "  nobody is evicted under this policy: it uses no preempt rules\n" in printed
    assert kept(told, "o") == ["kept: g of guest, 30 gpu of a100: no preempt rule applies"]
    assert "candidates of" not in printed


def test_a_protection_for_good(told: Told) -> None:
    """The protect rule, its line and what it compared; time does not end it."""
    play(told, job("08:00", "b", "guest", 30, user="boss"), job("12:00", "o", "owner", 40))
    assert kept(told, "o") == ["kept: b of guest, 30 gpu of a100: it is protected: kept (lab.gpol:14), victim.user = boss"]
    [found] = candidates(told, "o")
    assert (found["outcome"], found["rule"]["name"], found["until"]) == ("protected", "kept", None)


def test_a_protection_that_ends(told: Told) -> None:
    """Of a protection that time ends it is said when, also where others keep the rest for good."""
    play(told, job("08:00", "v", "guest", 20, priority="vip"), job("11:30", "w", "guest", 10), job("12:00", "o", "owner", 40))
    assert kept(told, "o") == [
        "kept: v of guest, 20 gpu of a100: its class is never evicted: vip (lab.gpol:7)",
        "kept: w of guest, 10 gpu of a100: it is protected: warm-up (lab.gpol:15), victim.running = 30m, "
        "until 2026-03-02T12:30:00Z if nothing but time changes",
    ]
    assert [found["until"] for found in candidates(told, "o")] == [None, 1_772_454_600_000_000]


def test_a_guard_that_is_false(told: Told) -> None:
    """The rule whose guard is false, with the values compared: here nobody has a lower priority."""
    play(told, job("08:00", "a", "owner", 40), job("12:00", "o", "owner", 40))
    lines = kept(told, "o")
    assert len(lines) == 1
    assert lines[0].startswith("kept: a of owner, 40 gpu of a100: the guard of the rule is false: make-room (gpol/fair.gpol:")
    assert lines[0].endswith(", victim.priority = 0, workload.priority = 0")


def test_a_queue_that_does_not_borrow(told: Told) -> None:
    """A guest cannot reclaim from a queue that uses no more than it owns."""
    play(told, job("08:00", "a", "owner", 40), job("12:00", "g", "guest", 1))
    lines = kept(told, "g")
    assert len(lines) == 1
    assert lines[0].startswith("kept: a of owner, 40 gpu of a100: its queue uses no more than it owns: ")


def test_who_may_go_but_is_not_enough(told: Told) -> None:
    """One that may go is told as well: alone it frees too little."""
    play(told, job("08:00", "v", "guest", 30, priority="vip"), job("08:00", "a", "guest", 5), job("12:00", "o", "owner", 40))
    lines = kept(told, "o")
    assert len(lines) == 2
    assert lines[0].startswith("kept: v of guest, 30 gpu of a100: ")
    assert lines[1].startswith("kept: a of guest, 5 gpu of a100: it may go, but all who may go free too little: reclaim-owned (")


def test_the_list_is_bounded_and_begins_with_the_largest(told: Told) -> None:
    """Ten are shown, those that use most first; the rest is counted, with what it uses."""
    small = [job("08:00", f"s{number:02}", "guest", 1, priority="vip") for number in range(24)]
    play(told, *small, job("08:01", "big", "guest", 9, priority="vip"), job("12:00", "o", "owner", 40))
    lines = kept(told, "o")
    assert len(lines) == 11
    assert lines[0].startswith("kept: big of guest, 9 gpu of a100: ")
    assert lines[-1] == "kept, not shown: 15 workloads, 15 gpu of a100: its class is never evicted"
    standing = json.loads(told("explain", "j.db", "o", "--format", "json"))["standing"]
    assert len(standing["candidates"]) == 20
    assert [(left["outcome"], left["count"]) for left in standing["left_out"]] == [("never evicted", 5)]


def test_nobody_is_kept_from_what_can_never_run(told: Told) -> None:
    """Where no eviction could ever help, nobody is listed."""
    play(told, job("08:00", "v", "guest", 30, priority="vip"), job("12:00", "o", "owner", 41))
    assert kept(told, "o") == []
