"""The Philly trace on its machines: what packing, spreading and keeping room make of waits, evictions and stranded GPUs.

    python benchmarks/philly_nodes.py [--parts N ...] [--ways WAY ...] [--jobs N] [--folder FOLDER] [--shared FOLDER]

Makes the files that `gpol simulate` reads (machines, jobs, a policy for each way), plays them, and prints a table. What is known comes from
`../shared/traces`: the jobs (philly_sia), and what virtual clusters own and which machines there are (philly_cluster). What is assumed:

- A virtual cluster owns a number of GPUs, and no machine in particular: it is said to own some of 352 machines of 8 GPUs, and the list has
  264 of them.
- A job is a gang of equal pods of 8 GPUs. Where 8 does not divide what it asks for, they are of 4, 2 or 1: the largest that does.
- Of N parts one is played: every Nth machine of each size, and an Nth of what each virtual cluster owns; the jobs are all the same.
- Nobody says which machines share a rack: 16 machines of a size, in the order of the list, stand in one. Only gangs of several pods ask
  for it.
- Times are those of the trace. A job runs for its recorded duration from its admission; after an eviction it begins again.

Compiled kernels come from the user's cache; where they are missing the script says so and ends.
"""

import argparse
import csv
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpol.adapters.node_rows import read_nodes
from gpol.adapters.traces import read_jobs
from gpol.compiled.fast_core import fast_core
from gpol.dsl import check
from gpol.engine.cores import PlayedBatch, PlayedChunk
from gpol.engine.event_parts import PodSet
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.facts import WorkloadFinished, WorkloadSubmitted
from gpol.engine.policy_graph import PolicyGraph
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.impact.workload_fates import Fate, Fates
from gpol.sim.measure.columns.compiled_count import count_at_hand
from gpol.sim.measure.columns.history_measure import HistoryMeasure
from gpol.sim.measure.place_measure import PlaceMeasure
from gpol.sim.measure.queue_figures import QueueFigures

SHARED = Path(__file__).parents[2] / "shared"
JOBS = Path("traces", "philly_sia", "philly.csv")
OWNED = Path("traces", "philly_cluster", "philly_vc.csv")
MACHINES = Path("traces", "philly_cluster", "revised_machine_list.csv")

RACK = 16
"""Machines of a rack: the largest job, of 128 GPUs, finds room within one."""

WHOLE = 8
"""GPUs of a large machine, of which `philly_vc.csv` counts what is owned, and of the largest pods."""

SIZES = ((1, 1), (2, 4), (8, 8), (12, 128))
"""Jobs of so many GPUs are told of together."""

MILLI, MINUTE, HOUR = 1000, 60_000_000, 3_600_000_000


@dataclass(frozen=True, slots=True)
class Way:
    """How pods are placed (None: nowhere, only totals count), and the column in which gangs of several pods ask for a rack, if they do.

    Nobody asks to stand `near` one another: where pods are packed they do so anyway, in one rack if one has room for all.
    """

    placing: str | None
    wish: str = ""


WAYS = {
    "totals only": Way(None),
    "packed": Way("packed"),
    "spread": Way("spread"),
    "keeping room": Way("keeping room for 8 gpu, 4 gpu, 2 gpu"),
    "packed, within a rack": Way("packed", "within"),
}


# --- files ------------------------------------------------------------------------------------------------------------


def missing(shared: Path) -> str:
    """Which of the files there are not; empty if all are there."""
    return ", ".join(str(shared / each) for each in (JOBS, OWNED, MACHINES) if not (shared / each).is_file())


def write_nodes(shared: Path, parts: int, path: Path) -> Counter[int]:
    """Write the machines, every Nth of each size; those without GPUs are left out. Return how many there are of each size."""
    of_size: dict[int, list[str]] = {}
    with (shared / MACHINES).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            of_size.setdefault(int(row["number of GPUs"]), []).append(row["machineId"])
    of_size.pop(0, None)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("node", "gpu", "label:cluster", "label:rack"))
        for gpus in sorted(of_size, reverse=True):
            for number, name in enumerate(of_size[gpus][::parts]):
                rows.writerow((name, gpus, "philly", f"{gpus}-{number // RACK:02}"))
    return Counter({gpus: len(names[::parts]) for gpus, names in of_size.items()})


def write_jobs(shared: Path, first: int | None, wish: str, path: Path) -> None:
    """Write the jobs in order of time, or the first ones of them."""
    with (shared / JOBS).open(encoding="utf-8", newline="") as file:
        jobs = sorted(enumerate(csv.DictReader(file), start=1), key=lambda job: (job[1]["timestamp"], job[0]))
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("workload", "submitted", "duration", "queue", "pods", "gpu", *filter(None, (wish,))))
        for number, job in jobs[:first]:
            gpus = int(job["num_gpus"])
            of_pod = next(size for size in (8, 4, 2, 1) if gpus % size == 0)
            pods = gpus // of_pod
            asks = (("rack",) if pods > 1 else ("",)) if wish else ()
            duration = job["duration"].removesuffix(".0") + "s"
            rows.writerow((f"philly-{number:06}", job["timestamp"].replace(" ", "T") + "Z", duration, job["cluster"], pods, of_pod, *asks))


