"""What a core is: the one interface by which everything outside `engine/` reaches the state of a cluster and its decisions.

Two modules make cores: `default_core.py` the definition, `compiled/fast_core.py` the one over arrays that commands use. Everything else
names this interface alone.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from .event_parts import PodSet
from .events import AnyDecision, AnyEvent
from .facts import Fact, WorkloadSubmitted
from .intake.jobs import Jobs
from .nodes.inventory import Machine
from .outcome.decision import BindingLimit, Hold
from .outcome.history import Columns, Decided, NumberOf
from .outcome.nomination import (
    KeptCandidate,
    Nomination,
    NoPlaces,
    Note,
    Obstacle,
    ProtectedVictim,
    Request,
    Share,
)
from .policy_graph import PolicyGraph
from .units import LAST_MOMENT
from .workload import Workload


class View(Protocol):
    """The state of a core, to be read. Nodes and slots are indices into the policy graph; amounts are in the smallest unit."""

    @property
    def submissions(self) -> int:
        """How many workloads were submitted so far."""

    @property
    def cause(self) -> int:
        """The sequence number of the last fact."""

    def names(self) -> Sequence[str]:
        """The names of all live workloads, in the order of their submissions."""

    def workloads(self) -> Sequence[Workload]:
        """All live workloads, in the order of their submissions."""

    def workload(self, name: str) -> Workload | None:
        """A live workload by name."""

    def machine_flavors(self) -> Sequence[int]:
        """The flavor of each machine, -1 for one of none."""

    def machines(self) -> Mapping[str, Machine]:
        """All machines by name, in order."""

    def capacity(self, slot: int) -> int:
        """What exists of a slot."""

    def owned(self, node: int, slot: int) -> int:
        """What a node's subtree owns of a slot."""

    def used(self, node: int, slot: int) -> int:
        """What runs at or below a node uses of a slot."""

    def consumed(self, local_queue: str) -> Mapping[str, int]:
        """The decayed usage of a local queue by resource, in smallest units times 2**64."""


class Probe(Protocol):
    """Questions about what would be, as things stand or as supposed. The state is as before afterwards."""

    @property
    def graph(self) -> PolicyGraph:
        """The policy that is asked about."""

    def suppose(
        self,
        graph: PolicyGraph | None = None,
        capacity: Mapping[int, int] | None = None,
        without: Sequence[str] = (),
        instead: WorkloadSubmitted | None = None,
        charges: Sequence[tuple[int, Request]] = (),
        reserved: Sequence[Nomination] = (),
    ) -> "Probe":
        """The same questions under another policy of the same nodes and slots, with more of some slots, without some who run, with a
        waiting workload that asks for something else, with requests charged to queues, or with the quota and the places kept that were
        found for some who wait. A charged request is amounts alone: it stands nowhere. Reservations, lines and heads stay."""

    def barrier(self, flavor: int, pod_set: PodSet, resources: Collection[str]) -> Obstacle | None:
        """What keeps a pod set off a flavor, from which it would get these resources, whatever is free there."""

    def available(self, queue: int, slot: int) -> int:
        """What a queue may still use of a slot; below 0 where more is used than may be."""

    def most(self, queue: int, slot: int) -> int:
        """What a queue could use of a slot at most, were everything else idle."""

    def owned(self, node: int, slot: int) -> int:
        """What a node's subtree owns of a slot."""

    def borrows(self, node: int, slots: Sequence[int]) -> bool:
        """Whether a node uses more than its subtree owns of some slot."""

    def share(self, node: int) -> Share:
        """The share of a node."""

    def fits(self, queue: int, request: Request) -> bool:
        """Whether a queue may take a request now."""

    def limit(self, queue: int, request: Request) -> BindingLimit | None:
        """The limit that keeps a queue from a request; None where it fits."""

    def binding_limit(self, nomination: Nomination) -> BindingLimit | None:
        """The limit that binds a nomination; None where it fits, or where nothing but flavors stands in the way."""

    def obstacle_limits(self, nomination: Nomination, pod_set: int, attempt: int) -> Sequence[BindingLimit]:
        """Every limit that an attempt of a nomination is short of."""

    def nominate(self, workload: str) -> Nomination:
        """What would be done for a waiting workload, were it the next."""

    def next_cycle(self, workload: str) -> Literal["fits", "evicts", "waits"]:
        """What the next cycle does for a waiting workload, where the policy decides by passes: admits it, promises it room that others
        leave, or nothing."""

    def may_evict(self, workload: str, victim: str, policy: str) -> bool:
        """Whether a queue's policy (`lower`, `lower-or-newer`, `any`, `nothing`) lets a waiting workload evict a running one."""

    def search_notes(self, nomination: Nomination) -> tuple[Mapping[str, Note], bool]:
        """What came of each running workload at which the search for a nomination's victims looks, by name, and whether it finds enough."""

    def unplaced_after_victims(self, nomination: Nomination) -> tuple[int, NoPlaces] | None:
        """Where evictions would free enough quota for a nomination, and its pods would find no places all the same: how many workloads
        would go for the quota, and why there are no places then. None: it lacks something else, or nothing."""

    def protected(self, nomination: Nomination) -> tuple[Sequence[ProtectedVictim], int]:
        """The victims that only time keeps from going for a nominated workload, and the rule by which they would go (-1: none)."""

    def kept(self, nomination: Nomination, most: int) -> Sequence[KeptCandidate]:
        """What keeps each running workload that uses a slot which a nomination lacks, in a policy with preempt rules: who uses most first.

        Of the `most` first ones in full, of the others without `until` and `values`."""

    def triggered(self, nomination: Nomination) -> Sequence[bool]:
        """Of each preempt rule, whether its condition on ownership holds for a nomination."""

    def reservations(self) -> Sequence[Nomination]:
        """Who waits for nothing but protections to end, and keeps its room until then."""

    def holds(self, workload: str) -> Sequence[Hold]:
        """All that keeps a waiting workload from being nominated, first the one that is told."""

    def released(self, workload: str) -> "Probe":
        """The same questions as if the workload's queue were neither stopped nor held as a whole."""

    def superiors(self, workload: str) -> Sequence[str]:
        """Those for whom a workload had to go and whom it does not evict in turn, by name."""

    def line(self, queue: int) -> Sequence[str]:
        """Who waits in a queue, parked or not, in the order in which they would be looked at."""

    def head(self, queue: int) -> str | None:
        """The workload that a queue puts up next."""

    def usage_of(self, workload: str) -> Share | None:
        """The decayed usage by which a workload stands in its queue, (1, 0) for a local queue of weight 0; None where its queue does not
        admit by usage."""

    def is_inactive(self, queue: int) -> bool:
        """Whether a queue takes no part: it puts up nobody, and nobody is evicted from it for others."""


