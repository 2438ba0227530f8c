"""Figures, limits and decisions in the words that commands and pages share."""

from collections.abc import Sequence

from ...engine.event_parts import Charge, FlavorAttempt, Limit, RuleRef
from ...engine.events import AnyDecision, WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted, WorkloadRejected, WorkloadReplaced
from ...engine.explain.wording import obstacle_told
from ...engine.units import format_amount, format_duration
from ..measure.measure import HOUR_US

_MOST_NAMES = 5
"""How many workloads or queues of a group are named."""

_SECOND = 1_000_000


# --- figures --------------------------------------------------------------------------------------------------------


def gpus(milli: int) -> str:
    """Thousandths of a GPU as GPUs to read."""
    return f"{milli // 1000:,}" if milli % 1000 == 0 else f"{milli / 1000:,.3f}"


def hours(area: int) -> str:
    """Thousandths of a GPU times microseconds, as GPU-hours with one digit, rounded half up."""
    tenths = (area * 10 + 500 * HOUR_US) // (1000 * HOUR_US)
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10:,}.{abs(tenths) % 10}"


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
    """An amount with its resource."""
    return f"{format_amount(value, resource)} {resource}"


def charges_told(charges: tuple[Charge, ...]) -> str:
    """Amounts with their flavors."""
    return " and ".join(f"{amount(charge.amount, charge.resource)} of {charge.flavor}" for charge in charges) or "nothing"


def names(some: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(some[:_MOST_NAMES]) + (f" and {len(some) - _MOST_NAMES} more" if len(some) > _MOST_NAMES else "")


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
            place = f"admitted to {decision.queue} on {charges_told(decision.usage)}{borrowed}"
            return [f"{place}: {decision.reason}{by(decision.why.rule)}", *_compared(decision)]
        case WorkloadEvicted():
            for_whom = f" for {decision.beneficiary}" if decision.beneficiary is not None else ""
            operator = f" by operator {decision.by}" if decision.by else ""
            first = f"evicted{for_whom}{operator} ({decision.preemption}){by(decision.why.rule)}"
            return [first, *_compared(decision, "the beneficiary's limit")]
        case WorkloadDeferred():
            waits = "its victims" if decision.preempting else "the next cycle" if decision.waits == "next" else "something to become free"
            return [f"deferred: {decision.reason}{by(decision.why.rule)}, waits for {waits}", *_compared(decision)]
        case WorkloadReplaced():
            return [f"replaced by {decision.by}, which is admitted with what it held: {charges_told(decision.usage)}"]
        case WorkloadRejected():
            return [f"rejected: {decision.reason}{by(decision.why.rule)}", *_compared(decision)]


def _compared(decision: AnyDecision, limit: str = "limit") -> list[str]:
    why = decision.why
    tried = decision.attempts if isinstance(decision, WorkloadDeferred) else ()
    tried = decision.passed_over if isinstance(decision, WorkloadAdmitted) else tried
    compared = [f"{operand.name} = {operand.value}" for operand in why.operands]
    compared += [f"{attempt.pod_set} on {attempt.flavor} = {_attempt_told(attempt)}" for attempt in tried]
    told = [", ".join(compared)] if compared else []
    return told + ([f"{limit}: {limit_told(why.limit, decision.reason)}"] if why.limit is not None else [])


def _attempt_told(attempt: FlavorAttempt) -> str:
    """What a flavor that was tried lacked."""
    fits = "fits, borrowing" if attempt.borrows else "fits"
    return "; ".join(obstacle_told(obstacle) for obstacle in attempt.obstacles) or fits
