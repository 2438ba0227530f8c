"""state: the cluster as it was, for people, for tables and as data."""

import hashlib
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from policy_texts import IN_RACKS

Gpol = Callable[..., Any]


def test_state_for_people(gpol: Gpol, journal: str) -> None:
    """The policy and since when, what exists, every queue below its cohort, and on demand the live workloads are told."""
    done = gpol("state", journal, "--at", "6", "--workloads")
    rows = [line.split("│")[1:-1] for line in done.out.splitlines() if line.startswith("│")]

    assert done.code == 0
    assert done.out.startswith("after event 6, at 2026-03-02T08:05:00Z\npolicy lab.gpol, since 2026-03-02T08:00:00Z (event 1), sha256:")
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["a100", "gpu", "8", "8", "8", "0"],
        ["all", "0", "8", "-", "-", "1", "1", "0"],
        ["guest", "0", "8", "8", "0", "1", "0", "0"],
        ["owner", "8", "0", "0", "8", "0", "1", "0"],
        ["g", "running", "2026-03-02T08:00:00Z", "guest", "8 gpu of a100", "-", "Running"],
        ["o", "waiting", "2026-03-02T08:05:00Z", "owner", "-", "1 of 1", "WaitingForProtectedWorkloads"],
    ]
    assert " guest " in rows[2][0]
    assert rows[2][0].startswith("   guest")


def test_state_in_plain(gpol: Gpol, journal: str) -> None:
    """Of one queue its amounts are told by flavor and resource, tab-separated; workloads of other queues are not."""
    done = gpol("state", journal, "--at", "6", "--queue", "guest", "--workloads", "--format", "plain")

    assert done.out.splitlines()[2:] == [
        "queue\towns\tuses\tborrows\tlends\trunning\twaiting\ton hold",
        "guest\t0\t8\t8\t0\t1\t0\t0",
        "queue\tflavor\tresource\towns\tuses\tborrows\tlends",
        "guest\ta100\tgpu\t0\t8\t8\t0",
        "workload\tstate\tsince\tqueue\tis charged\tplace\twhy",
        "g\trunning\t2026-03-02T08:00:00Z\tguest\t8 gpu of a100\t-\tRunning",
    ]


def test_state_as_data(gpol: Gpol, journal: str) -> None:
    """In json the moment, the policy, exact amounts and every workload are objects of their own."""
    head, capacity, everything, guest, owner, running, waiting = gpol(
        "state", journal, "--at", "2026-03-02T08:05:00Z", "--workloads", "--format", "json"
    ).records

    assert (head["kind"], head["seq"], head["time"], head["machines"], head["in_no_queue"]) == ("state", 6, 1_772_438_700_000_000, [], 0)
    assert (head["policy"]["file"], head["policy"]["seq"], head["policy"]["since"]) == ("lab.gpol", 1, 1_772_438_400_000_000)
    amounts = {"exists": 8000, "owned": 8000, "used": 8000, "idle": 0}
    assert capacity == {"v": 1, "kind": "state_capacity", "flavor": "a100", "resource": "gpu", **amounts}
    assert (everything["kind"], everything["name"], everything["running"], everything["waiting"]) == ("state_cohort", "all", 1, 1)
    assert (guest["kind"], guest["parent"], guest["depth"]) == ("state_queue", "all", 1)
    assert guest["holdings"] == [{"flavor": "a100", "resource": "gpu", "owns": 0, "uses": 8000, "borrows": 8000, "lends": 0}]
    assert owner["holdings"] == [{"flavor": "a100", "resource": "gpu", "owns": 8000, "uses": 0, "borrows": 0, "lends": 8000}]
    assert (running["name"], running["state"], running["usage"]) == (
        "g",
        "running",
        [{"flavor": "a100", "resource": "gpu", "amount": 8000}],
    )
    assert (waiting["name"], waiting["reason"], waiting["position"]) == ("o", "WaitingForProtectedWorkloads", 1)