PlayedBatch = tuple[Fact, list[AnyDecision]]
"""A fact and the decisions it caused."""


class EncodedEvents(NamedTuple):
    """Events in a row as their bytes (`Event.payload`), each with its kind and the workload that it is of; None where it is of none."""

    kinds: Sequence[str]
    workloads: Sequence[str | None]
    payloads: Sequence[bytes]


class RunningJob(NamedTuple):
    """A live job of a closed loop: how long it runs still (None: nobody knows), and since when, by which admission (both -1: it waits)."""

    workload: str
    left: int | None
    started: int
    admission: int


class PlayedChunk(Protocol):
    """What a closed loop has played in one go: `events` and `tape` as `outcome/history.py` says, and the same as facts and decisions."""

    @property
    def jobs(self) -> Jobs:
        """The jobs of the loop."""

    @property
    def events(self) -> Columns:
        """A row for each event."""

    @property
    def tape(self) -> Columns:
        """The charges of admissions, among other numbers."""

    @property
    def goes_on(self) -> bool:
        """Whether the loop goes on; else nothing is left, or the rest is not for it (`left_over`)."""

    @property
    def too_late(self) -> str | None:
        """The job that would not end before the year 10000; the last batch has its admission."""

    def batches(self) -> Iterator[PlayedBatch]:
        """What was played, as facts and decisions."""

    def batch(self, at: int) -> PlayedBatch:
        """The fact in a row of `events`, and what it caused."""

    def encoded(self) -> EncodedEvents:
        """What was played, as the bytes of a journal."""

    def decided(self, number: NumberOf) -> Decided:
        """What each decision decides, as numbers that can be compared."""


class JobLoop(Protocol):
    """Plays jobs in virtual time: each ends its length after its admission, and one that is evicted runs again."""

    def play(self, most: int) -> PlayedChunk:
        """Play facts until there are at least so many events."""

    def left_over(self) -> tuple[int, Sequence[RunningJob], Mapping[str, int]]:
        """How many jobs were submitted; those that are live, in the order of their submissions; and how often time alone has evicted them
        since the last fact of another kind."""


