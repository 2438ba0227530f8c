"""The two decision modes, at once and in cycles: statements that belong to one mode are refused under the other."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..syntax import tree
from .context import Context
from .declarations import queues

PREEMPT_WAYS = "`preempt classically` or `preempt fairly by final share, initial share`"


@dataclass(frozen=True, slots=True)
class _Offence:
    """A statement that belongs to the other mode: its place, its name, the remedy, and whether it stands in the policy itself."""

    node: tree.Spanned
    what: str
    remedy: str
    own: bool


def check_decision_mode(context: Context) -> None:
    """Report statements that belong to the decision mode that the policy did not choose."""
    offences = list(_for_once(context) if context.in_cycles else _for_cycles(context))
    this, other = ("decides in cycles", "decide at once") if context.in_cycles else ("decides at once", "decide in cycles")
    change = "`decide at once`" if context.in_cycles else "`decide in cycles of 1s`"
    context.at(context.merged.header)
    for offence in offences:
        if offence.own:
            message = f"{offence.what} is for policies that {other}"
            context.error("GP037", message, offence.node, f"this one {this}", f"{offence.remedy}, or say {change} in the header")
    brought = [offence.what for offence in offences if not offence.own]
    if brought:
        fitting = "`use kueue.classical` or `use kueue.fair`" if context.in_cycles else "`use gpol.fair`"
        message = f"the policy {this}, but its profile brings {brought[0]}, which is for policies that {other}"
        context.error("GP037", message, place_of_decision_mode(context), "chosen here", f"write {fitting}, or leave this to the profile")


def place_of_decision_mode(context: Context) -> tree.Spanned:
    """Where the policy chooses its decision mode; its name, if its profile chooses."""
    decide, header = context.merged.choices.get("Decide"), context.merged.header
    if decide is not None and context.is_own(decide):
        return decide
    return header.name if header is not None else tree.Spanned()


def _for_cycles(context: Context) -> Iterator[_Offence]:
    """What only a policy that decides in cycles may say."""
    for choice in _choices(context):
        own = context.is_own(choice)
        match choice:
            case tree.Order("heads"):
                yield _Offence(choice, "`order heads`", "write `order queues by ...`", own)
            case tree.PreemptWay(strategies):
                what = "`preempt fairly`" if strategies else "`preempt classically`"
                yield _Offence(choice, what, "write preempt rules and `preempt by`", own)
            case tree.UsageDecay():
                yield _Offence(choice, "`usage halves`", "remove it", own)
            case tree.UsageWeights():
                yield _Offence(choice, "`usage weighs`", "remove it", own)
    for flavor in context.merged.flavors:
        yield from (_Offence(part, "`missing`", "remove it", own=True) for part in flavor.body if isinstance(part, tree.Missing))
        yield from (_Offence(part, *above, own=True) for part in flavor.body if (above := _above_nodes(context, part)) is not None)
    for queue in queues.items(context).values():
        yield from (_Offence(part, what, "remove it", own=True) for part in queue.body if (what := _in_queue(part)))


def _above_nodes(context: Context, statement: tree.Spanned) -> tuple[str, str] | None:
    """What a flavor is placed in, and the remedy, if the topology has no level of nodes; None for any other statement."""
    if not isinstance(statement, tree.PlacedIn) or statement.topology is None:
        return None
    name = statement.topology.text
    item = next((item for item in context.merged.topologies if item.name.text == name), None)
    if item is None or not item.levels or any(level.label is None for level in item.levels):
        return None
    return f"placing in `{name}`, whose lowest level `{item.levels[-1].name.text}` is above nodes,", "add a level `from node` to it"


def _in_queue(statement: tree.Spanned) -> str:
    """A statement of a queue that belongs to cycles only, in words; empty for any other."""
    match statement:
        case tree.Evicts() | tree.Rather() | tree.ByUsage():
            return queues.about(statement) or ""
        case tree.NeedsCheck():
            return "`needs check`"
        case _:
            return ""


def _for_once(context: Context) -> Iterator[_Offence]:
    """What only a policy that decides at once may say."""
    for choice in _choices(context):
        if isinstance(choice, tree.PreemptBy):
            yield _Offence(choice, "`preempt by`", f"write {PREEMPT_WAYS}", context.is_own(choice))
        elif isinstance(choice, tree.PlacePods):
            yield _Offence(choice, "`place pods`", "remove it, since pods are placed there as Kueue places them", context.is_own(choice))
        elif isinstance(choice, tree.LostNodes):
            yield _Offence(choice, "`when a node is lost`", "remove it", context.is_own(choice))
    rules: list[tree.PreemptItem | tree.ProtectItem] = [*context.merged.preempt, *context.merged.protect]
    for item in rules:
        yield _Offence(item.name, f"{tree.keyword(item)} rule `{item.name.text}`", "remove it", context.is_own(item))


def _choices(context: Context) -> list[tree.Choice]:
    return [context.merged.choices[key] for key in sorted(context.merged.choices)]
