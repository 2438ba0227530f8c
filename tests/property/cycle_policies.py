"""Generators of policies that decide in cycles: typed syntax trees in which every statement of that way may occur."""

from gpol.dsl.syntax import tree
from hypothesis import strategies as st

GROUPS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ((("gpu", "nvidia.com/gpu"), ("spot", "h100")), (("cpu",), ("any pool",)))
"""Resources that flavors serve together, and those flavors."""

KEYS = ("pool", "cloud/kind", "anything", "a b")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def name(text: str) -> tree.Name:
    """A name."""
    return tree.Name(text)


def number(value: object) -> tree.Number:
    """A number."""
    return tree.Number(str(value))


def texts(*values: str) -> tuple[tree.Text, ...]:
    """Texts in quotes."""
    return tuple(tree.Text(value) for value in values)


@st.composite
def flavors(draw: st.DrawFn, title: str, resources: tuple[str, ...]) -> tree.FlavorItem:
    """A flavor as owned, missing or with labels, taints and tolerations."""
    body: list[tree.Spanned] = [tree.AsOwned(tuple(name(resource) for resource in resources))]
    if draw(st.integers(0, 5)) == 0:
        body.append(tree.Missing())
    else:
        keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=2))
        body += [tree.NodeLabel(tree.LabelEquals(key, tree.Text(draw(st.sampled_from(["", "spot"]))))) for key in keys]
        taints = st.tuples(st.sampled_from(KEYS), st.sampled_from([None, "spot"]), st.sampled_from(EFFECTS))
        for key, value, effect in draw(st.lists(taints, unique=True, max_size=2)):
            body.append(tree.TaintStatement(key, None if value is None else tree.Text(value), effect))
        forgiven = st.tuples(st.sampled_from([*KEYS, None]), st.sampled_from([None, "", "spot"]), st.sampled_from([None, *EFFECTS])).filter(
            lambda parts: parts[0] is not None or parts[1] is None
        )
        for some_key, value, some_effect in draw(st.lists(forgiven, unique=True, max_size=3)):
            body.append(tree.Tolerates(some_key, None if value is None else tree.Text(value), some_effect))
    return tree.FlavorItem(name(title), tuple(draw(st.permutations(body))))  # type: ignore[arg-type]


@st.composite
def _evictions(draw: st.DrawFn) -> list[tree.Spanned]:
    """Whom a queue evicts, and whether it rather does than borrow."""
    found: list[tree.Spanned] = []
    if draw(st.booleans()):
        found.append(tree.Evicts("own", draw(st.sampled_from(["lower", "lower-or-newer"]))))
    if draw(st.booleans()):
        found.append(tree.Evicts("reclaims", draw(st.sampled_from(["lower", "any"]))))
    if draw(st.booleans()):
        limit = draw(st.none() | st.integers(-(2**31), 2**31 - 1))
        found.append(tree.Evicts("borrowing", "lower", None if limit is None else number(limit)))
    if draw(st.booleans()):
        found.append(tree.Rather(draw(st.sampled_from(["borrow", "evict"]))))
    occasions = draw(st.lists(st.sampled_from(["borrowing", "evicting"]), unique=True))
    return found + [tree.FlavorChoice(occasion, draw(st.booleans())) for occasion in occasions]


_label_tests = st.sampled_from(
    [
        tree.LabelTest(tree.Text("dep"), "in", texts("eng", "lend")),
        tree.LabelTest(tree.Text("dep"), "not in", texts("")),
        tree.LabelTest(tree.Text("a b"), "exists"),
        tree.LabelTest(tree.Text("x/y"), "absent"),
    ]
)


@st.composite
def _entrances(draw: st.DrawFn, queue: str, served: tuple[str, ...], by_usage: bool) -> list[tree.Spanned]:
    """Who comes in by a queue: namespaces, checks, local queues."""
    found: list[tree.Spanned] = []
    if draw(st.booleans()):
        found.append(tree.Namespaces(tuple(draw(st.lists(_label_tests, unique=True, max_size=3)))))
    for check in draw(st.lists(st.sampled_from(["prov", "a/b", "check"]), unique=True, max_size=2)):
        on = draw(st.lists(st.sampled_from(served), unique=True)) if served else []
        found.append(tree.NeedsCheck(name(check), tuple(name(flavor) for flavor in on), draw(st.booleans())))
    for local in range(draw(st.integers(0, 2))):
        body: list[tree.Weight | tree.Stopped] = []
        if draw(st.booleans()):
            body.append(tree.Weight(number(draw(st.sampled_from(["0", "2", "1/2"])))))
        if draw(st.booleans()):
            body.append(tree.Stopped(draw(st.booleans())))
        found.append(tree.LocalQueueStatement(name(f"{queue.replace('/', '-')}/{local}"), tuple(body)))
    if draw(st.integers(0, 3)) == 0:
        found.append(tree.Stopped(draw(st.booleans())))
    if by_usage and draw(st.booleans()):
        found.append(tree.ByUsage())
    return found


