"""Generators of edits: a policy with one thing more, less or other, and a policy that says the same in another way."""

from typing import Any

from generators import FLAVORS, PRIORITIES, gpus, name
from gpol.dsl.syntax import tree
from hypothesis import strategies as st

Statements = st.SearchStrategy[tree.Spanned]

_SMALL = st.integers(0, 9)

_KINDS: tuple[tuple[type, ...], ...] = (
    (tree.CohortItem, tree.QueueItem),
    (tree.CohortItem, tree.QueueItem),
    (tree.FlavorItem,),
    (tree.AdmissionItem,),
    (tree.Header, tree.PriorityItem, tree.PreemptItem, tree.ProtectItem),
)
"""Items that are edited equally often, as far as there are any."""

# --- one thing is another -------------------------------------------------------------------------------------------


@st.composite
def edited(draw: st.DrawFn, file: tree.File) -> tree.File:
    """A file with one thing more, less or other, or the same again; it may be no policy any more."""
    kinds = draw(st.sampled_from([kinds for kinds in _KINDS if any(isinstance(item, kinds) for item in file.items)]))
    index = draw(st.sampled_from([number for number, item in enumerate(file.items) if isinstance(item, kinds)]))
    more = _in_cycles() if any(isinstance(item, tree.ResourceItem) for item in file.items) else _at_once()
    return tree.File((*file.items[:index], *draw(_edits(file.items[index], more)), *file.items[index + 1 :]))


@st.composite
def _edits(draw: st.DrawFn, item: Any, more: Statements) -> tuple[Any, ...]:
    match item:
        case tree.CohortItem(title, body) | tree.QueueItem(title, body) | tree.FlavorItem(title, body):
            return (type(item)(title, draw(_edited_body(item, body, more))),)
        case tree.Header(keyword, title, choices):
            kept = draw(st.integers(0, len(choices) - 1))
            return (tree.Header(keyword, title, (*choices[:kept], *draw(_edits(choices[kept], more)), *choices[kept + 1 :])),)
        case tree.PreemptItem(title, body):
            return (tree.PreemptItem(title, tuple(part for part in body if not isinstance(part, tree.OrderBy))),)
        case tree.Use() | tree.ResourceItem() | tree.AsOwned():
            return (item,)
        case tree.FlavorChoice(occasion, looks):
            return (tree.FlavorChoice(occasion, not looks),)
        case tree.PreemptBy(rules):
            return (tree.PreemptBy(tuple(draw(st.permutations(rules)))),)
        case tree.ShareChoice():
            return (tree.ShareChoice(draw(st.sampled_from(["borrowed", "used", "none"]))),)
        case tree.Order(subject, keys):
            return (tree.Order(subject, tuple(draw(st.permutations(keys)))),)
        case tree.PriorityItem(title, number, pinned):
            return (tree.PriorityItem(title, tree.Number(str(int(number.text) + 15)), draw(st.booleans()) != pinned),)
        case tree.QuotaStatement(verb, limit, tree.Amount(_, resource), flavor):
            return (tree.QuotaStatement(verb, limit, tree.Amount(tree.Number(str(draw(_SMALL))), resource), flavor),)
        case tree.CapacityStatement(resource, number):
            return (tree.CapacityStatement(resource, tree.Number(str(max(1, int(number.text) + draw(st.integers(-4, 4)))))),)
        case tree.Weight() | tree.Worth():
            return (type(item)(tree.Number(draw(st.sampled_from(["1/2", "3", "7"])))),)
        case tree.FlavorList(verb, flavors):
            return (tree.FlavorList(verb, tuple(draw(st.permutations(flavors)))[: draw(st.integers(1, 2))]),)
        case tree.AdmissionItem(action, title, scope, tree.Where(tree.FieldComparison(op, left, tree.Number())), because):
            where = tree.Where(tree.FieldComparison(op, left, tree.Number(str(draw(_SMALL)))))
            return (tree.AdmissionItem(action, title, scope, where, because),)
        case _:
            return ()


@st.composite
def _edited_body(draw: st.DrawFn, item: Any, body: tuple[Any, ...], more: Statements) -> tuple[Any, ...]:
    """A body with a statement more or less, or with another one in place of one."""
    if isinstance(item, tree.QueueItem) and (not body or draw(st.booleans())):
        added = draw(more)
        return (*(part for part in body if type(part) is not type(added) or isinstance(part, tree.QuotaStatement)), added)
    if not body:
        return body
    index = draw(st.integers(0, len(body) - 1))
    stays = isinstance(body[index], tree.CohortItem | tree.QueueItem | tree.CapacityStatement | tree.AsOwned)
    changed = draw(_edits(body[index], more)) if stays or draw(st.booleans()) else ()
    return (*body[:index], *changed, *body[index + 1 :])


@st.composite
def _at_once(draw: st.DrawFn) -> tree.Spanned:
    """A statement that a queue may have besides."""
    flavor, amount = name(draw(st.sampled_from(FLAVORS))), gpus(draw(_SMALL))
    found: list[tree.Spanned] = [
        tree.QuotaStatement("borrows", "up-to", amount, flavor),
        tree.QuotaStatement("owns", "amount", amount, flavor),
        tree.QuotaStatement("lends", "up-to", amount, flavor),
        tree.Weight(tree.Number("2")),
        tree.Ceiling(name(draw(st.sampled_from(PRIORITIES)))),
        tree.Queueing(strict=True),
        tree.Stopped(drained=False),
        tree.FlavorList("only", (flavor,)),
    ]
    return draw(st.sampled_from(found))


