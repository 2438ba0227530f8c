"""Rows of events: what each kind says stands in its columns, and nothing else does."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.adapters.export.columns import COLUMNS, OBJECTS, because, placed, row_of
from gpol.engine.event_parts import Assignment, Charge, PlacedPods, PodSet
from gpol.engine.events import AnyEvent, WorkloadEvicted
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.outcome.grounds import Unplaced, Why
from gpol.engine.units import INT64_MAX
from gpol.journal.errors import JournalError
from gpol.journal.read.workload_origins import NO_ORIGIN, Origin
from gpol.journal.records import Recorded

Stored = Callable[..., Recorded]

TIME = 1_767_323_045_000_000

EVERYONE = {"seq": 7, "time": TIME, "chain": bytes(range(32)).hex()}

GPU = "nvidia.com/gpu"

SAID: dict[str, dict[str, Any]] = {
    "PolicyActivated": {"policy_file": "cluster.gpol", "policy_digest": "sha256:" + "5d" * 32, "operator": "grace"},
    "CapacityChanged": {
        "flavor": "a100",
        "capacity": [{"resource": "gpu", "amount": 8000}, {"resource": "memory", "amount": 2 << 40}],
    },
    "NodeAdded": {"node": "rack1-n7", "capacity": [{"resource": "cpu", "amount": 96_000}, {"resource": "gpu", "amount": 8000}]},
    "NodeChanged": {"node": "rack1-n7", "capacity": [{"resource": "cpu", "amount": 96_000}, {"resource": "gpu", "amount": 7000}]},
    "NodeRemoved": {"node": "rack1-n7"},
    "SimulationStarted": {},
    "WorkloadSubmitted": {
        "workload": "bert-7",
        "pods": 5,
        "asked_gpu_milli": 8000,  # 4 pods of 2
        "requests": [
            {"pod_set": "driver", "count": 1, "resource": "cpu", "amount": 500},
            {"pod_set": "driver", "count": 1, "resource": "memory", "amount": 1 << 30},
            {"pod_set": "worker", "count": 4, "resource": "cpu", "amount": 8000},
            {"pod_set": "worker", "count": 4, "resource": "gpu", "amount": 2000},
        ],
    },
    "WorkloadAdopted": {
        "workload": "team-a/train-7",
        "gpu_milli": 32_000,
        "usage": [
            {"flavor": "h100", "resource": "cpu", "amount": 16_000},
            {"flavor": "h100", "resource": GPU, "amount": 32},
        ],
        "assignments": [
            {"pod_set": "main", "count": 4, "resource": "cpu", "flavor": "h100"},
            {"pod_set": "main", "count": 4, "resource": GPU, "flavor": "h100"},
        ],
    },
    "UsageReported": {"local_queue": "team-a/batch"},
    "WorkloadUpdated": {"workload": "bert-7"},
    "WorkloadFinished": {"workload": "bert-7"},
    "WorkloadCancelled": {"workload": 'größe "7"\n'},
    "TimeAdvanced": {},
    "OperatorAction": {"workload": "bert-7", "operator": "grace", "action": "evict"},
    "WorkloadAdmitted": {
        "cause": 6,
        "workload": "bert-7",
        "gpu_milli": 8000,
        "borrowed_gpu_milli": 2000,
        "usage": [{"flavor": "a100", "resource": "gpu", "amount": 8000}],
        "borrowed": [{"flavor": "a100", "resource": "gpu", "amount": 2000}],
        "assignments": [
            {"pod_set": "driver", "count": 1, "resource": "cpu", "flavor": "h100"},
            {"pod_set": "driver", "count": 1, "resource": "memory", "flavor": "h100"},
            {"pod_set": "worker", "count": 4, "resource": "cpu", "flavor": "a100"},
            {"pod_set": "worker", "count": 4, "resource": "gpu", "flavor": "a100"},
        ],
        "reason": "FitsAfterEviction",
        "rule": "reclaim-owned",
        "rule_file": "cluster.gpol",
        "rule_line": 31,
        "operands": [{"name": "workload.queue.share", "value": "3/4"}],
    },
    "WorkloadEvicted": {
        "cause": 6,
        "workload": "edu-3",
        "gpu_milli": 4000,
        "usage": [{"flavor": "a100", "resource": "gpu", "amount": 4000}],
        "beneficiary": "bert-7",
        "preemption": "reclaim",
        "reason": "Preempted",
        "rule": "reclaim-owned",
        "rule_file": "cluster.gpol",
        "rule_line": 31,
        "operands": [],
        "limit_kind": "owned",
        "limit_node": "nlp",
        "limit_flavor": "a100",
        "limit_resource": "gpu",
        "limit_asked": 8000,
        "limit_available": 5000,
        "limit_deficit": 3000,
        "limit_file": "cluster.gpol",
        "limit_line": 12,
    },
    "WorkloadDeferred": {
        "cause": 6,
        "workload": "team-a/train-8",
        "waits": "parked",
        "reason": "WaitingForQuota",
        "operands": [{"name": "because of", "value": "namespace"}],
        "limit_kind": "owned",
        "limit_node": "team-a",
        "limit_flavor": "h100",
        "limit_resource": GPU,
        "limit_asked": 8,
        "limit_available": 5,
        "limit_deficit": 3,
        "limit_file": "cluster.gpol",
        "limit_line": 12,
    },
    "WorkloadPlaced": {
        "cause": 6,
        "workload": "team-a/train-7",
        "assignments": [{"pod_set": "main", "count": 4, "resource": GPU, "flavor": "h100"}],
        "places": [{"pod_set": "main", "domain": "n1", "pods": 3}, {"pod_set": "main", "domain": "n4", "pods": 1}],
        "reason": "NodeLost",
        "operands": [{"name": "lost node", "value": "n2"}],
    },
    "WorkloadMoved": {
        "cause": 6,
        "workload": "train-9",
        "assignments": [{"pod_set": "main", "count": 4, "resource": "gpu", "flavor": "h100"}],
        "places": [{"pod_set": "main", "domain": "n1", "pods": 3}, {"pod_set": "main", "domain": "n4", "pods": 1}],
        "beneficiary": "bert-7",
        "reason": "Consolidated",
        "operands": [],
    },
    "WorkloadResized": {
        "cause": 6,
        "workload": "train-9",
        "gpu_milli": 6000,
        "borrowed_gpu_milli": 2000,
        "usage": [{"flavor": "h100", "resource": "gpu", "amount": 6000}],
        "borrowed": [{"flavor": "h100", "resource": "gpu", "amount": 2000}],
        "assignments": [{"pod_set": "main", "count": 6, "resource": "gpu", "flavor": "h100"}],
        "places": [{"pod_set": "main", "domain": "n1", "pods": 4}, {"pod_set": "main", "domain": "n2", "pods": 2}],
        "reason": "RoomForMore",
        "rule": "nlp",
        "rule_file": "cluster.gpol",
        "rule_line": 12,
        "operands": [{"name": "asks", "value": "2 gpu on h100"}],
    },
    "WorkloadReplaced": {
        "cause": 6,
        "workload": "team-a/grow-1",
        "replaced_by": "team-a/grow-2",
        "gpu_milli": 4000,
        "usage": [{"flavor": "h100", "resource": GPU, "amount": 4}],
        "reason": "WorkloadSliceReplaced",
        "operands": [],
    },
    "WorkloadRejected": {
        "cause": 6,
        "workload": "edu-4",
        "reason": "Denied",
        "rule": "too-big",
        "rule_file": "cluster.gpol",
        "rule_line": 40,
        "operands": [],
    },
}
"""What each kind says, worked out from its golden payload; all other columns are empty."""


@pytest.mark.parametrize("kind", sorted(SAID))
def test_each_kind(stored: Stored, kind: str) -> None:
    """A row has all columns in order; those that the event says something for are filled, the others None."""
    recorded = stored(kind)
    row = row_of(recorded, NO_ORIGIN)
    filled = {name: value for name, value in row.items() if value is not None}

    assert list(row) == list(COLUMNS)
    assert filled == {
        **EVERYONE,
        "kind": kind,
        "is_decision": "cause" in SAID[kind],
        **SAID[kind],
        "payload": recorded.payload.decode(),
    }


def test_every_kind_is_expected(all_stored: list[Recorded]) -> None:
    """No kind is left out above."""
    assert {each.event.kind for each in all_stored} == set(SAID)


def test_lists_are_of_their_objects() -> None:
    """Every list above has the fields that are declared for its column."""
    for said in SAID.values():
        for name, value in said.items():
            for item in value if isinstance(value, list) else ():
                assert list(item) == list(OBJECTS[COLUMNS[name]])


def test_the_origin_is_in_every_row_of_a_workload(stored: Stored) -> None:
    """Whose a workload is, when it was submitted and in which queue it is stands in rows of events that don't say so themselves."""
    fields = {"namespace": "ns", "user": "ada", "group": "nlp", "workload_kind": "Job", "local_queue": "ns/lq", "priority": -3}
    submission = WorkloadSubmitted(time=5, workload="bert-7", pod_sets=(PodSet(requests={}),), **fields)  # type: ignore[arg-type]
    row = row_of(stored("WorkloadFinished"), Origin(2, submission, "nlp"))

    told = {"submission": 2, "submitted": 5, "queue": "nlp", **fields, "priority": "-3"}
    assert {name: row[name] for name in told} == told


