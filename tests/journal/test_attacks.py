"""Every attack on a journal, with every kind of evidence: what each finds is what the table in docs/audit.md says.

The attacker may write to the database, knows its format, and has gpol; the key and what was signed or noted down are out of reach.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.traces import read_jobs
from gpol.dsl.analysis.checker import check
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.journal.audit.evidence import Evidence
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.backup import backup
from gpol.journal.errors import DamagedError
from gpol.journal.journal import Journal
from gpol.journal.proof.checkpoint_folder import CheckpointFolder, checkpoint_name
from gpol.journal.proof.checkpointer import Checkpointer
from gpol.journal.proof.signing_keys import SigningKey
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation

ROOT = Path(__file__).parents[2]
KEY = SigningKey.new("acme.example/cluster")
MINUTE = 60_000_000

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }

cohort all {
  queue owner { owns 6 gpu }
  queue guest { owns 2 gpu }
}
"""

EVIDENCE = ("nothing", "a noted head", "a checkpoint", "a folder", "replay")
"""The columns of the table: `verify` with each of these, and `replay`."""


@dataclass(frozen=True)
class Case:
    """A journal as it was written, what was kept of it elsewhere, and where the attacks aim.

    `decision` and `fact` are events before `signed`, the size of an older checkpoint; `other` is the history without one of its jobs.
    """

    place: Path
    folder: Path
    checkpoint: Path
    signed: int
    noted: tuple[int, str]
    count: int
    decision: int
    fact: int
    other: Path


def play(place: Path, folder: Path, policy: Policy, jobs: list[Job], every: int) -> None:
    """Simulate jobs into a new journal, with checkpoints."""
    with Journal.create(place) as journal:
        checkpointer = Checkpointer(journal, folder, KEY, every)
        for _ in Simulation(policy, jobs, Player(sink=checkpointer, group=10)).run():
            pass
        checkpointer.write()


