"""docs/events.md says what a reader needs to check a journal, and real journals are as it says."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from gpol.cli.main import run_command

ROOT = Path(__file__).parents[2]
AT_ONCE = """policy "p" {
  use gpol.fair
}
flavor f {
  gpu 8
}
cohort c {
  queue a {
    owns 8 gpu on f
  }
  queue b {
    owns 0 gpu on f
  }
}
"""
IN_CYCLES = """policy "p" {
  use kueue.classical
}
resource pods
flavor f {
  gpu as owned
  pods as owned
}
cohort c {
  queue a {
    serves gpu, pods from f
    owns 8 gpu on f
    owns 9 pods on f
  }
  queue b {
    serves gpu, pods from f
    owns 0 gpu on f
  }
}
"""


@pytest.fixture(scope="module")
def page() -> str:
    """The page, each line break a space."""
    return " ".join((ROOT / "docs" / "events.md").read_text(encoding="utf-8").split())


def played(folder: Path, policy: str, facts: list[dict[str, object]]) -> list[tuple[str, dict[str, object]]]:
    """The stream and the payload of each event of a journal of these facts."""
    (folder / "p.gpol").write_text(policy)
    (folder / "facts.jsonl").write_text("".join(json.dumps({"v": 1, "time": 1_000_000, **fact}) + "\n" for fact in facts))
    assert run_command(["run", str(folder / "p.gpol"), str(folder / "facts.jsonl"), "--journal", str(folder / "p.db")]) == 0
    with closing(sqlite3.connect(folder / "p.db")) as connection:
        rows = connection.execute("SELECT stream, payload FROM events ORDER BY seq").fetchall()
    return [(stream, json.loads(payload)) for stream, payload in rows]


def submitted(name: str, **fields: object) -> dict[str, object]:
    """A submission of two pods with one GPU each."""
    pods = [{"name": "main", "count": 2, "requests": {"gpu": 1000}}]
    return {"kind": "WorkloadSubmitted", "workload": name, "queue": "a", "pod_sets": pods, **fields}


def test_the_page_says_in_which_stream_a_simulation_stands(page: str, tmp_path: Path) -> None:
    """Every kind that is not about a workload has its stream on the page."""
    (row,) = re.findall(r"\| `stream` \| (.*?) \|", page)
    assert "`time` for TimeAdvanced and SimulationStarted" in row
    start = {"kind": "SimulationStarted", "on_evict": "restart", "source": "jobs.csv", "source_digest": "sha256:" + "0" * 64}
    assert [stream for stream, _ in played(tmp_path, AT_ONCE, [start])] == ["policy", "time"]


def test_the_page_says_how_a_profile_is_cited(page: str, tmp_path: Path) -> None:
    """A line of a profile is cited by a file name, which is made from the profile's name."""
    assert "cite the lines of a profile `gpol.fair` by the file name `gpol/fair.gpol`" in page
    guest = submitted("guest", queue="b", pod_sets=[{"name": "main", "count": 8, "requests": {"gpu": 1000}}])
    events = [event for _, event in played(tmp_path, AT_ONCE, [guest, submitted("owner", time=2_000_000)])]
    (eviction,) = [event for event in events if event["kind"] == "WorkloadEvicted"]
    assert eviction["why"]["rule"]["file"] == "gpol/fair.gpol"


def test_the_page_says_what_pods_are_charged(page: str, tmp_path: Path) -> None:
    """Of the resource `pods` each pod is charged 1, also where it asks for another number."""
    assert "each pod also asks for 1 of it, whatever `requests` says of `pods`" in page
    pods = [{"name": "main", "count": 2, "requests": {"gpu": 1000, "pods": 7}}]
    events = played(tmp_path, IN_CYCLES, [submitted("w", pod_sets=pods)])
    (admission,) = [event for _, event in events if event["kind"] == "WorkloadAdmitted"]
    assert {"flavor": "f", "resource": "pods", "amount": 2} in admission["usage"]