@pytest.mark.parametrize(
    "event",
    [
        WorkloadSubmitted(time=0, workload="w", pod_sets=(PodSet(requests={GPU: INT64_MAX}),)),
        WorkloadEvicted(
            time=0,
            cause=1,
            workload="w",
            queue="q",
            priority=0,
            reason="EvictedByOperator",
            beneficiary=None,
            preemption="operator",
            usage=tuple(Charge(flavor=flavor, resource="gpu", amount=INT64_MAX) for flavor in "ab"),
            why=Why(),
        ),
    ],
)
def test_more_gpus_than_64_bits_hold(event: AnyEvent) -> None:
    """A sum that no 64-bit column holds is refused with the event's number."""
    with pytest.raises(JournalError, match="event 3 is about more GPUs than 64 bits hold"):
        row_of(Recorded(3, event.payload(), bytes(32)), NO_ORIGIN)


def test_where_pods_stand() -> None:
    """A row for each domain of each pod set, with its values as one text; nothing where pods have no places."""
    there = (PlacedPods(domain=("r1", "n1"), pods=2), PlacedPods(domain=("n2",), pods=1))
    given = Assignment(pod_set="main", count=3, flavors={"gpu": "a100"}, places=there)
    assert placed([given, Assignment(pod_set="rest", count=1, flavors={})]) == [
        {"pod_set": "main", "domain": "r1/n1", "pods": 2},
        {"pod_set": "main", "domain": "n2", "pods": 1},
    ]
    assert placed([Assignment(pod_set="rest", count=1, flavors={})]) is None


def test_why_there_are_no_places() -> None:
    """The flavor, the level, for how many there is room, and where for most."""
    told = Unplaced(kind="no-room", pod_sets=("main",), flavor="a100", level="rack", fit=1, of=2, closest=("b1", "r2"))
    assert because(Why(places=told)) == {
        "operands": [],
        "unplaced_flavor": "a100",
        "unplaced_level": "rack",
        "unplaced_fit": 1,
        "unplaced_of": 2,
        "unplaced_closest": "b1/r2",
    }
    nowhere = because(Why(places=Unplaced(kind="no-room", pod_sets=("main",), flavor="a100", of=2)))
    assert (nowhere["unplaced_level"], nowhere["unplaced_closest"]) == (None, None)
