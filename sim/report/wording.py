"""Figures, limits and decisions in the words that commands and pages share."""

from collections.abc import Iterable, Sequence

from ...dsl.syntax.names import closest, listed
from ...engine.event_parts import Assignment, Charge, FlavorAttempt, Limit, Operand, RuleRef
from ...engine.events import (
    AnyDecision,
    WorkloadAdmitted,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadResized,
)
from ...engine.explain.standing import Impediment
from ...engine.explain.unplaced import placed_told, unplaced_told
from ...engine.explain.wording import impediment_told, obstacle_told
from ...engine.units import format_amount, format_duration
from ..measure.measure import HOUR_US

_SECOND = 1_000_000

MOST_NAMES = 5
"""How many workloads or queues are named before the rest is counted."""

MOST_PLACES = 16
"""How many places of a pod set are named before the rest is counted."""


# --- figures --------------------------------------------------------------------------------------------------------


def gpus(milli: int) -> str:
    """Thousandths of a GPU as GPUs to read."""
    return f"{milli // 1000:,}" if milli % 1000 == 0 else f"{milli / 1000:,.3f}"


def hours(area: int) -> str:
    """Thousandths of a GPU times microseconds, as GPU-hours with one digit, rounded half up."""
    tenths = (area * 10 + 500 * HOUR_US) // (1000 * HOUR_US)
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10:,}.{abs(tenths) % 10}"


def hours_number(area: int) -> float:
    """Thousandths of a GPU times microseconds, as GPU-hours for programs: a number, rounded to a millionth."""
    return round(area / (1000 * HOUR_US), 6) + 0.0  # no -0.0


def percent(part: int, whole: int) -> str:
    """A part of a whole in percent with one digit, rounded down; `-` of nothing."""
    return f"{part * 1000 // whole / 10:.1f}%" if whole > 0 else "-"


def unit_hours(area: int, resource: str) -> str:
    """An amount in smallest units times microseconds, as hours of its unit: GPU, CPU, GiB, or the resource itself."""
    if resource == "memory":
        return f"{hours(area * 1000 // 2**30)} GiB"
    return hours(area if resource in ("gpu", "cpu") else area * 1000)


def unit_hours_number(area: int, resource: str) -> float:
    """The same for programs: a number, rounded to a millionth."""
    return hours_number(area if resource in ("gpu", "cpu") else area * 1000)


