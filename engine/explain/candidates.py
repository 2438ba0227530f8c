"""Everybody who uses what a waiting workload needs, and whether and why they would go for it, or would not."""

from ...events import Operand, RuleRef
from ...units import format_time
from ..route import reference
from ..state import Active
from ..whereabouts import CandidateOutcome, CandidateStanding
from ..why import charges
from ..workload import Workload, takes_place_of
from .admissible import inactive
from .candidates import Cluster, Note, satisfies
from .nominate import Nomination, search, wish_of
from .plan import WAITING, Mode
from .queues import Queues


def considered(policy: Active, queues: Queues, cluster: Cluster, nomination: Nomination) -> tuple[CandidateStanding, ...]:
    """Those in the tree who use a slot on which the workload needs room, and what came of each; none where it fits or never will."""
    workload, plan = nomination.workload, nomination.plan
    slots = sorted(plan.needing) if plan.mode is Mode.PREEMPT else _short(policy, nomination)
    if not slots:
        return ()
    notes: list[Note] = []
    found = False
    if plan.mode is Mode.PREEMPT:
        found = bool(search(cluster, wish_of(workload, plan, notes)))
    look = _Look(policy, cluster, workload, slots, searched=plan.mode is Mode.PREEMPT, found=found)
    last = {note.workload.name: note for note in notes}
    users = [
        other
        for node in queues.trees[policy.tree.paths[workload.queue][-1]]
        for _, other in sorted(queues.states[node].running.items())
        if any(slot in slots for slot, _ in other.usage)
    ]
    return tuple(look.at(other, last.get(other.name)) for other in users)


def _short(policy: Active, nomination: Nomination) -> list[int]:
    """The slots that a workload lacks of flavors on which nobody was looked for, because it would have to borrow."""
    if nomination.plan.mode is not Mode.NO_FIT:
        return []
    attempts = [attempt for pod_set in nomination.plan.pod_sets for attempt in pod_set.attempts if attempt.reason == WAITING]
    lacks = [obstacle for attempt in attempts for obstacle in attempt.obstacles if obstacle.kind == "short"]
    return sorted({policy.slot_index[obstacle.flavor, obstacle.resource] for obstacle in lacks})


_WORDS = {"nothing": "nobody", "lower": "lower priority", "lower-or-newer": "lower priority or newer", "any": "anyone"}
"""What a queue says of whom it evicts, as the language does."""


class _Look:
    """A look at those who use `slots`, for a workload; `searched`: there was a search among them, `found`: it had a result."""

    def __init__(self, policy: Active, cluster: Cluster, workload: Workload, slots: list[int], *, searched: bool, found: bool) -> None:
        self.policy, self.cluster, self.workload, self.slots = policy, cluster, workload, slots
        self.searched, self.found = searched, found

    def at(self, other: Workload, note: Note | None) -> CandidateStanding:
        """What came of one of them, by the note of the search, or why the search never looked at it."""
        outcome, rule, operands = self._outcome(other, note)
        return CandidateStanding(
            workload=other.name,
            queue=self.policy.graph.nodes[other.queue].name,
            outcome=outcome,
            rule=rule,
            operands=tuple(operands),
            usage=charges(self.policy, tuple((slot, amount) for slot, amount in other.usage if slot in self.slots)),
            evicting=other.evicting,
        )

    def _outcome(self, other: Workload, note: Note | None) -> tuple[CandidateOutcome, RuleRef | None, list[Operand]]:
        """The outcome, the line that decided it, and what was compared."""
        preemption, place = self.cluster.preemption(self.workload.queue), self.policy.graph.nodes[self.workload.queue]
        to_borrow = reference(place.name, preemption.borrowing_source or place.source)
        if note is not None:
            compared = [*self._priorities(other), *(Operand(name=name, value=value) for name, value in note.operands)]
            if note.outcome == "taken" and not self.found:
                compared.append(Operand(name="enough", value="no"))
            return note.outcome, to_borrow if note.outcome == "only without borrowing" else None, compared
        if other.pinned:
            known = next((each for each in self.policy.graph.priorities if each.name == other.asked_priority), None)
            return "never evicted", None if known is None else reference(known.name, known.source), []
        if takes_place_of(self.workload, other):
            return "replaced", None, []
        if inactive(self.policy, other.queue):
            theirs = self.policy.graph.nodes[other.queue]
            return "queue inactive", reference(theirs.name, theirs.source), []
        own = other.queue == self.workload.queue
        wanted: str = preemption.own if own else preemption.reclaims
        if not satisfies(wanted, self.workload, other):
            source = preemption.own_source if own else preemption.reclaims_source
            says = Operand(name="of its own it evicts" if own else "reclaims from", value=_WORDS[wanted])
            compared = [] if wanted == "nothing" else self._priorities(other)
            return "not allowed", reference(place.name, source or place.source), [says, *compared]
        if not own and not self._borrows(other.queue):
            return "not borrowing", None, []
        if not self.searched:
            return "only without borrowing", to_borrow, []
        if not self.found:  # a search that finds not enough has looked at all, but for those whose queues stopped borrowing
            return "not borrowing", None, []
        return "not reached", None, self._priorities(other)

    def _priorities(self, other: Workload) -> list[Operand]:
        """Both priorities and, where these are equal and the queue of both evicts what is newer, since when both wait or waited."""
        mine, theirs = self.workload, other
        compared = [("workload.priority", str(mine.priority)), ("victim.priority", str(theirs.priority))]
        own = self.cluster.preemption(mine.queue).own
        if mine.priority == theirs.priority and mine.queue == theirs.queue and own == "lower-or-newer":
            compared += [("workload is queued since", format_time(mine.queued)), ("victim was queued", format_time(theirs.queued))]
        return [Operand(name=name, value=value) for name, value in compared]

    def _borrows(self, other: int) -> bool:
        """Whether another queue, and every cohort between it and the common ancestor, uses more than it owns of some slot."""
        tree = self.policy.tree
        path, theirs = tree.paths[other], tree.sides(self.workload.queue, other)[1]
        return all(tree.borrows(node, self.slots) for node in path[: path.index(theirs) + 1])