def policy_text(shared: Path, parts: int, placing: str | None) -> str:
    """The policy: what virtual clusters own, and how pods are placed. Owners reclaim from whoever has run for an hour."""
    with (shared / JOBS).open(encoding="utf-8", newline="") as file:
        owned = dict.fromkeys(sorted({row["cluster"] for row in csv.DictReader(file)}), 0)
    with (shared / OWNED).open(encoding="utf-8", newline="") as file:
        owned |= {row["vc"]: int(row["node num"]) * WHOLE // parts for row in csv.DictReader(file)}
    queues = "\n".join(f'  queue "{name}" {{ owns {f"{gpus} gpu" if gpus else "nothing"} }}' for name, gpus in owned.items())
    place, placed = (f"\n  place pods {placing}", "\n  placed in racks") if placing else ("", "")
    topology = 'topology racks {\n  level rack from label "rack"\n  level host from node\n}\n' if placing else ""
    return f"""policy "philly-nodes" {{
  use gpol.reclaim{place}
}}
{topology}flavor pool {{
  gpu from nodes where cluster = "philly"{placed}
}}
cohort philly {{
{queues}
}}
protect warm-up {{ where victim.running < 1h }}
"""


# --- playing ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class LargePods:
    """How many pods of 8 GPUs run, and for how long more ran than there are machines for: nobody could have placed them."""

    machines: int
    running: int = 0
    most: int = 0
    beyond: int = 0
    _asked: dict[str, int] = field(default_factory=dict)
    _now: int = 0

    def take(self, batch: PlayedBatch) -> None:
        """Follow a batch."""
        fact, decisions = batch
        self.most = max(self.most, self.running) if fact.time > self._now else self.most
        self.beyond += fact.time - self._now if self.running > self.machines else 0
        self._now = fact.time
        match fact:
            case WorkloadSubmitted():
                self._asked[fact.workload] = sum(each.count for each in fact.pod_sets if each.requests.get("gpu") == WHOLE * MILLI)
            case WorkloadFinished():
                self.running -= self._asked.pop(fact.workload)
            case _:
                pass
        for decision in decisions:
            match decision:
                case WorkloadAdmitted():
                    self.running += self._asked[decision.workload]
                case WorkloadEvicted():
                    self.running -= self._asked[decision.workload]
                case _:
                    pass


@dataclass(slots=True)
class Played:
    """What came of a way: of the queues, of each job, of the nodes (judged by pods of 8 GPUs in `of_eight`), and of pods of 8 GPUs.

    `there` is how many GPUs there are; `length` the time from the first submission to the last end, in microseconds; `seconds` the
    processor time in which it was decided, `measuring` that in which it was counted.
    """

    queues: list[QueueFigures]
    fates: list[Fate]
    stood: PlaceMeasure
    of_eight: PlaceMeasure
    large: LargePods
    there: int
    length: int = 0
    seconds: float = 0.0
    measuring: float = 0.0


def play(folder: Path, shared: Path, parts: int, way: Way, first: int | None = None) -> Played:
    """Write the files of a way into a folder, and play them as `gpol simulate` does."""
    machines = write_nodes(shared, parts, folder / "nodes.csv")
    write_jobs(shared, first, way.wish, folder / "workloads.csv")
    (folder / "philly.gpol").write_text(policy_text(shared, parts, way.placing), encoding="utf-8")
    policy = Policy.of(check((folder / "philly.gpol").read_text(encoding="utf-8"), "philly.gpol"))
    nodes = read_nodes(folder / "nodes.csv", policy.graph)
    player = Player(fast_core(sys.exit, is_long=True))
    simulation = Simulation(policy, read_jobs(folder / "workloads.csv"), player, nodes=nodes)
    there = sum(gpus * count for gpus, count in machines.items())
    eight = PlaceMeasure(judged_by=PodSet(requests={"gpu": WHOLE * MILLI}))
    found = Played([], [], PlaceMeasure(), eight, LargePods(machines[WHOLE]), there)
    count(found, policy.graph, simulation.chunks())
    return found


def count(found: Played, graph: PolicyGraph, chunks: Iterator[PlayedBatch | PlayedChunk]) -> None:
    """Count all that is played, and how long that takes and the rest."""
    figures, fates = HistoryMeasure(None, count_at_hand), Fates("restart")
    began = time.process_time()
    for played in chunks:
        decided = time.process_time()
        found.seconds += decided - began
        figures.take(played, graph)
        for batch in [played] if isinstance(played, tuple) else played.batches():
            found.stood.take(batch, graph)
            found.of_eight.take(batch, graph)
            found.large.take(batch)
            fates.take(*batch, 0, 1)
        began = time.process_time()
        found.measuring += began - decided
    found.seconds += time.process_time() - began
    fates.rest()
    found.fates = list(fates.over.values())
    measure = figures.measure()
    measure.check_accounts()
    found.queues, found.length = list(measure.queues.values()), measure.end - (measure.start or 0)
    found.stood.finish()
    found.of_eight.finish()


# --- the table --------------------------------------------------------------------------------------------------------


def rank(sorted_waits: Sequence[int], percent: int) -> int:
    """The least wait that is at least as long as that of so many in a hundred."""
    return sorted_waits[-(-len(sorted_waits) * percent // 100) - 1]


def told(wait: int) -> str:
    """A wait, shortly: `0`, `34s`, `12m`, `3.4h`, `2.5d`."""
    if wait < MINUTE:
        return f"{wait // 1_000_000}s" if wait else "0"
    if wait < HOUR:
        return f"{wait // MINUTE}m"
    return f"{wait / HOUR:.1f}h" if wait < 48 * HOUR else f"{wait / (24 * HOUR):.1f}d"


def waits(fates: Iterable[Fate]) -> str:
    """Median, mean, 95th in a hundred and longest of how long jobs waited in all, and how many waited at all."""
    each = sorted(fate.wait for fate in fates) or [0]
    waited = sum(1 for wait in each if wait)
    mean = sum(each) // len(each)
    return f"{told(rank(each, 50))} / {told(mean)} / {told(rank(each, 95))} / {told(each[-1])}, {waited:,} of {len(each):,}"


FIGURES = ("way", "all ended after", "GPU-hours used", "utilisation", "evictions", "GPU-hours lost", "owners waited at most", "decided in")
WAITS = ("way", "all jobs", *(f"{least} to {most} gpu" if least < most else f"{most} gpu" for least, most in SIZES))
NODES = ("way", "stranded: mean", "most", "for pods of 8: mean", "most", "pods of 8 running at most", "more than nodes")


def figures_row(name: str, found: Played) -> tuple[str, ...]:
    """What was used, and what evictions cost; how long somebody waited for GPUs that its queue owned and did not use."""
    used = sum(each.used_area for each in found.queues)
    evicted = sum(each.evicted for each in found.queues)
    lost = sum(each.lost for each in found.fates)
    share = f"{used / (found.there * MILLI * found.length):.1%}"
    owners = max(each.owner_wait_most for each in found.queues)
    costs = (f"{evicted:,}", f"{lost / MILLI / HOUR:,.0f}", told(owners), f"{found.seconds:.0f} s")
    return (name, told(found.length), f"{used / MILLI / HOUR:,.0f}", share, *costs)


def waits_row(name: str, found: Played) -> tuple[str, ...]:
    """How long jobs waited, all and by how many GPUs they ask for."""
    of_size = ((fate for fate in found.fates if least * MILLI <= fate.gpus <= most * MILLI) for least, most in SIZES)
    return (name, waits(found.fates), *(waits(fates) for fates in of_size))


def nodes_row(name: str, found: Played) -> tuple[str, ...]:
    """How many GPUs were free and of no use to anybody; and, on machines that hold a pod of 8 GPUs, to such a pod."""
    large = (f"{found.large.most:,}", f"{found.large.beyond / (24 * HOUR):.1f}d")
    if not found.stood.gives_places:
        return (name, "-", "-", "-", "-", *large)
    both = (found.stood.total(), found.of_eight.classes[("pool",), WHOLE * MILLI])
    told = ((f"{each.stranded / found.length / MILLI:.1f}", f"{each.most_stranded // MILLI:,}") for each in both)
    return (name, *(cell for cells in told for cell in cells), *large)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as docs have it."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


ROWS = {FIGURES: figures_row, WAITS: waits_row, NODES: nodes_row}
"""The tables, by their heads."""


def main() -> int:
    """Play the trace in each way, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--jobs", type=int, help="the first jobs only")
    parser.add_argument("--folder", type=Path, help="where files are left; else nowhere")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    if absent := missing(asked.shared):
        print(f"skipped: the trace is no part of this project, and there is no {absent}")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        for parts in asked.parts:
            every, size = {}, f"one part of {parts}" if parts > 1 else "all nodes"
            for name in asked.ways:
                folder = (asked.folder or Path(temporary)) / f"{parts}-{name.replace(', ', '-').replace(' ', '-')}"
                folder.mkdir(parents=True, exist_ok=True)
                every[name] = play(folder, asked.shared, parts, WAYS[name], asked.jobs)
                for row in ROWS.values():
                    print(f"{size}: {' | '.join(row(name, every[name]))}", file=sys.stderr, flush=True)
            one = next(iter(every.values()))
            print(f"\n{size}: {one.there:,} GPUs, {one.large.machines} nodes of {WHOLE}\n")
            for head, row in ROWS.items():
                print(table(head, [row(name, found) for name, found in every.items()]), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
