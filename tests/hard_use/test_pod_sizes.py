"""A pod runs on one machine: what is larger than every machine of a flavor does not get that flavor."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]
Told = list[tuple[str, str]]

POLICY = """policy "sizes" {
  use gpol.fair
}

flavor small { gpu, memory from nodes where model = "small" }
flavor large { gpu, memory from nodes where model = "large" }
flavor fixed { gpu 16 }

cohort all {
  queue owner {
    owns 16 gpu on small
    owns 4Ti memory on small
    only small, large
  }
  queue guest {
    owns nothing
    only small, large
  }
  queue other { only fixed }
}
"""


def node(name: str, model: str, gpu: str = "8", memory: str = "1Ti", time: int = 0, kind: str = "NodeAdded") -> dict[str, Any]:
    """A fact about a machine."""
    return {"kind": kind, "time": time, "node": name, "labels": {"model": model}, "capacity": {"gpu": gpu, "memory": memory}}


def job(name: str, queue: str = "owner", time: int = 1, count: int = 1, **requests: str) -> dict[str, Any]:
    """A submission of `count` equal pods."""
    pods = {"requests": requests, "count": count}
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "pod_sets": [pods]}


SMALL = (node("s1", "small"), node("s2", "small"))


def decided(gpol: Gpol, *facts: dict[str, Any], policy: str = POLICY, journal: str = "j.db") -> Told:
    """What is admitted and evicted, in order: the kind and the workload."""
    Path("sizes.gpol").write_text(policy)
    Path("facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
    played = gpol("run", "sizes.gpol", "facts.jsonl", "--journal", journal)
    assert played.code == 0, played.err
    events = [record["event"] for record in gpol("log", journal, "--format", "json").records]
    return [(each["kind"], each["workload"]) for each in events if each["kind"] in ("WorkloadAdmitted", "WorkloadEvicted")]


def standing(gpol: Gpol, workload: str) -> dict[str, Any]:
    """Where a workload of the journal stands."""
    found: dict[str, Any] = gpol("explain", "j.db", workload, "--format", "json").records[0]["standing"]
    return found


def flavor_of(gpol: Gpol, workload: str) -> str:
    """The flavor on which a workload runs."""
    flavors = {charge["flavor"] for charge in standing(gpol, workload)["usage"]}
    assert len(flavors) == 1
    return str(*flavors)


def test_two_machines_do_not_hold_one_pod(gpol: Gpol) -> None:
    """A pod of 16 GPUs is not admitted onto two machines of 8; two pods of 8 are."""
    assert decided(gpol, *SMALL, job("one", gpu="16"), job("two", gpu="8", count=2)) == [("WorkloadAdmitted", "two")]


def test_the_reason_is_told(gpol: Gpol) -> None:
    """The reason has a name of its own, and tells what the pod asks for and what the largest machine has."""
    decided(gpol, *SMALL, node("l1", "large", gpu="12"), job("one", gpu="16"))
    told = standing(gpol, "one")

    assert (told["reason"], told["now"]) == ("PodTooLarge", "waits")
    assert [(each["flavor"], each["reason"], each["because"]) for each in told["flavors"]] == [
        ("small", "PodTooLarge", ["one of its pods asks for 16 gpu, and its largest node has 8"]),
        ("large", "PodTooLarge", ["one of its pods asks for 16 gpu, and its largest node has 12"]),
    ]
    assert [each["kind"] for each in told["remedies"]] == ["flavor"], "neither somebody's end nor more of the same machines would help"


def test_a_flavor_with_a_larger_machine_serves(gpol: Gpol) -> None:
    """The flavor is passed over, and the next one is taken; a pod that fits takes the first."""
    assert len(decided(gpol, *SMALL, node("l1", "large", gpu="24"), job("one", gpu="16"), job("fits", gpu="8"))) == 2
    assert (flavor_of(gpol, "one"), flavor_of(gpol, "fits")) == ("large", "small")


def test_one_machine_has_to_hold_all_of_a_pod(gpol: Gpol) -> None:
    """A machine with the GPUs and another one with the memory do not hold a pod that asks for both."""
    machines = (node("gpus", "small", gpu="8", memory="1Ti"), node("memory", "small", gpu="1", memory="3Ti"))
    assert decided(gpol, *machines, job("both", gpu="8", memory="2Ti"), job("more", time=2, gpu="1", memory="2Ti")) == [
        ("WorkloadAdmitted", "more")
    ]
    assert standing(gpol, "both")["flavors"][0]["because"] == ["no node has all that one of its pods asks for"]


@pytest.mark.parametrize(
    "fact",
    [node("s3", "small", gpu="16", time=5), node("s2", "small", gpu="16", time=5, kind="NodeChanged")],
    ids=["a machine comes", "a machine changes"],
)
def test_looked_at_again(gpol: Gpol, fact: dict[str, Any]) -> None:
    """A pod that was too large is admitted as soon as a machine holds it."""
    assert decided(gpol, *SMALL, job("one", gpu="16"), fact) == [("WorkloadAdmitted", "one")]


def test_nobody_is_evicted_for_a_pod_that_no_machine_holds(gpol: Gpol) -> None:
    """An owner's pod of 16 evicts no borrower: it could not run. One of 8 does."""
    borrowers = [job(f"g{number}", "guest", gpu="8") for number in range(2)]
    assert decided(gpol, *SMALL, *borrowers, job("one", time=2, gpu="16")) == [("WorkloadAdmitted", "g0"), ("WorkloadAdmitted", "g1")]
    told = decided(gpol, *SMALL, *borrowers, job("one", time=2, gpu="8"), journal="2.db")
    assert told[2:] == [("WorkloadEvicted", "g1"), ("WorkloadAdmitted", "one")]


def test_every_pod_set_counts(gpol: Gpol) -> None:
    """A workload waits whole where one of its pod sets has pods that are too large."""
    fact = job("mixed", gpu="1")
    fact["pod_sets"] = [{"name": "a", "requests": {"gpu": "1"}}, {"name": "b", "requests": {"gpu": "9"}}]
    assert decided(gpol, *SMALL, fact) == []


def test_who_runs_goes_on_when_a_machine_goes(gpol: Gpol) -> None:
    """What was admitted stays when the only machine that could hold it is gone."""
    gone = {"kind": "NodeRemoved", "time": 5, "node": "l1"}
    assert decided(gpol, *SMALL, node("l1", "large", gpu="24"), job("one", gpu="16"), gone) == [("WorkloadAdmitted", "one")]
    assert standing(gpol, "one")["state"] == "running"


def test_a_name_that_is_used_again_counts_by_its_last_size(gpol: Gpol) -> None:
    """A machine that went and came back smaller no longer holds what it held."""
    facts = ({"kind": "NodeRemoved", "time": 2, "node": "s1"}, node("s1", "small", gpu="4", time=3))
    assert decided(gpol, node("s1", "small"), *facts, job("one", time=4, gpu="8"), job("half", time=4, gpu="4")) == [
        ("WorkloadAdmitted", "half")
    ]


def test_what_comes_from_no_machines_has_no_sizes(gpol: Gpol) -> None:
    """Amounts that the policy or a capacity fact states are of no machine: a pod of 20 GPUs fits where 20 exist."""
    more = {"kind": "CapacityChanged", "time": 0, "flavor": "fixed", "capacity": {"gpu": "20"}}
    assert decided(gpol, *SMALL, more, job("one", "other", gpu="20")) == [("WorkloadAdmitted", "one")]
