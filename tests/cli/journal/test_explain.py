"""explain: why a workload runs, waits, was evicted or rejected, now and then."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from policy_texts import IN_RACKS

Gpol = Callable[..., Any]


def test_running(gpol: Gpol, journal: str) -> None:
    """Of a running workload its admission is told, with what it borrows."""
    done = gpol("explain", journal, "g", "--at", "3")

    assert done.code == 0
    assert done.out.startswith("g is running at 2026-03-02T08:00:00Z (event 3)\n")
    assert "admitted to guest on 8 gpu of a100, borrowing 8 gpu of a100: FitsBorrowing" in done.out


@pytest.mark.parametrize(
    ("at", "when"),
    [
        ("6", "2026-03-02T08:05:00Z (event 6)"),
        ("2026-03-02T08:05:00Z", "2026-03-02T08:05:00Z (event 6)"),
        ("2026-03-02T10:07:00+02:00", "2026-03-02T08:07:00Z (event 6, of 2026-03-02T08:05:00Z)"),
        ("8:07", "2026-03-02T08:07:00Z (event 6, of 2026-03-02T08:05:00Z)"),
    ],
)
def test_waiting(gpol: Gpol, journal: str, at: str, when: str) -> None:
    """At a seq or a time, a waiting workload's reason, rule and line are told, and who keeps it until when."""
    done = gpol("explain", journal, "o", "--at", at)

    assert done.out.startswith(f"o is pending at {when}\n")
    for line in (
        "  why: WaitingForProtectedWorkloads by warm-up (lab.gpol:12)\n",
        "  waits for: g, protected until 2026-03-02T08:10:00Z by warm-up (lab.gpol:12)\n",
        "  would run, once it is next, if ",
    ):
        assert line in done.out


def test_evicted(gpol: Gpol, journal: str) -> None:
    """Of an evicted workload the beneficiary, the rule, its line and what was compared are told."""
    done = gpol("explain", journal, "g", "--at", "9")

    assert done.out.startswith("g is pending at 2026-03-02T08:10:00Z (event 9)\n")
    assert "evicted for o (reclaim) by reclaim-owned (gpol/fair.gpol:14)\n" in done.out
    assert "victim.queue.share = " in done.out


def test_rejected_and_over(gpol: Gpol, journal: str) -> None:
    """A rejected workload's rule and reason are told; one that finished is over."""
    rejected, over = gpol("explain", journal, "big"), gpol("explain", journal, "g")

    assert rejected.out.startswith("big is rejected at ")
    assert "rejected: Denied by too-big (lab.gpol:14)\n" in rejected.out
    assert "because = too big" in rejected.out
    assert over.out.startswith("g is over at ")


def test_json(gpol: Gpol, journal: str) -> None:
    """In json the moment is there, the history is whole, and where it stands is data; null for a workload that is over."""
    [record] = gpol("explain", journal, "o", "--at", "6", "--format", "json").records
    [over] = gpol("explain", journal, "g", "--format", "json").records

    assert (record["kind"], record["workload"], record["seq"], record["time"]) == ("explain", "o", 6, 1_772_438_700_000_000)
    assert [each["seq"] for each in record["history"]] == [6]
    assert (record["standing"]["state"], record["standing"]["reason"]) == ("pending", "WaitingForProtectedWorkloads")
    assert over["standing"] is None


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("zed",), "no workload `zed` was submitted up to event 12"),
        (("o", "--at", "3"), "no workload `o` was submitted up to event"),
        (("g", "--at", "13"), "--at: the journal has events 1 to 12, not 13"),
        (("g", "--at", "0"), "--at: the journal has events 1 to 12, not 0"),
        (("g", "--at", "9" * 5000), "--at: the journal has events 1 to 12"),
        (("g", "--at", "soon"), "--at: `soon` is no time"),
        (("g", "--at", "2020-01-01T00:00:00Z"), "--at: nothing had happened by 2020-01-01T00:00:00Z"),
        (("g", "--at", "2030-01-01T00:00:00Z"), "--at: the journal ends before 2030-01-01T00:00:00Z, with event 12"),
    ],
)
def test_what_cannot_be_explained_is_told(gpol: Gpol, journal: str, arguments: tuple[str, ...], part: str) -> None:
    """Unknown workloads and moments outside the journal are told, exit code 3."""
    done = gpol("explain", journal, *arguments)

    assert (done.code, done.out) == (3, "")
    assert part in done.err


NESTED = """policy "nested" {
  use kueue.fair
  preempt fairly by final share
}

flavor f { gpu as owned }

cohort top {
  cohort inner {
    queue lender { owns 2 gpu on f }
    queue borrower { owns nothing }
  }
  queue hungry {
    owns nothing
    reclaims from anyone
  }
}
"""


