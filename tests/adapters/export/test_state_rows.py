"""The rows of a state: who runs, who waits and why, who is held, and for whom room is kept; and the page that describes them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from gpol.adapters.export.state_rows import STATE_COLUMNS, STATE_OBJECTS, STATE_ROWS, state_rows
from gpol.dsl import check
from gpol.engine.event_parts import PodSet, Taint
from gpol.engine.explain.pending import standing as standing_of
from gpol.engine.facts import Fact, NodeAdded, OperatorAction, TimeAdvanced, WorkloadFinished, WorkloadSubmitted, WorkloadUpdated
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy

AT_ONCE = """policy "p" { use gpol.fair }
flavor a100 { gpu 8 }
cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}
protect warm-up { where victim.running < 10m }
hold racks for guest { where workload.user = "eva" } because "moving racks"
"""

CYCLES = """policy "p" { use kueue.classical }
flavor a100 { gpu as owned }
cohort all {
  queue owner {
    serves gpu from a100
    owns 8 gpu on a100
    reclaims from anyone
  }
  queue guest { serves gpu from a100 }
}
"""

MINUTE = 60_000_000
HOUR = 60 * MINUTE


def _submitted(time: int, name: str, queue: str, gpus: int = 8, **said: Any) -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue=queue, pod_sets=(PodSet(requests={"gpu": 1000}, count=gpus),), **said)


def _rows(place: Path, text: str, facts: Sequence[Fact], at: int | None = None) -> list[dict[str, Any]]:
    """The rows after an event, or after all."""
    policy = Policy.of(check(text, "p.gpol"))
    with Journal.create(place) as journal:
        player = Player(sink=journal)
        player.step(policy.activation(0), policy.graph)
        for fact in facts:
            list(player.play(fact))
        player.flush()
        core = core_at(journal, journal.head.seq if at is None else at)
        rows = list(state_rows(core, journal))
        for row in rows:
            assert list(row) == list(STATE_COLUMNS)
            assert (row["seq"], row["time"], row["policy_digest"]) == (core.seq, core.time, policy.graph.digest)
            assert row["chain"] == journal.at(core.seq).chain.hex()
            if row["submission"] is not None:
                submission = journal.at(row["submission"])
                assert (row["payload"], row["submitted"]) == (submission.payload.decode(), submission.event.time)
                assert submission.event.workload == row["workload"]  # type: ignore[union-attr]
            if row["record"] in ("waiting", "held"):
                assert row["reason"] == standing_of(core, row["workload"]).reason  # type: ignore[union-attr]
    return rows


def _of(rows: list[dict[str, Any]], record: str) -> dict[str, dict[str, Any]]:
    return {row["workload"]: row for row in rows if row["record"] == record}


def test_who_waits_for_a_protection(tmp_path: Path) -> None:
    """The owner waits for the guest's protection: its row says so, and a reservation says what is kept for it and until when."""
    facts = [_submitted(0, "g", "guest", user="ada"), _submitted(5 * MINUTE, "o", "owner"), _submitted(6 * MINUTE, "h", "guest", 1)]
    rows = _rows(tmp_path / "j.db", AT_ONCE, facts)
    running, waiting, reserved = (_of(rows, record) for record in ("running", "waiting", "reservation"))
    owner, keepers = waiting["o"], [{"workload": "g", "until": 10 * MINUTE, "rule": "warm-up"}]
    usage = [{"flavor": "a100", "resource": "gpu", "amount": 8000}]

    assert [row["record"] for row in rows] == ["capacity", "running", "waiting", "waiting", "reservation"]
    assert (rows[0]["flavor"], rows[0]["resource"], rows[0]["exists"], rows[0]["workload"]) == ("a100", "gpu", 8000, None)
    assert (running["g"]["usage"], running["g"]["gpu_milli"], running["g"]["admitted"], running["g"]["user"]) == (usage, 8000, 0, "ada")
    assert running["g"]["assignments"] == [{"pod_set": "main", "count": 8, "resource": "gpu", "flavor": "a100"}]
    assert running["g"]["reason"] is None
    assert (owner["reason"], owner["rule"], owner["rule_line"], owner["keepers"]) == ("WaitingForProtectedWorkloads", "warm-up", 7, keepers)
    assert (owner["position"], owner["line"], owner["holds"]) == (1, 1, [])
    assert (owner["requests"], owner["asked_gpu_milli"]) == ([{"pod_set": "main", "count": 8, "resource": "gpu", "amount": 1000}], 8000)
    assert (owner["usage"], owner["gpu_milli"]) == (None, None)
    assert waiting["h"]["operands"] == [{"name": "room is reserved for", "value": "o"}]
    assert (waiting["h"]["limit_node"], waiting["h"]["limit_asked"], waiting["h"]["limit_deficit"]) == ("cluster", 1000, 1000)
    assert list(reserved) == ["o"]
    assert (reserved["o"]["usage"], reserved["o"]["until"], reserved["o"]["keepers"]) == (usage, 10 * MINUTE, keepers)


