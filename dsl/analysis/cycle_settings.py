"""The settings of a policy that decides in cycles, and checks of what such a policy has to say."""

from fractions import Fraction

from ...engine.policy_settings import Cycles, Strategy, Usage
from ..print.words import names
from ..syntax import tree
from .context import Context
from .decision_mode import PREEMPT_WAYS, place_of_decision_mode
from .declarations import queues


def cycles(context: Context) -> Cycles | None:
    """The settings of the cycles; None if the policy decides at once or by passes. Missing choices are reported."""
    decide = context.merged.choices.get("Decide")
    if not isinstance(decide, tree.Decide) or decide.period is None or context.by_passes:
        return None
    _check_needs(context)
    _check_capacities(context)
    order, way = context.merged.choices.get("order queues"), context.merged.choices.get("preempt by")
    strategies: tuple[Strategy, ...] = ()
    if isinstance(way, tree.PreemptWay) and way.strategies:
        _check_fair(context, way)
        strategies = way.strategies
    context.at(decide)
    return Cycles(
        period=_above_zero(context, decide.period, "period"),
        flat=isinstance(order, tree.Order) and order.subject == "heads",
        victims="fair" if strategies else "classical",
        strategies=strategies,
        usage=_usage(context),
    )


def _above_zero(context: Context, number: tree.Number, what: str) -> int:
    """A duration in microseconds that is not 0."""
    duration = context.duration(number)
    if duration == 0:
        context.error("GP023", f"a {what} cannot be {number.text}", number, "here", "write a duration above 0, such as `1s`")
    return duration or 1


# --- what it needs


def _check_needs(context: Context) -> None:
    """Report a missing order of the queues or a missing search for victims; a profile may leave both to its policies."""
    header, choices = context.merged.header, context.merged.choices
    if header is None or header.keyword == "profile":
        return
    lacking = {what: remedy for key, what, remedy in _NEEDS if key not in choices}
    if lacking:
        context.at(header)
        message = f"a policy that decides in cycles says {' and '.join(lacking)}"
        context.error("GP038", message, place_of_decision_mode(context), "left open", f"add {', and '.join(lacking.values())}")


_NEEDS = (
    ("order queues", "whose turn it is", "`order heads by ...` or `order queues by ...`"),
    ("preempt by", "how victims are looked for", PREEMPT_WAYS),
)
"""The choice that is needed, what it says, and how to say it."""


def _check_capacities(context: Context) -> None:
    """Report capacities: in cycles the capacity is what queues and cohorts own."""
    for flavor in context.merged.flavors:
        context.at(flavor)
        for statement in flavor.body:
            if isinstance(statement, tree.CapacityStatement | tree.FromNodes):
                resources = (statement.resource,) if isinstance(statement, tree.CapacityStatement) else statement.resources
                message = f"flavor `{flavor.name.text}` says how much there is; in cycles there is what queues and cohorts own"
                help_text = f"write `{names(resources)} as owned`"
                context.error("GP039", message, statement, "a capacity of its own", help_text)


def _check_fair(context: Context, way: tree.PreemptWay) -> None:
    """Check fair preemption: it needs shares of what is borrowed, and each strategy at most once."""
    context.at(way)
    if len(set(way.strategies)) < len(way.strategies):
        context.error("GP022", "a strategy of `preempt fairly` is said twice", way, "twice in here", "keep one of each")
    share, header = context.merged.choices.get("share"), context.merged.header
    if (isinstance(share, tree.ShareChoice) and share.formula == "borrowed") or (
        share is None and header is not None and header.keyword == "profile"
    ):
        return
    said = f"says `share {share.formula}`" if isinstance(share, tree.ShareChoice) else "says nothing of shares"
    place = next((choice for choice in (share, way) if choice is not None and context.is_own(choice)), place_of_decision_mode(context))
    context.at(header)
    message = f"`preempt fairly` compares shares of what is borrowed, but the policy {said}"
    context.error("GP038", message, place, "do not go together", "write `share borrowed`, or `preempt classically`")


# --- usage


def _usage(context: Context) -> Usage | None:
    """How usage decays, if the policy says so. Everything that depends on usage needs it."""
    decay, weights = context.merged.choices.get("UsageDecay"), context.merged.choices.get("UsageWeights")
    if not isinstance(decay, tree.UsageDecay):
        _check_without_decay(context, weights)
        return None
    context.at(decay)
    half_life, sampling = context.duration(decay.half_life) or 0, _above_zero(context, decay.sampling, "sampling")
    return Usage(half_life, sampling, _weights(context, weights) if isinstance(weights, tree.UsageWeights) else ())


def _weights(context: Context, choice: tree.UsageWeights) -> tuple[tuple[str, Fraction], ...]:
    """The weights of resources, in order of name."""
    context.at(choice)
    seen: dict[str, tree.Spanned] = {}
    made = []
    for resource, number in choice.weights:
        if resource.text not in context.resources:
            context.unknown("resource", resource, context.resources)
        elif context.once(seen, resource.text, resource, f"the weight of `{resource.text}`"):
            made.append((resource.text, context.at_least_zero(number, "weight", Fraction(1))))
    return tuple(sorted(made))


def _check_without_decay(context: Context, weights: tree.Spanned | None) -> None:
    label, help_text = "without `usage halves`", "add `usage halves every 7d, sampled every 5m` to the header"
    header = context.merged.header
    if header is None or header.keyword == "profile":
        return
    context.at(header)
    if weights is not None:
        place = weights if context.is_own(weights) else place_of_decision_mode(context)
        context.error("GP038", "usage is weighed, but nothing says how it decays", place, label, help_text)
    for queue in queues.items(context).values():
        for statement in queue.body:
            if isinstance(statement, tree.ByUsage):
                message = f"queue `{queue.name.text}` admits by usage, but nothing says how usage decays"
                context.error("GP038", message, statement, label, help_text)
