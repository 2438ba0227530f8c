"""Which statements only a policy that decides by passes may say, and which it may not."""

from collections.abc import Iterator

from ...print.printer import statement
from ...syntax import tree
from ..context import Context

ModeStatement = tuple[tree.Spanned, str, str, bool]
"""A statement: its place, its name, what to do instead, and whether it stands in the policy itself."""

_ENTRY = (
    tree.Match | tree.Ceiling | tree.DefaultPriority | tree.Stopped | tree.Namespaces | tree.LocalQueueStatement | tree.Queueing
    | tree.Weight | tree.ResourceWeight | tree.QueuePriority | tree.NeverReclaimed | tree.QueueItem | tree.CohortItem
)  # fmt: skip
"""What queues and cohorts may say beside quotas, where passes decide. What only cycles know is refused as such."""

_ONLY_NOMINATED = tree.Evicts | tree.Rather | tree.ByUsage | tree.NeedsCheck


def only_for_passes(context: Context, with_rules: bool) -> Iterator[ModeStatement]:
    """What belongs to passes; that of preempt rules only `with_rules`, since in cycles a rule is refused as a whole."""
    for key in sorted(context.merged.choices):
        choice = context.merged.choices[key]
        what = _of_passes(choice)
        if what:
            yield choice, what, _remedy(choice), context.is_own(choice)
    for priority in context.merged.priorities:
        if priority.limits is not None:
            yield priority.limits, "`queues use up to`", "remove it", context.is_own(priority)
    for part in _tree_parts(context):
        match part:
            case tree.QuotaStatement("uses"):
                yield part, "`uses up to`", "write `borrows up to`, which counts beyond what is owned", True
            case tree.QuotaStatement("owns", "anything"):
                yield part, "`owns anything`", "write what it owns", True
            case tree.ResourceWeight():
                yield part, "a weight of one resource", "write `weight 2`", True
            case tree.NeverReclaimed():
                yield part, "`never reclaimed`", "write a protect rule for the queue", True
            case tree.QueuePriority():
                yield part, "the priority of a queue", "write `default priority NAME` or `priority at most NAME`", True
    for rule in context.merged.preempt if with_rules else ():
        for of_rule in rule.body:
            match of_rule:
                case tree.PassTrigger() | tree.InPass() | tree.SearchStatement() | tree.Take() | tree.AcceptWhere() | tree.Votes():
                    yield of_rule, f"`{statement(of_rule)}`", "remove it", context.is_own(rule)
                case tree.EvictFrom("other-queues"):
                    yield of_rule, "`evict from other queues`", "write `evict from queues that borrow`", context.is_own(rule)


def _of_passes(choice: tree.Choice) -> str:
    match choice:
        case tree.ShareChoice("entitlement" | "owned" | "cost" as formula):
            return f"`share of {formula}`"
        case tree.Entitle():
            return "`entitle`"
        case tree.PlaceBy():
            return "`place pods by`"
        case tree.ScoreNodes():
            return "`score nodes`"
        case tree.WithinChoice(occasion):
            return f"`{occasion} within`"
        case tree.BrokenGangs():
            return "`gangs broken`"
        case tree.StartCap():
            return "`start up to`"
        case _:
            return ""


def _remedy(choice: tree.Choice) -> str:
    match choice:
        case tree.ShareChoice():
            return "write `share borrowed` or `share used`"
        case tree.PlaceBy():
            return "write `place pods packed`"
        case _:
            return "remove it"


def without_passes(context: Context) -> Iterator[ModeStatement]:
    """What no pass asks for, though a policy that decides at once may say it."""
    for key in sorted(context.merged.choices):
        choice = context.merged.choices[key]
        own = context.is_own(choice)
        match choice:
            case tree.ShareChoice("borrowed" | "none" as formula):
                yield choice, f"`share {formula}`", "write `share of entitlement where nothing is due counts 1`", own
            case tree.PreemptBy():
                yield choice, "`preempt by`", "remove it, since each rule says its pass and passes have an order", own
            case tree.PlacePods():
                yield choice, f"`place pods {choice.way.replace('-', ' ')}`", "write `place pods by KEY, ...`", own
            case tree.LostNodes():
                yield choice, "`when a node is lost`", "remove it", own
            case tree.FlavorChoice(occasion):
                yield choice, f"`when {occasion}`", "remove it, since passes decide over one flavor", own
            case tree.Queueing(strict=True):
                yield choice, "`queueing strict fifo`", "write `queueing best effort`", own
    for flavor in context.merged.flavors:
        yield from ((part, "`worth`", "remove it", True) for part in flavor.body if isinstance(part, tree.Worth))
    for rule in context.merged.protect:
        yield rule.name, f"protect rule `{rule.name.text}`", "remove it", context.is_own(rule)
    for part in _tree_parts(context):
        if isinstance(part, tree.QuotaStatement):
            if part.verb in ("borrows", "lends"):
                yield part, f"`{statement(part)}`", _INSTEAD[part.verb], True
        elif isinstance(part, tree.Queueing) and part.strict:
            yield part, "`queueing strict fifo`", "remove it", True
        elif not isinstance(part, _ENTRY | _ONLY_NOMINATED):
            yield part, f"`{statement(part)}`", "remove it, since passes decide over one flavor", True
    for rule_item in context.merged.preempt:
        own = context.is_own(rule_item)
        for of_rule in rule_item.body:
            match of_rule:
                case tree.OrderBy():
                    remedy = "remove it, since victims come in the reverse of `order queues` and `order workloads`"
                    yield of_rule, "`order by` in a preempt rule", remedy, own
                case tree.TriggerStatement(owner):
                    remedy = "write `when workload fits what its queue is entitled to`"
                    yield of_rule, f"`when workload fits what its {owner} owns`", remedy, own
                case tree.EvictFrom("borrowing-queues"):
                    yield of_rule, "`evict from queues that borrow`", "write `evict from other queues`", own
                case tree.EvictFrom(_, same_cohort=True):
                    yield of_rule, "`in the same cohort`", "remove it", own


_INSTEAD = {
    "borrows": "write `uses up to`, which counts what is owned as well",
    "lends": "write `guarantees`, or remove it",
}


def _tree_parts(context: Context) -> Iterator[tree.Spanned]:
    """The statements of all queues and cohorts."""
    below: list[tree.CohortItem | tree.QueueItem] = [*context.merged.cohorts, *context.merged.queues]
    for item in below:  # grows as it goes
        for part in item.body:
            yield part
            if isinstance(part, tree.CohortItem | tree.QueueItem):
                below.append(part)