def test_candidates_are_told_together_and_why(gpol: Gpol, tmp_path: Path) -> None:
    """Candidates for whom the same was compared stand on one line; one whose cohort borrows nothing does not, though its queue does."""
    (tmp_path / "nested.gpol").write_text(NESTED)
    jobs = [("b1", "borrower"), ("b2", "borrower"), ("h", "hungry")]
    facts = [
        {"kind": "WorkloadSubmitted", "time": number, "workload": name, "queue": queue, "pod_sets": [{"requests": {"gpu": "1"}}]}
        for number, (name, queue) in enumerate(jobs)
    ]
    (tmp_path / "facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))

    assert gpol("run", "nested.gpol", "facts.jsonl", "--journal", "j.db").code == 0
    told = [line for line in gpol("explain", "j.db", "h").out.splitlines() if "  candidate" in line]

    assert told == ["  candidates of borrower: not borrowing: b1, b2"]


FAIR = """policy "fair" {
  use kueue.fair
}

flavor spot { gpu as owned }
flavor f { gpu as owned }

cohort top {
  owns 4 gpu on f
  queue rich {
    serves gpu from spot, f
    owns 1 gpu on spot
    borrows up to 0 gpu on spot
  }
  queue poor {
    serves gpu from f
    owns nothing
    reclaims from anyone
  }
}
"""


def test_decisions_of_cycles(gpol: Gpol, tmp_path: Path) -> None:
    """Of an admission the flavor, what is borrowed and what kept it off the flavor before are told; of an eviction both shares."""
    (tmp_path / "fair.gpol").write_text(FAIR)
    facts = [
        {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "pod_sets": [{"requests": {"gpu": "2"}}]}
        for time, name, queue in ((0, "r1", "rich"), (1, "r2", "rich"), (10_000_000, "p", "poor"))
    ]
    (tmp_path / "facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
    assert gpol("run", "fair.gpol", "facts.jsonl", "--journal", "j.db").code == 0
    admitted, evicted = gpol("explain", "j.db", "r1").out, gpol("explain", "j.db", "r2").out

    assert "admitted to rich on 2 gpu of f, borrowing 2 gpu of f: FitsBorrowing by rich (fair.gpol:" in admitted
    assert "asks = 2 gpu on f, queue uses = 0 gpu on f, queue owns = 0 gpu on f, main on spot = asks for 2 gpu of at most 1\n" in admitted
    assert "evicted for p (fair-sharing) by poor (fair.gpol:" in evicted
    for share in ("preemptor's share, with it running = 400", "victim's share, before = 800", "victim's share, without it = 400"):
        assert f"{share} thousandths" in evicted


def test_places(gpol: Gpol, tmp_path: Path) -> None:
    """Of a running workload it is said where its pods stand, of a waiting one what it asked for and why there is no place."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    (tmp_path / "nodes.csv").write_text("node,gpu,label:model,label:rack\nn1,8,h100,r1\nn2,8,h100,r2\n")
    jobs = "a,0s,2h,q,3,2,rack\nw,1h,1h,q,2,3,host\nx,1h,9h,q,1,4,\n"
    (tmp_path / "jobs.csv").write_text(f"workload,submitted,duration,queue,pods,gpu,within\n{jobs}")
    assert gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv", "--journal", "j.db").code == 0
    at = ("--at", "1970-01-01T01:00:00Z")
    running, waiting = gpol("explain", "j.db", "a", *at), gpol("explain", "j.db", "x", *at)

    assert running.out.splitlines()[1] == "  places of main: n1 (3)"
    assert "submitted to queue q: 3 x 2 gpu within rack" in running.out
    assert "            places of main: n1 (3)" in running.out.splitlines()
    assert waiting.out.splitlines()[1] == "  why: TopologyPlacementFailed"
    assert "  no places on h100 for main: room for 0 of 1 pod; 2 of 2 places take none (gpu 2)" in waiting.out.splitlines()
    data = gpol("explain", "j.db", "a", *at, "--format", "json").records[0]
    assert data["standing"]["assignments"][0]["places"] == [{"domain": ["n1"], "pods": 3}]


ON_NODES = """policy "n" { use kueue.classical }
topology t { level host from node }
flavor f {
  gpu as owned
  placed in t
}
queue q {
  owns 8 gpu on f
  needs check prov on f for nodes
}
"""


def test_lost_nodes_and_places_that_come_later(gpol: Gpol, tmp_path: Path) -> None:
    """What a running workload lacks of places, where its pods went, and why it had to go, in `explain` and `log`; replay is the same."""
    (tmp_path / "n.gpol").write_text(ON_NODES)
    nodes = [{"kind": "NodeAdded", "node": f"n{number}", "capacity": {"gpu": "2", "pods": 9}} for number in (1, 2)]
    pods = {"count": 2, "requests": {"gpu": "1"}, "within": "host"}
    facts = [
        *nodes,
        {"kind": "WorkloadSubmitted", "workload": "a", "queue": "q", "pod_sets": [pods]},
        {"kind": "WorkloadUpdated", "workload": "a", "checks": {"prov": "Ready"}},
        {"kind": "WorkloadUpdated", "workload": "a", "lost_nodes": ["n1"]},
        {"kind": "NodeRemoved", "node": "n1"},
        {"kind": "WorkloadUpdated", "workload": "a", "lost_nodes": ["n2"]},
        {"kind": "NodeRemoved", "node": "n2"},
        {"kind": "TimeAdvanced"},
    ]
    timed = [{**fact, "time": number * 60_000_000} for number, fact in enumerate(facts)]
    (tmp_path / "facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in timed))
    assert gpol("run", "n.gpol", "facts.jsonl", "--journal", "j.db").code == 0
    told, early = gpol("explain", "j.db", "a").out, gpol("explain", "j.db", "a", "--at", "1970-01-01T00:02:30Z").out

    assert "waits for places: until prov is ready\n" in early
    assert "placed on n1 (2): NodesProvided\n            ready check = prov\n" in told
    assert "updated: lost n1\n" in told
    assert "placed on n2 (2): NodeLost\n            lost node = n1\n" in told
    assert "evicted (node-lost)\n            lost node = n2, no other place = f for main: room for 0 of 2 pods within one host" in told
    assert "WorkloadPlaced     a in q NodeLost\n" in gpol("log", "j.db").out
    assert gpol("replay", "j.db").code == 0
    assert gpol("fsck", "j.db").code == 0
