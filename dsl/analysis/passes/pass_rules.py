"""Preempt rules where passes decide: each is used in one pass, and says how victims are looked for."""

from fractions import Fraction

from ....engine import guard as expr
from ....engine import policy_graph as graph
from ....engine.policy.pass_settings import EVICTING, Acceptance, PassSearch, VictimUnit, VictimVote
from ...syntax import tree
from ...syntax.names import listed
from ..context import Context
from ..declarations.guards import IN_PREEMPT, guard

_UNITS: dict[str, VictimUnit] = {
    "whole workloads": "whole-workloads",
    "single pods": "single-pods",
    "surplus pods one by one, then the rest together": "surplus-then-rest",
}
_MOST_LEVELS = 32

_TAKES = {
    "by scenarios": "take surplus pods one by one, then the rest together",
    "node by node": "take single pods",
    "by rescheduling": "take whole workloads",
}


def pass_rules(context: Context) -> tuple[graph.PreemptRule, ...]:
    """The rules in the order of the passes in which they are used; those of a profile for passes that the policy leaves out are none."""
    made: dict[str, graph.PreemptRule] = {}
    seen: dict[str, tree.Spanned] = {}
    for item in context.merged.preempt:
        context.at(item)
        said = next((part for part in item.body if isinstance(part, tree.InPass)), None)
        if said is None and not context.is_own(item):
            continue  # a profile of another mode, which is reported
        rule = _rule(context, item)
        if said is None or not _is_used(context, item, said) or rule is None:
            continue
        if context.once(seen, said.cycle_pass.name, said, f"the rule of pass `{said.cycle_pass.name}`"):
            made[said.cycle_pass.name] = rule
    return tuple(made[name] for name in _needed(context, {part.cycle_pass.name for part in _all_in(context)}) if name in made)


def _all_in(context: Context) -> list[tree.InPass]:
    return [part for item in context.merged.preempt for part in item.body if isinstance(part, tree.InPass)]


def _needed(context: Context, ruled: set[str]) -> list[str]:
    """The passes that need a rule, in the order of the cycle; one without a rule is reported."""
    decide = context.merged.choices.get("Decide")
    assert isinstance(decide, tree.Decide)
    needed: list[str] = []
    for each in decide.passes:
        if each.name in EVICTING:
            needed.append(each.name)
            if each.name not in ruled and context.merged.header is not None:
                context.at(decide)
                message = f"pass `{each.name}` has no rule that says whom it may evict"
                help_text = f"add a preempt rule with `in {each.name}`, or leave the pass out"
                context.error("GP045", message, each, "without a rule", help_text)
    return needed


def _is_used(context: Context, item: tree.PreemptItem, said: tree.InPass) -> bool:
    """Whether the cycle has the rule's pass; it is reported where the rule is the policy's own and is never used."""
    name = said.cycle_pass.name
    if name not in EVICTING:
        message = f"pass `{name}` asks no rule"
        context.error("GP045", message, said, "without rules", f"write {listed((f'in {each}' for each in EVICTING), 4)}")
        return False
    if context.passes_hold(name):
        return True
    if context.is_own(item):
        message = f"rule `{item.name.text}` is for pass `{name}`, which the cycle does not have"
        context.error("GP045", message, said, "never used", f"add `{name}` to `decide in cycles`, or remove the rule")
    return False


