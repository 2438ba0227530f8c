"""The `test` blocks of a policy: whether they can be played, before anybody plays them."""

from . import tree
from .context import Context
from .names import closest, listed
from .places import flavor_with

REASONS = (
    "WaitingForQuota",
    "ExceedsMaxQuota",
    "NoMatchingFlavor",
    "WaitingForProtectedWorkloads",
    "BehindFirstInLine",
    "OnHold",
)
"""The reasons for which a workload may wait."""


def tests(context: Context) -> tuple[tree.PolicyTest, ...]:
    """Check every test of the policy: names, amounts, times that do not run backwards, workloads that exist."""
    seen: dict[str, tree.Spanned] = {}
    for item in context.merged.tests:
        context.at(item)
        if context.once(seen, item.name.text, item.name, f"test `{item.name.text}`"):
            _test(context, item)
    return tuple(context.merged.tests)


def _test(context: Context, item: tree.PolicyTest) -> None:
    now = 0
    submitted: set[str] = set()
    for step in item.steps:
        if isinstance(step, tree.Expect):
            _expect(context, step, submitted)
            continue
        time = context.duration(step.time)
        if time is not None and time < now:
            context.error("GP034", "time runs backwards", step.time, "earlier than the step before", "put the steps in order of time")
        now = max(now, time or 0)
        match step.action:
            case tree.Submit() as action:
                submitted.add(action.workload.text)
                _submit(context, action)
            case tree.Act(_, workload):
                _must_be_submitted(context, workload, submitted)
            case tree.SetCapacity(flavor, amount):
                if flavor_with(context, amount, flavor) is not None:
                    context.amount(amount.number, amount.resource.text)


def _must_be_submitted(context: Context, workload: tree.Name, submitted: set[str]) -> None:
    if workload.text not in submitted:
        guess = closest(workload.text, submitted)
        help_text = f"did you mean `{guess}`?" if guess else "submit it first"
        context.error("GP034", f"workload `{workload.text}` was not submitted", workload, "unknown so far", help_text)


def _submit(context: Context, action: tree.Submit) -> None:
    if action.queue is not None and action.queue.text not in context.queues:
        context.unknown("queue", action.queue, context.queues)
    if not action.pods:
        context.error(
            "GP034", f"workload `{action.workload.text}` asks for nothing", action.workload, "no pods", "say what it needs: `{ 8 gpu }`"
        )
    for pods in action.pods:
        if pods.count is not None:
            context.integer(pods.count, "number of pods", 1, 1_000_000)
        for amount in pods.amounts:
            if amount.resource.text not in context.resources:
                context.unknown("resource", amount.resource, context.resources)
            else:
                context.amount(amount.number, amount.resource.text)
        for flavor in pods.flavors:
            if flavor.text not in context.flavors:
                context.unknown("flavor", flavor, context.flavors)
    seen: dict[str, tree.Spanned] = {}
    for attribute in action.attributes:
        key = attribute.attribute + (f" {attribute.key.text}" if attribute.key is not None else "")
        context.once(seen, key, attribute, f"`{key}`")
        if isinstance(attribute.value, tree.Number):
            context.integer(attribute.value, "priority", -(2**31), 2**31 - 1)
        elif isinstance(attribute.value, tree.Name) and attribute.value.text not in context.priorities:
            context.unknown("priority", attribute.value, context.priorities)


def _expect(context: Context, step: tree.Expect, submitted: set[str]) -> None:
    _must_be_submitted(context, step.workload, submitted)
    if step.flavor is not None and step.flavor.text not in context.flavors:
        context.unknown("flavor", step.flavor, context.flavors)
    if step.reason is not None and step.reason.text not in REASONS:
        guess = closest(step.reason.text, REASONS)
        help_text = f"did you mean `{guess}`?" if guess else f"reasons: {listed(REASONS)}"
        context.error("GP020", f"unknown reason `{step.reason.text}`", step.reason, "not known", help_text)
    if step.rule is not None:
        kinds = {"evicted": ("preempt",), "rejected": ("deny",), "pending": ("hold", "protect")}[step.state]
        known = [name for kind in kinds for name in context.rules[kind]]
        if step.rule.text not in known:
            context.unknown(f"{' or '.join(kinds)} rule", step.rule, known)
