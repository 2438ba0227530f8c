"""Figures add up and tell each resource by its own name, in simulate, run, state, impact and the journal's own events."""

import gzip
import hashlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

SLICE = "nvidia.com/mig-1g.5gb"

POLICY = f"""policy "mig" {{
  use gpol.fair
}}

resource "{SLICE}"
resource "amd.com/gpu"

flavor a100 {{
  "{SLICE}" 14
  gpu 4
}}
flavor mi300 {{ "amd.com/gpu" 8 }}

cohort all {{
  queue owner {{
    owns 10 "{SLICE}" on a100
    owns 4 gpu on a100
    owns 8 "amd.com/gpu" on mi300
  }}
  queue guest {{ owns nothing }}
}}
"""

JOBS = f"""workload,submitted,duration,queue,gpu,resource:{SLICE},resource:amd.com/gpu
slices,0s,2h,guest,,12,
own,1h,1h,owner,,2,
amd,0s,3h,guest,,,3
whole,30m,1h,owner,2,,
more,90m,1h,owner,,8,
"""


@pytest.fixture
def mig(gpol: Gpol, tmp_path: Path) -> Path:
    """A cluster of GPUs, slices of GPUs and GPUs of another vendor, and jobs for each."""
    (tmp_path / "mig.gpol").write_text(POLICY)
    (tmp_path / "less.gpol").write_text(POLICY.replace(f'"{SLICE}" 14', f'"{SLICE}" 12'))
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def _queues(done: Any, key: str = "queue") -> dict[str, Any]:
    return {each["queue"]: each for each in done.records if each["kind"] == key}


def _from_events(journal: str) -> dict[tuple[str, str], float]:
    """Unit-hours by queue and resource, counted from the events in the file alone."""
    hours: Counter[tuple[str, str]] = Counter()
    running: dict[str, tuple[str, int, list[dict[str, Any]]]] = {}
    for (payload,) in sqlite3.connect(journal).execute("SELECT payload FROM events ORDER BY seq"):
        event = json.loads(payload)
        if event["kind"] in ("WorkloadEvicted", "WorkloadFinished", "WorkloadCancelled"):
            queue, since, usage = running.pop(event["workload"])
            for charge in usage:
                hours[queue, charge["resource"]] += charge["amount"] * (event["time"] - since)
        if event["kind"] == "WorkloadAdmitted":
            running[event["workload"]] = event["queue"], event["time"], event["usage"]
    return {key: round(area / 3.6e9 / (1000 if key[1] == "gpu" else 1), 6) for key, area in hours.items()}


def test_slices_are_no_gpus(gpol: Gpol, mig: Path) -> None:
    """Slices have their own table with what is owned, used, borrowed and lent, and add nothing to GPUs; GPUs of another vendor are GPUs."""
    done = gpol("simulate", "mig.gpol", "jobs.csv", "--format", "plain")

    assert (done.code, done.err) == (0, "")
    assert "queue\tresource\towns\thours\tborrowed\tlent\tshare\n" in done.out
    assert re.search(rf"\nguest\t{re.escape(SLICE)}\t0\t\d+\.\d\t\d+\.\d\t0\.0\t", done.out)
    assert re.search(rf"\nowner\t{re.escape(SLICE)}\t10\t10\.0\t0\.0\t\d+\.\d\t", done.out)
    assert re.search(r"\nguest\t0\t2\t.*\t9\.0\t9\.0\t0\.0\t", done.out)
    assert f" {SLICE}-hours\n" in done.out


def test_every_command_tells_the_same(gpol: Gpol, mig: Path) -> None:
    """simulate, run of the exported facts, impact's recorded side and the events themselves agree, resource by resource."""
    simulated = _queues(gpol("simulate", "mig.gpol", "jobs.csv", "--journal", "m.db", "--format", "json"))
    gpol("export", "facts", "m.db", "-o", "facts.jsonl")
    played = _queues(gpol("run", "mig.gpol", "facts.jsonl", "--as-recorded", "--format", "json"))
    before = {
        name: each["before"] for name, each in _queues(gpol("impact", "m.db", "less.gpol", "--format", "json"), "impact-queue").items()
    }

    assert played == simulated
    assert all("devices" in each for each in simulated.values())
    assert {name: each["devices"] for name, each in before.items()} == {name: each["devices"] for name, each in simulated.items()}
    events = _from_events("m.db")
    for name, figures in simulated.items():
        assert figures["devices"].get(SLICE, {}).get("hours", 0) == events.get((name, SLICE), 0)
        assert figures["gpu_hours"] == events.get((name, "gpu"), 0) + events.get((name, "amd.com/gpu"), 0)
    assert sum(each["devices"][SLICE]["borrowed_hours"] for each in simulated.values()) > 0


def test_impact_tells_slices(gpol: Gpol, mig: Path) -> None:
    """Both histories' hours of slices stand in a table of their own, with their sum."""
    gpol("simulate", "mig.gpol", "jobs.csv", "--journal", "m.db")
    done = gpol("impact", "m.db", "less.gpol", "--format", "plain", "--report", "page.html")

    assert done.code == 2
    assert f"\nall\t{SLICE}\t10 {SLICE}\t" in done.out
    assert "Other devices" in (mig / "page.html").read_text()