@pytest.mark.parametrize(
    ("at", "seq"),
    [
        ((), 12),
        (("--at", "8"), 9),  # a moment within a batch is after the whole of it
        (("--at", "2026-03-02T08:07:00Z"), 6),
        (("--at", "1772438700000000us"), 6),
    ],
)
def test_moments(gpol: Gpol, journal: str, at: tuple[str, ...], seq: int) -> None:
    """A bare number is an event, anything else a time; without a moment it is the journal's end."""
    assert gpol("state", journal, *at, "--format", "json").records[0]["seq"] == seq


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--at", "13"), "--at: the journal has events 1 to 12, not 13; write a time as 2026-01-02T03:04:05Z"),
        (("--at", "1772438700000000"), "or as microseconds with `us`"),
        (("--at", "0"), "--at: the journal has events 1 to 12, not 0"),
        (("--at", "today"), "--at: `today` is no time"),
        (("--at", "2026-03-02T08:00:00"), "--at: `2026-03-02T08:00:00` has no zone"),
        (("--at", "0us"), "--at: nothing had happened by 0us; the first event is at 2026-03-02T08:00:00Z"),
        (("--at", "2026-03-03T00:00:00Z"), "--at: the journal ends before 2026-03-03T00:00:00Z, with event 12 at 2026-03-02T"),
        (("--queue", "gues"), "--queue: the policy had no queue or cohort `gues` then; did you mean guest?"),
        (("--nodes",), "--nodes: no flavor of the policy gave pods places then; leave the option out"),
        (("--fits", "8 gpu"), "--fits: no flavor of the policy gave pods places then"),
        (("--fits", "8gpu"), "--fits: `8gpu` has no blank between an amount and a resource; write it as '8 gpu, 64 cpu'"),
        (("--fits", "8"), "--fits: `8` says no resource; write it as '8 gpu, 64 cpu'"),
        (("--fits", "8 gpu, 80Gi"), "--fits: `80Gi` says no resource;"),
        (("--fits", "1 gpu, 2 gpu"), "--fits: gpu is there twice; write each resource once, as in '8 gpu, 64 cpu'"),
        (("--fits", "1 gpu,"), "--fits: an amount is missing; write it as"),
        (("--fits", "0 gpu"), "--fits: a pod that asks for 0 gpu fits everywhere; leave gpu out"),
        (("--fits", "-1 gpu"), "--fits: `-1` is not a number"),
    ],
)
def test_what_cannot_be_shown_is_told(gpol: Gpol, journal: str, arguments: tuple[str, ...], part: str) -> None:
    """Moments before the first event and after the last, and queues that are none, are told, exit code 3."""
    done = gpol("state", journal, *arguments)

    assert (done.code, done.out) == (3, "")
    assert part in done.err


NODES = """node,gpu,label:model,label:rack,taints,cordoned
n1,8,h100,r1,,
n2,8,h100,r1,spot=true:NoSchedule,
n3,8,h100,r2,,yes
n4,8,h100,r2,,
"""


