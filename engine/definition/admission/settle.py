"""Settling: after a fact, decide until nothing more can be decided.

A pass looks at the waiting workloads of every queue in the queue's order. Each queue proposes its first workload that can
be admitted (maybe by evictions) or that waits for nothing but protections to end; the best proposal of all, level by level
down the tree, is carried out, and the others are thought over again. One that waits for protections reserves its room for
the rest of the pass. A refused workload lets others of its queue pass, unless the queue is strict.

Passes repeat until one decides nothing.
INVARIANT: that ends, since nothing that this fact admitted is evicted for its sake: each workload is admitted at most once
and evicted at most once.
INVARIANT: looking again ends, too. Nobody evicts, by a rule without durations, one for whom it had to go itself, directly or through
others, until anything but time and submissions changes the cluster. Were some evicted again and again, one of them would stand above
all others of them, and there would be nobody for whom it could go.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..events import AnyDecision, Operand, Why
from ..graph import OrderKey
from .apply import active, apply
from .flavors import Mode, Plan, plan
from .hunt import Hunt, Hunter
from .order import directed, shape_of
from .quota import Request
from .route import admission_rule_why, suspended
from .state import Active, Shape, SortKey, State
from .why import decisions_of
from .workload import Workload


@dataclass(slots=True)
class Proposal:
    """What could be done for a workload: a plan of flavors, and the hunt that makes room (None where none is needed).

    `until` is the first moment at which one of the hunts for its flavors would make room, where none does now; `holds_until`
    the first at which time alone may change one of them.
    `ranks` are the proposal's keys in the order of queues, at each node on its path.
    """

    workload: Workload
    plan: Plan
    hunt: Hunt | None
    until: int | None
    holds_until: int | None
    ranks: dict[int, tuple[object, ...]] = field(default_factory=dict)

    @property
    def possible(self) -> bool:
        """Whether it can be carried out, now or once protections end."""
        return self.plan.mode >= Mode.BLOCKED


def propose(state: State, workload: Workload) -> Proposal:
    """Plan flavors for a workload and, where it does not fit, hunt for victims. The plan's mode says what came of it."""
    policy = active(state)
    hunter = Hunter(policy, workload, state.time, state.cause, state.superiors(workload.name))
    hunts: dict[Request, Hunt] = {}

    def search(request: Request) -> Mode:
        hunt = hunts[request] = hunter.hunt(request)
        if hunt.victims:
            return Mode.EVICT
        return Mode.SHORT if hunt.until is None else Mode.BLOCKED

    planned = plan(policy, workload, search)
    hunted = planned.mode >= Mode.BLOCKED and not policy.tree.fits(workload.queue, planned.request)
    if hunted and planned.request not in hunts:  # several parts: together they may need more victims than one by one
        planned = planned.with_mode(search(planned.request))
    return Proposal(
        workload,
        planned,
        hunt=hunts[planned.request] if hunted else None,
        until=min((hunt.until for hunt in hunts.values() if hunt.until is not None), default=None),
        holds_until=min((hunt.holds_until for hunt in hunts.values() if hunt.holds_until is not None), default=None),
    )


