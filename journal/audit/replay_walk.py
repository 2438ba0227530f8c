"""A walk over recorded events that decides each fact again: many facts in one go where the core can, else one by one.

Both give the same report. In one go the core plays facts that are known to be events in the one form, and its decisions are compared with
the recorded ones all at once. Only where something differs, the batch is looked at by itself.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress, pairwise, takewhile

import numpy as np

from ...engine.cores import FactLoop
from ..journal import Batch, Journal
from ..recorded_policies import Compile
from ..records import START, Head, ReadRow, Recorded, are_linked, link
from .recorded_facts import RecordedFacts
from .replay_batch import Decider, Difference, compared, replay_batch

FEW = 16
"""Fewer facts than these are decided one by one."""


class ReplayWalk:
    """Replays events in order: `facts` and `decisions` came out as recorded so far. `difference` is the first one that did not.

    It begins behind event `after`, the last of a batch, where the decider stands.
    """

    def __init__(self, journal: Journal, decider: Decider, compile_policy: Compile, after: Head = START) -> None:
        self.journal, self.decider, self.compile_policy = journal, decider, compile_policy
        self.facts = self.decisions = 0
        self.difference: Difference | None = None
        self._after, self._chain = after.seq, after.chain
        """Where it began, and the chain value of the last event that is done."""

    @property
    def seq(self) -> int:
        """The last event that is done."""
        return self._after + self.facts + self.decisions

    @property
    def head(self) -> Head:
        """The last event that is done, with its chain value."""
        return Head(self.seq, self._chain)

    def take(self, rows: Sequence[ReadRow], is_end: bool) -> None:
        """Replay the next events up to a difference: all of them at the end, else up to where more may belong to the last fact."""
        before, at, recorded = self.seq, 0, RecordedFacts.of(rows)
        stretches = _stretches(recorded.plain, is_end)
        while at < len(rows):
            fact = bisect_left(recorded.at, at)
            begin, end = next(((begin, end) for begin, end in stretches if end > fact), (len(recorded.at), 0))
            until = recorded.at[begin] if begin < len(recorded.at) else len(rows)
            if begin <= fact and (loop := self._loop()) is not None:
                until = at + 1  # where the loop leaves it to `step`
                self._in_one_go(loop, rows, recorded, fact, end)
            if self.difference is None and self.seq == before + at:
                self._one_by_one(rows, at, max(until, at + 1), is_end)
            if self.difference is not None or self.seq == before + at:
                return
            at = self.seq - before

    def _loop(self) -> FactLoop | None:
        """What plays facts in one go; what stands in for a core may have nothing."""
        given_loop = getattr(self.decider, "given_loop", None)
        loop: FactLoop | None = given_loop() if given_loop is not None else None
        return loop

    def _one_by_one(self, rows: Sequence[ReadRow], begin: int, until: int, is_end: bool) -> None:
        """Replay the batches that begin before `until`, if what follows says that they are whole."""
        first = self.seq - begin
        for batch in self.journal.batches_of((Recorded(*rows[at]) for at in range(begin, len(rows))), self.seq):
            end = batch.fact.seq + len(batch.decisions) - first
            if batch.fact.seq - first > until or (end == len(rows) and not is_end):
                return
            found = replay_batch(batch, self.decider, self.compile_policy)
            self._judge(batch, found)
            if self.difference is not None:
                return

    def _judge(self, batch: Batch, found: Difference | None) -> None:
        """Count a batch as done unless a decision is another one or the chain is broken; the first of that is the difference."""
        chain, broken = self._chain, None
        for recorded in (batch.fact, *batch.decisions):
            if broken is None and link(chain, recorded.payload) != recorded.chain:
                problem = f"event {recorded.seq} does not match its chain value; `gpol verify` tells more"
                broken = Difference(recorded.seq, problem, link(chain, recorded.payload).hex(), recorded.chain.hex())
            chain = recorded.chain
        if found is None or (broken is not None and broken.seq < found.seq):
            found = broken
        self.difference = found
        if found is None:
            self._count(1, len(batch.decisions), chain)

    def _count(self, facts: int, decisions: int, chain: bytes) -> None:
        self.facts += facts
        self.decisions += decisions
        self._chain = chain

    # --- in one go ----------------------------------------------------------------------------------------------------

    def _in_one_go(self, loop: FactLoop, rows: Sequence[ReadRow], recorded: RecordedFacts, fact: int, end: int) -> None:
        """Replay some facts, all of them plain, and the one behind them too, if there is one."""
        played = loop.play(recorded.given(fact, end))
        facts, at = len(played.facts), recorded.at
        if not facts:
            return
        begin, stop = at[fact], at[fact + facts] if fact + facts < len(at) else len(rows)
        chains, payloads = recorded.chains[begin:stop], recorded.payloads[begin:stop]
        starts = at[fact : fact + facts]
        as_recorded = list(compress(payloads, recorded.is_decision[begin:stop]))
        same_places = [begin + place for place in played.facts] == starts and facts + len(played.decisions) == stop - begin
        if same_places and as_recorded == played.decisions and are_linked(self._chain, payloads, chains):
            self._count(facts, len(as_recorded), chains[-1])
            return
        self._first_difference(rows, [*starts, stop], [*played.facts, facts + len(played.decisions)], played.decisions)

    def _first_difference(self, rows: Sequence[ReadRow], starts: Sequence[int], places: Sequence[int], decisions: Sequence[bytes]) -> None:
        """Go over batches that begin at `starts`, with what was decided now, up to the first that is not as recorded.

        `places` are those of their facts among all that was decided now.
        """
        done = 0
        for number, (begin, end) in enumerate(pairwise(starts)):
            count = places[number + 1] - places[number] - 1
            fact, *others = (Recorded(*rows[at]) for at in range(begin, end))
            batch = Batch(fact, tuple(takewhile(lambda recorded: recorded.event.is_decision, others)))
            self._judge(batch, compared(batch, decisions[done : done + count]))
            done += count
            if self.difference is not None:
                return


def _stretches(plain: Sequence[bool], is_end: bool) -> list[tuple[int, int]]:
    """Where facts that may be played in one go begin and end. Behind each of them comes another plain one, or nothing any more: what comes
    behind may show that nothing can be read on, and then the batch before it may not be whole."""
    possible = np.array(plain, bool)
    possible[:-1] &= possible[1:]
    possible[-1:] &= is_end
    edges = np.flatnonzero(np.diff(possible.astype(np.int8), prepend=0, append=0)).tolist()
    return [(begin, end) for begin, end in zip(edges[::2], edges[1::2], strict=True) if end - begin >= FEW]
