"""What happens at one moment, and that all that is accepted counts: fewest pods, groups of pod sets."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

POLICY = """policy "moment" {
  use gpol.fair
}

flavor h100 { gpu 8 }

cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}
"""


def simulated(gpol: Gpol, *jobs: str, policy: str = POLICY, more: tuple[str, ...] = (), journal: str = "s.db") -> list[dict[str, Any]]:
    """The events of a simulation of jobs: `workload,submitted,duration,queue,gpu`."""
    Path("p.gpol").write_text(policy)
    Path("jobs.csv").write_text("workload,submitted,duration,queue,gpu\n" + "".join(f"{job}\n" for job in jobs))
    done = gpol("simulate", "p.gpol", "jobs.csv", "--journal", journal, *more)
    assert done.code == 0, done.err
    return [record["event"] for record in gpol("log", journal, "--format", "json").records]


def evicted(events: list[dict[str, Any]]) -> list[str]:
    """Who is evicted, in order."""
    return [each["workload"] for each in events if each["kind"] == "WorkloadEvicted"]


TURNOVER = (
    *(f"g{number},0s,10h,guest,2" for number in range(6)),
    *(f"o{hour}-{number},{hour}h,1h,owner,2" for hour in range(1, 5) for number in range(4)),
)
"""An owner whose jobs of an hour follow one another, four at a time, and guests that would like their room."""


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_a_job_takes_the_room_of_one_that_ends_then(gpol: Gpol, on_evict: str) -> None:
    """Four guests are evicted when the owner comes, and nobody afterwards: its next jobs take the room of those that end."""
    events = simulated(gpol, *TURNOVER, more=("--on-evict", on_evict))

    assert evicted(events) == ["g3", "g2", "g1", "g0"]
    assert all(each["time"] == 3_600_000_000 for each in events if each["kind"] == "WorkloadEvicted")


def test_nobody_is_protected_by_the_moment_of_a_change(gpol: Gpol) -> None:
    """A guest that a protection would keep does not slip in between an owner's job that ends and the next one."""
    policy = POLICY + "\nprotect warm-up { where victim.running < 10m }\n"
    events = simulated(gpol, "o1,0s,1h,owner,8", "g,1m,5h,guest,8", "o2,1h,1h,owner,8", policy=policy)
    runs = {each["workload"]: each["time"] for each in events if each["kind"] == "WorkloadAdmitted"}

    assert (runs["o2"], runs["g"]) == (3_600_000_000, 7_200_000_000)


def test_a_job_that_ends_is_not_evicted_at_that_moment(gpol: Gpol) -> None:
    """A guest whose hour is over ends, though its owner comes at that moment and could evict it."""
    events = simulated(gpol, "g,0s,1h,guest,8", "o,1h,1h,owner,8")

    assert evicted(events) == []
    assert [each["workload"] for each in events if each["kind"] == "WorkloadFinished"] == ["g", "o"]


def test_the_order_of_the_file_is_kept(gpol: Gpol) -> None:
    """Jobs of one moment are submitted in the order of the file, also where some of them come before what ends then."""
    events = simulated(gpol, "o1,0s,1h,owner,8", *(f"j{number},1h,1h,owner,{gpu}" for number, gpu in enumerate((4, 8, 2, 1))))

    assert [each["workload"] for each in events if each["kind"] == "WorkloadSubmitted"] == ["o1", "j0", "j1", "j2", "j3"]


def test_a_name_may_be_used_again_at_the_moment_of_its_end(gpol: Gpol) -> None:
    """A history in which a job ends and one of its name comes at that moment plays as before."""
    facts = [
        {"kind": "WorkloadSubmitted", "time": 0, "workload": "o", "queue": "owner", "pod_sets": [{"requests": {"gpu": "8"}}]},
        {"kind": "WorkloadFinished", "time": 9, "workload": "o"},
        {"kind": "WorkloadSubmitted", "time": 9, "workload": "o", "queue": "owner", "pod_sets": [{"requests": {"gpu": "8"}}]},
        {"kind": "WorkloadFinished", "time": 18, "workload": "o"},
    ]
    Path("p.gpol").write_text(POLICY)
    Path("other.gpol").write_text(POLICY.replace("queue guest { owns nothing }", "queue guest { owns 1 gpu }").replace("owns 8", "owns 7"))
    Path("facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
    assert gpol("run", "p.gpol", "facts.jsonl", "--journal", "r.db").code == 0
    assert gpol("impact", "r.db", "other.gpol").code in (0, 2)


def test_impact_plays_a_moment_as_the_simulation_did(gpol: Gpol) -> None:
    """The same policy gives the same history, and another one that of a new simulation."""
    simulated(gpol, *TURNOVER)
    assert gpol("impact", "s.db", "p.gpol").code == 0

    other = POLICY.replace("owns 8 gpu", "owns 6 gpu")
    Path("other.gpol").write_text(other)
    gpol("impact", "s.db", "other.gpol", "--journal", "i.db")
    by_impact = [record["event"] for record in gpol("log", "i.db", "--format", "json").records]
    anew = simulated(gpol, *TURNOVER, policy=other, journal="anew.db")
    told = ("kind", "time", "workload", "queue")
    assert [[each.get(key) for key in told] for each in by_impact] == [[each.get(key) for key in told] for each in anew]


# --- everything accepted counts -----------------------------------------------------------------------------------------


def ran(gpol: Gpol, policy: str, *facts: dict[str, Any], journal: str = "r.db") -> dict[str, Any]:
    """The admissions of facts, by workload."""
    Path("p.gpol").write_text(policy)
    Path("facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
    assert gpol("run", "p.gpol", "facts.jsonl", "--journal", journal).code == 0
    events = [record["event"] for record in gpol("log", journal, "--format", "json").records]
    return {each["workload"]: each for each in events if each["kind"] == "WorkloadAdmitted"}


def submission(name: str, *pod_sets: dict[str, Any], queue: str = "owner") -> dict[str, Any]:
    """A submission at the start."""
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "pod_sets": list(pod_sets)}


def test_fewer_pods_will_do(gpol: Gpol) -> None:
    """A job of four pods that needs one of them runs with two beside four idle GPUs."""
    first = submission("first", {"requests": {"gpu": "4"}})
    elastic = submission("elastic", {"count": 4, "min_count": 1, "requests": {"gpu": "2"}})
    admitted = ran(gpol, POLICY, first, elastic)

    assert sorted(admitted) == ["elastic", "first"]
    assert admitted["elastic"]["assignments"] == [{"pod_set": "main", "count": 2, "flavors": {"gpu": "h100"}}]


def test_a_group_gets_one_flavor(gpol: Gpol) -> None:
    """Two pod sets of one group run on the flavor that has room for both; without the group each takes the first that has."""
    policy = POLICY.replace("flavor h100 { gpu 8 }", "flavor a100 { gpu 4 }\nflavor h100 { gpu 8 }").replace("8 gpu", "4 gpu on h100")
    together = [{"name": name, "group": "ring", "requests": {"gpu": "3"}} for name in ("a", "b")]
    apart = [{"name": name, "requests": {"gpu": "3"}} for name in ("a", "b")]

    def flavors(journal: str, pod_sets: list[dict[str, Any]]) -> list[str]:
        admitted = ran(gpol, policy, submission("w", *pod_sets), journal=journal)["w"]
        return [each["flavors"]["gpu"] for each in admitted["assignments"]]

    assert (flavors("1.db", together), flavors("2.db", apart)) == (["h100", "h100"], ["a100", "h100"])