def _in_cycles() -> Statements:
    """The same where the policy decides in cycles."""
    evictions = [tree.Evicts("own", "lower"), tree.Evicts("reclaims", "any"), tree.Evicts("borrowing", "lower"), tree.Rather("evict")]
    return st.sampled_from([*evictions, tree.Weight(tree.Number("2")), tree.Stopped(drained=True), tree.Namespaces(())])


@st.composite
def ruled(draw: st.DrawFn, file: tree.File) -> tree.File:
    """A file with a rule that keeps workloads out, by what they ask for or by their priority."""
    field = tree.FieldRef("workload", draw(st.sampled_from(["gpu", "gpu", "priority"])))
    compared = tree.FieldComparison(draw(st.sampled_from([">", ">=", "="])), field, tree.Number(str(draw(_SMALL))))
    scope = draw(st.sampled_from([(), (_first_queue(file.items),)]))
    rule = tree.AdmissionItem(draw(st.sampled_from(["deny", "hold"])), name("keep-out"), scope, tree.Where(compared), tree.Text("no"))
    return tree.File((*file.items, rule))


def _first_queue(items: tuple[Any, ...]) -> tree.Name:
    item = next(item for item in items if isinstance(item, tree.CohortItem | tree.QueueItem))
    return item.name if isinstance(item, tree.QueueItem) else _first_queue(item.body)


_UNSEEN = (tree.NodeLabel, tree.TaintStatement, tree.Tolerates, tree.Worth, tree.LocalQueueStatement, tree.NeedsCheck, tree.ByUsage)
"""Statements about what tests cannot describe, or what may decide nothing."""


@st.composite
def unseen_edits(draw: st.DrawFn, file: tree.File) -> tree.File:
    """A file with some statements less, or more of its flavors, of which tests may not show any."""
    return tree.File(tuple([draw(_without_unseen(item)) for item in file.items]))


@st.composite
def _without_unseen(draw: st.DrawFn, item: Any) -> Any:
    if not isinstance(item, tree.CohortItem | tree.QueueItem | tree.FlavorItem):
        return item
    body = [draw(_without_unseen(part)) for part in item.body if not isinstance(part, _UNSEEN) or draw(st.integers(0, 2))]
    if isinstance(item, tree.FlavorItem) and not any(isinstance(part, tree.Missing) for part in body):
        more = [tree.Tolerates("pool", None, None), tree.TaintStatement("extra", None, "PreferNoSchedule"), tree.Worth(tree.Number("3"))]
        known = {type(part) for part in body}
        body += [part for part in more if draw(st.integers(0, 2)) == 0 and type(part) not in known]
    return type(item)(item.name, tuple(body))  # type: ignore[arg-type]


# --- the same in another way ----------------------------------------------------------------------------------------


@st.composite
def respelled(draw: st.DrawFn, file: tree.File) -> tree.File:
    """A file that says the same: turned around wherever order has no meaning, with amounts in other units and other words for them."""
    header, *items = [draw(_respelled(item)) for item in file.items]
    return tree.File((header, *draw(st.permutations(items))))


@st.composite
def _respelled(draw: st.DrawFn, item: Any) -> Any:
    match item:
        case (
            tree.CohortItem(title, body)
            | tree.QueueItem(title, body)
            | tree.FlavorItem(title, body)
            | tree.LocalQueueStatement(title, body)
        ):
            parts = [draw(_respelled(part)) for part in body]
            groups = iter([part for part in parts if isinstance(part, tree.Serves)])  # whose order means something
            turned = draw(st.permutations(parts))
            return type(item)(title, tuple(next(groups) if isinstance(part, tree.Serves) else part for part in turned))
        case tree.Header(keyword, title, choices):
            return tree.Header(keyword, title, tuple(draw(st.permutations(choices))))
        case tree.QuotaStatement("guarantees", "amount", amount, flavor):
            return draw(st.sampled_from([item, tree.QuotaStatement("lends", "all-but", amount, flavor)]))
        case tree.QuotaStatement(verb, "up-to", tree.Amount(tree.Number("0"), _), tree.Name("a100") as flavor):  # which has one resource
            return draw(st.sampled_from([item, tree.QuotaStatement(verb, "nothing", None, flavor)]))
        case tree.QuotaStatement(verb, limit, tree.Amount(number, tree.Name("gpu" | "cpu" as resource)), flavor) if draw(st.booleans()):
            return tree.QuotaStatement(verb, limit, tree.Amount(tree.Number(f"{number.text}000m"), name(resource)), flavor)
        case tree.Weight(tree.Number(text)) if text.isdecimal() and draw(st.booleans()):
            return tree.Weight(tree.Number(f"{text}.0"))
        case tree.FlavorList("prefer", flavors):
            others = tuple(name(flavor) for flavor in FLAVORS if name(flavor) not in flavors)
            return draw(st.sampled_from([item, tree.FlavorList("prefer", (*flavors, *others))]))
        case tree.ProtectItem(title, scope, where):
            return tree.ProtectItem(title, tuple(draw(st.permutations(scope))), where)
        case _:
            return item