def make_case(folder: Path, policy: Policy, jobs: list[Job], every: int) -> Case:
    """Write a journal and what is needed to attack and to verify it."""
    place, checkpoints, alone = folder / "journal.db", folder / "checkpoints", folder / "alone"
    play(place, checkpoints, policy, jobs, every)
    with Journal.open(place) as journal:
        count = journal.head.seq
        kinds = [recorded.event.kind for recorded in journal.events()]
        sizes = [int(path.stem) for path in CheckpointFolder(checkpoints).checkpoint_files()]
        signed = max(size for size in sizes if size < count * 3 // 4)
        noted = (signed, journal.at(signed).chain.hex())
    assert len([size for size in sizes if size < signed]) >= 2, "there are checkpoints before and after the attacks' place"
    assert signed < count
    decision = kinds.index("WorkloadAdmitted", signed // 2) + 1
    fact = kinds.index("WorkloadSubmitted", decision) + 1
    assert fact < signed - 20
    other = folder / "other.db"
    play(other, folder / "others", policy, jobs[: len(jobs) // 3] + jobs[len(jobs) // 3 + 1 :], every)
    alone.mkdir()
    checkpoint = Path(shutil.copy(checkpoints / checkpoint_name(signed), alone))
    return Case(place, checkpoints, checkpoint, signed, noted, count, decision, fact, other)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A small cluster where 120 jobs of two queues borrow, evict and wait."""
    jobs = [
        Job(
            WorkloadSubmitted(
                time=number * 5 * MINUTE,
                workload=f"job-{number}",
                queue=("owner", "guest", "guest")[number % 3],
                pod_sets=(PodSet(requests={"gpu": f"{1 + number % 4}"}),),
            ),
            (7 + number * 13 % 60) * MINUTE,
        )
        for number in range(120)
    ]
    return make_case(tmp_path_factory.mktemp("generated"), Policy.of(check(POLICY, "lab.gpol")), jobs, every=40)


@pytest.fixture(scope="module")
def philly(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The first jobs of the Philly trace under `quarter.gpol`."""
    path = ROOT / "examples" / "philly" / "quarter.gpol"
    jobs = read_jobs(shared / "traces" / "philly_sia" / "philly.csv", "philly")[:1_200]
    return make_case(tmp_path_factory.mktemp("philly"), Policy.of(check(path.read_text(), path.name)), jobs, every=400)


# --- the attacks: each alters the copy of a journal, and returns the first event that is no longer as it was ---------------


Hood = Callable[..., list[tuple[Any, ...]]]
"""Runs SQL in the copy, and gives the rows; whoever has it may change what he likes."""


@dataclass(frozen=True)
class Target:
    """The copy of a journal that is attacked, in either store."""

    case: Case
    place: Path | str
    hood: Hood

    def alter_payload(self, seq: int, old: bytes, new: bytes) -> None:
        """Change an event's payload."""
        [(payload,)] = self.hood("SELECT payload FROM events WHERE seq = ?", seq)
        assert old in payload
        self.hood("UPDATE events SET payload = ? WHERE seq = ?", payload.replace(old, new, 1), seq)

    def rechain(self, after: int, upto: int) -> None:
        """Compute the chain anew over a stretch."""
        [(chain,)] = self.hood("SELECT chain FROM events WHERE seq = ?", after)
        rows = self.hood("SELECT seq, payload FROM events WHERE seq > ? AND seq <= ? ORDER BY seq", after, upto)
        self.hood("BEGIN")
        for seq, payload in rows:
            chain = sha256(chain + payload).digest()
            self.hood("UPDATE events SET chain = ? WHERE seq = ?", chain, seq)
        self.hood("COMMIT")

    def remove(self) -> None:
        """Make room for another journal."""
        if isinstance(self.place, Path):
            self.place.unlink()
        else:
            self.hood(f"DROP SCHEMA {self.place.rpartition('=')[2]} CASCADE")


def alter_decision(target: Target) -> int:
    """Name another rule for a decision."""
    target.alter_payload(target.case.decision, b'"name":"', b'"name":"un')
    return target.case.decision


def alter_fact(target: Target) -> int:
    """Change something in a fact that no rule looks at."""
    target.alter_payload(target.case.fact, b'"workload_kind":""', b'"workload_kind":"Job"')
    return target.case.fact


def alter_column(target: Target) -> int:
    """Change the column that an event's kind is found by."""
    target.hood("UPDATE events SET kind = 'WorkloadEvicted' WHERE seq = ?", target.case.decision)
    return target.case.decision


def alter_chain_value(target: Target) -> int:
    """Change a chain value."""
    target.hood("UPDATE events SET chain = ? WHERE seq = ?", bytes(32), target.case.decision)
    return target.case.decision


def delete(target: Target) -> int:
    """Take an event out."""
    target.hood("DELETE FROM events WHERE seq = ?", target.case.decision)
    return target.case.decision


def renumber(target: Target) -> int:
    """Give all events from one on other numbers."""
    target.hood("UPDATE events SET seq = seq + 1000000 WHERE seq >= ?", target.case.decision)
    return target.case.decision


def swap(target: Target) -> int:
    """Exchange two events."""
    pair = (target.case.decision, target.case.fact)
    target.hood(f"CREATE TEMP TABLE pair AS SELECT * FROM events WHERE seq IN {pair}")
    target.hood(f"DELETE FROM events WHERE seq IN {pair}")
    target.hood(f"INSERT INTO events SELECT {sum(pair)} - seq, stream, {sum(pair)} - seq, kind, payload, chain FROM pair")
    return min(pair)


def insert(target: Target) -> int:
    """Put a decision in, the same as the one before it, and number all behind it anew."""
    after = target.case.decision
    target.hood("UPDATE events SET seq = -seq, version = -version WHERE seq > ?", after)
    target.hood("UPDATE events SET seq = 1 - seq, version = 1 - version WHERE seq < 0")
    target.hood("INSERT INTO events SELECT seq + 1, stream, seq + 1, kind, payload, chain FROM events WHERE seq = ?", after)
    return after + 1


def cut_off(target: Target) -> int:
    """Delete all events from a decision on."""
    target.hood("DELETE FROM events WHERE seq >= ?", target.case.decision)
    return target.case.decision


def shorter(target: Target) -> int:
    """Put a copy in place that was made honestly, when the journal was shorter."""
    target.remove()
    with Journal.open(target.case.place) as whole, Journal.create(target.place) as copy:
        before = takewhile(lambda batch: batch.fact.seq < target.case.decision, whole.batches())
        return copy.append([[each.event for each in (batch.fact, *batch.decisions)] for batch in before]).seq + 1


def alter_decision_rechain(target: Target) -> int:
    """Name another rule for a decision, and compute the chain anew from there to the end."""
    seq = alter_decision(target)
    target.rechain(seq - 1, target.case.count)
    return seq


def alter_fact_rechain(target: Target) -> int:
    """Change a fact, and compute the chain anew from there to the end."""
    seq = alter_fact(target)
    target.rechain(seq - 1, target.case.count)
    return seq


def alter_decision_rechain_stretch(target: Target) -> int:
    """Name another rule for a decision, and compute the chain anew over ten events."""
    seq = alter_decision(target)
    target.rechain(seq - 1, seq + 9)
    return seq


def other_history(target: Target) -> int:
    """Put the history in place that gpol would have written without one of the jobs."""
    target.remove()
    backup(target.case.other, target.place)
    with Journal.open(target.case.place) as before, Journal.open(target.place) as after:
        return next(one.seq for one, other in zip(before.events(), after.events(), strict=False) if one.payload != other.payload)


ATTACKS: dict[str, Callable[[Target], int]] = {
    "alter a decision": alter_decision,
    "alter a fact": alter_fact,
    "alter a column that repeats the payload": alter_column,
    "alter a chain value": alter_chain_value,
    "delete an event": delete,
    "renumber events": renumber,
    "swap two events": swap,
    "insert an event": insert,
    "cut off the end, inside a batch": cut_off,
    "replace the journal by a shorter honest copy": shorter,
    "alter a decision, and compute the chain anew over a stretch": alter_decision_rechain_stretch,
    "alter a decision, and compute the chain anew to the end": alter_decision_rechain,
    "alter a fact, and compute the chain anew to the end": alter_fact_rechain,
    "leave a job out, decide all anew with gpol, and replace the journal": other_history,
}


# --- what finds them --------------------------------------------------------------------------------------------------


def outcome(place: Path | str, case: Case, evidence: str, bad: int) -> str:
    """What is found: the first bad event, a range that holds it, a later event, or nothing. Anything else is a false statement."""
    seq, within = find(place, case, evidence)
    if within is not None:
        assert seq is None
        assert within[0] <= bad <= within[1], f"{within} does not hold {bad}"
        return "range"
    if seq is None:
        return "-"
    assert seq >= bad, f"event {seq} is named, and is good"
    return "event" if seq == bad else "later event"


def find(place: Path | str, case: Case, evidence: str) -> tuple[int | None, tuple[int, int] | None]:
    """The event that is named, or the range."""
    with Journal.open(place) as journal:
        if evidence == "replay":
            try:
                return replay(journal).bad_seq, None
            except DamagedError as error:
                return error.seq, None
        noted = case.noted if evidence == "a noted head" else None
        places = {"a checkpoint": [case.checkpoint], "a folder": [case.folder]}.get(evidence, [])
        report = verify(journal, None, noted, Evidence.gather(places, [KEY.public]))
    assert report.good or report.fault is not None
    fault = report.fault
    return (None, None) if fault is None else (fault.seq, fault.within)


def table() -> dict[str, tuple[str, ...]]:
    """The table of docs/audit.md: for each attack what each kind of evidence finds."""
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    start = next(number for number, row in enumerate(rows) if row[1:] == ["nothing", *EVIDENCE[1:]])
    found = {}
    for row in rows[start + 2 :]:
        if len(row) != len(EVIDENCE) + 1:
            break
        found[row[0]] = tuple(row[1:])
    return found


def test_the_table_has_every_attack() -> None:
    """The table in docs/audit.md lists these attacks, each once, in this order."""
    assert list(table()) == list(ATTACKS)


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_what_nobody_attacked_is_good(generated: Case, place: Path | str, evidence: str) -> None:
    """With no attack, no kind of evidence finds anything, in whatever store the journal is."""
    backup(generated.place, place)
    assert find(place, generated, evidence) == (None, None)


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_on_a_generated_journal(generated: Case, place: Path | str, hood: Hood, attack: str) -> None:
    """What each kind of evidence finds of an attack is what the table says, in every store; what is named is right."""
    assert attacked(generated, place, hood, attack) == table()[attack]


@pytest.mark.slow
@pytest.mark.sqlite
@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_on_the_philly_journal(philly: Case, place: Path, hood: Hood, attack: str) -> None:
    """The same on the history of a real cluster."""
    assert attacked(philly, place, hood, attack) == table()[attack]


def attacked(case: Case, place: Path | str, hood: Hood, attack: str) -> tuple[str, ...]:
    """Attack a copy of the journal, and see what each kind of evidence finds."""
    backup(case.place, place)
    bad = ATTACKS[attack](Target(case, place, hood))
    return tuple(outcome(place, case, evidence, bad) for evidence in EVIDENCE)
