"""The choices of the header by which passes decide: what is said, what is missing, and what has no counterpart."""

from fractions import Fraction
from typing import get_args

from ....engine.policy.pass_settings import (
    NODE_KEYS,
    Bound,
    Entitlement,
    NodeKey,
    NodeScore,
    Passes,
    PassName,
    PassShare,
    Within,
)
from ...syntax import tree
from ...syntax.names import closest, listed
from ..context import Context
from .pass_words import check_words

_MOST_ROUNDS = 1000


def passes(context: Context) -> Passes | None:
    """How the policy decides by passes; None where it does not. Missing choices are reported."""
    decide = context.merged.choices.get("Decide")
    if not isinstance(decide, tree.Decide) or decide.period is None:
        return None
    if not context.by_passes:
        _check_nominate(context, decide)
        return None
    context.at(decide)
    period = _above_zero(context, decide.period)
    order = _order(context, decide)
    _check_needs(context)
    _check_flavors(context)
    check_words(context)
    broken = context.merged.choices.get("BrokenGangs")
    _check_broken(context, broken)
    return Passes(
        period=period,
        order=order,
        entitlement=_entitlement(context),
        share=_share(context),
        place_by=_place_by(context),
        scores=_scores(context),
        admit_within=_within(context, "admit"),
        enqueue_within=_within(context, "enqueue"),
        broken_for=_grace(context, broken) if context.passes_hold("end broken gangs") else None,
        start_cap=_start_cap(context),
    )


def _above_zero(context: Context, number: tree.Number) -> int:
    duration = context.duration(number)
    if duration == 0:
        context.error("GP023", f"a period cannot be {number.text}", number, "here", "write a duration above 0, such as `1s`")
    return duration or 1


def _check_nominate(context: Context, decide: tree.Decide) -> None:
    context.at(decide)
    for again in decide.passes[1:]:
        context.error("GP022", "`nominate` is said twice", again, "again here", "keep one")


def _order(context: Context, decide: tree.Decide) -> tuple[PassName, ...]:
    seen: dict[str, tree.Spanned] = {}
    made: list[PassName] = []
    for each in decide.passes:
        if each.name == "nominate":
            message = "`nominate` stands alone: it is the whole cycle of Kueue, and no core decides by it and other passes"
            context.error("GP046", message, each, "among others", "write `decide in cycles of 1s`, or leave it out")
        elif context.once(seen, each.name, each, f"pass `{each.name}`"):
            made.append("end-broken-gangs" if each.name == "end broken gangs" else each.name)
    return tuple(made)


# --- what it needs


_NEEDS = (
    ("share", "how far queues are", "`share of entitlement where nothing is due counts 1`"),
    ("order queues", "whose turn it is", "`order queues by ...`"),
    ("order workloads", "which workload of a queue is next", "`order workloads by ...`"),
    ("PlacePods", "in which order nodes are tried", "`place pods by ...`"),
)
"""The choices that are needed, what they say, and how to say it."""


def _check_needs(context: Context) -> None:
    header, choices = context.merged.header, context.merged.choices
    if header is None or header.keyword == "profile":
        return
    lacking = {what: remedy for key, what, remedy in _NEEDS if key not in choices}
    if lacking:
        context.at(header)
        message = f"a policy that decides by passes says {' and '.join(lacking)}"
        help_text = f"add {', and '.join(lacking.values())}, or use a profile such as `kai.default`"
        context.error("GP044", message, header.name, "left open", help_text)


def _check_flavors(context: Context) -> None:
    """Passes place pods on the nodes of one flavor."""
    flavors = context.merged.flavors
    for flavor in flavors[1:]:
        context.at(flavor)
        message = f"passes decide over one flavor, and `{flavors[0].name.text}` is one already"
        context.error("GP046", message, flavor.name, "one too many", "keep one flavor, and put what else there is into its nodes")
    for flavor in flavors[:1]:
        context.at(flavor)
        if not any(isinstance(statement, tree.PlacedIn) for statement in flavor.body):
            message = f"passes place pods on nodes, and nothing says that flavor `{flavor.name.text}` has nodes"
            help_text = "write `placed on nodes`, or `placed in` a topology, and take what it has `from nodes where ...`"
            context.error("GP044", message, flavor.name, "not placed", help_text)


