"""What exists: resources, flavors with their capacity, priorities."""

from fractions import Fraction

from ....engine import guard as expr
from ....engine import policy_graph as graph
from ....engine.policy_settings import QUEUE_KEYS
from ...diagnostics import DiagnosticNote
from ...syntax import tree
from ...syntax.names import listed
from ..context import BUILT_IN, POD_COUNT, Context
from ..passes.pass_terms import queue_limits
from .flavor_nodes import with_nodes
from .topologies import check_shared_nodes

_INT32 = 2**31
_FIELDS = {*expr.WORKLOAD_FIELDS, *expr.VICTIM_FIELDS, *QUEUE_KEYS, "label"}


def declare(context: Context) -> None:
    """Fill the tables of names, and report what is declared twice."""
    merged = context.merged
    _unique(context, "resource", merged.resources)
    _unique(context, "topology", merged.topologies)
    _unique(context, "flavor", merged.flavors)
    _unique(context, "priority", merged.priorities)
    for kind, rules in (("preempt", merged.preempt), ("protect", merged.protect)):
        _unique(context, f"{kind} rule", rules)
        context.rules[kind] = [rule.name.text for rule in rules]
    for action in ("deny", "hold"):
        rules_of_action = [rule for rule in merged.admission if rule.action == action]
        _unique(context, f"{action} rule", rules_of_action)
        context.rules[action] = [rule.name.text for rule in rules_of_action]
    context.resources = sorted({*BUILT_IN, *(item.name.text for item in merged.resources)})
    for item in merged.resources:
        context.at(item)
        if item.name.text in BUILT_IN:
            context.error("GP021", f"resource `{item.name.text}` is built in", item.name, "declared again", "remove this line")
        elif item.name.text in _FIELDS and not (item.name.text == POD_COUNT and context.in_cycles):
            message = f"`{item.name.text}` is a field in guards and orders; a resource of that name would hide it"
            context.error("GP021", message, item.name, "taken", "give it another name")
    for flavor in merged.flavors:
        statements = [
            statement for statement in flavor.body if isinstance(statement, tree.CapacityStatement | tree.FromNodes | tree.AsOwned)
        ]
        names = [name for statement in statements for name in _resources_of(statement)]
        context.flavors[flavor.name.text] = sorted({name.text for name in names if name.text in context.resources})


def _resources_of(statement: tree.CapacityStatement | tree.FromNodes | tree.AsOwned) -> tuple[tree.Name, ...]:
    return (statement.resource,) if isinstance(statement, tree.CapacityStatement) else statement.resources


def _unique(
    context: Context,
    what: str,
    items: list[tree.ResourceItem]
    | list[tree.TopologyItem]
    | list[tree.FlavorItem]
    | list[tree.PriorityItem]
    | list[tree.PreemptItem]
    | list[tree.ProtectItem]
    | list[tree.AdmissionItem],
) -> None:
    seen: dict[str, tree.Name] = {}
    for item in items:
        context.at(item)
        context.named(item.name, what)
        if item.name.text in seen:
            note = (DiagnosticNote("first declared here", seen[item.name.text].span),)
            context.error("GP021", f"{what} `{item.name.text}` is declared twice", item.name, "again here", "give it another name", note)
        seen.setdefault(item.name.text, item.name)


def flavors(context: Context) -> tuple[graph.Flavor, ...]:
    """The flavors, in order of name."""
    made: dict[str, graph.Flavor] = {}
    for item in context.merged.flavors:
        context.at(item)
        made.setdefault(item.name.text, _flavor(context, item))
    check_shared_nodes(context, made)
    return tuple(made[name] for name in sorted(made))


def _flavor(context: Context, item: tree.FlavorItem) -> graph.Flavor:
    seen: dict[str, tree.Spanned] = {}
    capacity: dict[str, int] = {}
    nodes: tuple[tuple[str, str], ...] | None = None
    worth = Fraction(1)
    for statement in item.body:
        match statement:
            case tree.Worth(number):
                if context.once(seen, " worth", statement, f"the worth of flavor `{item.name.text}`"):
                    worth = _worth(context, number)
            case tree.CapacityStatement(resource, number):
                if _known(context, resource) and context.once(seen, resource.text, statement, f"`{resource.text}`"):
                    capacity[resource.text] = context.amount(number, resource.text) or 0
            case tree.AsOwned(resources):
                for resource in resources:
                    if _known(context, resource) and context.once(seen, resource.text, resource, f"`{resource.text}`"):
                        capacity[resource.text] = 0  # filled in once it is known who owns what
                        context.as_owned.add((item.name.text, resource.text))
            case tree.FromNodes(resources, labels):
                if context.once(seen, " nodes", statement, "`from nodes`"):
                    nodes = _labels(context, labels)
                    capacity |= {name.text: 0 for name in _each(context, resources) if _known(context, name)}
    _check_capacity(context, item, from_nodes=nodes is not None)
    return with_nodes(context, item, graph.Flavor(item.name.text, tuple(sorted(capacity.items())), nodes, worth, context.source(item)))