def test_the_page_says_that_an_adopted_workload_may_be_in_another_queue(page: str, tmp_path: Path) -> None:
    """It is evicted from the queue in which it runs, and not from that to which it was submitted."""
    assert "It belongs to `queue` as long as it runs, also where it was submitted to another one" in page
    placement = {"pod_set": "main", "count": 2, "flavors": {"gpu": "f"}, "usage": {"gpu": 3000}}
    adopted = {"kind": "WorkloadAdopted", "workload": "w", "queue": "b", "since": 0, "evicting": False, "placements": [placement]}
    evict = {"kind": "OperatorAction", "by": "ann", "action": "evict", "workload": "w", "note": ""}
    events = played(tmp_path, AT_ONCE, [submitted("w", hold=True), adopted, evict])
    assert (events[-1][1]["kind"], events[-1][1]["queue"]) == ("WorkloadEvicted", "b")


def test_the_page_says_what_a_pod_that_is_done_frees(page: str, tmp_path: Path) -> None:
    """It frees what it asked for, also where more was adopted for it; what is left is free when its workload is evicted."""
    assert "A pod that is done frees what a pod of its pod set asks for, at most what is still charged" in page
    placement = {"pod_set": "main", "count": 2, "flavors": {"gpu": "f"}, "usage": {"gpu": 3000}}
    adopted = {"kind": "WorkloadAdopted", "workload": "w", "queue": "a", "since": 0, "evicting": False, "placements": [placement]}
    done = {"kind": "WorkloadUpdated", "workload": "w", "priority": None, "hold": None, "reclaimable": {"main": 1}}
    evict = {"kind": "OperatorAction", "by": "ann", "action": "evict", "workload": "w", "note": ""}
    events = played(tmp_path, AT_ONCE, [submitted("w", hold=True), adopted, done, evict])
    assert events[-1][1]["usage"] == [{"flavor": "f", "resource": "gpu", "amount": 2000}]


def test_the_page_says_that_a_release_ends_every_hold(page: str, tmp_path: Path) -> None:
    """An operator lets go also of what its owner holds."""
    assert "or let one go that is held, by an operator or by its owner" in page
    release = {"kind": "OperatorAction", "by": "ann", "action": "release", "workload": "w", "note": ""}
    assert played(tmp_path, AT_ONCE, [submitted("w", hold=True), release])[-1][1]["kind"] == "WorkloadAdmitted"


def test_the_page_says_which_pod_sets_are_assigned(page: str, tmp_path: Path) -> None:
    """A pod set whose pods are all done is charged nothing when its workload is admitted."""
    assert "a pod set without any is left out, or has the count 0" in page
    pods = [{"name": each, "count": 1, "requests": {"gpu": 1000}} for each in ("first", "second")]
    done = {"kind": "WorkloadUpdated", "workload": "w", "priority": None, "hold": False, "reclaimable": {"first": 1}}
    events = played(tmp_path, AT_ONCE, [submitted("w", hold=True, pod_sets=pods), done])
    assert events[-1][1]["usage"] == [{"flavor": "f", "resource": "gpu", "amount": 1000}]


def test_the_page_says_that_a_deferral_may_be_repeated(page: str, tmp_path: Path) -> None:
    """Where something ended, a workload is looked at again, and parked again in the same words."""
    assert "it may be said again in the same words" in page
    large = [{"name": "main", "count": 1, "requests": {"gpu": 9000}}]
    moments = [{"kind": "TimeAdvanced", "time": time} for time in (1_000_000, 5_000_000)]
    end = {"kind": "WorkloadFinished", "workload": "small", "time": 4_000_000}
    facts = [submitted("small", queue="b", pod_sets=[{"name": "main", "count": 1, "requests": {"gpu": 0}}])]
    facts += [submitted("large", queue="b", pod_sets=large), moments[0], end, moments[1]]
    events = [event for _, event in played(tmp_path, IN_CYCLES, facts)]
    said = [{**event, "time": 0, "cause": 0} for event in events if event["kind"] == "WorkloadDeferred"]
    assert len(said) == 2
    assert said[0] == said[1]


def test_the_page_says_which_words_a_toleration_knows(page: str, tmp_path: Path) -> None:
    """The operators and effects that a fact may name, and an effect that is none of them."""
    assert 'its effect `NoSchedule`, `NoExecute`, `PreferNoSchedule` or `""` for all of them' in page
    assert "The operator of an affinity is `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`" in page
    spot = {"key": "spot", "operator": "Exists", "value": "", "effect": ""}
    pods = [{"name": "main", "count": 2, "requests": {"gpu": 1000}, "tolerations": [spot]}]
    events = [event for _, event in played(tmp_path, AT_ONCE, [submitted("w", pod_sets=pods)])]
    assert events[1]["pod_sets"][0]["tolerations"] == [spot]