@pytest.fixture
def placed(gpol: Gpol, tmp_path: Path) -> str:
    """A journal in which two jobs stand on nodes, for as long as it goes on."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "jobs.csv").write_text("workload,submitted,duration,queue,pods,gpu\na,0s,1h,q,1,5\nb,1m,2h,q,2,2\n")
    assert gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv", "--journal", "placed.db").code == 0
    return "placed.db"


@pytest.mark.parametrize(
    ("shape", "known"),
    [
        ("8 foo", "no node on which pods get places had any foo then; nodes have `gpu`, `pods`"),
        ("8 gpus", "any gpus then; did you mean gpu?"),
    ],
)
def test_pods_of_what_no_node_has(gpol: Gpol, placed: str, shape: str, known: str) -> None:
    """A resource that no node has is told as that, not as nodes that are too full."""
    done = gpol("state", placed, "--fits", shape)

    assert (done.code, done.out) == (3, "")
    assert known in done.err


def test_nodes_and_who_stands_there(gpol: Gpol, placed: str) -> None:
    """What is used of what exists, what keeps pods off, and whose pods stand there; and for how many more there is room."""
    done = gpol("state", placed, "--at", "1970-01-01T00:01:00Z", "--nodes", "--fits", "1 gpu", "--format", "plain")

    assert done.out.splitlines()[-9:] == [
        "place\tflavors\tused of what exists\ttakes\twho stands there",
        "r1/n1\th100\t5 of 8 gpu\tall\ta",
        "r1/n2\th100\t0 of 8 gpu\ttaint spot=true:NoSchedule\t-",
        "r2/n3\th100\t0 of 8 gpu\tno new pods\t-",
        "r2/n4\th100\t4 of 8 gpu\tall\tb (2)",
        "flavor\tlevel\tpods that fit\twhere",
        "h100\track\t4\tr2",
        "h100\thost\t4\tr2/n4",
        "h100\tanywhere\t7\tnot in 1 of 3 places: taint spot=true:NoSchedule 1",
    ]


def test_nodes_as_data(gpol: Gpol, placed: str) -> None:
    """Exact amounts, and all pods by workload."""
    done = gpol("state", placed, "--at", "1970-01-01T00:01:00Z", "--nodes", "--fits", "4 gpu", "--format", "json")
    *places, room = (record for record in done.records if record["kind"] in ("state_place", "state_room"))

    assert [place["path"] for place in places] == [["r1", "n1"], ["r1", "n2"], ["r2", "n3"], ["r2", "n4"]]
    assert (places[3]["used"], places[3]["pods"]) == ({"gpu": 4000, "pods": 2}, [{"workload": "b", "pods": 2}])
    assert (places[2]["cordoned"], places[1]["taints"]) == (True, [{"key": "spot", "value": "true", "effect": "NoSchedule"}])
    assert (room["flavor"], room["asked"], room["anywhere"], room["places"]) == ("h100", {"gpu": 4000}, 1, 3)
    assert room["levels"] == [{"level": "rack", "pods": 1, "domain": ["r2"]}, {"level": "host", "pods": 1, "domain": ["r2", "n4"]}]
    assert [cause["cause"] for cause in room["kept_off"]] == ["resource", "taint"]


def test_an_empty_journal_has_no_moment(gpol: Gpol, lab: Any) -> None:
    """Of a journal of nothing it is said that it is empty."""
    (lab / "none.jsonl").touch()
    gpol("run", "lab.gpol", "none.jsonl", "--journal", "none.db")
    done = gpol("state", "none.db")

    assert (done.code, done.err) == (3, "gpol: the journal is empty, so there is nothing to show\n")


def test_a_journal_that_cannot_have_happened(gpol: Gpol, journal: str) -> None:
    """A journal whose events contradict each other is told as such, exit 4, where the state is taken from them, not from a snapshot."""
    import sqlite3

    connection = sqlite3.connect(journal)
    connection.execute("DROP TRIGGER events_no_update")
    connection.execute('UPDATE events SET payload = replace(payload, \'"workload":"g"\', \'"workload":"z"\') WHERE seq = 3')
    connection.commit()
    connection.close()
    done = gpol("state", journal, "--at", "4")

    assert (done.code, done.out) == (4, "")
    assert "event 3" in done.err


def _forge_snapshots(journal: str) -> None:
    """Rename who runs in every snapshot, and compute the digests anew."""
    connection = sqlite3.connect(journal)
    for seq, content in connection.execute("SELECT seq, content FROM snapshots").fetchall():
        forged = zlib.compress(zlib.decompress(content).replace(b'"g"', b'"x"'))
        connection.execute("UPDATE snapshots SET content = ?, digest = ? WHERE seq = ?", (forged, hashlib.sha256(forged).digest(), seq))
    connection.commit()
    connection.close()


def test_a_forged_snapshot_can_be_left_aside(gpol: Gpol, facts: Callable[..., str]) -> None:
    """What a snapshot says that somebody forged is not what the events say; without snapshots, that is what is told."""
    journal, running = "run.db", {"kind": "WorkloadSubmitted", "time": 0, "workload": "g", "queue": "guest"}
    assert gpol("run", "lab.gpol", facts({**running, "pod_sets": [{"requests": {"gpu": "8"}}]}), "--journal", journal).code == 0
    honest = gpol("state", journal, "--workloads").out
    _forge_snapshots(journal)

    assert gpol("state", journal, "--workloads").out != honest
    assert gpol("state", journal, "--workloads", "--no-snapshot").out == honest
    assert gpol("explain", journal, "g", "--no-snapshot").out.startswith("g is running ")
    assert gpol("fsck", journal).code == 4