@st.composite
def _quotas(draw: st.DrawFn, slots: list[tuple[str, str]]) -> list[tree.Spanned]:
    """Quotas on these slots, each a flavor and a resource."""
    found: list[tree.Spanned] = []
    for flavor, resource in slots:
        for verb, limit in (("owns", "amount"), ("borrows", "up-to"), ("lends", "up-to")):
            if draw(st.booleans()):
                amount = tree.Amount(number(draw(st.integers(0, 9))), name(resource))
                found.append(tree.QuotaStatement(verb, limit, amount, name(flavor)))  # type: ignore[arg-type]
    return found


@st.composite
def queues(draw: st.DrawFn, title: str, by_usage: bool) -> tree.QueueItem:
    """A queue with groups of its own."""
    body: list[tree.Spanned] = []
    slots: list[tuple[str, str]] = []
    served: list[str] = []
    for resources, known in GROUPS:
        some = draw(st.lists(st.sampled_from(resources), unique=True, max_size=len(resources)))
        tried = draw(st.lists(st.sampled_from(known), unique=True, min_size=1))
        if some:
            body.append(tree.Serves(tuple(map(name, some)), tuple(map(name, tried))))
            slots += [(flavor, resource) for flavor in tried for resource in some]
            served += tried
    if not body:  # without groups of its own it may have quotas on anything
        slots = [("spot", "gpu"), ("any pool", "cpu")]
    body += draw(_quotas(slots))
    body += draw(_evictions())
    body += draw(_entrances(title, tuple(served), by_usage))
    return tree.QueueItem(name(title), tuple(body))  # type: ignore[arg-type]


@st.composite
def headers(draw: st.DrawFn) -> tree.Header:
    """A header that decides in cycles, by either Kueue profile, with choices of its own."""
    choices: list[tree.Choice] = [tree.Use(draw(st.sampled_from(["kueue.classical", "kueue.fair"])))]
    if draw(st.booleans()):
        choices.append(tree.Decide(number(draw(st.sampled_from(["1s", "500ms", "1m"])))))
    if draw(st.booleans()):
        keys = ["borrowing", "priority", "submitted"]
        subject = draw(st.sampled_from(["queues", "heads"]))
        choices.append(tree.Order(subject, tuple(tree.Key(key, draw(st.booleans())) for key in draw(st.permutations(keys)))))
    if draw(st.booleans()):
        strategies = draw(st.lists(st.sampled_from(["final-share", "initial-share"]), unique=True))
        choices.append(tree.PreemptWay(tuple(strategies)))
    if draw(st.booleans()):
        choices.append(tree.UsageDecay(number(draw(st.sampled_from(["0s", "7d"]))), number("5m")))
        weights = draw(st.lists(st.sampled_from(["cpu", "gpu", "nvidia.com/gpu"]), unique=True))
        if weights:
            pairs = tuple((name(resource), number(draw(st.sampled_from(["0", "1/2", "2.5"])))) for resource in weights)
            choices.append(tree.UsageWeights(pairs))
    return tree.Header("policy", tree.Text("in cycles"), tuple(choices))


@st.composite
def cycle_policies(draw: st.DrawFn) -> tree.File:
    """A policy that decides in cycles, and checks without errors."""
    header = draw(headers())
    by_usage = any(isinstance(choice, tree.UsageDecay) for choice in header.choices)
    items: list[tree.Item] = [header, tree.ResourceItem(name("nvidia.com/gpu"))]
    items += [draw(flavors(flavor, resources)) for resources, known in GROUPS for flavor in known]
    below = [draw(queues(title, by_usage)) for title in ("team/a", "b", "local")[: draw(st.integers(0, 3))]]
    items.append(tree.CohortItem(name("cohort/b"), (*below, *draw(_quotas([("h100", "gpu")])))))  # type: ignore[arg-type]
    items.append(draw(queues("alone", by_usage)))
    return tree.File(tuple(items))
