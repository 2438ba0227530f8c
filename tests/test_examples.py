"""The examples are sound: their policies pass their own tests, and their data is what their scripts and pages say."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpol.adapters.kueue.import_.load import load, read_files
from gpol.dsl import check, format_text

MINUTE_US = 60_000_000


def policies() -> list[str]:
    """Every policy of the examples."""
    root = Path(__file__).resolve().parent.parent
    return [path.relative_to(root).as_posix() for path in sorted((root / "examples").rglob("*.gpol"))]


def pythons() -> Iterator[str]:
    """Every Python of another version that runs here; the scripts need nothing but its standard library."""
    for minor in range(11, 16):
        path = shutil.which(f"python3.{minor}")
        if path is None or minor == sys.version_info.minor:
            continue
        if subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            yield path


NEED_NOT_REST = {f"examples/{folder}/kueue-{way}.gpol" for folder in ("compare", "systems") for way in ("classical", "fair")}
"""Policies that say what another system does, and of which GP057 warns rightly: they may never come to rest, as that system may not."""


@pytest.mark.parametrize("policy", policies())
def test_a_policy_is_clean(policy: str, root: Path) -> None:
    """A policy of the examples has no error, no warning but that another system may never come to rest, has tests, and the one layout."""
    text = (root / policy).read_text()
    checked = check(text, Path(policy).name)
    assert [each.code for each in checked.diagnostics] == (["GP057"] if policy in NEED_NOT_REST else [])
    assert checked.tests
    assert format_text(text, policy) == text


def test_the_campus_is_made_by_its_script(root: Path) -> None:
    """The script writes the same bytes under this Python and every other one that is here."""
    script, made = root / "examples" / "campus" / "make_workloads.py", (root / "examples" / "campus" / "workloads.csv").read_bytes()
    for python in (sys.executable, *pythons()):
        assert subprocess.run([python, str(script)], capture_output=True, check=True).stdout == made, python


def test_the_campus_has_the_shape_that_its_page_states(root: Path) -> None:
    """The number of jobs, the shares of their sizes, the median duration and the rhythm are as its README says, within a few hundredths."""
    with (root / "examples" / "campus" / "workloads.csv").open() as file:
        rows = list(csv.DictReader(file))
    gpus = Counter(int(row["pods"]) * int(row["gpu"]) for row in rows)
    durations = sorted(int(row["duration"].removesuffix("s")) for row in rows)
    days = Counter(int(row["submitted"][8:10]) for row in rows)  # 2 March is a Monday
    weekend = sum(days[day] for day in (7, 8, 14, 15))
    assert len(rows) == 3_563
    assert 0.90 < gpus[1] / len(rows) < 0.97
    assert max(gpus) == 32
    assert 1_000 < durations[len(durations) // 2] < 1_300
    assert durations[-1] <= 3 * 86_400
    assert 0.10 < weekend / len(rows) < 0.25


def test_the_philly_policies_own_what_the_cluster_has(root: Path, shared: Path) -> None:
    """Every virtual cluster of the trace has a queue that owns 8 GPUs for each of its machines, or a quarter of that."""
    with (shared / "traces" / "philly_cluster" / "philly_vc.csv").open() as file:
        machines = {row["vc"]: int(row["node num"]) for row in csv.DictReader(file)}
    with (shared / "traces" / "philly_sia" / "philly.csv").open() as file:
        clusters = {row["cluster"] for row in csv.DictReader(file)}
    for name, part in (("full", 1), ("quarter", 4)):
        graph = check((root / "examples" / "philly" / f"{name}.gpol").read_text(), name).graph
        assert graph is not None
        owned = {graph.nodes[queue.node].name: graph.nodes[queue.node].quotas[0].nominal for queue in graph.queues}
        assert owned == {cluster: machines.get(cluster, 0) * 8_000 // part for cluster in clusters}
        assert graph.flavors[0].capacity == (("gpu", sum(owned.values())),)


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_the_dump_of_the_kueue_cluster_is_made_by_its_script(root: Path, tmp_path: Path) -> None:
    """The script writes the same files again, byte for byte, under another hash seed."""
    folder = root / "examples" / "kueue"
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, folder / "make_dump.py", tmp_path / "dump"], env=env, check=True)
    kept = {path.name: path.read_bytes() for path in (folder / "dump").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "dump").iterdir()} == kept


def test_the_kueue_cluster_has_the_shape_that_its_page_states(root: Path) -> None:
    """So many ClusterQueues, cohorts, flavors and workloads; 180 workloads hold quota, and one of them has been told to stop."""
    folder = root / "examples" / "kueue" / "dump"
    files = sorted(folder.glob("*.yaml"))
    objects = load(read_files((path.name, path.read_bytes()) for path in files), now=10**18).objects
    holding = [workload for workload in objects.workloads if workload.admission is not None and not workload.finished]
    assert sum(path.stat().st_size for path in files) < 600_000
    assert (len(objects.cluster_queues), len(objects.workloads), len(holding)) == (20, 300, 180)
    assert {cohort.name: cohort.parent for cohort in objects.cohorts} == {"foundation": "research", "product": "", "research": ""}
    assert [flavor.name for flavor in objects.flavors if flavor.taints] == ["a100-spot"]
    assert sum(workload.admission is not None and workload.admission.evicting for workload in objects.workloads) == 1
    assert {workload.queue for workload in objects.workloads} == {"gpu"}


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_the_demo_shows_a_wait_an_eviction_and_a_good_journal(root: Path, tmp_path: Path) -> None:
    """The demo ends well: what it explains has a rule and its line, the journal replays and verifies, and half for vision changes a lot."""
    shutil.copytree(root / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "160"}
    done = subprocess.run([sys.executable, "examples/demo.py"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    _, wait, eviction = done.stdout.split("\nWhy ")
    assert "why: " in wait
    assert "(campus.gpol:" in wait
    assert "evicted for " in eviction
    assert "fair.gpol:" in eviction
    assert "\nsame: " in done.stdout
    assert "\ngood: " in done.stdout
    assert "owns gpu on a100: smaller for the queue, 16 -> 8" in done.stdout
    assert "closed-loop impact of less-for-vision.gpol" in done.stdout
    assert (tmp_path / "out" / "campus.html").stat().st_size > 0
    assert (tmp_path / "out" / "impact.html").stat().st_size > 0


def test_nothing_of_the_lab_is_left_to_chance(root: Path, tmp_path: Path) -> None:
    """The lab's history is the one that its page reasons through: who runs, waits and yields at which minute after eight."""
    gpol = Path(sys.executable).parent / "gpol"
    lab, journal = root / "examples" / "lab", tmp_path / "lab.db"
    subprocess.run([gpol, "simulate", lab / "lab.gpol", lab / "workloads.csv", "--journal", journal], capture_output=True, check=True)
    lines = subprocess.run([gpol, "log", journal, "--format", "json"], capture_output=True, check=True, text=True).stdout.splitlines()
    events = [json.loads(line)["event"] for line in lines]
    start = events[0]["time"]
    decided = [
        ((event["time"] - start) // MINUTE_US, event["kind"].removeprefix("Workload"), event["workload"])
        for event in events
        if "cause" in event
    ]
    assert decided == [
        (0, "Admitted", "s1"),
        (0, "Admitted", "s2"),
        (1, "Rejected", "huge"),
        (4, "Admitted", "v1"),
        (10, "Evicted", "s2"),
        (10, "Admitted", "v2"),
        (20, "Admitted", "n1"),
        (40, "Evicted", "n1"),
        (40, "Admitted", "p1"),
        (40, "Evicted", "s1"),
        (40, "Admitted", "n1"),
        (40, "Admitted", "n2"),
        (70, "Admitted", "s1"),
        (100, "Admitted", "s2"),
        (130, "Admitted", "s3"),
        (240, "Admitted", "v3"),
        (240, "Admitted", "v4"),
        (240, "Admitted", "v5"),
        (270, "Evicted", "v5"),
        (270, "Admitted", "s4"),
        (300, "Admitted", "v5"),
    ]


def test_the_racks_do_what_their_page_says(root: Path, tmp_path: Path) -> None:
    """Every console block of the page runs, and prints what is shown."""
    shutil.copytree(root / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    page = (root / "examples" / "racks" / "README.md").read_text()
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "160"}
    ran = 0
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, said = step.partition("\n")
            done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
            parts = [re.escape(part.strip("\n")) for part in re.split(r"^\.\.\.$", said, flags=re.MULTILINE)]
            assert re.fullmatch("(.|\n)*".join(parts), done.stdout.strip("\n")), f"$ {command}\n{done.stdout}"
            ran += 1
    assert ran == 5
