"""The three decision modes, at once, in cycles that nominate and by passes: what belongs to one mode is refused under the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..syntax import tree
from .cascading_errors import BROUGHT
from .context import Context
from .declarations import queues
from .passes.mode_statements import only_for_passes, without_passes

PREEMPT_WAYS = "`preempt classically` or `preempt fairly by final share, initial share`"

DecisionMode = Literal["at once", "in cycles", "by passes"]

_CHOSEN: dict[DecisionMode, str] = {
    "at once": "`decide at once`",
    "in cycles": "`decide in cycles of 1s`",
    "by passes": "`decide in cycles of 1s by ...`",
}
"""How a policy chooses each mode."""

_PROFILES: dict[DecisionMode, str] = {
    "at once": "`use gpol.fair`",
    "in cycles": "`use kueue.classical` or `use kueue.fair`",
    "by passes": "`use kai.default`, `use volcano.proportion` or `use armada.default`",
}


@dataclass(frozen=True, slots=True)
class _Offence:
    """A statement that belongs to another mode: its place, its name, the remedy, whether it stands in the policy itself, and that mode."""

    node: tree.Spanned
    what: str
    remedy: str
    own: bool
    mode: DecisionMode


def check_decision_mode(context: Context) -> None:
    """Report statements that belong to a decision mode that the policy did not choose."""
    this: DecisionMode = "by passes" if context.by_passes else "in cycles" if context.in_cycles else "at once"
    offences = list(_offences(context, this))
    context.at(context.merged.header)
    for offence in offences:
        if offence.own:
            message = f"{offence.what} is for policies that decide {offence.mode}"
            help_text = f"{offence.remedy}, or say {_CHOSEN[offence.mode]} in the header"
            context.error("GP037", message, offence.node, f"this one decides {this}", help_text)
    brought = [offence for offence in offences if not offence.own]
    if brought:
        first = brought[0]
        message = f"the policy decides {this}, {BROUGHT} {first.what}, which is for policies that decide {first.mode}"
        help_text = f"write {_PROFILES[this]}, or leave this to the profile"
        context.error("GP037", message, place_of_decision_mode(context), "chosen here", help_text)


def place_of_decision_mode(context: Context) -> tree.Spanned:
    """Where the policy chooses its decision mode; its name, if its profile chooses."""
    decide, header = context.merged.choices.get("Decide"), context.merged.header
    if decide is not None and context.is_own(decide):
        return decide
    return header.name if header is not None else tree.Spanned()


def _offences(context: Context, this: DecisionMode) -> Iterator[_Offence]:
    """What the policy says that belongs to other modes."""
    if this != "in cycles":
        yield from _for_cycles(context)
    if this == "in cycles":
        yield from _for_once(context)
    if this == "by passes":
        yield from (_Offence(*said, mode="at once") for said in without_passes(context))
    else:
        yield from (_Offence(*said, mode="by passes") for said in only_for_passes(context, with_rules=this == "at once"))


def _for_cycles(context: Context) -> Iterator[_Offence]:
    """What only a policy that decides in cycles may say."""
    for choice in _choices(context):
        own = context.is_own(choice)
        match choice:
            case tree.Order("heads"):
                yield _Offence(choice, "`order heads`", "write `order queues by ...`", own, "in cycles")
            case tree.PreemptWay(strategies):
                what = "`preempt fairly`" if strategies else "`preempt classically`"
                remedy = "write preempt rules" if context.by_passes else "write preempt rules and `preempt by`"
                yield _Offence(choice, what, remedy, own, "in cycles")
            case tree.UsageDecay():
                yield _Offence(choice, "`usage halves`", "remove it", own, "in cycles")
            case tree.UsageWeights():
                yield _Offence(choice, "`usage weighs`", "remove it", own, "in cycles")
    for flavor in context.merged.flavors:
        for part in flavor.body:
            found = ("`missing`", "remove it") if isinstance(part, tree.Missing) else _above_nodes(context, part)
            if found is not None:
                yield _Offence(part, *found, own=True, mode="in cycles")
    for queue in queues.items(context).values():
        for statement in queue.body:
            if what := _in_queue(statement):
                yield _Offence(statement, what, "remove it", own=True, mode="in cycles")


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
    """What a policy that decides in cycles may not say, since it is for deciding at once."""
    for choice in _choices(context):
        own = context.is_own(choice)
        if isinstance(choice, tree.PreemptBy):
            yield _Offence(choice, "`preempt by`", f"write {PREEMPT_WAYS}", own, "at once")
        elif isinstance(choice, tree.PlacePods):
            remedy = "remove it, since pods are placed there as Kueue places them"
            yield _Offence(choice, "`place pods`", remedy, own, "at once")
        elif isinstance(choice, tree.LostNodes):
            yield _Offence(choice, "`when a node is lost`", "remove it", own, "at once")
        elif isinstance(choice, tree.ShrinkFirst):
            yield _Offence(choice, "`shrink before evicting`", "remove it, since there is no surplus", own, "at once")
    rules: list[tree.PreemptItem | tree.ProtectItem] = [*context.merged.preempt, *context.merged.protect]
    for item in rules:
        yield _Offence(item.name, f"{tree.keyword(item)} rule `{item.name.text}`", "remove it", context.is_own(item), "at once")


def _choices(context: Context) -> list[tree.Choice]:
    return [context.merged.choices[key] for key in sorted(context.merged.choices)]