def _check_capacity(context: Context, item: tree.FlavorItem, from_nodes: bool) -> None:
    """A flavor has a capacity, in one form."""
    fixed = [statement for statement in item.body if isinstance(statement, tree.CapacityStatement | tree.AsOwned)]
    if from_nodes and fixed:
        what, label = ("`as owned`", "as owned") if isinstance(fixed[0], tree.AsOwned) else ("amounts", "an amount")
        context.error("GP027", f"flavor `{item.name.text}` has both {what} and `from nodes`", fixed[0], label, "keep one form")
    if not fixed and not any(isinstance(statement, tree.FromNodes) for statement in item.body):
        help_text = "say what it has, such as `gpu as owned`" if context.in_cycles else "say what exists, such as `gpu 256`"
        context.error("GP035", f"flavor `{item.name.text}` has no capacity", item.name, "nothing exists of it", help_text)


def _labels(context: Context, labels: tuple[tree.LabelEquals, ...]) -> tuple[tuple[str, str], ...]:
    """The labels that a node has to have, in order of their keys, each key once."""
    seen: dict[str, tree.Spanned] = {}
    for label in labels:
        context.named(tree.Name(label.key, span=label.span), "label")
        context.once(seen, label.key, label, f"label `{label.key}`")
    return tuple(sorted((label.key, label.value.text) for label in labels))


def _each(context: Context, resources: tuple[tree.Name, ...]) -> tuple[tree.Name, ...]:
    seen: dict[str, tree.Spanned] = {}
    return tuple(name for name in resources if context.once(seen, name.text, name, f"`{name.text}`"))


def _worth(context: Context, number: tree.Number) -> Fraction:
    value = context.fraction(number, "worth", Fraction(0))
    if value == 0:
        context.error("GP023", "a worth cannot be 0", number, "here", "write a number above 0; 1 is the default")
        return Fraction(1)
    return Fraction(1) if value is None else value


def _known(context: Context, resource: tree.Name) -> bool:
    if resource.text in context.resources:
        return True
    context.unknown("resource", resource, context.resources)
    return False


def priorities(context: Context) -> tuple[graph.PriorityClass, ...]:
    """The priority classes, in order of name; their values go to the context."""
    made: dict[str, graph.PriorityClass] = {}
    for item in context.merged.priorities:
        context.at(item)
        value = context.integer(item.value, "priority", -_INT32, _INT32 - 1)
        context.priorities.setdefault(item.name.text, value or 0)
        limits = queue_limits(context, item)
        made.setdefault(item.name.text, graph.PriorityClass(item.name.text, value or 0, item.never_evicted, context.source(item), limits))
    return tuple(made[name] for name in sorted(made))


def slots(made: tuple[graph.Flavor, ...]) -> tuple[graph.Slot, ...]:
    """Every resource of every flavor, in order of flavor and resource."""
    return tuple(graph.Slot(index, resource) for index, flavor in enumerate(made) for resource, _ in flavor.capacity)


def groups(made: tuple[graph.Flavor, ...]) -> tuple[tuple[str, ...], ...]:
    """Resources that share a flavor, directly or through others: the sets that one flavor serves together."""
    found: list[set[str]] = []
    for flavor in made:
        joined = {resource for resource, _ in flavor.capacity}
        apart = [group for group in found if not group & joined]
        for group in found:
            if group & joined:
                joined |= group
        found = [*apart, joined] if joined else apart
    return tuple(sorted(tuple(sorted(group)) for group in found))


def flavor_with(context: Context, amount: tree.Amount, flavor: tree.Name | None) -> str | None:
    """The flavor that an amount is of: the named one, or the only one that has the resource."""
    resource = amount.resource.text
    if resource not in context.resources:
        context.unknown("resource", amount.resource, context.resources)
        return None
    having = [name for name in sorted(context.flavors) if resource in context.flavors[name]]
    if flavor is not None:
        if flavor.text not in context.flavors:
            context.unknown("flavor", flavor, context.flavors)
            return None
        if flavor.text not in having:
            help_text = f"flavors with {resource}: {listed(having)}"
            context.error(
                "GP020", f"flavor `{flavor.text}` has no {resource}", flavor, f"has {listed(context.flavors[flavor.text])}", help_text
            )
            return None
        return flavor.text
    if len(having) == 1:
        return having[0]
    if having:
        help_text = f"write `{amount.number.text} {resource} on {having[0]}`, for instance"
        context.error("GP024", f"which {resource}? several flavors have it: {listed(having)}", amount, "of no flavor", help_text)
    else:
        context.error("GP020", f"no flavor has {resource}", amount.resource, "not in any flavor", f"add `{resource}` to a flavor")
    return None