class Settler:
    """Settles a state. It remembers refusals while nothing changes that could turn them; forgetting them changes no decision."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._refused: dict[tuple[int, Shape], int | None] = {}
        self._version = -1

    def copy(self, state: State) -> "Settler":
        """A settler of a copy of the state, with the same refusals in mind."""
        other = Settler(state)
        other._refused, other._version = dict(self._refused), self._version
        return other

    def settle(self) -> list[AnyDecision]:
        """Decide all there is to decide; the decisions are applied already."""
        decisions: list[AnyDecision] = []
        while True:
            step = _Pass(self)
            decided = step.run()
            step.give_back()
            decisions += decided
            if not decided:
                self._note_wake(step)
                return decisions

    def next_wake(self) -> int | None:
        """The next moment at which time alone may decide something; looked for again where events were applied without settling."""
        if not self.state.settled and self.state.active is not None:
            step = _Pass(self, only_reserve=True)
            step.run()
            step.give_back()
            self._note_wake(step)
        return self.state.wake

    def _note_wake(self, step: "_Pass") -> None:
        self.state.wake, self.state.settled = min(step.moments, default=None), True

    def remembers(self, node: int, shape: Shape) -> bool:
        """Whether this shape of this queue was refused, with nothing changed since."""
        if self._version != self.state.version:
            self._refused.clear()
            self._version = self.state.version
        until = self._refused.get((node, shape), self.state.time)
        return until is None or until > self.state.time

    def remember(self, node: int, shape: Shape, until: int | None) -> None:
        """Note a refusal that holds as long as the state's version, and until time may change it.

        INVARIANT: a refusal depends on the state, which has a version for each change, and on the time only through durations.
        """
        self._refused[node, shape] = until


class _Pass:
    """One pass over all waiting workloads."""

    def __init__(self, settler: Settler, only_reserve: bool = False) -> None:
        self.settler, self.state, self.only_reserve = settler, settler.state, only_reserve
        self.policy = active(self.state)
        self.open = [queue.node for queue in self.policy.graph.queues if self.policy.lines[queue.node].shapes]
        self.refused: set[tuple[int, Shape]] = set()
        self.passed_over: set[int] = set()
        self.reserved: list[Proposal] = []
        self.moments: list[int] = []

    def run(self) -> list[AnyDecision]:
        """Carry out proposals, best first, until there are none. What is reserved stays charged until `give_back`."""
        decided: list[AnyDecision] = []
        while (best := self._best()) is not None:
            if best.plan.mode is Mode.BLOCKED:
                self._reserve(best)
            elif self.only_reserve:
                self.refused.add((best.workload.queue, shape_of(best.workload, self.policy.shape_is_name)))
            else:
                decided += self._carry_out(best)
        return decided

    def _reserve(self, proposal: Proposal) -> None:
        assert proposal.until is not None
        self.policy.tree.add(proposal.workload.queue, proposal.plan.request)
        self.reserved.append(proposal)
        self.moments.append(proposal.until)

    def _carry_out(self, proposal: Proposal) -> list[AnyDecision]:
        victims = proposal.hunt.victims if proposal.hunt is not None else []
        decisions = decisions_of(self.policy, proposal.workload, proposal.plan, victims, self.state.time, self.state.cause)
        for decision in decisions:
            apply(self.state, decision)
        return decisions

    def give_back(self) -> None:
        """Free what was reserved."""
        for proposal in self.reserved:
            self.policy.tree.remove(proposal.workload.queue, proposal.plan.request)

    def _best(self) -> Proposal | None:
        proposals: list[Proposal | None] = [None for _ in self.policy.graph.nodes]
        waiting = False
        for node in list(self.open):
            proposals[node] = self._propose(node)
            waiting = waiting or proposals[node] is not None
        return choose(self.policy, 0, proposals) if waiting else None

    def _propose(self, node: int) -> Proposal | None:
        """The first workload of a queue for which something can be done; the queue is closed where there is none."""
        strict = self.policy.graph.queue_at(node).strict
        if strict and any(proposal.workload.queue == node for proposal in self.reserved):
            self.open.remove(node)
            return None
        while (head := self._head(node)) is not None:
            shape, workload = head
            by_itself = bool(self.state.superiors(workload.name))  # it may evict fewer than others of its shape
            if by_itself or self.reserved or not self.settler.remembers(node, shape):
                proposal = propose(self.state, workload)
                if proposal.possible:
                    return proposal
                if not (by_itself or self.reserved):
                    self.settler.remember(node, shape, proposal.holds_until)
            if by_itself:
                self.passed_over.add(workload.number)
            else:
                self.refused.add((node, shape))
            if strict:
                break
        self.open.remove(node)
        return None

    def _head(self, node: int) -> tuple[Shape, Workload] | None:
        """The best workload of a queue that is neither refused, reserved nor on hold in this pass."""
        best: tuple[SortKey, Shape, Workload] | None = None
        line = self.policy.lines[node]
        for shape in sorted(line.shapes, key=lambda shape: line.shapes[shape][0][0]):
            if (node, shape) in self.refused:
                continue
            key, workload = next((entry for entry in line.shapes[shape] if self._eligible(entry[1])), (None, None))
            if key is not None and workload is not None and (best is None or key < best[0]):
                best = (key, shape, workload)
        return None if best is None else best[1:]

    def _eligible(self, workload: Workload) -> bool:
        reserved = any(workload is proposal.workload for proposal in self.reserved)
        return not reserved and workload.number not in self.passed_over and held(self.policy, workload) is None


def held(policy: Active, workload: Workload) -> Why | None:
    """Why a waiting workload is on hold: its owner's wish, an operator's, its queue, or a hold rule; None: it is not."""
    if workload.held_by_owner:
        return Why(reason="OnHold", operands=(Operand(name="held by", value="its owner"),))
    if workload.held_by_operator is not None:
        return Why(reason="OnHold", operands=(Operand(name="operator", value=workload.held_by_operator),))
    return suspended(policy, workload) or admission_rule_why(policy, workload, "hold", "OnHold")


@contextmanager
def reserving(state: State) -> Iterator[list[Proposal]]:
    """The room that is reserved for workloads that wait for protections to end, charged while the context lasts."""
    step = _Pass(Settler(state), only_reserve=True)
    step.run()
    try:
        yield step.reserved
    finally:
        step.give_back()


# --- the order of queues --------------------------------------------------------------------------------------------


def choose(policy: Active, node: int, proposals: list[Proposal | None]) -> Proposal | None:
    """The best proposal below a node: each child puts up its own best, and they are compared by `order queues by` at this level."""
    if policy.graph.nodes[node].is_queue:
        return proposals[node]
    entries = []
    for child in policy.graph.nodes[node].children:
        proposal = choose(policy, child, proposals)
        if proposal is not None:
            entries.append((_rank(policy, child, proposal), proposal))
    return min(entries, key=lambda entry: entry[0])[1] if entries else None


def _rank(policy: Active, node: int, proposal: Proposal) -> tuple[object, ...]:
    """The keys of a proposal at a node, as they would be with the workload running there."""
    if not proposal.ranks:
        workload, request = proposal.workload, proposal.plan.request
        policy.tree.add(workload.queue, request)
        for above in policy.tree.paths[workload.queue][:-1]:
            keys = [_key(policy, above, proposal, key) for key in policy.graph.settings.queue_order]
            proposal.ranks[above] = (*keys, workload.number)
        policy.tree.remove(workload.queue, request)
    return proposal.ranks[node]


def _key(policy: Active, node: int, proposal: Proposal, key: OrderKey) -> object:
    match key.field:
        case "borrowing":
            borrows = policy.tree.borrows(node, [slot for slot, _ in proposal.plan.request])
            return -int(borrows) if key.descending else int(borrows)
        case "share":
            infinite, share = policy.shares.of(node)
            return (-infinite, -share) if key.descending else (infinite, share)
        case _:
            return directed(proposal.workload, key)
