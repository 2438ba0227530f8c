"""Checks the `test` blocks of a policy: whether they can be played."""

from collections.abc import Sequence

from ...engine.units import INT64_MAX
from ..diagnostics import DiagnosticNote
from ..syntax import tree
from ..syntax.names import closest, listed
from .context import POD_COUNT, Context
from .declarations.resources import flavor_with
from .places_in_tests import check_expected_nodes, check_leader, check_node, check_places, check_there

REASONS = (
    "WaitingForQuota",
    "ExceedsMaxQuota",
    "PodTooLarge",
    "NoMatchingFlavor",
    "TopologyPlacementFailed",
    "WaitingForProtectedWorkloads",
    "BehindFirstInLine",
    "OnHold",
    "PendingEvaluation",
    "WaitingForPreemptedWorkloads",
    "Suspended",
    "Misconfigured",
)
"""The reasons for which a workload may wait."""

_MOST_PODS = 18
_MOST_FLAVORS = 64
_MOST_LABELS = 256
"""What one submission may have at most, as the event of that name says."""


def tests(context: Context) -> tuple[tree.PolicyTest, ...]:
    """Check every test of the policy: names, amounts, times in ascending order, and workloads that were submitted."""
    seen: dict[str, tree.Spanned] = {}
    for item in context.merged.tests:
        context.at(item)
        context.named(item.name, "test")
        if context.once(seen, item.name.text, item.name, f"test `{item.name.text}`"):
            _test(context, item)
    return tuple(context.merged.tests)


def _test(context: Context, item: tree.PolicyTest) -> None:
    now = 0
    submitted: set[str] = set()
    live: dict[str, tree.Name] = {}
    nodes: set[str] = set()
    added: set[str] = set()
    for step in item.steps:
        if isinstance(step, tree.Expect):
            _expect(context, step, submitted)
            check_expected_nodes(context, step.nodes, added)
            if step.state == "rejected":
                live.pop(step.workload.text, None)
            continue
        time = context.duration(step.time)
        if time is not None and time < now:
            context.error("GP034", "time runs backwards", step.time, "earlier than the step before", "put the steps in order of time")
        now = max(now, time or 0)
        match step.action:
            case tree.Submit() as action:
                _must_be_free(context, action.workload, live)
                submitted.add(action.workload.text)
                live[action.workload.text] = action.workload
                _submit(context, action)
            case tree.Act(verb, workload):
                _must_be_submitted(context, workload, submitted)
                if verb in ("finish", "cancel"):
                    live.pop(workload.text, None)
            case tree.SetCapacity(flavor, amount):
                _set_capacity(context, flavor, amount)
            case tree.SetNode(node):
                check_node(context, step.action)
                nodes.add(node.text)
                added.add(node.text)
            case tree.RemoveNode(node):
                check_there(context, node, nodes)
                nodes.discard(node.text)


def _must_be_submitted(context: Context, workload: tree.Name, submitted: set[str]) -> None:
    if workload.text not in submitted:
        guess = closest(workload.text, submitted)
        help_text = f"did you mean `{guess}`?" if guess else "submit it first"
        context.error("GP034", f"workload `{workload.text}` was not submitted", workload, "unknown so far", help_text)


def _must_be_free(context: Context, workload: tree.Name, live: dict[str, tree.Name]) -> None:
    context.named(workload, "workload")
    if workload.text in live:
        help_text = "finish or cancel it first, or use another name"
        note = (DiagnosticNote("first submitted here", live[workload.text].span),)
        context.error("GP034", f"workload `{workload.text}` is already submitted", workload, "again here", help_text, note)


def _set_capacity(context: Context, flavor: tree.Name, amount: tree.Amount) -> None:
    if flavor_with(context, amount, flavor) is None:
        return
    context.amount(amount.number, amount.resource.text)
    item = next(item for item in context.merged.flavors if item.name.text == flavor.text)
    if context.in_cycles:
        message = "a policy that decides in cycles has what is owned, which a test cannot change"
        context.error("GP034", message, flavor, "as owned", "remove this step, or own less")
    elif any(isinstance(statement, tree.FromNodes) for statement in item.body):
        message = f"flavor `{flavor.text}` takes its capacity from nodes"
        help_text = f"change its nodes, such as `node n1 {{ {amount.number.text} {amount.resource.text}, label ... }}`"
        context.error("GP034", message, flavor, "from nodes", help_text)


def _submit(context: Context, action: tree.Submit) -> None:
    if action.queue is not None and action.queue.text not in context.queues:
        context.unknown("queue", action.queue, context.queues)
    if not action.pods:
        context.error(
            "GP034", f"workload `{action.workload.text}` asks for nothing", action.workload, "no pods", "say what it needs: `{ 8 gpu }`"
        )
    _at_most(context, [pods for pods, _ in action.pod_sets], _MOST_PODS, "sets of pods")
    for number in action.astray:
        context.error("GP034", "`at least` says it of the pods before it", number, "behind no pods", "write `8 x 1 gpu, at least 4`")
    totals: dict[str, int] = {}
    for pods, _ in action.pod_sets:
        _pods(context, pods, totals)
        _minimum(context, pods)
    groups: dict[str, tree.Spanned] = {}
    for entry in action.pods:
        if isinstance(entry, tree.PodSetGroup):
            context.named(entry.name, "group of pods")
            context.once(groups, entry.name.text, entry.name, f"group `{entry.name.text}`")
            check_leader(context, entry)
    for kind in ("label", "namespace label"):
        labels = [attribute.key for attribute in action.attributes if attribute.key is not None and attribute.attribute == kind]
        _at_most(context, labels, _MOST_LABELS, f"{kind}s")
    seen: dict[str, tree.Spanned] = {}
    for attribute in action.attributes:
        key = attribute.attribute + (f" {attribute.key.text}" if attribute.key is not None else "")
        context.once(seen, key, attribute, f"`{key}`")
        if attribute.key is not None:
            context.named(attribute.key, "label")
        elif isinstance(attribute.value, tree.Text):
            context.named(attribute.value, attribute.attribute)
        if isinstance(attribute.value, tree.Number):
            context.integer(attribute.value, "priority", -(2**31), 2**31 - 1)
        elif isinstance(attribute.value, tree.Name) and attribute.value.text not in context.priorities:
            context.unknown("priority", attribute.value, context.priorities)


