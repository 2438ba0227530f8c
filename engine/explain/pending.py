"""Where a live workload stands: why it runs or waits, by which rule and limit, and the smallest changes that would admit it."""

from ..events import Operand, RuleRef
from .cycles.standing import pending as pending_in_cycles
from .flavors import TOKENS, Mode, Verdict
from .hunt import Protected
from .remedies import Remedy, remedies
from .route import reference
from .scope import triggers
from .settle import Proposal, held, propose, reserving
from .state import Active, State
from .whereabouts import FlavorStanding, Keeper, RuleStanding, Standing
from .why import binding_limit, charges, greatest_limit
from .workload import Workload


def standing(state: State, name: str) -> Standing | None:
    """Where a live workload stands; None if it is not live. The state is as before afterwards."""
    workload = state.workloads.get(name)
    if workload is None or state.active is None:
        return None
    policy = state.active
    base = Standing(
        workload=name,
        state="pending" if workload.admitted is None else "running",
        time=state.time,
        queue=policy.graph.nodes[workload.queue].name if workload.queue >= 0 else workload.fact.local_queue or workload.fact.queue or "",
        priority=workload.priority,
        asked_priority=workload.asked_priority,
        submitted=workload.submitted,
        evictions=workload.evictions,
        reason="Running",
    )
    if workload.admitted is None:
        if policy.queues is not None:
            return pending_in_cycles(policy, policy.queues, workload, base)
        return _pending(state, policy, workload, base)
    running = {"admitted": workload.admitted, "assignments": workload.assignments, "usage": charges(policy, workload.usage)}
    return base.model_copy(update=running)


def _pending(state: State, policy: Active, workload: Workload, base: Standing) -> Standing:
    why = held(policy, workload)
    if why is not None:
        with reserving(state):
            runs = propose(state, workload).plan.mode > Mode.BLOCKED
        remedy = (Remedy(kind="release"),) if runs else ()
        return base.model_copy(update={"reason": why.reason, "rule": why.rule, "operands": why.operands, "remedies": remedy})
    line = [other for other in policy.lines[workload.queue].ordered() if held(policy, other) is None]
    place = {"position": next(index for index, other in enumerate(line, start=1) if other is workload), "waiting": len(line)}
    with reserving(state) as reserved:
        mine = next((proposal for proposal in reserved if proposal.workload is workload), None)
        proposal = mine if mine is not None else propose(state, workload)
        kept = [Operand(name="room is reserved for", value=other.workload.name) for other in reserved if other is not mine]
        superiors = [state.workloads[name] for name in sorted(state.superiors(workload.name))]
        kept += [Operand(name="gave way to", value=other.name) for other in superiors if other.admitted is not None]
        if mine is not None:
            policy.tree.remove(workload.queue, mine.plan.request)
        found = {**place, **_reason(policy, proposal, line, tuple(kept)), **_details(state, policy, proposal)}
        if found["reason"] == "BehindFirstInLine":
            found["remedies"] = ()  # whatever changes, the first in line comes first
        if mine is not None:
            policy.tree.add(workload.queue, mine.plan.request)
    return base.model_copy(update=found)


def _reason(policy: Active, proposal: Proposal, line: list[Workload], kept: tuple[Operand, ...]) -> dict[str, object]:
    """The reason token with its limit, rule and operands; `kept` are those for whose sake it finds less room or fewer victims."""
    workload, plan = proposal.workload, proposal.plan
    queue = policy.graph.nodes[workload.queue]
    if plan.mode > Mode.BLOCKED or (plan.mode > Mode.EXCEEDS and _behind(policy, workload, line)):
        first = Operand(name="first in line", value=line[0].name)
        return {"reason": "BehindFirstInLine", "rule": reference(queue.name, queue.source), "operands": (first,)}
    if plan.mode is Mode.BLOCKED and proposal.hunt is not None:
        keepers = proposal.hunt.waiting_for
        protect = next((keeper.protect for keeper in keepers if keeper.protect is not None), None)
        rule = protect if protect is not None else proposal.hunt.rule
        return {
            "reason": TOKENS[plan.mode],
            "rule": None if rule is None else reference(rule.name, rule.source),
            "limit": binding_limit(policy, workload.queue, plan.request),
            "keepers": tuple(_keeper(policy, keeper) for keeper in keepers),
            "operands": kept,
        }
    limit = (greatest_limit if plan.mode is Mode.EXCEEDS else binding_limit)(policy, workload.queue, plan.request)
    return {"reason": TOKENS[plan.mode], "rule": limit.source if limit is not None else None, "limit": limit, "operands": kept}


def _behind(policy: Active, workload: Workload, line: list[Workload]) -> bool:
    """Whether others of a strict queue come first: nobody passes the first in line there."""
    return policy.graph.queue_at(workload.queue).strict and line[0] is not workload


def _keeper(policy: Active, keeper: Protected) -> Keeper:
    rule = keeper.protect
    return Keeper(workload=keeper.workload.name, until=keeper.until, protect=None if rule is None else reference(rule.name, rule.source))


def _details(state: State, policy: Active, proposal: Proposal) -> dict[str, object]:
    """Every flavor's verdict, what each preempt rule could do, and the smallest changes that would admit the workload."""
    workload, plan = proposal.workload, proposal.plan
    rules = []
    if plan.mode in (Mode.SHORT, Mode.BLOCKED):
        for rule, triggered in triggers(policy, workload.queue, plan.request):
            line = RuleRef(name=rule.name, file=rule.source.file, line=rule.source.line)
            later = proposal.hunt is not None and proposal.hunt.rule is rule
            rules.append(RuleStanding(rule=line, outcome="enough later" if later else "not enough" if triggered else "not triggered"))
    running = [other for other in sorted(state.workloads.values(), key=lambda other: other.number) if other.admitted is not None]
    return {
        "flavors": tuple(_flavor(policy, workload, pod_set, verdict) for pod_set, verdicts in plan.verdicts for verdict in verdicts),
        "rules": tuple(rules),
        "remedies": remedies(policy, proposal, running),
    }


def _flavor(policy: Active, workload: Workload, pod_set: str, verdict: Verdict) -> FlavorStanding:
    reason = TOKENS.get(verdict.mode, "Fits")
    limit = None
    if verdict.mode is Mode.EXCEEDS:
        limit = greatest_limit(policy, workload.queue, verdict.request)
    elif verdict.mode in (Mode.SHORT, Mode.BLOCKED):
        limit = binding_limit(policy, workload.queue, verdict.request)
    name = policy.graph.flavors[verdict.flavor].name
    return FlavorStanding(pod_set=pod_set, resources=verdict.resources, flavor=name, reason=reason, limit=limit)
