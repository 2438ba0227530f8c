"""Warnings about places: what is said of the places of pods where no pod gets one."""

from ...engine import policy_graph as graph
from ..analysis.context import Context
from ..analysis.declarations import queues
from ..syntax import tree
from ..syntax.names import listed


def judge_places(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn of choices and checks that are about places, in a policy or for flavors in which nobody gets one."""
    _idle_choices(context, policy)
    _idle_checks(context, policy)
    _idle_topologies(context, policy)


def _idle_choices(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn of choices of the policy's own; those of a profile are there for whoever places pods."""
    if policy.gives_places:
        return
    for key, what in (("PlacePods", "place pods"), ("LostNodes", "when a node is lost")):
        choice = context.merged.choices.get(key)
        if choice is not None and context.is_own(choice):
            context.at(choice)
            message = f"`{what}` has no effect: no flavor of the policy is placed"
            help_text = "say in a flavor where its pods get places, such as `placed on nodes`, or remove it"
            context.warn("GP065", message, choice, "no pod gets a place", help_text)


def _idle_checks(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn of checks for nodes on flavors that place no pods."""
    items = queues.items(context)
    context.at(context.merged.header)
    for queue in policy.queues:
        idle = {check.name: check for check in queue.checks if check.gives_nodes and not _places(policy, check.flavors or queue.flavors)}
        for statement in items[policy.nodes[queue.node].name].body:
            if isinstance(statement, tree.NeedsCheck) and statement.check.text in idle:
                flavors = [policy.flavors[flavor].name for flavor in idle[statement.check.text].flavors or queue.flavors]
                message = f"`for nodes` has no effect: no pod gets a place in {listed(flavors) if flavors else 'any flavor'}"
                help_text = "say in the flavor where its pods get places, such as `placed on nodes`, or leave out `for nodes`"
                context.warn("GP065", message, statement, "the flavors are not placed", help_text)


def _idle_topologies(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn of topologies of the policy's own in which no flavor is placed."""
    used = {policy.topologies[flavor.topology].name for flavor in policy.flavors if flavor.topology >= 0}
    for item in context.merged.topologies:
        if item.name.text not in used and context.is_own(item):
            context.at(item)
            message = f"topology `{item.name.text}` has no effect: no flavor is placed in it"
            help_text = f"say `placed in {item.name.text}` in the flavors that have its nodes, or remove it"
            context.warn("GP065", message, item.name, "no flavor is placed in it", help_text)


def _places(policy: graph.PolicyGraph, flavors: tuple[int, ...]) -> bool:
    return any(policy.flavors[flavor].topology >= 0 for flavor in flavors)