def _rule(context: Context, item: tree.PreemptItem) -> graph.PreemptRule | None:
    """One rule; None where something is missing, which is reported."""
    seen: dict[str, tree.Spanned] = {}
    parts: dict[type, tree.Spanned] = {}
    accept: list[tree.AcceptWhere] = []
    for statement in item.body:
        if isinstance(statement, tree.AcceptWhere):
            accept.append(statement)
        elif context.once(seen, _part(statement), statement, f"this part of rule `{item.name.text}`"):
            parts[type(statement)] = statement
    trigger, evict, in_pass, search, take, where, votes = (
        parts.get(kind) for kind in (tree.PassTrigger, tree.EvictFrom, tree.InPass, tree.SearchStatement, tree.Take, tree.Where, tree.Votes)
    )
    if not isinstance(evict, tree.EvictFrom):
        help_text = "say `evict from the same queue`, `evict from other queues` or `evict from any queue`"
        context.error("GP033", f"rule `{item.name.text}` does not say whom to evict", item.name, "no `evict from`", help_text)
    _check_parts(context, item, in_pass, search, take)
    made_guard = _guard(context, where)
    accepted = tuple(_accept(context, each) for each in accept)
    voted = _votes(context, votes)
    levels = _levels(context, trigger)
    if not (
        isinstance(evict, tree.EvictFrom)
        and isinstance(in_pass, tree.InPass)
        and isinstance(search, tree.SearchStatement)
        and isinstance(take, tree.Take)
        and in_pass.cycle_pass.name in EVICTING
    ):
        return None
    return graph.PreemptRule(
        name=item.name.text,
        source=context.source(item),
        trigger=trigger.occasion if isinstance(trigger, tree.PassTrigger) else None,
        scope=evict.scope,
        range="cluster",
        guard=made_guard,
        order=(),
        search=PassSearch(
            in_pass=in_pass.cycle_pass.name,
            search=search.way.replace(" ", "-"),  # type: ignore[arg-type]  # its words with hyphens
            moving=search.moving.replace(" ", "-"),  # type: ignore[arg-type]
            unit=_UNITS[take.unit],
            accept=accepted,
            votes=voted,
            any_resource=isinstance(trigger, tree.PassTrigger) and trigger.any_resource,
            levels=levels,
            most_moved=_most_moved(context, search),
            sparing=search.sparing,
        ),
    )


def _part(statement: tree.Spanned) -> str:
    """What a statement of a rule is about: a rule has one `when`."""
    return "when" if isinstance(statement, tree.PassTrigger | tree.TriggerStatement) else type(statement).__name__


def _check_parts(
    context: Context, item: tree.PreemptItem, in_pass: tree.Spanned | None, search: tree.Spanned | None, take: tree.Spanned | None
) -> None:
    """Report what a rule does not say."""
    name = item.name.text
    if in_pass is None:
        message = f"rule `{name}` does not say in which pass it is used"
        context.error("GP044", message, item.name, "no `in`", "say `in reclaim`, `in preempt`, `in consolidate` or `in balance`")
    if search is None:
        help_text = "say `search by scenarios`, `search node by node` or `search by rescheduling`"
        context.error("GP044", f"rule `{name}` does not say how victims are looked for", item.name, "no `search`", help_text)
    elif take is None:
        way = search.way if isinstance(search, tree.SearchStatement) else "by scenarios"
        message = f"rule `{name}` does not say what is evicted at once"
        context.error("GP044", message, item.name, "no `take`", f"say `{_TAKES[way]}`")


def _guard(context: Context, where: tree.Spanned | None) -> expr.Expr | None:
    """The guard of a rule, which compares priorities and nothing else."""
    if not isinstance(where, tree.Where):
        return None
    made = guard(context, where, IN_PREEMPT)
    for field in expr.fields(made):
        if field.path != "priority":
            message = f"a rule of a pass compares priorities only, not `{field}`"
            context.error("GP031", message, where, "cannot be used here", "write `where victim.priority < workload.priority`")
            return None
    return made


def _accept(context: Context, said: tree.AcceptWhere) -> tuple[Acceptance, ...]:
    seen: dict[str, tree.Spanned] = {}
    made = []
    for term in said.terms:
        part = context.at_least_zero(term.part, "part", Fraction(1)) if term.part is not None else Fraction(1)
        if context.once(seen, term.test, term, "this test"):
            made.append(Acceptance(term.test, part))
    return tuple(sorted(made, key=lambda each: each.test))


def _votes(context: Context, said: tree.Spanned | None) -> tuple[tuple[VictimVote, ...], ...]:
    """The tiers, as the policy lists them: Volcano goes by the order of its plugins where one of them leaves nobody."""
    if not isinstance(said, tree.Votes):
        return ()
    seen: dict[str, tree.Spanned] = {}
    return tuple(
        tuple(vote.name for vote in tier.votes if context.once(seen, vote.name, vote, f"vote `{vote.name}`")) for tier in said.tiers
    )


def _most_moved(context: Context, search: tree.SearchStatement) -> int | None:
    return None if search.most is None else context.integer(search.most, "number of workloads", 1, 2**31 - 1)


def _levels(context: Context, trigger: tree.Spanned | None) -> int:
    if not isinstance(trigger, tree.PassTrigger) or trigger.levels is None:
        return 0
    return context.integer(trigger.levels, "number of levels", 1, _MOST_LEVELS) or 0