def test_what_is_kept_for_a_smaller_slice(tmp_path: Path) -> None:
    """A slice that will have more GPUs and fewer CPUs has GPUs reserved; the CPUs that it will give back are still charged."""
    text = AT_ONCE.replace("gpu 8 }", "gpu 8\n  cpu 8\n}", 1).replace("flavor a100 { ", "flavor a100 {\n  ")
    old, new = (PodSet(requests={"gpu": gpu, "cpu": cpu}) for gpu, cpu in ((2_000, 6_000), (4_000, 2_000)))
    facts: list[Fact] = [
        WorkloadSubmitted(time=0, workload="old", queue="owner", pod_sets=(old,)),
        _submitted(0, "g", "guest", 6),
        WorkloadSubmitted(time=1, workload="new", queue="owner", pod_sets=(new,), replaces="old"),
    ]
    reserved = _of(_rows(tmp_path / "j.db", text, facts), "reservation")

    assert reserved["new"]["usage"] == [{"flavor": "a100", "resource": "gpu", "amount": 2_000}]


def test_the_moment_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    """At an earlier event the rows are those of that moment: the guest runs, and nobody waits."""
    facts = [_submitted(0, "g", "guest"), _submitted(5 * MINUTE, "o", "owner"), TimeAdvanced(time=10 * MINUTE)]
    before = _rows(tmp_path / "before.db", AT_ONCE, facts, at=3)
    after = _rows(tmp_path / "after.db", AT_ONCE, facts)

    assert [(row["record"], row["workload"]) for row in before] == [("capacity", None), ("running", "g")]
    assert (list(_of(after, "running")), list(_of(after, "waiting")), _of(after, "waiting")["g"]["evictions"]) == (["o"], ["g"], 1)


def test_everything_that_holds_a_workload(tmp_path: Path) -> None:
    """Of a workload that is held all holds are there, what it is told first; it stands in no line."""
    facts = [
        _submitted(0, "g", "guest", user="eva", hold=True),
        OperatorAction(time=1, by="grace", action="hold", workload="g", note=""),
    ]
    [row] = _of(_rows(tmp_path / "j.db", AT_ONCE, facts), "held").values()
    nothing = {"rule": None, "rule_file": None, "rule_line": None}

    assert row["holds"][:2] == [
        {"reason": "OnHold", **nothing, "said": "held by its owner"},
        {"reason": "OnHold", **nothing, "said": "operator grace"},
    ]
    assert (row["holds"][2]["rule"], row["holds"][2]["rule_file"], row["holds"][2]["rule_line"]) == ("racks", "p.gpol", 8)
    assert "because moving racks" in row["holds"][2]["said"]
    assert (row["reason"], row["position"], row["line"], row["limit_node"]) == ("OnHold", None, None, None)


def test_a_name_that_is_used_again(tmp_path: Path) -> None:
    """Of two workloads of one name the live one is told, with its own submission and what is left of its pods."""
    facts = [
        _submitted(0, "g", "guest"),
        WorkloadFinished(time=HOUR, workload="g"),
        _submitted(2 * HOUR, "g", "guest", 6),
        WorkloadUpdated(time=3 * HOUR, workload="g", reclaimable={"main": 2}),
    ]
    [row] = _of(_rows(tmp_path / "j.db", AT_ONCE, facts), "running").values()

    assert (row["submitted"], row["requests"][0]["count"], row["gpu_milli"]) == (2 * HOUR, 4, 4000)


def test_in_cycles(tmp_path: Path) -> None:
    """In cycles the last cycle is told: what came of a workload, and whom it evicted."""
    facts = [_submitted(0, "g", "guest"), TimeAdvanced(time=0), _submitted(HOUR, "o", "owner"), TimeAdvanced(time=HOUR)]
    rows = _rows(tmp_path / "j.db", CYCLES, facts)
    waiting = _of(rows, "waiting")

    assert [row["record"] for row in rows] == ["capacity", "waiting", "waiting"]
    assert (waiting["o"]["reason"], waiting["o"]["outcome"]) == ("WaitingForPreemptedWorkloads", "preempting")
    assert (waiting["o"]["victims"], waiting["o"]["parked"]) == ([{"workload": "g"}], False)
    assert (waiting["g"]["outcome"], waiting["g"]["victims"], waiting["g"]["evictions"]) == (None, [], 1)


