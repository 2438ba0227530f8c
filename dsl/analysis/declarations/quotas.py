"""Cohorts and queues: the quota tree with what each node owns, borrows and lends."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from ....engine import policy_graph as graph
from ....engine.units import INT64_MAX, format_amount
from ...diagnostics import DiagnosticNote
from ...syntax import tree
from ...syntax.names import listed
from ..context import Context
from ..passes.pass_terms import terms
from .resource_groups import check_served
from .resources import flavor_with

_MOST_OWNERS = 12
"""Owners that are listed where all together own too much."""


@dataclass(slots=True)
class NodeDeclaration:
    """A cohort or queue with its parent's name, in the order of the text."""

    item: tree.CohortItem | tree.QueueItem
    parent: str


@dataclass(slots=True)
class QuotaStatements:
    """The quota statements of one node by slot, not yet combined; `known` is false where an amount owned could not be read."""

    owns: dict[int, tuple[int, tree.QuotaStatement]] = field(default_factory=dict)
    borrows: dict[int, tuple[int, tree.QuotaStatement]] = field(default_factory=dict)
    lends: dict[int, tuple[int, tree.QuotaStatement]] = field(default_factory=dict)
    keeps: dict[int, tuple[int, tree.QuotaStatement]] = field(default_factory=dict)
    uses: dict[int, tuple[int, tree.QuotaStatement]] = field(default_factory=dict)
    owns_all: set[int] = field(default_factory=set)
    known: bool = True


@dataclass(slots=True)
class ChildQuotas:
    """What the children of a node own and offer it, by slot; `known` is false where some amount could not be read."""

    owned: list[int]
    offered: list[int]
    known: bool = True


def places(context: Context) -> list[NodeDeclaration]:
    """All cohorts and queues with unique names; a double is reported."""
    found: list[NodeDeclaration] = []
    seen: dict[str, tree.Name] = {}

    def visit(item: tree.CohortItem | tree.QueueItem, parent: str) -> None:
        name = item.name
        context.named(name, "queue" if isinstance(item, tree.QueueItem) else "cohort")
        if name.text == graph.ROOT:
            context.error("GP021", f"`{graph.ROOT}` is the root of the tree", name, "taken", "give it another name")
        elif name.text in seen:
            note = (DiagnosticNote("first declared here", seen[name.text].span),)
            message = f"`{name.text}` is declared twice; queues and cohorts share their names"
            context.error("GP021", message, name, "again here", "give it another name", note)
        else:
            seen[name.text] = name
            found.append(NodeDeclaration(item, parent))
            for below in item.body:
                if isinstance(below, tree.CohortItem | tree.QueueItem):
                    visit(below, name.text)

    for cohort in context.merged.cohorts:
        visit(cohort, graph.ROOT)
    for queue in context.merged.queues:
        visit(queue, graph.ROOT)
    context.queues = [place.item.name.text for place in found if isinstance(place.item, tree.QueueItem)]
    context.cohorts = [place.item.name.text for place in found if isinstance(place.item, tree.CohortItem)]
    return found


def nodes(
    context: Context, found: list[NodeDeclaration], slots: tuple[graph.Slot, ...], flavors: tuple[graph.Flavor, ...]
) -> tuple[graph.Node, ...]:
    """The nodes of the tree: the root, then all others in order of name; queues are numbered in the same order."""
    names = sorted(place.item.name.text for place in found)
    index = {graph.ROOT: 0, **{name: number for number, name in enumerate(names, start=1)}}
    slot_of = {(flavors[slot.flavor].name, slot.resource): number for number, slot in enumerate(slots)}
    by_name = {place.item.name.text: place for place in found}
    children: list[list[int]] = [[] for _ in index]
    for name in names:
        children[index[by_name[name].parent]].append(index[name])
    no_quota = tuple(graph.Quota() for _ in slots)
    header = context.merged.header
    made = [graph.Node(graph.ROOT, -1, tuple(children[0]), -1, Fraction(1), no_quota, context.source(header or tree.Spanned()))]
    queues = sorted(context.queues)
    numbers = {name: number for number, name in enumerate(queues)}
    quotas, limits = _all_quotas(context, found, slot_of)
    for name in names:
        item, said, weight = by_name[name].item, limits[name], _weight(context, by_name[name].item)
        uses, keeps = ({slot: amount for slot, (amount, _) in part.items()} for part in (said.uses, said.keeps))
        made.append(
            graph.Node(
                name=name,
                parent=index[by_name[name].parent],
                children=tuple(children[index[name]]),
                queue=numbers.get(name, -1),
                weight=weight,
                quotas=quotas[name],
                source=context.source(item),
                terms=terms(context, item, weight, tuple(slot.resource for slot in slots), uses, said.owns_all, keeps),
            )
        )
    _compare_with_capacity(context, found, made, slots, flavors)
    return tuple(made)


