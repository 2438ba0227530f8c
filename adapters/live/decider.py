"""Decides about facts and commits them: what a decision does in a cluster comes after it is in the journal.

    activate    a policy is to decide from the next beginning on
    begin       time moves on; what time alone decides up to now is decided
    play        a fact, and what follows from it
    commit      all of it goes into the journal, in one transaction; only then does anybody learn of it

A journal has one writer. When a commit fails, the core is ahead of its journal: this decider is of no use any more, and the journal is to
be opened again, with a new core at its end. Facts come from what a cluster is like, not from what was told of it, so none is lost by that.
"""

from asyncio import CancelledError
from collections.abc import Callable, Sequence
from time import perf_counter
from types import TracebackType
from typing import NamedTuple, Self

from ...engine.cores import Core, Frozen, PlayedBatch
from ...engine.errors import FactError
from ...engine.events import AnyEvent
from ...engine.facts import Fact, PolicyActivated
from ...engine.policy_graph import PolicyGraph
from ...journal.errors import TakenError
from ...journal.journal import Journal
from ...journal.read.as_of import resume
from ...journal.read.snapshots import Snapshotter
from ...sim.drive.player import EndlessError, Player
from ...sim.drive.policy import Policy
from .stamps import Stamps

MakeCore = Callable[[Frozen], Core]
"""Makes the core that is to decide, in a state that was frozen."""

_ALL_AT_ONCE = 2**62
"""How many batches wait for `commit`: all of them."""


class TakeOverError(Exception):
    """A policy cannot take over as things stand. The message says why."""


class Numbered(NamedTuple):
    """An event with its sequence number."""

    seq: int
    event: AnyEvent


Follows = Callable[[Sequence[Numbered]], None]
"""Told of a fact and its decisions, before anything else is played."""


class LiveDecider:
    """The core at the end of a journal, and the journal open to append; a context manager. `clock` gives nanoseconds since the epoch.

    `livelock` names workloads that evict one another in turns, as time passes; empty where there are none. Until another fact comes, time
    alone decides nothing more then. `by` and `note` are who activates policies, and where, as their activations are to say.
    """

    def __init__(self, journal: Journal, core: Core, stamps: Stamps) -> None:
        self.journal, self.core, self.stamps = journal, core, stamps
        self.livelock = ""
        self.by, self.note = "", ""
        self._snapshots = Snapshotter(journal, core)
        self._player = Player(core, self._snapshots, group=_ALL_AT_ONCE)
        self._played: list[Numbered] = []
        self._identity = ""
        self._next_policy: Policy | None = None
        self.commit_seconds = 0.0
        """How long the last commit took."""
        self.moment = core.time
        """The time that a fact has which is played now: that of `begin`, or of the wake that was played last (`follows`). Before the first
        `begin`, that of the journal's last event."""

    @classmethod
    def open(cls, path_or_url: str, make_core: MakeCore, stamps: Callable[[int], Stamps] = Stamps) -> Self:
        """Open a journal where it ends, or make it where there is none. Raises JournalError.

        `stamps` makes the clock, from the time of the journal's last event.
        """
        try:
            journal = Journal.create(path_or_url)
        except TakenError:
            journal = Journal.open(path_or_url, readonly=False)
        try:
            core = resume(journal)
            return cls(journal, make_core((core.freeze(), core.graph)), stamps(core.time))
        except BaseException:
            journal.close()
            raise

    def close(self) -> None:
        """Let go of the journal. What was not committed is lost, and was told to nobody."""
        self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind in (None, CancelledError):  # whoever cancels waits for no step of this decider to end: none is ever under way then
            self._snapshots.__exit__(None, None, None)
        self.close()

    @property
    def identity(self) -> str:
        """What tells this journal from all others: the first half of its first event's chain value; empty before the first event."""
        if not self._identity and self.journal.head.seq:
            self._identity = self.journal.at(1).chain.hex()[:32]
        return self._identity

    @property
    def graph(self) -> PolicyGraph | None:
        """The policy that decides, or that is to decide from the next `begin` on; None where there is none yet."""
        return self._next_policy.graph if self._next_policy is not None else self.core.graph

    @property
    def is_ahead(self) -> bool:
        """Whether something was decided that is not in the journal: a look is under way, or its commit has failed."""
        return bool(self._played)

    def activate(self, policy: Policy) -> None:
        """Let a policy decide from the next `begin` on, unless it does already."""
        active = self.core.graph
        if active is None or active.digest != policy.graph.digest:
            self._next_policy = policy

    def check(self, policy: Policy) -> None:
        """Raise TakeOverError for a policy that cannot take over as things stand; nothing is changed."""
        try:
            self.core.check(policy.activation(max(self.stamps.now(), self.core.time)), policy.graph)
        except FactError as error:
            raise TakeOverError(str(error)) from None

    def begin(self, follows: Follows, makes_ready: Callable[[PolicyGraph], None] = lambda graph: None) -> int:
        """Let time move on to now, and return it: the time of the facts that are played until `commit`.

        `follows` is called after each batch that time alone brings, and after a policy that is to decide from now on (`activate`); before
        that `makes_ready` is called with the policy, unless it is the first. Both may play facts of the same moment. Raises TakeOverError
        for a policy that cannot take over; then this decider is of no use any more.
        """
        now = self.stamps.now()
        self._advance(now - 1 if self.core.decides_in_cycles else now, follows)
        self.moment = now
        if self._next_policy is not None:
            self.check(self._next_policy)
            policy = self._next_policy
            if self.core.graph is not None:
                makes_ready(policy.graph)
            self._next_policy = None
            follows(self.play(policy.activation(now), policy.graph))
        return now

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> list[Numbered]:
        """Take in a fact of this moment, and return it with its decisions.

        Raises FactError, with nothing changed, for one that cannot have happened.
        """
        self.livelock = ""
        if isinstance(fact, PolicyActivated) and self.by:
            fact = fact.model_copy(update={"by": self.by, "note": self.note})
        return self._keep(self._player.step(fact, graph))

    def commit(self, follows: Follows) -> list[Numbered]:
        """Decide what this moment still brings, and put all that was played since the last commit into the journal.

        Return it. Raises JournalError; the decider is of no use then.
        """
        self._advance(self.moment, follows)
        begun = perf_counter()
        self._player.flush()
        self.commit_seconds = perf_counter() - begun
        played, self._played = self._played, []
        return played

    def next_wake(self) -> int | None:
        """The next moment at which time alone may decide something."""
        return None if self.livelock else self._player.next_wake()

    def _advance(self, time: int, follows: Follows) -> None:
        if self.livelock:
            return
        try:
            for batch in self._player.advance(time):
                self.moment = batch[0].time
                follows(self._keep(batch))
        except EndlessError as error:
            self.livelock = str(error)

    def _keep(self, batch: PlayedBatch) -> list[Numbered]:
        fact, decisions = batch
        first = self.core.seq - len(decisions)
        numbered = [Numbered(first + place, event) for place, event in enumerate((fact, *decisions))]
        self._played += numbered
        return numbered