def short(us: int) -> str:
    """A duration to read: whole seconds, at most two units."""
    if us <= -_SECOND:
        return "-" + short(-us)
    us = max(0, us)
    text = format_duration(us // _SECOND * _SECOND)
    units = [unit for unit in "dhms" if unit in text]
    return text if len(units) <= 2 else text[: text.index(units[1]) + 1]


def signed(change: str) -> str:
    """A change with its sign, `+` for more; what is written as zero has none."""
    return change if change.startswith("-") or not change.strip("0.smhd") else f"+{change}"


# --- places and limits ----------------------------------------------------------------------------------------------


def by(rule: RuleRef | None) -> str:
    """By which line of the policy; nothing where there is none."""
    return f" by {rule.name} ({rule.file}:{rule.line})" if rule is not None else ""


def amount(value: int, resource: str) -> str:
    """An amount with its resource; memory that is no round number is in bytes."""
    text = format_amount(value, resource)
    return f"{text} bytes of memory" if resource == "memory" and text.isdigit() and value else f"{text} {resource}"


def charges_told(charges: tuple[Charge, ...]) -> str:
    """Amounts with their flavors."""
    return " and ".join(f"{amount(charge.amount, charge.resource)} of {charge.flavor}" for charge in charges) or "nothing"


def total(several: Iterable[tuple[Charge, ...]]) -> tuple[Charge, ...]:
    """The sum of several charges, by flavor and resource."""
    sums: dict[tuple[str, str], int] = {}
    for charges in several:
        for each in charges:
            sums[each.flavor, each.resource] = sums.get((each.flavor, each.resource), 0) + each.amount
    return tuple(Charge(flavor=flavor, resource=resource, amount=sums[flavor, resource]) for flavor, resource in sums)


def rejection_told(reason: str, rule: RuleRef | None, operands: Sequence[Operand], queues: Sequence[str]) -> str:
    """Why workloads were rejected: the reason, the rule with what it says, or the name that is wrong; `queues` are those of the policy."""
    said = {operand.name: operand.value for operand in operands}
    match reason:
        case "NoMatchingQueue" if "workload.queue" in said:
            near = closest(said["workload.queue"], queues)
            rest = f"; did you mean {near}?" if near else f"; it has {listed(queues, like=said['workload.queue'])}" if queues else ""
            return f"{reason}, the policy has no queue {said['workload.queue']}{rest}"
        case "NoMatchingQueue":
            return f"{reason}, it names no queue, and no `for` line of the policy chooses one"
        case "UnknownPriority":
            return f"{reason}, the policy has no priority {said.get('workload.priority', '')}"
        case "MatchesSeveralQueues":
            return f"{reason}, it names no queue, and several have a `for` line for it: {', '.join(operand.value for operand in operands)}"
        case _:
            return f"{reason}{by(rule)}" + (f", {said['because']}" if said.get("because") else "")


def rejection_grounds(decision: WorkloadRejected) -> tuple[RuleRef | None, tuple[Operand, ...]]:
    """What is told of a rejection: the rule, and the operands but for what a guard compared. Rejections that share it are told together."""
    why = decision.why
    said = tuple(each for each in why.operands if each.name == "because") if decision.reason == "Denied" else why.operands
    return why.rule, said


def never_told(impediment: Impediment) -> str:
    """Why a workload can never run as things stand, and what to do about it."""
    cause, remedy = impediment_told(impediment)
    return f"{cause}; {remedy}"


def names(some: Sequence[str], count: int | None = None) -> str:
    """The first few names, and how many more there are: of `count`, where `some` are only the first ones."""
    first = some[:MOST_NAMES]
    more = (len(some) if count is None else count) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


def limit_told(limit: Limit, reason: str) -> str:
    """A limit that makes a workload wait for this reason: what it is, where, what was asked, what is there and what is missing."""
    kinds = {"owned": "what it may use of what is owned", "borrowing": "its borrowing limit", "capacity": "what exists"}
    asked, available = amount(limit.asked, limit.resource), amount(limit.available, limit.resource)
    there = f"at most {available}" if reason == "ExceedsMaxQuota" else f"{available} available"
    deficit = amount(limit.deficit, limit.resource)
    return f"{kinds[limit.limit]} at {limit.node}: asks for {asked} on {limit.flavor}, {there}, {deficit} more needed"


# --- decisions ------------------------------------------------------------------------------------------------------


def decision_told(decision: AnyDecision) -> list[str]:
    """A decision with its reason, what was compared and the limit that binds; a line each."""
    match decision:
        case WorkloadAdmitted():
            borrowed = f", borrowing {charges_told(decision.borrowed)}" if decision.borrowed else ""
            given = f"on {charges_told(decision.usage)}" if decision.usage else "at no charge"
            place = f"admitted to {decision.queue} {given}{borrowed}"
            told = [f"{place}: {decision.reason}{by(decision.why.rule)}", *_compared(decision)]
            return [*told, *places_told(decision.assignments)]
        case WorkloadEvicted():
            for_whom = f" for {decision.beneficiary}" if decision.beneficiary is not None else ""
            operator = f" by operator {decision.by}" if decision.by else ""
            first = f"evicted{for_whom}{operator} ({decision.preemption}){by(decision.why.rule)}"
            return [first, *_compared(decision, "the beneficiary's limit")]
        case WorkloadDeferred():
            waits = "its victims" if decision.preempting else "the next cycle" if decision.waits == "next" else "something to become free"
            return [f"deferred: {decision.reason}{by(decision.why.rule)}, waits for {waits}", *_compared(decision)]
        case WorkloadPlaced():
            return [f"placed on {_places_told(decision.assignments)}: {decision.reason}", *_compared(decision)]
        case WorkloadMoved():
            moves = (f"{each.pods} {each.pod_set} from {'/'.join(each.from_place)} to {'/'.join(each.to_place)}" for each in decision.moves)
            return [f"moved for {decision.beneficiary}: {', '.join(moves)}: {decision.reason}", *_compared(decision)]
        case WorkloadResized():
            return [f"{resize_told(decision)}: {decision.reason}{by(decision.why.rule)}", *_compared(decision)]
        case WorkloadReplaced():
            return [f"replaced by {decision.by}, which is admitted with what it held: {charges_told(decision.usage)}"]
        case WorkloadRejected():
            if decision.reason != "Denied":
                return [f"rejected: {rejection_told(decision.reason, decision.why.rule, decision.why.operands, ())}", *_compared(decision)]
            return [f"rejected: {decision.reason}{by(decision.why.rule)}", *_compared(decision)]


def resize_told(decision: WorkloadResized) -> str:
    """How many pods of each pod set a workload gets or gives up, and how many run from now."""
    now = {given.pod_set: given.count for given in decision.assignments}
    told = (f"{'+' if each.added else '-'}{each.added or each.taken} {each.pod_set} ({now[each.pod_set]} run)" for each in decision.changes)
    borrowed = f", borrowing {charges_told(decision.borrowed)}" if decision.borrowed else ""
    for_whom = f" for {decision.beneficiary}" if decision.beneficiary is not None else ""
    return f"resized{for_whom}: {', '.join(told)}{borrowed}"


def _places_told(assignments: Iterable[Assignment]) -> str:
    """Where pods stand: all their nodes, each with how many stand there."""
    pods: dict[str, int] = {}
    for place in (place for given in assignments for place in given.places):
        name = "/".join(place.domain)
        pods[name] = pods.get(name, 0) + place.pods
    return ", ".join(f"{name} ({pods[name]})" for name in pods) or "no nodes"


def _compared(decision: AnyDecision, limit: str = "limit") -> list[str]:
    why = decision.why
    tried = decision.attempts if isinstance(decision, WorkloadDeferred) else ()
    tried = decision.passed_over if isinstance(decision, WorkloadAdmitted) else tried
    compared = [f"{operand.name} = {operand.value}" for operand in why.operands]
    compared += [f"{attempt.pod_set} on {attempt.flavor} = {_attempt_told(attempt)}" for attempt in tried]
    told = [", ".join(compared)] if compared else []
    told += [f"{limit}: {limit_told(why.limit, decision.reason)}"] if why.limit is not None else []
    return told + ([f"no places on {unplaced_told(why.places)}"] if why.places is not None else [])


def places_told(assignments: Sequence[Assignment]) -> list[str]:
    """Where the pods of each pod set stand, a line each; nothing of those that have no places."""
    placed = ((each.pod_set, tuple((place.domain, place.pods) for place in each.places)) for each in assignments if each.places)
    return [f"places of {pod_set}: {placed_told(domains, MOST_PLACES)}" for pod_set, domains in placed]


def _attempt_told(attempt: FlavorAttempt) -> str:
    """What a flavor that was tried lacked."""
    fits = "fits, borrowing" if attempt.borrows else "fits"
    return "; ".join(obstacle_told(obstacle) for obstacle in attempt.obstacles) or fits
