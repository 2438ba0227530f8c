"""Jobs of the traces in `shared/traces`, as far as these have jobs: who, when, what, how long. For comparing cores, not for conclusions.

What a trace lacks is made up in a stated way: tenants where it names none, an end where it has none.
"""

import csv
import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from gpol.adapters.traces import read_jobs
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.units import MINUTE, SECOND
from gpol.sim.drive.job import Job

GIB = 2**30
LASTING = 30 * 24 * 3600 * SECOND
"""How long a job runs whose end its trace does not have."""

PRIORITIES = {"strict": 100, "soft": 50, "best": 0}
"""Of the kinds of jobs of Chronus, those with a deadline first."""


def _job(number: int, queue: str, time: int, duration: int, requests: dict[str, int], pods: int = 1, priority: int | None = None) -> Job:
    """A gang of like pods; a job of no time at all runs for a microsecond."""
    pod_set = PodSet(name="main", count=max(1, pods), requests=requests)
    fact = WorkloadSubmitted(time=time, workload=f"job-{number:06}", queue=queue, priority=priority, pod_sets=(pod_set,))
    return Job(fact, max(1, duration))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _tabbed(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def _seconds(text: str) -> int:
    return int(Fraction(text) * SECOND)


def _tenant(name: str, tenants: int = 8) -> str:
    """A tenant for a job whose trace names none: by the SHA-256 of its name."""
    return f"tenant-{hashlib.sha256(name.encode()).digest()[0] % tenants}"


def chronus(path: Path) -> Iterator[Job]:
    """Chronus: jobs of virtual clusters in minutes, those without GPUs on one CPU."""
    for number, row in enumerate(_rows(path)):
        gpus = int(row["num_gpu"])
        requests = {"gpu": 1000} if gpus else {"cpu": 1000}
        time, duration = int(row["submit_time"]) * MINUTE, int(row["duration"]) * MINUTE
        yield _job(number, row["user"], time, duration, requests, gpus, PRIORITIES[row["job_type"]])


def openb(path: Path) -> Iterator[Job]:
    """Alibaba's openb: pods with parts of GPUs, CPUs and memory, of made-up tenants; a pod without a row of its end lasts a month."""
    for number, row in enumerate(_rows(path)):
        begin, end = int(row["creation_time"]), int(row["deletion_time"] or 0)
        requests = {
            "gpu": int(row["num_gpu"]) * int(row["gpu_milli"] or 0),
            "cpu": int(row["cpu_milli"]),
            "memory": int(row["memory_mib"]) * 2**20,
        }
        lasts = (end - begin) * SECOND if end > begin else LASTING
        yield _job(number, _tenant(row["name"]), begin * SECOND, lasts, requests, priority=100 if row["qos"] == "LS" else 0)


def dlrm(path: Path) -> Iterator[Job]:
    """Alibaba's instances of recommendation models: the app is the tenant; who was there at the start begins then."""
    for number, row in enumerate(_rows(path)):
        begin = _seconds(row["creation_time"] or "0")
        end = _seconds(row["deletion_time"]) if row["deletion_time"] else 0
        requests = {
            "gpu": int(Fraction(row["gpu_request"]) * 1000),
            "cpu": int(Fraction(row["cpu_request"]) * 1000),
            "memory": int(Fraction(row["memory_request"]) * GIB),
        }
        yield _job(number, row["app_name"], begin, end - begin if end > begin else LASTING, requests)


def gavel(path: Path) -> Iterator[Job]:
    """Gavel: jobs of steps, which run as fast as they did on as many V100; each file is a virtual cluster."""
    rates = json.loads((path / "simulation_throughputs.json").read_text(encoding="utf-8"), parse_float=Fraction)["v100"]
    number = 0
    for file in sorted((path / "msr_seed0").glob("*.trace")):
        for row in _tabbed(file):
            steps, arrival, scale = int(row[4]), _seconds(row[5]), int(row[6])
            known = rates.get(f"('{row[0]}', {scale})") or rates[f"('{row[0]}', 1)"]
            rate = Fraction(known["null"]) or Fraction(1)
            yield _job(number, file.stem, arrival, int(steps / rate * SECOND), {"gpu": 1000}, scale)
            number += 1


def shockwave(path: Path) -> Iterator[Job]:
    """Shockwave: GPUs, duration and arrival in seconds; tenants are made up."""
    for number, row in enumerate(_tabbed(path)):
        yield _job(number, _tenant(f"{path.stem}-{number}"), _seconds(row[-1]), _seconds(row[-2]), {"gpu": 1000}, int(row[6]))


def tiresias(path: Path) -> Iterator[Job]:
    """Tiresias: sixty jobs, of made-up tenants."""
    for number, row in enumerate(_rows(path)):
        time, duration = int(row["submit_time"]) * SECOND, int(row["duration"]) * SECOND
        yield _job(number, _tenant(row["job_id"]), time, duration, {"gpu": 1000}, int(row["num_gpu"]))


def eagle(path: Path) -> Iterator[Job]:
    """NREL's Eagle: mostly jobs of processors, by account."""
    for number, row in enumerate(_rows(path)):
        time = int(datetime.fromisoformat(row["submit_time"]).replace(tzinfo=UTC).timestamp()) * SECOND
        requests = {"cpu": 1000 * int(row["processors_req"]), "gpu": 1000 * int(row["gpus_req"] or 0)}
        yield _job(number, row["account"], time, _seconds(row["run_time"] or "0"), requests)


def philly(path: Path) -> Iterator[Job]:
    """Philly, by gpol's own reader."""
    return iter(read_jobs(path, "philly"))


Reader = Callable[[Path], Iterator[Job]]

TRACES: dict[str, tuple[str, Reader]] = {
    "philly": ("philly_sia/philly.csv", philly),
    "chronus-mix1": ("philly_chronus/trace_job_Philly_MIX1.csv", chronus),
    "chronus-mix2": ("philly_chronus/trace_job_Philly_MIX2.csv", chronus),
    "chronus-slo": ("philly_chronus/trace_job_Philly_SLO.csv", chronus),
    "openb": ("alibaba_openb2023/openb_pod_list_default.csv", openb),
    "openb-gpushare100": ("alibaba_openb2023/openb_pod_list_gpushare100.csv", openb),
    "openb-gpuspec33": ("alibaba_openb2023/openb_pod_list_gpuspec33.csv", openb),
    "dlrm": ("alibaba_dlrm2025/disaggregated_DLRM_trace.csv", dlrm),
    "gavel": ("gavel", gavel),
    "shockwave-120": ("shockwave/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace", shockwave),
    "shockwave-220": ("shockwave/220_0.2_5_100_25_4_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace", shockwave),
    "shockwave-460": ("shockwave/460_0.2_5_100_10_1_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace", shockwave),
    "shockwave-900": ("shockwave/900_0.2_5_100_5_15_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace", shockwave),
    "shockwave-900-slow": ("shockwave/900_0.2_5_1000_5_15_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace", shockwave),
    "tiresias": ("tiresias/60_job.csv", tiresias),
    "eagle": ("nrel_eagle/sample_eagle_data.csv", eagle),
}
"""Each trace with jobs: its place below `shared/traces`, and its reader."""

LEFT_OUT = {
    "alibaba_lingjun2023": "a topology, no jobs",
    "helios": "GPUs owned and counts of jobs, no jobs",
    "philly_cluster": "machines, no jobs",
    "alibaba_openb2023/openb_pod_list_multigpu50.csv": "pods without times",
    "gavel/physical_cluster": "parts of the kinds of jobs that gavel/msr_seed0 has",
    "tiresias/tf_job.csv": "a template: all rows are the same job",
}
"""What the traces have that is not played, with the reason."""


def jobs_of(trace: str, folder: Path) -> list[Job]:
    """The jobs of a trace in the order in which they are submitted; `folder` is `shared/traces`."""
    place, reader = TRACES[trace]
    return sorted(reader(folder / place), key=lambda job: job.fact.time)
