"""Warnings about queues: those that can never run anything, quotas that they do not use, and workloads that two of them claim."""

from collections.abc import Iterable, Iterator

from ...engine import policy_graph as graph
from ...engine.units import format_amount
from ..analysis.context import Context
from ..analysis.declarations import queues
from ..diagnostics import DiagnosticNote
from ..syntax import tree
from ..syntax.mistakes.lookalikes import described, plain
from ..syntax.names import listed
from .quota_reach import Reach
from .shared_matches import Claim, Examples, MatchKey, shared_matches


def judge_queues(context: Context, policy: graph.PolicyGraph, reach: Reach) -> None:
    """Warn of dead queues, of quotas on flavors that a queue does not use, and of queues that are for the same workloads."""
    items = queues.items(context)
    context.at(context.merged.header)  # queues are the policy's alone; those inside cohorts have no origin of their own
    for queue in policy.queues:
        item = items[policy.nodes[queue.node].name]
        if not _is_dead(context, policy, reach, queue, item):
            _unused_quotas(context, policy, queue, item)
    _claimed_twice(context, policy, items)
    _look_alike(context)


# --- queues that can never run anything


def _is_dead(context: Context, policy: graph.PolicyGraph, reach: Reach, queue: graph.Queue, item: tree.QueueItem) -> bool:
    """Whether a queue can never run anything, and a warning if so. Where nothing exists yet, only what it says itself counts."""
    node, slots = policy.nodes[queue.node], reach.usable(queue)
    if not slots:
        return False
    if all(node.quotas[slot].nominal == 0 and node.quotas[slot].borrowing_limit == 0 for slot in slots):
        why = "it owns nothing and borrows nothing"
        remedy = "let it own or borrow something"
    elif all(reach.most[queue.node][slot] == 0 for slot in slots) and any(reach.exists(slot) for slot in slots):
        why = "it owns nothing, and nothing is left to borrow"
        remedy = "let it own something, or let others lend: leave out what they guarantee, or how little they lend"
    else:
        return False
    slot = next((slot for slot in slots if reach.exists(slot)), slots[0])
    flavor, resource = policy.slot_name(slot)
    one = f"1 {resource}" if resource != "memory" else "1Gi memory"
    note = f"for example, a workload that asks for {one} on {flavor} in queue `{node.name}` waits for ever{_who_keeps(policy, reach, slot)}"
    context.warn("GP053", f"queue `{node.name}` can never run anything: {why}", item.name, "no quota", remedy, (DiagnosticNote(note),))
    return True


def _who_keeps(policy: graph.PolicyGraph, reach: Reach, slot: int) -> str:
    """Who has all that there is of a slot."""
    exists = reach.exists(slot)
    owners = [node.name for node in policy.nodes[1:] if node.quotas[slot].nominal > 0]
    if not owners or exists is None:
        return ""
    flavor, resource = policy.slot_name(slot)
    return f": all {format_amount(exists, resource)} {resource} on {flavor} are kept by others (owners: {listed(owners, 3)})"


# --- quotas on flavors that are not used


def _unused_quotas(context: Context, policy: graph.PolicyGraph, queue: graph.Queue, item: tree.QueueItem) -> None:
    only = next((part for part in item.body if isinstance(part, tree.FlavorList) and part.verb == "only"), None)
    if only is None:
        return
    told: set[str] = set()
    for statement in item.body:
        if not isinstance(statement, tree.QuotaStatement) or statement.amount is None:
            continue
        resource, amount = statement.amount.resource.text, statement.amount.number.text
        flavor = (
            statement.flavor.text
            if statement.flavor is not None
            else next(name for name in context.flavors if resource in context.flavors[name])
        )
        if (
            flavor in told
            or flavor in {policy.flavors[number].name for number in queue.flavors}
            or not context.amount(statement.amount.number, resource)
        ):
            continue
        told.add(flavor)
        used = listed(name.text for name in only.flavors)
        message = f"queue `{item.name.text}` has a quota on flavor `{flavor}`, and uses only {used}"
        note = f"for example, a workload that asks for {amount} {resource} in queue `{item.name.text}` never runs on {flavor}"
        help_text = f"add `{flavor}` to `only`, or give the quota to a cohort or to the queue that uses it"
        context.warn("GP059", message, statement, "not used here", help_text, (DiagnosticNote(note, only.span),))


# --- workloads that two queues claim


def _claimed_twice(context: Context, policy: graph.PolicyGraph, items: dict[str, tree.QueueItem]) -> None:
    """Warn of queues with overlapping `for`, the one that overlaps with most others first, until all of them are named."""
    claims = list(_claims(items))
    partners: dict[str, list[tuple[Claim, Claim]]] = {}
    for mine, other in shared_matches(claims):
        partners.setdefault(mine.queue, []).append((mine, other))
        partners.setdefault(other.queue, []).append((other, mine))
    examples = Examples()
    told: set[str] = set()
    for name in sorted(partners, key=lambda name: (-len({other.queue for _, other in partners[name]}), name)):
        left = [found for found in partners[name] if found[1].queue not in told]
        if name in told or not left:
            continue
        mine, other = left[0]
        others = {found[1].queue for found in left}
        told |= {name, *others}
        more = f" and {len(others) - 1} more queues" if len(others) > 1 else ""
        message = f"queues `{name}` and `{other.queue}`{more} are for the same workloads"
        note = f"for example, a workload of {examples.of(mine, other)} that names no queue matches both and is rejected"
        help_text = "make the patterns exclude each other; the order of queues does not decide"
        context.warn(
            "GP062", message, mine.statement, f"overlaps with `{other.queue}`", help_text, (DiagnosticNote(note, other.statement.span),)
        )


def _claims(items: dict[str, tree.QueueItem]) -> Iterator[Claim]:
    for name, item in items.items():
        for statement in item.body:
            if isinstance(statement, tree.Match):
                tests: dict[MatchKey, str] = {
                    (each.attribute, each.key.text if each.key else ""): each.pattern.text for each in statement.conditions
                }
                if len(tests) == len(statement.conditions):
                    yield Claim(name, statement, tests)


# --- names that look alike


def _look_alike(context: Context) -> None:
    """Warn of cohorts, queues and flavors whose names can't be told apart by eye."""
    named = [item.name for item in (*_with_inner(context.merged.cohorts), *_with_inner(context.merged.queues), *context.merged.flavors)]
    if all(name.text.isascii() for name in named):
        return
    first: dict[str, tree.Name] = {}
    for name in named:
        other = first.setdefault(plain(name.text), name)
        if other.text == name.text:
            continue
        odd = next((char for one, two in ((name.text, other.text), (other.text, name.text)) for char in one if char not in two), "")
        note = f"for example, only one of the two has {described(odd)}" if odd else "they are made of different characters"
        help_text = "give it a name that people can tell from the other"
        context.warn(
            "GP064", f"`{name.text}` and `{other.text}` look alike", name, "looks the same", help_text, (DiagnosticNote(note, other.span),)
        )


def _with_inner(items: Iterable[tree.CohortItem | tree.QueueItem]) -> Iterator[tree.CohortItem | tree.QueueItem]:
    """Cohorts and queues with all that stand in them."""
    for item in items:
        yield item
        yield from _with_inner(part for part in item.body if isinstance(part, tree.CohortItem | tree.QueueItem))
