"""What can never run as things stand is said, with what to do; and a run says who never ran and why. Tested by the command alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Gpol

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }
flavor h100 { gpu 4 }

cohort all {
  queue owner { owns 8 gpu on a100 }
  queue guest { owns nothing }
  queue held { owns nothing }
  queue capped {
    owns 1 gpu on h100
    borrows up to 2 gpu on h100
  }
}

hold moving for held because "moving racks"
deny too-big for guest { where workload.gpu > 9 } because "ask the owner"
"""

NODES = """policy "lab" {
  use gpol.fair
}

flavor a100 {
  gpu from nodes where pool = "a100"
}

cohort all {
  queue owner { owns 8 gpu on a100 }
}
"""


@pytest.fixture(autouse=True)
def _policies(gpol: Gpol) -> None:
    """The two policies are in the folder."""
    Path("lab.gpol").write_text(POLICY)
    Path("nodes.gpol").write_text(NODES)


def submitted(name: str, queue: str, requests: dict[str, str], **pod_set: Any) -> dict[str, Any]:
    """A submission of one pod set."""
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "pod_sets": [{"requests": requests, **pod_set}]}


def write(*facts: dict[str, Any]) -> str:
    """The facts as a file."""
    Path("facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
    return "facts.jsonl"


NEVER = {
    "larger than what exists": (
        submitted("w", "owner", {"gpu": "16"}, flavors=["a100"]),
        "it asks for 16 gpu on a100, and a100 has at most 8 gpu; ask for at most 8 gpu, or add gpu to a100",
    ),
    "larger than its limits allow": (
        submitted("w", "capped", {"gpu": "4"}, flavors=["h100"]),
        "it asks for 4 gpu on h100, and the borrowing limit of capped leaves at most 3 gpu; "
        "ask for at most 3 gpu, or raise the borrowing limit of capped",
    ),
    "larger than its limits allow, and than what exists": (
        submitted("w", "capped", {"gpu": "400"}, flavors=["h100"]),
        "it asks for 400 gpu on h100, and the borrowing limit of capped leaves at most 3 gpu; ask for at most 3 gpu, "
        "or raise the borrowing limit of capped and add gpu to h100, which has 4 gpu",
    ),
    "an unknown flavor": (
        submitted("w", "owner", {"gpu": "1"}, flavors=["b200"]),
        "the policy has no flavor b200; ask for a100 or h100, or declare b200 in the policy",
    ),
    "a resource that is not counted": (
        submitted("w", "owner", {"gpu": "1", "cpu": "4"}),
        "the policy does not count cpu; write `ignore cpu` in the policy, or give a flavor some cpu",
    ),
}


@pytest.mark.parametrize("case", NEVER)
def test_explain_says_what_can_never_run(gpol: Gpol, case: str) -> None:
    """`explain` says that it can never run, why, and what to do; as JSON too. It is not refused."""
    fact, told = NEVER[case]
    assert gpol("run", "lab.gpol", write(fact), "--journal", "j.db")[0] == 0
    code, out, _ = gpol("explain", "j.db", "w")
    assert code == 0
    assert f"  can never run: {told}\n" in out
    standing = json.loads(gpol("explain", "j.db", "w", "--format", "json")[1])["standing"]
    assert standing["state"] == "pending"
    assert len(standing["never"]) == 1


@pytest.mark.parametrize("case", NEVER)
def test_a_run_says_what_can_never_run(gpol: Gpol, case: str) -> None:
    """`run` says it in its summary, for people and as JSON."""
    fact, told = NEVER[case]
    out = gpol("run", "lab.gpol", write(fact))[1]
    assert "1 workload never ran: 1 can never run\n" in out
    assert f"can never run: {told}\n" in out
    records = [json.loads(line) for line in gpol("run", "lab.gpol", write(fact), "--format", "json")[1].splitlines()]
    [never] = [record for record in records if record["kind"] == "never-ran"]
    assert (never["state"], never["count"], never["workloads"], never["told"]) == ("can never run", 1, ["w"], told)


def test_nodes_that_nobody_added(gpol: Gpol) -> None:
    """Jobs of a CSV under a policy on nodes: there is no node, and the simulation says so."""
    Path("jobs.csv").write_text("workload,submitted,duration,queue,gpu\nw,2026-03-02T08:00:00Z,1h,owner,1\n")
    code, out, _ = gpol("simulate", "nodes.gpol", "jobs.csv", "--journal", "j.db")
    assert code == 0
    told = "can never run: it asks for 1 gpu on a100, which has what its nodes have, and there are no nodes; add nodes with label pool"
    assert told in out
    assert told in gpol("explain", "j.db", "w")[1]


def test_capacity_may_come(gpol: Gpol) -> None:
    """What can never run as things stand runs once there is capacity, and nothing says then that it never runs."""
    node = {"kind": "NodeAdded", "time": 60_000_000, "node": "n1", "labels": {"pool": "a100"}, "capacity": {"gpu": 8000}}
    facts = write(submitted("w", "owner", {"gpu": "1"}), node)
    out = gpol("run", "nodes.gpol", facts, "--journal", "j.db")[1]
    assert "never ran" not in out
    assert "can never run: " in gpol("explain", "j.db", "w", "--at", "2")[1]
    assert "w is running" in gpol("explain", "j.db", "w")[1]


def test_a_simulation_counts_who_never_ran(gpol: Gpol) -> None:
    """Its summary counts them, and says the first reasons of rejection and of waiting, with the name that was probably meant."""
    Path("jobs.csv").write_text(
        "workload,submitted,duration,queue,gpu\n"
        "ran,2026-03-02T08:00:00Z,1h,owner,8\n"
        "late-1,2026-03-02T08:01:00Z,1h,held,8\n"
        "late-2,2026-03-02T08:01:00Z,1h,held,4\n"
        "denied,2026-03-02T08:02:00Z,1h,guest,10\n"
        "lost,2026-03-02T08:03:00Z,1h,ownr,1\n"
        "huge,2026-03-02T08:04:00Z,1h,owner,16\n"
    )
    code, out, _ = gpol("simulate", "lab.gpol", "jobs.csv")
    assert code == 0
    assert "5 workloads never ran: 2 rejected, 1 can never run, 2 still waiting\n" in out
    assert "denied rejected: Denied by too-big (lab.gpol:19), ask the owner\n" in out
    assert "lost rejected: NoMatchingQueue, the policy has no queue ownr; did you mean owner?\n" in out
    assert "huge of owner can never run: it asks for 16 gpu on a100, and a100 has at most 8 gpu" in out
    assert "late-1, late-2 of held waiting: OnHold by moving (lab.gpol:18), because moving racks (late-1)\n" in out


def test_who_waits_for_room_is_not_said_to_never_run(gpol: Gpol) -> None:
    """A workload that only waits for others to end has no such line."""
    facts = write(submitted("a", "owner", {"gpu": "8"}, flavors=["a100"]), submitted("w", "owner", {"gpu": "8"}, flavors=["a100"]))
    out = gpol("run", "lab.gpol", facts, "--journal", "j.db")[1]
    assert "1 workload never ran: 1 still waiting\n" in out
    assert "can never run" not in out + gpol("explain", "j.db", "w")[1]


def test_many_that_never_ran_are_told_together(gpol: Gpol) -> None:
    """Workloads that never run for the same reason stand on one line, which names the first ones and counts the rest."""
    facts = [submitted(f"w{number:02}", "owner", {"gpu": "1", "cpu": str(number + 1)}) for number in range(40)]
    out = gpol("run", "lab.gpol", write(*facts))[1]
    assert "40 workloads never ran: 40 can never run\n" in out
    assert "w00, w01, w02, w03, w04 and 35 more of owner can never run: the policy does not count cpu; " in out


CYCLES = """policy "lab" {
  use kueue.classical
}

flavor a100 { gpu as owned }
queue q { owns 8 gpu on a100 }
"""


def test_who_was_adopted_ran(gpol: Gpol) -> None:
    """A workload that runs when it is adopted, and then stops and waits again, is not said to never have run."""
    Path("cycles.gpol").write_text(CYCLES)
    place = {"pod_set": "main", "count": 1, "flavors": {"gpu": "a100"}, "usage": {"gpu": "16"}}
    adopted = {"kind": "WorkloadAdopted", "time": 0, "workload": "w", "queue": "q", "since": 0, "evicting": True, "placements": [place]}
    stopped = {"kind": "WorkloadUpdated", "time": 1_000_000, "workload": "w", "requeued": 1_000_000}
    facts = [submitted("w", "q", {"gpu": "16"}, flavors=["a100"]), adopted, stopped]
    code, out, _ = gpol("run", "cycles.gpol", write(*facts), "--as-recorded", "--journal", "j.db")
    assert code == 0, out
    assert "never ran" not in out
    assert "w is pending" in gpol("explain", "j.db", "w")[1]
    again = [{"kind": "WorkloadCancelled", "time": 2_000_000, "workload": "w"}, {**facts[0], "time": 3_000_000}]
    assert "1 workload never ran: 1 can never run\n" in gpol("run", "cycles.gpol", write(*facts, *again), "--as-recorded")[1]


def test_a_workload_without_a_queue(gpol: Gpol) -> None:
    """Of one that waits and names no queue no queue is said."""
    Path("cycles.gpol").write_text(CYCLES)
    fact = {key: value for key, value in submitted("w", "", {"gpu": "1"}).items() if key != "queue"}
    assert "  w waiting: Misconfigured, local queue none\n" in gpol("run", "cycles.gpol", write(fact))[1]


def test_what_holds_a_workload_is_told_alone(gpol: Gpol) -> None:
    """Of one that is held the hold is said, and not what else it would lack."""
    facts = write(submitted("a", "owner", {"gpu": "8"}, flavors=["a100"]), submitted("w", "held", {"gpu": "8"}, flavors=["a100"]))
    told = gpol("run", "lab.gpol", facts)[1]
    assert "  w of held waiting: OnHold by moving (lab.gpol:18), because moving racks\n" in told