def _all_quotas(
    context: Context, found: list[NodeDeclaration], slot_of: dict[tuple[str, str], int]
) -> tuple[dict[str, tuple[graph.Quota, ...]], dict[str, QuotaStatements]]:
    """The quotas of all nodes by name, children before their parents, and the statements behind them."""
    quotas: dict[str, tuple[graph.Quota, ...]] = {}
    said: dict[str, QuotaStatements] = {}
    none = [0] * len(slot_of)
    all_below = {name: ChildQuotas([*none], [*none]) for name in (graph.ROOT, *(place.item.name.text for place in found))}
    for place in reversed(found):  # parents stand before their children in the text's order
        name = place.item.name.text
        below, above = all_below[name], all_below[place.parent]
        limits = said[name] = _limits(context, place.item, slot_of)
        below.known = below.known and limits.known
        if below.known:
            _check_lending(context, place.item, limits, below.owned)
        quotas[name] = _quotas(context, limits, len(slot_of), below.offered)
        for slot, quota in enumerate(quotas[name]):
            offered = quota.nominal + below.offered[slot]
            above.owned[slot] += quota.nominal + below.owned[slot]
            above.offered[slot] += offered if quota.lending_limit is None else min(offered, quota.lending_limit)
        above.known = above.known and below.known
    return quotas, said


def _weight(context: Context, item: tree.CohortItem | tree.QueueItem) -> Fraction:
    seen: dict[str, tree.Spanned] = {}
    weight = Fraction(1)
    for statement in item.body:
        if isinstance(statement, tree.Weight) and context.once(seen, "weight", statement, f"the weight of `{item.name.text}`"):
            weight = context.at_least_zero(statement.number, "weight", weight)
    return weight


def _quotas(context: Context, limits: QuotaStatements, slots: int, offered: list[int]) -> tuple[graph.Quota, ...]:
    """The quotas of a node; `offered` by its children, by slot, so that it can lend all but a part of everything."""
    quotas = []
    for slot in range(slots):
        owns, owns_at = limits.owns.get(slot, (0, None))
        borrows, borrows_at = limits.borrows.get(slot, (None, None))
        lends, lends_at = limits.lends.get(slot, (None, None))
        if slot in limits.keeps and not context.by_passes:  # there `terms` have it
            kept, lends_at = limits.keeps[slot]
            lends = max(0, owns + offered[slot] - kept)
        quotas.append(
            graph.Quota(
                nominal=owns,
                borrowing_limit=borrows,
                lending_limit=lends,
                nominal_source=None if owns_at is None else context.source(owns_at),
                borrowing_source=None if borrows_at is None else context.source(borrows_at),
                lending_source=None if lends_at is None else context.source(lends_at),
            )
        )
    return tuple(quotas)


