"""Topologies: which levels of nodes there are, and in which of them a flavor's pods get places."""

from collections.abc import Iterator, Mapping

from ....engine import policy_graph as graph
from ...diagnostics import DiagnosticNote
from ...syntax import tree
from ..context import Context

NODES = "nodes"
"""The topology of `placed on nodes`: nodes, and nothing above them. It is in the graph where a flavor says so."""

NODE = "node"
"""The one level of that topology."""


def topologies(context: Context) -> tuple[graph.Topology, ...]:
    """The topologies that are declared or used, in order of name; their names and levels go to the context."""
    made: dict[str, graph.Topology] = {}
    for item in context.merged.topologies:
        context.at(item)
        if item.name.text == NODES:
            help_text = "give it another name; `placed on nodes` needs no topology"
            context.error("GP021", f"topology `{NODES}` is built in", item.name, "declared again", help_text)
        levels = _levels(context, item)
        if item.name.text not in made:
            made[item.name.text] = graph.Topology(item.name.text, levels, context.source(item))
    context.topologies = {name: tuple(level.name for level in topology.levels) for name, topology in made.items() if name != NODES}
    for statement in _on_nodes(context):
        made[NODES] = graph.Topology(NODES, (graph.Level(NODE, None),), context.source(statement))
        context.topologies[NODES] = (NODE,)
        break
    return tuple(made[name] for name in sorted(made))


def _on_nodes(context: Context) -> Iterator[tree.PlacedIn]:
    """The statements `placed on nodes`, in order of the text."""
    for flavor in context.merged.flavors:
        context.at(flavor)
        yield from (part for part in flavor.body if isinstance(part, tree.PlacedIn) and part.topology is None)


def _levels(context: Context, item: tree.TopologyItem) -> tuple[graph.Level, ...]:
    """The levels from the widest down. Those that do not fit are reported and left out."""
    seen: dict[str, tree.Spanned] = {}
    made = []
    if not item.levels:
        help_text = 'add a level, such as `level rack from label "rack"`, or `level host from node`'
        context.error("GP043", f"topology `{item.name.text}` has no levels", item.name, "says nothing of nodes", help_text)
    for number, level in enumerate(item.levels):
        context.named(level.name, "level")
        if not context.once(seen, f"level {level.name.text}", level, f"level `{level.name.text}`"):
            continue
        if level.label is not None:
            context.named(tree.Name(level.label, span=level.span), "label")
            if context.once(seen, f"label {level.label}", level, f"label `{level.label}`"):
                made.append(graph.Level(level.name.text, level.label))
        elif number < len(item.levels) - 1:
            message = f"level `{level.name.text}` is of single nodes, but `{item.levels[number + 1].name.text}` stands below it"
            context.error("GP043", message, level, "nothing is narrower than a node", "put this level last")
        else:
            made.append(graph.Level(level.name.text, None))
    return tuple(made)


def placed_in(context: Context, item: tree.FlavorItem) -> int:
    """The index of the topology in which a flavor's pods get places; -1 where they get none."""
    seen: dict[str, tree.Spanned] = {}
    found = -1
    for statement in item.body:
        if not isinstance(statement, tree.PlacedIn):
            continue
        if not context.once(seen, "placed", statement, f"where flavor `{item.name.text}` is placed"):
            continue
        name = NODES if statement.topology is None else statement.topology.text
        _check_capacity(context, item, statement)
        if statement.topology is not None and (name == NODES or name not in context.topologies):
            _unknown(context, statement.topology)
        elif name in context.topologies:
            found = sorted(context.topologies).index(name)
    return found


def _unknown(context: Context, name: tree.Name) -> None:
    if name.text == NODES:
        context.error("GP020", f"unknown topology `{NODES}`", name, "not declared", "write `placed on nodes`")
    else:
        context.unknown("topology", name, set(context.topologies) - {NODES})


def _check_capacity(context: Context, item: tree.FlavorItem, placed: tree.PlacedIn) -> None:
    """What is placed is what nodes have; only in cycles quotas stand beside them. There, GP039 tells of other capacities."""
    if context.in_cycles:
        return
    fixed = next((part for part in item.body if isinstance(part, tree.CapacityStatement | tree.AsOwned)), None)
    if fixed is not None:
        message = f"flavor `{item.name.text}` is placed, but its amounts do not come from nodes"
        resource = fixed.resource if isinstance(fixed, tree.CapacityStatement) else fixed.resources[0]
        help_text = f'write `{resource.text} from nodes where LABEL = "value"`, or remove `placed`'
        context.error("GP027", message, placed, "its nodes are not known", help_text)


def check_shared_nodes(context: Context, flavors: Mapping[str, graph.Flavor]) -> None:
    """Report placed flavors that would have no nodes: whatever node they have is of another flavor as well, and a node is of one only."""
    for item in context.merged.flavors:
        mine = flavors[item.name.text]
        statement = next((part for part in item.body if isinstance(part, tree.FromNodes)), None)
        if statement is None or mine.nodes is None:
            continue
        for name, other in sorted(flavors.items()):
            placed = mine.topology >= 0 or other.topology >= 0
            if other is mine or other.nodes is None or not placed or not set(other.nodes) <= set(mine.nodes):
                continue
            context.at(item)
            message = f"every node of flavor `{mine.name}` would be of flavor `{name}`, too, and a node that matches both is refused"
            first = next(each for each in context.merged.flavors if each.name.text == name)
            note = (DiagnosticNote("the other flavor is here", first.name.span),)
            help_text = "let each of them ask for a label that nodes of the other one do not have"
            context.error("GP027", message, statement, "no nodes of its own", help_text, note)
            break
