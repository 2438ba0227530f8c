"""The header's choices."""

from ...engine.policy.pass_settings import PASS_QUEUE_KEYS, PASS_WORKLOAD_KEYS
from ...engine.policy_settings import QUEUE_KEYS, WORKLOAD_KEYS, OrderKey, Settings
from ..syntax import tree
from ..syntax.names import listed
from .context import Context
from .cycle_settings import cycles
from .decision_mode import check_decision_mode
from .declarations.guards import order
from .passes.pass_choices import passes
from .place_settings import lost_nodes, placing, room_kept
from .profile_merge import choice_key


def settings(context: Context) -> Settings:
    """The choices of the policy or, where it says nothing, of its profile."""
    for header in context.merged.headers:
        context.at(header)
        seen: dict[str, tree.Spanned] = {}
        for choice in header.choices:
            context.once(seen, choice_key(choice), choice, _what(choice))
    check_decision_mode(context)
    queues = _order(context, "queues", PASS_QUEUE_KEYS if context.by_passes else (*QUEUE_KEYS, *context.resources))
    workloads = _order(context, "workloads", PASS_WORKLOAD_KEYS if context.by_passes else (*WORKLOAD_KEYS, *context.resources))
    share = context.merged.choices.get("share")
    return Settings(
        queue_order=queues,
        workload_order=workloads,
        share=share.formula if isinstance(share, tree.ShareChoice) and share.formula in ("borrowed", "used") else "none",
        rounded=isinstance(share, tree.ShareChoice) and share.rounded,
        next_flavor_before_borrowing=_next_flavor(context, "borrowing"),
        next_flavor_before_evicting=_next_flavor(context, "evicting"),
        cycles=cycles(context),
        placing=placing(context),
        room_kept=room_kept(context),
        lost_nodes=lost_nodes(context),
        passes=passes(context),
        shrinks_first="ShrinkFirst" in context.merged.choices and not context.in_cycles and not context.by_passes,
    )


def _what(choice: tree.Choice) -> str:
    """A choice, in words."""
    match choice:
        case tree.Order(subject):
            return "`order workloads`" if subject == "workloads" else "`order queues` or `order heads`"
        case tree.FlavorChoice(occasion):
            return f"`when {occasion}`"
        case tree.PlacePods() | tree.PlaceBy():
            return "`place pods`"
        case tree.WithinChoice(occasion):
            return f"`{occasion} within`"
        case tree.LostNodes():
            return "`when a node is lost`"
        case tree.ShrinkFirst():
            return "`shrink before evicting`"
        case _:
            return "this choice"


def _order(context: Context, subject: str, known: tuple[str, ...]) -> tuple[OrderKey, ...]:
    choice = context.merged.choices.get(f"order {subject}")
    if not isinstance(choice, tree.Order):
        return ()
    context.at(choice)
    shares = [key for key in choice.keys if key.path == "share"] if choice.subject == "heads" else []
    for key in shares:
        message = "heads of all queues are compared at once, and shares only between neighbours in the tree"
        context.error("GP031", message, key, "not comparable", "write `order queues by ...`, which goes down the tree, or leave it out")
    return order(context, tuple(key for key in choice.keys if key not in shares), list(known))


def _next_flavor(context: Context, occasion: str) -> bool:
    choice = context.merged.choices.get(f"when {occasion}")
    return isinstance(choice, tree.FlavorChoice) and choice.next_flavor


def ignored(context: Context) -> tuple[str, ...]:
    """The resources that the policy does not count; none that a flavor has."""
    choice = context.merged.choices.get("Ignore")
    if not isinstance(choice, tree.Ignore):
        return ()
    context.at(choice)
    seen: dict[str, tree.Spanned] = {}
    for name in choice.resources:
        context.named(name, "resource")
        context.once(seen, name.text, name, f"`{name.text}`")
        having = [flavor for flavor in sorted(context.flavors) if name.text in context.flavors[flavor]]
        if having:
            message = f"`{name.text}` is ignored, but {listed(having)} has it"
            context.error("GP027", message, name, "counted elsewhere", f"do not ignore it, or take it out of {listed(having)}")
    return tuple(sorted({name.text for name in choice.resources}))