def _limits(context: Context, item: tree.CohortItem | tree.QueueItem, slot_of: dict[tuple[str, str], int]) -> QuotaStatements:
    limits = QuotaStatements()
    statements = [statement for statement in item.body if isinstance(statement, tree.QuotaStatement)]
    seen: dict[str, tree.Spanned] = {}
    for statement in statements:
        for slot, value in _values(context, item, statement, slot_of):
            verb = statement.verb
            if not context.once(seen, f"{_side(statement)} {slot}", statement, f"what `{item.name.text}` {_said(statement)} there"):
                break
            if verb == "owns" and statement.limit == "anything":
                limits.owns_all.add(slot)
            elif verb == "owns":
                limits.owns[slot] = (value, statement)
            elif verb == "uses":
                limits.uses[slot] = (value, statement)
            elif verb == "borrows":
                limits.borrows[slot] = (value, statement)
            elif statement.limit == "all-but" or verb == "guarantees":
                limits.keeps[slot] = (value, statement)
            else:
                limits.lends[slot] = (value, statement)
    _check_nothing(context, item, statements)
    limits.known = sum(part.verb == "owns" and part.amount is not None for part in statements) == len(limits.owns)
    return limits


def _side(statement: tree.QuotaStatement) -> str:
    return {"owns": "owns", "borrows": "borrows", "uses": "uses"}.get(statement.verb, "lends")


def _said(statement: tree.QuotaStatement) -> str:
    return {"owns": "owns", "borrows": "may borrow", "uses": "may use"}.get(statement.verb, "lends")


def _values(
    context: Context, item: tree.CohortItem | tree.QueueItem, statement: tree.QuotaStatement, slot_of: dict[tuple[str, str], int]
) -> list[tuple[int, int]]:
    """The (slot, amount) pairs that a statement speaks of."""
    if statement.amount is not None:
        flavor = flavor_with(context, statement.amount, statement.flavor)
        if flavor is None:
            return []
        check_served(context, item, statement, flavor)
        amount = context.amount(statement.amount.number, statement.amount.resource.text)
        return [] if amount is None else [(slot_of[flavor, statement.amount.resource.text], amount)]
    if (statement.verb == "owns" and statement.limit == "nothing") or (statement.verb != "owns" and statement.limit == "anything"):
        return []
    if statement.flavor is not None and statement.flavor.text not in context.flavors:
        context.unknown("flavor", statement.flavor, context.flavors)
        return []
    named = None if statement.flavor is None else statement.flavor.text
    if named is not None:
        check_served(context, item, statement, named)
    return [(slot, 0) for (flavor, _), slot in sorted(slot_of.items()) if named in (None, flavor)]


def _check_nothing(context: Context, item: tree.CohortItem | tree.QueueItem, statements: list[tree.QuotaStatement]) -> None:
    """`nothing` and `anything` without a flavor stand alone."""
    for verb in ("owns", "borrows", "lends"):
        same = [statement for statement in statements if _side(statement) == verb]
        plain = [statement for statement in same if statement.limit in ("nothing", "anything") and statement.flavor is None]
        repeated = [statement for statement in plain if statement.limit == "anything" or statement.verb == "owns"]
        if repeated and len(same) > 1:
            other = next(statement for statement in same if statement is not repeated[0])
            message = f"`{item.name.text}` {verb} {repeated[0].limit}, and says otherwise as well"
            note = (DiagnosticNote("said otherwise here", other.span),)
            context.error("GP027", message, repeated[0], "contradicts", "keep one of the two", note)


def _check_lending(context: Context, item: tree.CohortItem | tree.QueueItem, limits: QuotaStatements, below: list[int]) -> None:
    """No node lends or keeps more than it owns; a cohort owns what those below it do, too (`below`, by slot)."""
    kind, owner = ("queue", "it owns") if isinstance(item, tree.QueueItem) else ("cohort", "it and those below it own")
    for values, verb in ((limits.lends, "lends"), (limits.keeps, "keeps")):
        for slot in sorted(values):
            amount, statement = values[slot]
            owned = limits.owns.get(slot, (0, None))[0] + below[slot]
            if slot in limits.owns_all or _by_weight(context):
                continue
            if amount > owned and statement.amount is not None:
                resource = statement.amount.resource.text
                help_text = f"write at most `{format_amount(owned, resource)} {resource}`, or raise what {owner}"
                message = f"{kind} `{item.name.text}` {verb} more than {owner}"
                owns = f"{'owns' if kind == 'queue' else 'own together'} {format_amount(owned, resource)} {resource}"
                if not context.in_cycles:
                    context.error("GP025", message, statement.amount, owns, help_text)
                else:  # Kueue allows it, and policies made from its objects have it
                    effect = "it has no effect" if verb == "lends" else "it lends nothing"
                    context.warn("GP056", f"{message}: {effect}", statement.amount, owns, help_text)


