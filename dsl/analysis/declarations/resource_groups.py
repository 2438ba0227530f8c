"""What a queue serves: its resource groups, and the order in which it tries flavors."""

from collections.abc import Mapping, Sequence

from ....engine import policy_graph as graph
from ...diagnostics import DiagnosticNote
from ...syntax import tree
from ...syntax.names import listed
from ..context import Context


def serves(item: tree.QueueItem) -> list[tree.Serves]:
    """The statements by which a queue says its own resource groups."""
    return [statement for statement in item.body if isinstance(statement, tree.Serves)]


def groups(context: Context, item: tree.QueueItem, flavors: Mapping[str, int]) -> tuple[graph.Group, ...]:
    """The resource groups that a queue says itself, in the order of the text; `flavors` finds the index of a flavor."""
    seen: dict[str, tree.Spanned] = {}
    made = []
    nothing = next((statement for statement in serves(item) if not statement.resources), None)
    if nothing is not None and len(serves(item)) > 1:
        message = f"queue `{item.name.text}` serves nothing, and says otherwise as well"
        context.error("GP027", message, nothing, "contradicts", "keep one of the two")
    for statement in serves(item):
        resources = [name for name in statement.resources if _is_new(context, item, seen, name, "resource", context.resources)]
        tried = [name for name in statement.flavors if _is_new(context, item, seen, name, "flavor", flavors)]
        for flavor in tried:
            _check_resources(context, flavor, resources)
        made.append(graph.Group(tuple(sorted(name.text for name in resources)), tuple(flavors[name.text] for name in tried)))
    return tuple(made)


def _is_new(
    context: Context,
    item: tree.QueueItem,
    seen: dict[str, tree.Spanned],
    name: tree.Name,
    what: str,
    known: Mapping[str, int] | Sequence[str],
) -> bool:
    """Whether a name is known and stands in one group of the queue only."""
    if name.text not in known:
        context.unknown(what, name, known)
        return False
    before = seen.setdefault(f"{what} {name.text}", name)
    if before is not name:
        message = f"queue `{item.name.text}` serves {what} `{name.text}` twice"
        help_text = f"name the {what} in one `serves` only"
        if context.in_cycles:  # as Kueue decides it, where the check of its objects is passed by
            context.warn("GP058", message, name, "again here", f"{help_text}; Kueue refuses such a queue")
            return True
        context.error("GP040", message, name, "again here", help_text, (DiagnosticNote("first said here", before.span),))
    return before is name


def _check_resources(context: Context, flavor: tree.Name, resources: list[tree.Name]) -> None:
    having = context.flavors[flavor.text]
    missing = [name.text for name in resources if name.text not in having]
    if missing:
        message = f"flavor `{flavor.text}` has no {listed(missing)}, which this group serves"
        help_text = f"add {listed(missing)} to the flavor, or serve it from another one"
        context.error("GP020", message, flavor, f"has {listed(having)}", help_text)


def check_served(context: Context, item: tree.CohortItem | tree.QueueItem, statement: tree.QuotaStatement, flavor: str) -> None:
    """Report a quota on what a queue with groups of its own doesn't serve; `flavor` is the one that the statement is about."""
    said = serves(item) if isinstance(item, tree.QueueItem) else []
    resource = None if statement.amount is None else statement.amount.resource.text
    if said and not any(_has(group.flavors, flavor) and (resource is None or _has(group.resources, resource)) for group in said):
        what = flavor if resource is None else f"{resource} on {flavor}"
        message = f"queue `{item.name.text}` does not serve {what}, so a quota there says nothing"
        context.error("GP041", message, statement, "not served", f"remove it, or add `serves {resource or 'gpu'} from {flavor}`")


def _has(names: tuple[tree.Name, ...], text: str) -> bool:
    return any(name.text == text for name in names)


def tried(context: Context, item: tree.QueueItem, choice: tree.Spanned | None, flavors: Mapping[str, int]) -> tuple[int, ...]:
    """The order in which a queue tries flavors where it has no groups: those it lists and, unless it says `only`, the others by name."""
    if not isinstance(choice, tree.FlavorList):
        return tuple(flavors[name] for name in sorted(flavors))
    if serves(item):
        message = f"queue `{item.name.text}` has both `serves` and `{choice.verb}`"
        context.error("GP027", message, choice, "a second order", "`serves` lists the flavors in order already; keep one form")
    listed_first = []
    seen: dict[str, tree.Spanned] = {}
    for name in choice.flavors:
        if name.text not in flavors:
            context.unknown("flavor", name, flavors)
        elif context.once(seen, name.text, name, f"flavor `{name.text}`"):
            listed_first.append(flavors[name.text])
    others = [flavors[name] for name in sorted(flavors) if flavors[name] not in listed_first]
    return tuple(listed_first if choice.verb == "only" else [*listed_first, *others])
