"""How long it takes to open a journal and to know the state at its end, with snapshots and without, and in how much memory.

Run `python benchmarks/open_journal.py [EVENTS] [FOLDER]`; 10 million events take some minutes and 5 GB. The journal is one that gpol would
have written: 300 of ever new workloads run at any time in 30 queues, and the decisions, which repeat but for names and times, are those of
the core. Each figure is of a process of its own; memory is the most that it had resident, the interpreter with gpol's modules included
(`nothing` is a process that only loads them). `verify` and `replay` are measured on an eighth of a journal, too.
"""

import platform
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gpol.dsl import check
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.events import AnyEvent, WorkloadAdmitted
from gpol.engine.facts import PolicyActivated, ProfileText, WorkloadFinished, WorkloadSubmitted
from gpol.engine.policy_graph import PolicyGraph
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at, resume
from gpol.journal.read.snapshots import Snapshotter

QUEUES, LIVE, SECOND = 30, 300, 1_000_000
MOST_REPLAYED = 100_000
"""Journals of more events are not replayed here: that takes as long as deciding them did."""


def policy() -> tuple[PolicyActivated, PolicyGraph]:
    """A policy of queues that own what they use."""
    queues = "".join(f"  queue q{number} {{\n    owns 16 gpu\n  }}\n" for number in range(QUEUES))
    text = f'policy "open" {{\n  use gpol.fair\n}}\nflavor h100 {{ gpu {QUEUES * 16} }}\ncohort all {{\n{queues}}}\n'
    checked = check(text, "open.gpol")
    assert checked.graph is not None
    profiles = tuple(ProfileText(name=name, text=profile) for name, profile in checked.profiles)
    return PolicyActivated(time=0, file="open.gpol", text=text, profiles=profiles, digest=checked.graph.digest), checked.graph


def batches(core: Core, events: int) -> Iterator[list[AnyEvent]]:
    """A history of about so many events, with the core brought along: it decides the first rounds, and the others are like them."""
    activation, graph = policy()
    yield [activation, *core.step(activation, graph)]
    known: dict[int, WorkloadAdmitted] = {}
    number = 0
    while core.seq < events:
        if number >= LIVE:
            finished = WorkloadFinished(time=number * SECOND, workload=f"job-{number - LIVE:08d}")
            core.apply(finished)
            yield [finished]
        name, queue = f"job-{number:08d}", number % QUEUES
        submitted = WorkloadSubmitted(
            time=number * SECOND, workload=name, queue=f"q{queue}", user="ada", pod_sets=(PodSet(requests={"gpu": 1_000}),)
        )
        if queue in known:
            admitted = known[queue].model_copy(update={"time": number * SECOND, "workload": name, "cause": core.seq + 1})
            core.apply(submitted)
            core.apply(admitted)
        else:
            [decided] = core.step(submitted)
            assert isinstance(decided, WorkloadAdmitted)
            admitted = decided
            if number >= LIVE + QUEUES:  # from here on every round is like the one before
                known[queue] = admitted
        yield [submitted, admitted]
        number += 1


def make(place: Path, events: int) -> None:
    """Make a journal with its snapshots."""
    core, group = new_core(), list[list[AnyEvent]]()
    with Journal.create(place) as journal, Snapshotter(journal, core) as sink:
        for batch in batches(core, events):
            group.append(batch)
            if len(group) >= 500:
                sink.append(group)
                group = []
        sink.append(group)


# --- one measurement, in a process of its own ---------------------------------------------------------------------------


def measure(what: str, place: str) -> None:
    """Do one thing with a journal, and print the seconds that it took and the most memory in use, in MB."""
    begin = time.perf_counter()
    if what == "nothing":
        pass
    elif what == "write":
        with Journal.open(place, readonly=False) as journal:
            core = resume(journal)
            core.next_wake()
            fact = WorkloadSubmitted(time=core.time, workload="next", queue="q0", pod_sets=(PodSet(requests={"gpu": 1_000}),))
            [decision] = core.copy().step(fact)  # a copy: the journal stays what it is
            assert isinstance(decision, WorkloadAdmitted)
    else:
        with Journal.open(place) as journal:
            if what == "state":
                assert core_at(journal).seq == journal.head.seq
            elif what == "verify":
                assert verify(journal).good
            elif what == "replay":
                assert replay(journal).same
            else:
                assert journal.head.seq
    seconds = time.perf_counter() - begin
    print(f"{seconds:.2f} {_most_memory():.0f}")


def _most_memory() -> float:
    """The most memory that this process had, in MB; what the system counts as such may begin with that of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        [kilobytes] = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(kilobytes) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(label: str, what: str, place: Path) -> None:
    """Measure, and print a line."""
    run = subprocess.run([sys.executable, __file__, "measure", what, str(place)], capture_output=True, text=True, check=True)
    seconds, megabytes = run.stdout.split()
    print(f"{label:<44} {seconds:>9} s {megabytes:>6} MB")


def empty(place: Path) -> None:
    """Take the snapshots out of a journal."""
    connection = sqlite3.connect(place)
    connection.execute("DELETE FROM snapshots")
    connection.commit()
    connection.close()


def main() -> None:
    """Make a journal and one of an eighth of its length, measure and print."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 80_000
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    print(f"{events:,} events, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.machine()}")
    with tempfile.TemporaryDirectory(dir=folder) as name:
        whole, eighth = Path(name) / "whole.db", Path(name) / "eighth.db"
        begin = time.perf_counter()
        make(whole, events)
        took = time.perf_counter() - begin
        with Journal.open(whole) as journal:
            count = len(journal.snapshot_seqs())
        print(f"made in {took:.0f} s; {whole.stat().st_size / 1e6:,.0f} MB, {count} snapshots kept")
        show("nothing", "nothing", whole)
        show("open, head", "head", whole)
        show("state at the end, with snapshots", "state", whole)
        show("open to write, decide, with snapshots", "write", whole)
        make(eighth, events // 8)
        for what in ("verify", "replay"):
            for label, place, length in (("an eighth", eighth, events // 8), ("the whole", whole, events)):
                if what == "verify" or length <= MOST_REPLAYED:
                    show(f"{what}, {label}", what, place)
        empty(whole)
        show("state at the end, without snapshots", "state", whole)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:])
    else:
        main()
