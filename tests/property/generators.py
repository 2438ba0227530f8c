"""Generators of policies and histories: typed syntax trees, printed as text where text is needed, never random text."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.print.formatter import print_tree
from gpol.dsl.syntax import tree
from gpol.engine.cores import Core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import (
    CapacityChanged,
    Fact,
    OperatorAction,
    PolicyActivated,
    TimeAdvanced,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from gpol.engine.policy_graph import PolicyGraph
from hypothesis import strategies as st

FLAVORS = ("a100", "h100")
PRIORITIES = ("low", "normal", "high")
SECOND = 1_000_000


def name(text: str) -> tree.Name:
    """A name."""
    return tree.Name(text)


def gpus(count: int) -> tree.Amount:
    """So many GPUs."""
    return tree.Amount(tree.Number(str(count)), name("gpu"))


def owns(count: int, flavor: str) -> tree.QuotaStatement:
    """What a queue or cohort owns of a flavor."""
    return tree.QuotaStatement("owns", "amount", gpus(count), name(flavor))


@st.composite
def quotas(draw: st.DrawFn, room: dict[str, int]) -> list[tree.QuotaStatement]:
    """Quota statements of one queue; what it owns is taken from the room that is left."""
    statements = []
    for flavor in FLAVORS:
        count = draw(st.integers(0, min(8, room[flavor])))
        if count == 0:
            continue
        room[flavor] -= count
        statements.append(owns(count, flavor))
        lending = draw(st.sampled_from(["all", "all", "all", "some", "none", "keep"]))
        if lending == "some":
            statements.append(tree.QuotaStatement("lends", "up-to", gpus(draw(st.integers(0, count))), name(flavor)))
        elif lending == "none":
            statements.append(tree.QuotaStatement("lends", "nothing", None, name(flavor)))
        elif lending == "keep":
            statements.append(tree.QuotaStatement("guarantees", "amount", gpus(draw(st.integers(0, count))), name(flavor)))
    if draw(st.integers(0, 3)) == 0:
        flavor = draw(st.sampled_from(FLAVORS))
        statements.append(tree.QuotaStatement("borrows", "up-to", gpus(draw(st.integers(0, 8))), name(flavor)))
    return statements


@st.composite
def queues(draw: st.DrawFn, title: str, room: dict[str, int]) -> tree.QueueItem:
    """A queue with quota, weight, preferences, a ceiling, strictness."""
    body: list[tree.Spanned] = [*draw(quotas(room))]
    if draw(st.booleans()):
        body.append(tree.Weight(tree.Number(draw(st.sampled_from(["0", "1", "2", "3/2"])))))
    if draw(st.booleans()):
        order = draw(st.permutations(FLAVORS))[: draw(st.integers(1, 2))]
        body.append(tree.FlavorList(draw(st.sampled_from(["prefer", "only"])), tuple(name(flavor) for flavor in order)))
    if draw(st.integers(0, 3)) == 0:
        body.append(tree.Ceiling(name(draw(st.sampled_from(PRIORITIES)))))
    if draw(st.booleans()):
        body.append(tree.Queueing(strict=draw(st.booleans())))
    return tree.QueueItem(name(title), tuple(body))  # type: ignore[arg-type]


@st.composite
def places(draw: st.DrawFn, room: dict[str, int], prefix: str, depth: int) -> list[tree.CohortItem | tree.QueueItem]:
    """Queues, and cohorts of queues, down to a depth."""
    found: list[tree.CohortItem | tree.QueueItem] = []
    for number in range(draw(st.integers(2, 3))):
        title = f"{prefix}{number}"
        if depth > 0 and draw(st.booleans()):
            body: list[tree.Spanned] = list(draw(places(room, f"{title}x", 0)))
            if draw(st.booleans()) and room["a100"] > 0:
                count = draw(st.integers(1, min(4, room["a100"])))
                room["a100"] -= count
                body.append(owns(count, "a100"))
            if draw(st.booleans()):
                body.append(tree.Weight(tree.Number(draw(st.sampled_from(["1", "2", "1/2"])))))
            if draw(st.integers(0, 2)) == 0:
                body.append(tree.QuotaStatement("borrows", "up-to", gpus(draw(st.integers(0, 6))), name("a100")))
            owned = owned_below(body, "a100")
            if owned and draw(st.integers(0, 2)) == 0:
                body.append(tree.QuotaStatement("lends", "up-to", gpus(draw(st.integers(0, min(6, owned)))), name("a100")))
            found.append(tree.CohortItem(name(f"c{title}"), tuple(body)))  # type: ignore[arg-type]
        else:
            found.append(draw(queues(f"q{title}", room)))
    return found


def owned_below(body: Sequence[tree.Spanned], flavor: str) -> int:
    """How many GPUs of a flavor are owned by the statements of a cohort and by all that is in it."""
    below = sum(owned_below(item.body, flavor) for item in body if isinstance(item, tree.CohortItem | tree.QueueItem))
    quotas = (item for item in body if isinstance(item, tree.QuotaStatement) and item.verb == "owns")
    return below + sum(int(item.amount.number.text) for item in quotas if item.amount is not None and item.flavor == name(flavor))


RULES = (
    tree.PreemptItem(name("reclaim"), (tree.TriggerStatement("queue"), tree.EvictFrom("borrowing-queues", same_cohort=False))),
    tree.PreemptItem(name("reclaim-near"), (tree.TriggerStatement("cohort"), tree.EvictFrom("borrowing-queues", same_cohort=False))),
    tree.PreemptItem(
        name("even-out"),
        (
            tree.EvictFrom("borrowing-queues", same_cohort=False),
            tree.Where(tree.FieldComparison("<=", tree.FieldRef("workload", "queue.share"), tree.FieldRef("victim", "queue.share_after"))),
            tree.OrderBy((tree.Key("victim.queue.share", descending=True), tree.Key("victim.admitted", descending=True))),
        ),
    ),
    tree.PreemptItem(
        name("make-room"),
        (
            tree.EvictFrom("same-queue", same_cohort=False),
            tree.Where(tree.FieldComparison("<", tree.FieldRef("victim", "priority"), tree.FieldRef("workload", "priority"))),
        ),
    ),
    tree.PreemptItem(
        name("outrank"),
        (
            tree.EvictFrom("any-queue", same_cohort=True),
            tree.Where(tree.FieldComparison("<", tree.FieldRef("victim", "priority"), tree.FieldRef("workload", "priority"))),
            tree.OrderBy((tree.Key("victim.gpu", descending=False), tree.Key("victim.queue.share", descending=True))),
        ),
    ),
    tree.PreemptItem(
        name("had-their-time"),
        (
            tree.EvictFrom("any-queue", same_cohort=False),
            tree.Where(
                tree.AllOf(
                    (
                        tree.FieldComparison(">=", tree.FieldRef("victim", "running"), tree.Number("15s")),
                        tree.FieldComparison(">", tree.FieldRef("workload", "waiting"), tree.Number("8s")),
                    )
                )
            ),
        ),
    ),
    tree.PreemptItem(name("anyone"), (tree.EvictFrom("any-queue", same_cohort=False),)),
)
"""Rules to draw from; the last one ranks nobody, so a policy with it can evict in turns."""

DEFAULT_RULES = (RULES[0], RULES[2], RULES[3])
"""The rules of the default profile."""

PROTECTS = (
    tree.ProtectItem(name("warm-up"), (), tree.Where(tree.FieldComparison("<", tree.FieldRef("victim", "running"), tree.Number("10s")))),
    tree.ProtectItem(name("big"), (), tree.Where(tree.FieldComparison(">", tree.FieldRef("victim", "gpu"), tree.Number("5")))),
)


@st.composite
def policies(draw: st.DrawFn, ranked_only: bool = False) -> tree.File:
    """A policy that checks without errors."""
    capacity = {flavor: draw(st.integers(2, 10)) for flavor in FLAVORS}
    room = dict(capacity)
    tops = draw(places(room, "", 2))
    known = DEFAULT_RULES if ranked_only else RULES
    rules = draw(st.permutations(known))[: draw(st.sampled_from([0, 2, 3, 4, len(known)]))]
    choices: list[tree.Choice] = [tree.PreemptBy(tuple(rule.name for rule in rules))] if rules else [tree.PreemptBy(())]
    choices.append(tree.ShareChoice(draw(st.sampled_from(["borrowed"] if ranked_only else ["borrowed", "used", "none"]))))
    keys = draw(st.lists(st.sampled_from(["borrowing", "share", "priority", "submitted", "pods"]), unique=True, min_size=1))
    choices.append(tree.Order("queues", tuple(tree.Key(key, draw(st.booleans())) for key in keys)))
    choices.append(tree.FlavorChoice("borrowing", draw(st.booleans())))
    choices.append(tree.FlavorChoice("evicting", draw(st.booleans())))
    items: list[tree.Item] = [tree.Header("policy", tree.Text("generated"), (tree.Use("test.bare"), *choices))]
    for flavor, count in capacity.items():
        worth = draw(st.sampled_from([(), (tree.Worth(tree.Number("2.5")),)]))
        items.append(tree.FlavorItem(name(flavor), (tree.CapacityStatement(name("gpu"), tree.Number(str(count))), *worth)))
    for value, priority in enumerate(PRIORITIES):
        items.append(tree.PriorityItem(name(priority), tree.Number(str(value * 10)), priority == "high" and draw(st.booleans())))
    protects = [rule for rule in PROTECTS if draw(st.integers(0, 3)) == 0]
    return tree.File((*items, *tops, *rules, *protects))  # type: ignore[arg-type]


BARE = 'profile "test.bare" {\n  order workloads by priority desc, submitted asc\n  queueing best effort\n}\n'
"""A profile without rules, for policies that bring their own."""


@dataclass(frozen=True)
class Case:
    """A policy as text and graph, with steps to play: each a time step and something that happens."""

    text: str
    graph: PolicyGraph
    steps: tuple[tuple[int, tuple[object, ...]], ...]


_submissions = st.tuples(
    st.just("submit"),
    st.integers(0, 11),
    st.integers(1, 2),
    st.sampled_from([1, 1, 1, 2, 3, 4]),
    st.sampled_from([None, *PRIORITIES]),
    st.sampled_from([(), (), (), ("a100",), ("h100",)]),
    st.sampled_from(["", "", "", "", "fewer", "two", "together"]),
)
_others = st.one_of(
    st.tuples(st.sampled_from(["finish", "finish", "finish", "cancel", "evict", "hold", "release"]), st.integers(0, 30)),
    st.tuples(st.just("priority"), st.integers(0, 30), st.sampled_from(PRIORITIES)),
    st.tuples(st.just("capacity"), st.sampled_from(FLAVORS), st.integers(0, 16)),
)
_steps = st.sampled_from([True, True, True, False]).flatmap(lambda submits: _submissions if submits else _others)
"""Three submissions for each other step, so that clusters fill up and workloads compete."""


@st.composite
def cases(draw: st.DrawFn, ranked_only: bool = False) -> Case:
    """A policy and a history for it."""
    text = print_tree(draw(policies(ranked_only)))
    graph = compile_policy(text, "generated.gpol", {"test.bare": BARE})
    moments = st.sampled_from([0, 1, SECOND, 5 * SECOND, 20 * SECOND, 20 * SECOND])
    return Case(text, graph, tuple(draw(st.lists(st.tuples(moments, _steps), min_size=15, max_size=30))))


def activation(case: Case, time: int = 0) -> PolicyActivated:
    """The fact that activates a case's policy."""
    return PolicyActivated(time=time, file="generated.gpol", text=case.text, digest=case.graph.digest)