def _check_broken(context: Context, broken: tree.Choice | None) -> None:
    """`gangs broken for ...` and the pass that ends them go together."""
    decide = context.merged.choices["Decide"]
    if broken is None and context.passes_hold("end broken gangs"):
        context.at(decide)
        place = next(each for each in decide.passes if each.name == "end broken gangs") if isinstance(decide, tree.Decide) else decide
        message = "the pass `end broken gangs` ends what runs broken for a time, and nothing says for how long"
        context.error("GP045", message, place, "for how long?", "add `gangs broken for 60s end`")
    elif broken is not None and not context.passes_hold("end broken gangs") and context.is_own(broken):
        context.at(broken)
        message = "no pass of the cycle ends broken gangs"
        context.error("GP045", message, broken, "without its pass", "add `end broken gangs` to `decide in cycles`, or remove this")


# --- what is said


def _entitlement(context: Context) -> Entitlement:
    choice = context.merged.choices.get("Entitle")
    if not isinstance(choice, tree.Entitle):
        return Entitlement("owned")
    context.at(choice)
    if choice.way == "weight":
        _check_nothing_owned(context)
        context.at(choice)
    rounds = context.integer(choice.rounds, "number of rounds", 1, _MOST_ROUNDS) if choice.rounds is not None else None
    remainder = context.at_least_zero(choice.remainder, "remainder", Fraction(0)) if choice.remainder is not None else Fraction(0)
    return Entitlement(choice.way, choice.whole_units, choice.by_priority, rounds or 0, remainder)


def _check_nothing_owned(context: Context) -> None:
    """Where everything goes by weight, what queues own has no effect."""
    below: list[tree.CohortItem | tree.QueueItem] = [*context.merged.cohorts, *context.merged.queues]
    context.at(context.merged.header)
    for item in below:  # grows as it goes
        for part in item.body:
            if isinstance(part, tree.QuotaStatement) and part.verb == "owns" and part.limit == "amount":
                message = f"`{item.name.text}` owns something, but the policy entitles by weight, where that does not count"
                context.error("GP046", message, part, "does not count", "write `guarantees` or a `weight`, or say `entitle as owned`")
            elif isinstance(part, tree.CohortItem | tree.QueueItem):
                below.append(part)


def _share(context: Context) -> PassShare:
    choice = context.merged.choices.get("share")
    if not isinstance(choice, tree.ShareChoice) or choice.formula == "borrowed" or choice.formula == "none":
        return PassShare("used")  # reported where it is said or lacking
    context.at(choice)
    return PassShare(choice.formula, choice.nothing_due, _weights(context, choice.weights))


def _weights(context: Context, said: tuple[tuple[tree.Name, tree.Number], ...], what: str = "weight") -> tuple[tuple[str, Fraction], ...]:
    """Resources with their weights or parts, in order of name."""
    seen: dict[str, tree.Spanned] = {}
    made = []
    for resource, number in said:
        if _known(context, resource) and context.once(seen, resource.text, resource, f"the {what} of `{resource.text}`"):
            made.append((resource.text, context.at_least_zero(number, what, Fraction(1))))
    return tuple(sorted(made))


def _known(context: Context, resource: tree.Name) -> bool:
    if resource.text in context.resources:
        return True
    context.unknown("resource", resource, context.resources)
    return False