def test_state_tells_slices(gpol: Gpol, mig: Path) -> None:
    """At a moment, who owns, uses, borrows and lends slices."""
    gpol("simulate", "mig.gpol", "jobs.csv", "--journal", "m.db")
    done = gpol("state", "m.db", "--at", "1970-01-01T00:45:00Z", "--format", "plain")

    assert f"\nguest\ta100\t{SLICE}\t0\t12\t12\t0\n" in done.out
    assert f"\nowner\ta100\t{SLICE}\t10\t0\t0\t8\n" in done.out


def test_the_page_of_a_simulation_tells_slices(gpol: Gpol, mig: Path) -> None:
    """The page has them per queue and per flavor."""
    gpol("simulate", "mig.gpol", "jobs.csv", "--report", "page.html")
    seen = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", (mig / "page.html").read_text()))

    assert "Other devices" in seen
    assert re.search(rf"owner {re.escape(SLICE)} 10 10\.0 0\.0 ", seen)
    assert re.search(rf"a100 {re.escape(SLICE)} 14 {re.escape(SLICE)} ", seen)


def test_a_cluster_without_slices_shows_none(gpol: Gpol, tmp_path: Path) -> None:
    """Where there are GPUs alone no further table appears, nor where there are CPUs and memory beside them."""
    flavor, queue = "gpu 4\n  cpu 64\n  memory 256Gi", "owns 4 gpu\n  owns 64 cpu\n  owns 256Gi memory"
    policy = f'policy "p" {{ use gpol.fair }}\nflavor a {{\n  {flavor}\n}}\nqueue q {{\n  {queue}\n}}\n'
    (tmp_path / "p.gpol").write_text(policy)
    (tmp_path / "jobs.csv").write_text("workload,submitted,duration,queue,gpu,cpu,memory\na,0s,1h,q,1,8,64Gi\n")
    done = gpol("simulate", "p.gpol", "jobs.csv")

    assert done.code == 0
    assert "Other devices" not in done.out
    assert _queues(gpol("simulate", "p.gpol", "jobs.csv", "--format", "json"))["q"].get("devices") == {}


def _simulated(gpol: Gpol, folder: Path, name: str, content: bytes, *options: str) -> Any:
    """A simulation of a file with this content, under a small policy."""
    (folder / "p.gpol").write_text('policy "p" { use gpol.fair }\nflavor a { gpu 4 }\nqueue q { owns 4 gpu }\nqueue z { owns nothing }\n')
    (folder / name).write_bytes(content)
    return gpol("simulate", "p.gpol", name, *options)


ROWS = b"workload,submitted,duration,queue,gpu\na,0s,1h,q,1\nhuge,0s,1h,z,9\n"


def test_no_wait_is_not_a_wait_of_nothing(gpol: Gpol, tmp_path: Path) -> None:
    """A queue whose only job was never admitted has no mean wait of 0 seconds."""
    done = _simulated(gpol, tmp_path, "jobs.csv", ROWS, "--format", "plain")
    lines = {line.split("\t")[0]: line.split("\t")[-3:] for line in done.out.splitlines()}

    assert lines["q"] == ["0s", "0s", "0s"]
    assert lines["z"] == ["-", "-", "-"]


@pytest.mark.parametrize("separator", [b";", b"\t"])
def test_other_separators_are_named(gpol: Gpol, tmp_path: Path, separator: bytes) -> None:
    """A file with semicolons or tabs between its cells is refused with that as the cause, not with one column of a strange name."""
    done = _simulated(gpol, tmp_path, "jobs.csv", ROWS.replace(b",", separator))

    word = {b";": "semicolons", b"\t": "tabs"}[separator]
    assert (done.code, done.err) == (3, f"gpol: jobs.csv:1: {word} stand between the cells; save the file with commas between them\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("jobs.csv.gz", ROWS),
        (
            "jobs.jsonl.gz",
            b'{"workload":"a","time":0,"duration":"1h","queue":"q","pod_sets":[{"requests":{"gpu":"1"}}]}\n'
            b'{"workload":"huge","time":0,"duration":"1h","queue":"z","pod_sets":[{"requests":{"gpu":"9"}}]}\n',
        ),
    ],
)
def test_packed_files_of_workloads(gpol: Gpol, tmp_path: Path, name: str, content: bytes) -> None:
    """A packed file is unpacked, as `run` does; its recorded digest is that of the file as it lies there."""
    packed = gzip.compress(content)
    done = _simulated(gpol, tmp_path, name, packed, "--journal", "j.db", "--format", "json")

    assert (done.code, done.err) == (0, "")
    assert _queues(done)["q"]["gpu_hours"] == 1
    assert hashlib.sha256(packed).hexdigest() in gpol("log", "j.db", "--kind", "SimulationStarted").out
    for broken in (packed[:-9], b"no gzip"):
        refused = _simulated(gpol, tmp_path, name, broken)
        assert refused.code == 3
        assert f"gpol: {name}:1: the file cannot be unpacked: " in refused.err


def test_moments_before_1970(gpol: Gpol, tmp_path: Path) -> None:
    """A time before the first moment is refused in these words, in files of workloads and of facts."""
    done = _simulated(gpol, tmp_path, "jobs.csv", ROWS.replace(b"0s", b"1969-12-31T23:00:00Z"))
    (tmp_path / "facts.jsonl").write_text('{"kind":"TimeAdvanced","time":-1}\n')
    played = gpol("run", "p.gpol", "facts.jsonl")

    told = "is before 1970-01-01T00:00:00Z, where time begins"
    assert (done.code, played.code) == (3, 3)
    assert f"jobs.csv:2: column `submitted`: the moment {told}" in done.err
    assert f"facts.jsonl:1: time: {told}" in played.err