def _pod_sets(count: int, requests: dict[str, int], flavors: tuple[str, ...], more: list[str]) -> tuple[PodSet, ...]:
    """The pods of a submission: one pod set, one that may do with fewer pods, or two, which may have to share a flavor."""
    match more:
        case ["fewer"]:
            return (PodSet(count=2 * count, min_count=1, requests=requests, flavors=flavors),)
        case ["two" | "together" as how]:
            group = "g" if how == "together" else ""
            second = PodSet(name="second", requests={"gpu": max(1, requests["gpu"] // 2)}, group=group)
            return (PodSet(count=count, requests=requests, flavors=flavors, group=group), second)
        case _:
            return (PodSet(count=count, requests=requests, flavors=flavors),)


def fact_of(core: Core, case: Case, number: int, step: tuple[int, tuple[object, ...]], scale: int = 1) -> Fact:
    """The fact of a step in the state of a core; steps that make no sense there are mere passing of time."""
    time = core.time + step[0]
    live = sorted(core.view.workloads(), key=lambda workload: workload.number)
    match step[1]:
        case ("submit", int(queue), int(count), int(each), priority, flavors, *more):
            node = case.graph.nodes[case.graph.queues[queue % len(case.graph.queues)].node]
            pods = _pod_sets(count, {"gpu": each * 1000 * scale}, flavors, more)
            return WorkloadSubmitted(time=time, workload=f"w{number}", queue=node.name, priority=priority, pod_sets=pods)
        case ("capacity", str(flavor), int(amount)):
            return CapacityChanged(time=time, flavor=flavor, capacity={"gpu": amount * 1000 * scale})
        case (str(deed), int(index), *rest) if live:
            workload = live[index % len(live)]
            running = workload.admitted is not None
            if deed == "finish" and running:
                return WorkloadFinished(time=time, workload=workload.name)
            if deed == "cancel":
                return WorkloadCancelled(time=time, workload=workload.name)
            if deed == "priority":
                return WorkloadUpdated(time=time, workload=workload.name, priority=str(rest[0]))
            if (deed == "evict" and running) or (deed == "hold" and not running) or deed == "release":
                return OperatorAction.model_validate({"time": time, "by": "op", "action": deed, "workload": workload.name})
    return TimeAdvanced(time=time)