class GivenFacts(NamedTuple):
    """Facts to be played in a row, each a place in all of these: its kind (`outcome/history.py`: SUBMITTING, FINISHING, ADVANCING; or
    CANCELLING), its time, its workload ("": none).

    `alike` is the same for submissions that say the same but for names and times, and None for one that is alike to none, such as one with
    `created` or `replaces`. `submission` gives the submission at a place.
    """

    kinds: Sequence[int]
    times: Sequence[int]
    workloads: Sequence[str]
    alike: Sequence[Hashable]
    submission: Callable[[int], WorkloadSubmitted]


class PlayedFacts(NamedTuple):
    """What came of given facts: how many of them were `played`, and the bytes of all decisions, in order.

    `events` and `tape` are as `outcome/history.py` says, where a job is the number of its name, which `names` has; `facts` are the rows of
    facts, wakes between the given ones among them.
    """

    played: int
    facts: Sequence[int]
    decisions: Sequence[bytes]
    events: Columns
    tape: Columns
    names: Sequence[str]


class FactLoop(Protocol):
    """Plays given facts, many at a time."""

    def play(self, given: GivenFacts, with_wakes: bool = False) -> PlayedFacts:
        """Play facts up to the first that is not for it, which may be the very first: that one is for `Core.step`, which may refuse it.

        With wakes, time alone decides between the facts (`Core.next_wake`): before each of them up to its time, in cycles up to the moment
        before. Some wakes before a fact may be played though it is not: one of them may have made it impossible, or wakes go on and on.
        """


Frozen = tuple[bytes, PolicyGraph | None]
"""A state as bytes (`Core.freeze`), with the policy that was active then."""


class Core(Protocol):
    """A cluster under a policy. Deterministic: the same facts give the same decisions, whenever and wherever.

    `seq` counts events from 1, a fact and then its decisions; a decision's `cause` is the seq of its fact.
    """

    @property
    def seq(self) -> int:
        """The sequence number of the last event."""

    @property
    def time(self) -> int:
        """The time of the last event, in microseconds since the epoch."""

    @property
    def graph(self) -> PolicyGraph | None:
        """The policy that decides now."""

    @property
    def decides_in_cycles(self) -> bool:
        """Whether the policy decides in cycles: all facts of a moment are to be played before the wake of that moment."""

    @property
    def view(self) -> View:
        """The state, to be read."""

    @property
    def probe(self) -> Probe:
        """Questions about what would be."""

    def freeze(self) -> bytes:
        """The state as bytes: JSON in one form, so that equal states give equal bytes, whichever core has them."""

    def copy(self) -> "Core":
        """A core that stands where this one stands and goes its own way from here: neither disturbs the other."""

    def check(self, fact: Fact, graph: PolicyGraph | None = None) -> None:
        """Raise FactError if `step` would; nothing is changed."""

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> list[AnyDecision]:
        """Take in a fact and decide all that follows; `graph` goes with PolicyActivated.

        Evictions come before the admission that they make room for. Raises FactError, with nothing changed, for a fact
        that cannot have happened now.
        """

    def only_waits(self, fact: WorkloadSubmitted) -> bool:
        """Whether a submission, which may be impossible, would do nothing but wait: it is not rejected, and as things stand it would not
        be admitted were it the next. Nothing changes by the question."""

    def closed_loop(
        self, jobs: Sequence[WorkloadSubmitted], lengths: Sequence[int] | Columns, resume: bool, until: int = LAST_MOMENT
    ) -> JobLoop | None:
        """A loop that plays jobs, in the order in which they are submitted, with how long they run (microseconds; ENDLESS: nobody knows).

        With `resume` an evicted job runs only for what was left of it. Once nothing is submitted and nothing ends any more, wakes are
        played up to the moment `until`. None where this core, or its state, has none: the jobs are then to be played fact by fact.
        """

    def given_loop(self) -> FactLoop | None:
        """A loop that plays given facts from where the core stands, to be used until the core is used otherwise. None where this core, or
        its state, has none."""

    def apply(self, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
        """Apply a recorded event again, fact or decision, without deciding anything."""

    def next_wake(self) -> int | None:
        """The next moment at which time alone may change a decision; a driver then plays TimeAdvanced at that moment.

        It may be the present moment: one fact never admits and evicts the same workload, another one may evict it; and a policy
        that decides in cycles first takes in all facts of a moment.
        """