def _place_by(context: Context) -> tuple[NodeKey, ...]:
    choice = context.merged.choices.get("PlacePods")
    if not isinstance(choice, tree.PlaceBy):
        return ()
    context.at(choice)
    seen: dict[str, tree.Spanned] = {}
    made = []
    for key in choice.keys:
        resource = key.resource.text if key.resource is not None else ""
        field = next((each for each in get_args(NodeKey.__annotations__["field"]) if each == key.path), None)
        if field is None:
            guess = closest(key.path, NODE_KEYS)
            help_text = f"did you mean `{guess}`?" if guess else f"known: {listed(NODE_KEYS, 12, like=key.path)}"
            context.error("GP020", f"`{key.path}` is no key of this order", key, "not known", help_text)
        elif (field == "free") != bool(resource):
            help_text = "write `free gpu`, or another resource" if field == "free" else f"write `{field}`"
            message = f"`{field}` is a key of {'a' if field == 'free' else 'no'} resource"
            context.error("GP031", message, key, "of what?" if field == "free" else "of a resource", help_text)
        elif (key.resource is None or _known(context, key.resource)) and context.once(seen, f"{field} {resource}", key, f"`{key.path}`"):
            made.append(NodeKey(field, resource, key.descending, _step(context, key)))
    _check_scores(context, {key.field for key in made})
    return tuple(made)


def _step(context: Context, key: tree.PlaceKey) -> int:
    if key.step is None or key.resource is None:
        return 0
    step = context.amount(key.step, key.resource.text)
    if step == 0:
        context.error("GP023", f"steps of {key.step.text} are none", key.step, "here", "write a number above 0, or leave `in steps of` out")
    return step or 0


def _check_scores(context: Context, fields: set[str]) -> None:
    """The key `score` and what it adds up go together."""
    place, scores = context.merged.choices["PlacePods"], context.merged.choices.get("ScoreNodes")
    if "score" in fields and scores is None:
        context.at(place)
        context.error("GP045", "`score` adds up nothing", place, "by which score?", "add `score nodes packed 1 for gpu`, or another score")
    elif "score" not in fields and scores is not None and context.is_own(scores):
        context.at(scores)
        message = "nodes are scored, but `place pods by` does not go by the score"
        context.error("GP045", message, scores, "never asked", "write `place pods by score desc, name asc`, or remove this")


def _scores(context: Context) -> tuple[NodeScore, ...]:
    choice = context.merged.choices.get("ScoreNodes")
    if not isinstance(choice, tree.ScoreNodes):
        return ()
    context.at(choice)
    seen: dict[str, tree.Spanned] = {}
    made = []
    for term in choice.terms:
        resource = term.resource.text if term.resource is not None else ""
        known = term.resource is None or _known(context, term.resource)
        if known and context.once(seen, f"{term.term} {resource}", term, f"`{term.term}`"):
            weight = context.at_least_zero(term.weight, "weight", Fraction(1))
            made.append(NodeScore(_TERMS[term.term], weight, resource))
    return tuple(sorted(made, key=lambda each: (each.term, each.resource)))


_TERMS = {term.replace("-", " "): term for term in get_args(NodeScore.__annotations__["term"])}


def _within(context: Context, occasion: str) -> tuple[Within, ...]:
    choice = context.merged.choices.get(f"{occasion} within")
    if not isinstance(choice, tree.WithinChoice):
        return ()
    context.at(choice)
    seen: dict[str, tree.Spanned] = {}
    made = []
    for term in choice.bounds:
        if context.once(seen, term.bound, term, f"`{term.bound}`"):
            factor = context.at_least_zero(term.factor, "multiple", Fraction(1)) if term.factor is not None else Fraction(1)
            bound: Bound = "owned-if-never-evicted" if term.bound == "owned if never evicted" else term.bound
            made.append(Within(bound, factor))
    return tuple(sorted(made, key=lambda each: each.bound))


def _start_cap(context: Context) -> tuple[tuple[str, Fraction], ...]:
    choice = context.merged.choices.get("StartCap")
    if not isinstance(choice, tree.StartCap):
        return ()
    context.at(choice)
    return _weights(context, tuple((resource, number) for number, resource in choice.parts), "part")


def _grace(context: Context, broken: tree.Choice | None) -> int | None:
    if not isinstance(broken, tree.BrokenGangs):
        return None
    context.at(broken)
    return context.duration(broken.grace)
