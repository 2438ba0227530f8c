"""Kills the writer of a journal at random instants, again and again, and looks each time at what is left.

Run `python tests/faults/kill.py [RUNS] [--postgres] [--seed N]`. A writer is a process of its own: it plays facts, appends them with
their decisions, some batches a transaction, and says what it is about to append and what was acknowledged. It is killed by SIGKILL at an
instant that has nothing to do with what it does. Then the journal is opened to append, as the next writer would, and has to hold exactly
what was acknowledged or that and the whole transaction under way; it has to verify, also against the checkpoints signed
meanwhile; every decision in it has to come out again; and a core resumed from its snapshots has to stand where a replayed one does.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random

from facts import Cluster
from gpol.engine.cores import Core
from gpol.engine.default_core import freeze, new_core
from gpol.journal.audit.evidence import Evidence
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.proof.checkpointer import Checkpointer
from gpol.journal.proof.signing_keys import SigningKey
from gpol.journal.read.as_of import resume
from gpol.journal.read.snapshots import Snapshotter

JOURNAL_RUNS = 25
"""So many runs go into one journal before a new one is begun: each is verified and replayed whole after every run."""

EVERY = 40
"""Events between two checkpoints, and two snapshots: some fall into every writer's life."""

KEY = SigningKey.new("faults.example/journal")

LONGEST_LIFE = 0.06
"""Seconds that a writer has at most, from its first words on, or from the last transaction on that is waited for."""

MOST_AWAITED = 2
"""So many transactions at most are waited for before a writer's life is measured, so that on a slow machine some are acknowledged, too."""


@dataclass
class Tally:
    """What came of the runs. Facts and halves are what the promise is about; the rest says that the runs were worth something."""

    runs: int = 0
    inside: int = 0
    kept: int = 0
    transactions: int = 0
    facts: int = 0
    lost: int = 0
    halves: int = 0
    checkpoints: int = 0
    not_verified: int = 0
    not_replayed: int = 0
    not_resumed: int = 0

    @property
    def good(self) -> bool:
        """Whether the promise held in every run."""
        return not (self.lost or self.halves or self.not_verified or self.not_replayed or self.not_resumed)

    def __str__(self) -> str:
        told = {
            "runs": "writers killed",
            "inside": "of them inside an append",
            "kept": "of these with the whole transaction kept, though nobody had been told",
            "transactions": "transactions acknowledged",
            "facts": "facts acknowledged",
            "lost": "acknowledged facts lost",
            "halves": "journals with half a transaction",
            "checkpoints": "checkpoints looked at",
            "not_verified": "journals that did not verify against them",
            "not_replayed": "journals that did not replay",
            "not_resumed": "journals whose snapshots led elsewhere",
        }
        return "\n".join(f"{getattr(self, field.name):>9,}  {told[field.name]}" for field in fields(self))


def write(journal: Journal, folder: Path, cluster: Cluster, pipe: int) -> None:
    """Append for ever: `try SEQ FACTS` before, `ok SEQ CHAIN` after each transaction."""
    sink = Snapshotter(journal, cluster.core, Checkpointer(journal, folder, KEY, EVERY), EVERY)
    while True:
        batches = cluster.batches(cluster.random.randrange(1, 8))
        os.write(pipe, b"try %d %d\n" % (cluster.core.seq, len(batches)))
        sink.append(batches)
        os.write(pipe, b"ok %d %s\n" % (journal.head.seq, journal.head.chain.hex().encode()))