def _minimum(context: Context, pods: tree.Pods) -> None:
    """Check how many of some pods start together: all of a gang, at least so many of others."""
    count = 1 if pods.count is None else context.integer(pods.count, "number of pods", 1, 1_000_000)
    if pods.minimum is None:
        if not pods.gang and pods.count is not None:
            help_text = f"write `gang of {pods.count.text} x ...` for pods that start together, or add `, at least N`"
            context.error("GP034", "it is not said how many of these pods start together", pods.count, "all, or some of them?", help_text)
        return
    least = context.integer(pods.minimum, "number of pods", 1, 1_000_000)
    if pods.count is None or pods.gang:
        help_text = f"write `N x ..., at least {pods.minimum.text}`, without `gang of`"
        context.error("GP034", "pods that start together have no other minimum than all of them", pods.minimum, "all or some?", help_text)
    elif least is not None and count is not None and least > count:
        message = f"at least {least} of {count} pods"
        context.error("GP034", message, pods.minimum, f"more than {count}", f"write at most `at least {count}`")
    elif pods.slices:
        message = "pods in slices come and go in whole slices, and not one by one"
        context.error("GP034", message, pods.minimum, "with slices", "leave out `at least`, or the slices")
    elif context.in_cycles:
        message = "a policy that decides in cycles has no surplus of pods"
        context.error("GP034", message, pods.minimum, "not in cycles", "write `gang of`, or decide at once")


def _at_most(context: Context, said: Sequence[tree.Spanned], most: int, what: str) -> None:
    if len(said) > most:
        message = f"the workload has {len(said)} {what}; a submission has at most {most}"
        context.error("GP034", message, said[most], "one too many", "leave some out")


def _pods(context: Context, pods: tree.Pods, totals: dict[str, int]) -> None:
    """Check one set of pods; `totals` adds up what the whole workload asks for, by resource."""
    count = 1 if pods.count is None else context.integer(pods.count, "number of pods", 1, 1_000_000)
    asked: dict[str, tree.Spanned] = {}
    for amount in pods.amounts:
        resource = amount.resource.text
        if resource not in context.resources:
            context.unknown("resource", amount.resource, context.resources)
        elif context.once(asked, resource, amount, f"`{resource}`"):
            totals[resource] = totals.get(resource, 0) + (count or 0) * (context.amount(amount.number, resource) or 0)
            if totals[resource] > INT64_MAX:
                message = f"the workload asks for more {resource} than 64 bits hold"
                context.error("GP023", message, amount, "too much in all", "ask for less")
    check_places(context, pods)
    _at_most(context, pods.flavors, _MOST_FLAVORS, "flavors")
    seen: dict[str, tree.Spanned] = {}
    for flavor in pods.flavors:
        if flavor.text not in context.flavors:
            context.unknown("flavor", flavor, context.flavors)
        else:
            context.once(seen, flavor.text, flavor, f"flavor `{flavor.text}`")


def _expect(context: Context, step: tree.Expect, submitted: set[str]) -> None:
    _must_be_submitted(context, step.workload, submitted)
    if step.flavor is not None and step.flavor.text not in context.flavors:
        context.unknown("flavor", step.flavor, context.flavors)
    if step.pods is not None:
        context.integer(step.pods.number, "number of pods", 1, 18_000_000)
        if step.pods.resource.text != POD_COUNT:
            message = f"a workload is admitted with so many pods, and not with {step.pods.resource.text}"
            context.error("GP034", message, step.pods.resource, "not pods", f"write `with {step.pods.number.text} pods`")
    if step.reason is not None and step.reason.text not in REASONS:
        guess = closest(step.reason.text, REASONS)
        help_text = f"did you mean `{guess}`?" if guess else f"reasons: {listed(REASONS, like=step.reason.text)}"
        context.error("GP020", f"unknown reason `{step.reason.text}`", step.reason, "not known", help_text)
    if step.rule is not None and step.state == "evicted" and context.in_cycles:
        if step.rule.text not in context.queues:  # the lines by which workloads are evicted stand in queues
            context.unknown("queue", step.rule, context.queues)
    elif step.rule is not None:
        kinds = {"evicted": ("preempt",), "rejected": ("deny",), "pending": ("hold", "protect")}[step.state]
        known = [name for kind in kinds for name in context.rules[kind]]
        if step.rule.text not in known:
            context.unknown(f"{' or '.join(kinds)} rule", step.rule, known)
