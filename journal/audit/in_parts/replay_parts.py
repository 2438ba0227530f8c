"""A long journal decided again in parts, by several processes at once.

A part begins in the state that a snapshot of the journal holds, and plays the recorded facts up to the next snapshot that was chosen; the
first part begins with nothing, the last one goes on to the end. Whoever can write to the database can forge snapshots, and none is taken
for true: at its end each part compares its own state with the snapshot there, byte for byte, and the chain value and the policy as well.
So the first part shows that the first snapshot is the state to which the recorded facts lead. Therefore the second part, which begins in
it, plays on as the first one would have done, and shows the same of the second snapshot; and so on to the end. A forged snapshot, however
it agrees with itself and with what comes after it, is not what the part before it comes to.

All this can only say that everything is the same. Where a part differs in anything, or cannot be played, nothing is said at all: then
`replay` goes through the journal from its beginning, and names what it names of any journal.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from ....engine.cores import Core, Frozen
from ....engine.default_core import SnapshotError
from ....engine.facts import PolicyActivated
from ....engine.policy_graph import PolicyGraph
from ...errors import JournalError
from ...journal import Journal
from ...read.snapshots import content_of, misplaced
from ...recorded_policies import PolicyRefusedError, compile_recorded, last_activation
from ...records import START, Head, Progress
from ..replay import ReplayReport, go_over
from ..replay_walk import ReplayWalk
from .all_processors import by_all_processors

Start = Callable[[Callable[[str], None], Frozen | None], AbstractContextManager[Core]]
"""Gives a core for as long as it is used, in a process of its own: in a frozen state, else SnapshotError, or one that nothing has happened
to. What the user should know of it, it tells."""

PAYS = 200_000
"""So many events must be taken off one processor for parts to pay: to start another process takes as long as to replay as many."""

EVENTS = 25_000
"""How many a part has at least."""

EVENTS_A_BYTE = 2
"""How many it has at least for each byte of the packed snapshot at its end. To compare a state, and to begin in it, takes up to half as
long as to replay them."""


class Border(NamedTuple):
    """Where two parts meet: behind an event, in a state whose snapshot has this digest, under the policy that an event with this SHA-256
    has activated (without one: empty)."""

    head: Head
    snapshot: bytes
    policy: bytes


class ReplayedPart(NamedTuple):
    """A part in which all is the same: its last event, how many facts and decisions it had, and what its core told."""

    head: Head
    facts: int
    decisions: int
    told: Sequence[str]


def replay_in_parts(
    journal: Journal, start: Start, progress: Progress | None = None, tell: Callable[[str], None] | None = None
) -> ReplayReport | None:
    """The report of a journal of which everything is the same; None where something is not, or parts would not pay: then see `replay`.

    `tell` is told what the cores told, each line once. Memory does not depend on the journal's length.
    """
    facts = decisions = 0
    told: list[str] = []
    try:
        last = journal.head.seq
        borders = _borders(journal, last)
        if not borders:
            return None
        place = START
        work = [(journal.name, start, begin, end) for begin, end in pairwise((None, *borders, None))]
        with closing(by_all_processors(play, work)) as parts:
            for part in parts:
                if part is None:
                    return None
                place = part.head
                facts, decisions = facts + part.facts, decisions + part.decisions
                told += part.told
                if progress is not None:
                    progress(place.seq)
        if place.seq < last or journal.at(place.seq).chain != place.chain:  # its name may be that of another journal by now
            return None
    except Exception:  # whatever becomes of the processes, and however damaged the journal is: it can be replayed without them
        return None
    if tell is not None:
        for line in dict.fromkeys(told):
            tell(line)
    return ReplayReport(facts, decisions)


# --- where parts meet -----------------------------------------------------------------------------------------------


def _borders(journal: Journal, last: int) -> list[Border]:
    """Where the parts of a journal meet that ends at event `last`; nowhere where parts would not pay."""
    from joblib import cpu_count

    found, after = list[Border](), 0
    for seq in journal.snapshot_seqs(last - EVENTS):
        if seq - after >= EVENTS and (border := _border(journal, seq, seq - after)) is not None:
            found.append(border)
            after = seq
    longest = max(end - begin for begin, end in pairwise([0, *(border.head.seq for border in found), last]))
    return found if last - max(longest, last // min(cpu_count(), len(found) + 1)) >= PAYS else []


def _border(journal: Journal, seq: int, events: int) -> Border | None:
    """The border that a snapshot is behind a part of so many events; None: it is none, or the part would be too short for it."""
    snapshot = journal.snapshot(seq)
    if misplaced(journal, snapshot) or not isinstance(snapshot.content, bytes) or events < EVENTS_A_BYTE * len(snapshot.content):
        return None
    policy = last_activation(journal, seq)
    digest = sha256(snapshot.content).digest()
    return Border(Head(seq, journal.at(seq).chain), digest, b"" if policy is None else sha256(policy.payload).digest())


# --- in a process of its own ----------------------------------------------------------------------------------------


def play(name: str, start: Start, begin: Border | None, end: Border | None) -> ReplayedPart | None:
    """Decide the events between two borders again, from the beginning of the journal or to its end where there is none.

    None unless the state at `begin` is the one in the snapshot there, every event is the recorded one, and all leads to `end`.
    """
    told: list[str] = []
    policy = b""

    def compile_noted(fact: PolicyActivated) -> PolicyGraph:
        nonlocal policy
        policy = sha256(fact.payload()).digest()
        return compile_recorded(fact)

    try:
        with Journal.open(name) as journal:
            frozen: Frozen | None = None
            if begin is not None:
                recorded = last_activation(journal, begin.head.seq)
                fact = recorded.event if recorded is not None else None
                frozen = _content(journal, begin), compile_noted(fact) if isinstance(fact, PolicyActivated) else None
                if policy != begin.policy or journal.at(begin.head.seq + 1).event.is_decision:
                    return None
            with start(told.append, frozen) as core:
                walk = ReplayWalk(journal, core, compile_noted, START if begin is None else begin.head)
                go_over(walk, None if end is None else end.head.seq)
                if walk.difference is not None or core.seq != walk.seq:
                    return None
                if end is not None and (walk.head, policy, core.freeze()) != (end.head, end.policy, _content(journal, end)):
                    return None
            return ReplayedPart(walk.head, walk.facts, walk.decisions, told)
    except (JournalError, PolicyRefusedError, SnapshotError):
        return None


def _content(journal: Journal, border: Border) -> bytes:
    """The state that is kept at a border."""
    snapshot = journal.snapshot(border.head.seq)
    if snapshot.digest != border.snapshot:
        raise SnapshotError("it is another one than at first")
    return content_of(journal, snapshot)