def killed_writer(place: str, folder: Path, core: Core, seed: int, awaited: int, life: float) -> list[list[str]]:
    """Let a writer live for so many transactions and then so many seconds, kill it, and return what it said, by line and word."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            with _opened(place) as journal:
                write(journal, folder, Cluster(Random(seed), core), writing)
        except BaseException as error:
            os.write(writing, f"failed {type(error).__name__} {error}\n".encode())
        finally:
            os._exit(1)
    os.close(writing)
    said = os.read(reading, 1 << 16)  # its first words: it has opened the journal
    while said.count(b"ok ") < awaited and (more := os.read(reading, 1 << 16)):
        said += more
    time.sleep(life)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 1 << 16):
        said += more
    os.close(reading)
    return [line.split() for line in said.decode().splitlines()]


def _opened(place: str) -> Journal:
    """The journal, to append; a server takes a moment to notice that the last writer is gone."""
    for _ in range(200):
        try:
            return Journal.open(place, readonly=False)
        except JournalError as error:
            if "open for writing elsewhere" not in error.message:
                raise
            time.sleep(0.05)
    return Journal.open(place, readonly=False)


def examine(place: str, folder: Path, before: int, said: list[list[str]], tally: Tally) -> Core:
    """Look at what a killed writer left, and count it. Returns a core at the journal's end, for the next one."""
    failed = [words for words in said if words[0] == "failed"]
    assert not failed, failed
    tried = [(int(words[1]), int(words[2])) for words in said if words[0] == "try"]
    acknowledged = [(int(words[1]), words[2]) for words in said if words[0] == "ok"]
    last = acknowledged[-1][0] if acknowledged else before
    tally.runs += 1
    tally.transactions += len(acknowledged)
    tally.facts += sum(facts for _, facts in tried[: len(acknowledged)])
    replayed = new_core()
    signed = any(folder.glob("*.checkpoint"))
    evidence = Evidence.gather([folder], [KEY.public]) if signed else Evidence()
    tally.checkpoints += len(evidence.signed)
    with _opened(place) as journal:
        head = journal.head.seq
        inside = len(tried) > len(acknowledged)
        tally.inside += inside
        tally.kept += inside and head == tried[-1][0]
        tally.lost += sum(head < seq or journal.at(seq).chain.hex() != chain for seq, chain in acknowledged)
        tally.halves += head not in (last, *(seq for seq, _ in tried[-1:]))
        verified = verify(journal, evidence=evidence)
        tally.not_verified += not (verified.good and verified.seq == head)
        tally.not_replayed += not replay(journal, decider=replayed).same
        resumed = resume(journal)
        tally.not_resumed += freeze(resumed) != freeze(replayed)
    return resumed


def run(runs: int, place_of: Callable[[int], str], seed: int = 1, progress: Callable[[int], None] | None = None) -> Tally:
    """Kill so many writers; `place_of` a number says where the journal with that number is to be."""
    random, tally = Random(seed), Tally()
    core, place, head = new_core(), "", 0
    with tempfile.TemporaryDirectory() as folders:
        for number in range(runs):
            if number % JOURNAL_RUNS == 0:
                core, place, head = new_core(), place_of(number // JOURNAL_RUNS), 0
                Journal.create(place).close()
            folder = Path(folders) / str(number // JOURNAL_RUNS)
            said = killed_writer(
                place, folder, core, random.randrange(1 << 32), random.randint(0, MOST_AWAITED), random.random() * LONGEST_LIFE
            )
            core = examine(place, folder, head, said, tally)
            head = core.seq
            if progress is not None:
                progress(number + 1)
    return tally


@contextmanager
def _places(postgres: bool) -> Iterator[Callable[[int], str]]:
    """Where journals are to be, by number."""
    if not postgres:
        with tempfile.TemporaryDirectory() as folder:
            yield lambda number: str(Path(folder) / f"killed-{number}.db")
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "stores"))
    import postgres_server

    programs = postgres_server.programs()
    if programs is None:
        sys.exit("PostgreSQL is not installed; install its server programs (Debian, Ubuntu: apt install postgresql)")
    with postgres_server.running(programs) as url:
        yield lambda number: f"{url}&journal=killed_{number}"


def main() -> None:
    """Run as often as asked, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="?", type=int, default=200)
    parser.add_argument("--postgres", action="store_true", help="journals in PostgreSQL, on a server of its own; else in SQLite files")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()

    def tell(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {asked.runs}", end="", file=sys.stderr)

    with _places(asked.postgres) as place_of:
        tally = run(asked.runs, place_of, asked.seed, tell)
    print(f"\r{'PostgreSQL' if asked.postgres else 'SQLite'}, seed {asked.seed}")
    print(tally)
    sys.exit(not tally.good)


if __name__ == "__main__":
    main()