def test_places(tmp_path: Path) -> None:
    """Each place with what there is and what is used, also one that is cordoned; where pods stand, and why others have no place."""
    text = AT_ONCE.replace("{ gpu 8 }", '{\n  gpu from nodes where pool = "a"\n  placed in fabric\n}').replace(
        "flavor a100", 'topology fabric {\n  level rack from label "rack"\n  level host from node\n}\nflavor a100', 1
    )
    node = {"labels": {"pool": "a", "rack": "r"}, "capacity": {"gpu": 8000}, "time": 0}
    wide = (PodSet(requests={"gpu": 4000}, count=3, within="host"),)
    facts: list[Fact] = [
        NodeAdded(node="n1", **node),
        NodeAdded(node="n2", cordoned=True, taints=(Taint(key="spot", effect="NoSchedule"),), **node),
        _submitted(0, "g", "guest", 2),
        WorkloadSubmitted(time=1, workload="w", queue="owner", pod_sets=wide),
    ]
    rows = _rows(tmp_path / "j.db", text, facts)
    places = {row["place"]: row for row in rows if row["record"] == "place"}

    assert [row["record"] for row in rows] == ["capacity", "place", "place", "running", "waiting"]
    assert (places["n1"]["flavor"], places["n1"]["place_path"], places["n1"]["cordoned"], places["n1"]["taints"]) == (
        "a100",
        "r/n1",
        False,
        [],
    )
    assert places["n1"]["supplies"] == [{"resource": "gpu", "exists": 8000, "used": 2000}, {"resource": "pods", "exists": 0, "used": 2}]
    assert (places["n2"]["cordoned"], places["n2"]["taints"]) == (True, [{"key": "spot", "value": "", "effect": "NoSchedule"}])
    assert _of(rows, "running")["g"]["places"] == [{"pod_set": "main", "domain": "n1", "pods": 2}]
    waiting = _of(rows, "waiting")["w"]
    assert (waiting["reason"], waiting["unplaced_flavor"], waiting["unplaced_level"]) == ("TopologyPlacementFailed", "a100", "host")
    assert (waiting["unplaced_fit"], waiting["unplaced_of"], waiting["unplaced_closest"]) == (2, 3, "n1")


def test_before_any_policy(tmp_path: Path) -> None:
    """A core without a policy has no rows."""
    with Journal.create(tmp_path / "j.db") as journal:
        assert list(state_rows(core_at(journal, 0), journal)) == []


def test_more_gpus_than_a_column_holds(tmp_path: Path) -> None:
    """A request that 64 bits do not hold in thousandths is refused by name; it is not cut off."""
    huge = WorkloadSubmitted(time=0, workload="x", queue="guest", pod_sets=(PodSet(requests={"nvidia.com/gpu": 2**62}),))
    with pytest.raises(JournalError, match="`x` is about more GPUs than 64 bits hold"):
        _rows(tmp_path / "j.db", AT_ONCE, [huge])


# --- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    """The page's text."""
    return (root / "docs" / "state-export.md").read_text(encoding="utf-8")


def test_every_column_is_described(page: str) -> None:
    """The table has every column with its type, in order, the version is the program's, and lists say their fields."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| [\w, ]+ \| (.*)\|$", page, re.MULTILINE)

    assert [(name, kind) for name, kind, _ in rows] == list(STATE_COLUMNS.items())
    assert f"This is version {STATE_ROWS.version} of the columns" in page
    assert f"`{STATE_ROWS.key}`" in page
    for kind, fields in STATE_OBJECTS.items():
        said = next(text for _, found, text in rows if found == kind)
        assert [name for name in re.findall(r"`(\w+)`", said) if name in fields] == list(fields), kind


@pytest.mark.slow
def test_the_page_runs(page: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands print what is shown, and its query answers the table below it."""
    shutil.copytree(root / "examples" / "lab", tmp_path / "examples" / "lab")
    monkeypatch.chdir(tmp_path)
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    [console] = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, said = step.partition("\n")
        done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=True)
        assert said == "...\n" or done.stdout == said
    [(query, answer)] = re.findall(r"^```sql\n(.*?)^```\n\n((?:\|[^\n]*\n)+)", page, re.MULTILINE | re.DOTALL)
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in answer.splitlines()]
    found = duckdb.sql(query)

    assert found.columns == header
    assert [[str(value) for value in row] for row in found.fetchall()] == rows