def _by_weight(context: Context) -> bool:
    """Whether what a node owns counts for nothing: all is divided by weight."""
    choice = context.merged.choices.get("Entitle")
    return context.by_passes and isinstance(choice, tree.Entitle) and choice.way == "weight"


def _compare_with_capacity(
    context: Context, found: list[NodeDeclaration], made: list[graph.Node], slots: tuple[graph.Slot, ...], flavors: tuple[graph.Flavor, ...]
) -> None:
    """All nodes together own at most what exists, where the policy says what exists, and at most what 64 bits hold."""
    items = {place.item.name.text: place.item for place in found}
    for number, slot in enumerate(slots):
        flavor = flavors[slot.flavor]
        exists = dict(flavor.capacity)[slot.resource]
        owners = [(node.quotas[number].nominal, node.name) for node in made if node.quotas[number].nominal > 0]
        owned = sum(amount for amount, _ in owners)
        if owned > INT64_MAX:
            message = f"all together own more {slot.resource} on {flavor.name} than 64 bits hold"
            context.error("GP023", message, items[max(owners)[1]].name, "the biggest part", "own less")
        elif flavor.nodes is None and (flavor.name, slot.resource) not in context.as_owned and owned > exists:
            resource = slot.resource
            total, there, spare = (format_amount(amount, resource) for amount in (owned, exists, owned - exists))
            together = "owns" if len(owners) == 1 else "together own"
            message = f"{listed(name for _, name in owners)} {together} {total} {resource} on {flavor.name}, but {there} exist"
            help_text = f"give {spare} {resource} less away, or raise the flavor's capacity"
            statement = _owning(items[max(owners)[1]], resource, flavor.name)
            context.error("GP026", message, statement, "the biggest part", help_text, _who_owns(owners, resource))


def _owning(item: tree.CohortItem | tree.QueueItem, resource: str, flavor: str) -> tree.QuotaStatement:
    """The statement by which a node owns a resource of a flavor."""
    return next(
        part
        for part in item.body
        if isinstance(part, tree.QuotaStatement)
        and part.verb == "owns"
        and part.amount is not None
        and part.amount.resource.text == resource
        and (part.flavor is None or part.flavor.text == flavor)
    )


def _who_owns(owners: list[tuple[int, str]], resource: str) -> tuple[DiagnosticNote, ...]:
    if len(owners) == 1:
        return ()
    shown = ", ".join(
        f"`{name}` {format_amount(amount, resource)}" for amount, name in sorted(owners, key=lambda owner: owner[1])[:_MOST_OWNERS]
    )
    more = f" and {len(owners) - _MOST_OWNERS} more" if len(owners) > _MOST_OWNERS else ""
    return (DiagnosticNote(f"owned: {shown}{more}"),)


def with_what_is_owned(
    context: Context, flavors: tuple[graph.Flavor, ...], slots: tuple[graph.Slot, ...], made: tuple[graph.Node, ...]
) -> tuple[graph.Flavor, ...]:
    """The flavors, with capacities `as owned` filled in: what all nodes own together."""
    owned = {
        (flavors[slot.flavor].name, slot.resource): sum(node.quotas[number].nominal for node in made)
        for number, slot in enumerate(slots)
        if (flavors[slot.flavor].name, slot.resource) in context.as_owned
    }

    def filled(flavor: graph.Flavor) -> graph.Flavor:
        capacity = ((resource, owned.get((flavor.name, resource), amount)) for resource, amount in flavor.capacity)
        return replace(flavor, capacity=tuple(capacity))

    return tuple(filled(flavor) for flavor in flavors) if owned else flavors
