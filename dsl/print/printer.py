"""From syntax tree to text: statements on one line each, names quoted only where they must be."""

from ..syntax import tree
from . import pass_printer as passes
from .words import BARE_KEY, amount, keys, name, names, quoted


def guard(node: tree.Guard) -> str:
    """A guard, with parentheses only where they change the meaning."""
    match node:
        case tree.AnyOf(items):
            return " or ".join(guard(item) for item in items)
        case tree.AllOf(items):
            return " and ".join(_inner(item) for item in items)
        case tree.Negation(item):
            return f"not {_inner(item) if not isinstance(item, tree.AllOf) else f'({guard(item)})'}"
        case tree.FieldComparison(op, left, right):
            return f"{_field(left)} {op} {_operand(right)}"


def _inner(node: tree.Guard) -> str:
    return f"({guard(node)})" if isinstance(node, tree.AnyOf) else guard(node)


def _field(node: tree.FieldRef) -> str:
    dotted = f"{node.subject}.{node.path}" if node.path else node.subject
    return dotted if node.label is None else f"{dotted} {quoted(node.label.text)}"


def _operand(node: tree.FieldRef | tree.Name | tree.Text | tree.Number | tree.Amount) -> str:
    match node:
        case tree.FieldRef():
            return _field(node)
        case tree.Name(text) | tree.Number(text):
            return text
        case tree.Text(text):
            return quoted(text)
        case tree.Amount():
            return amount(node)


def head(item: tree.Spanned) -> str:
    """The line that opens a block, without its brace."""
    match item:
        case tree.Header(keyword, title):
            return f"{keyword} {quoted(title.text)}"
        case tree.TopologyItem(title):
            return f"topology {name(title)}"
        case tree.FlavorItem(title):
            return f"flavor {name(title)}"
        case tree.PriorityItem(title, value):
            return f"priority {name(title)} {value.text}"
        case tree.CohortItem(title):
            return f"cohort {name(title)}"
        case tree.QueueItem(title):
            return f"queue {name(title)}"
        case tree.PreemptItem(title):
            return f"preempt {name(title)}"
        case tree.ProtectItem(title, scope):
            return f"protect {name(title)}" + (f" for {names(scope)}" if scope else "")
        case tree.AdmissionItem(action, title, scope):
            return f"{action} {name(title)}" + (f" for {names(scope)}" if scope else "")
        case tree.LocalQueueStatement(title):
            return f"local queue {name(title)}"
        case tree.PolicyTest(title):
            return f"test {quoted(title.text)}"
        case _:
            raise TypeError(type(item).__name__)


def tail(item: tree.Spanned) -> str:
    """What stands behind the block of an item."""
    return f" because {quoted(item.because.text)}" if isinstance(item, tree.AdmissionItem) else ""


def body(item: tree.Spanned) -> tuple[tree.Spanned, ...] | None:
    """The statements of an item's block; None where it has no block."""
    match item:
        case tree.Header(choices=statements) | tree.PolicyTest(steps=statements):
            return statements
        case (
            tree.FlavorItem(body=statements)
            | tree.CohortItem(body=statements)
            | tree.QueueItem(body=statements)
            | tree.PreemptItem(body=statements)
        ):
            return statements
        case tree.LocalQueueStatement(body=statements) | tree.TopologyItem(levels=statements):
            return statements
        case tree.PriorityItem(value=value, never_evicted=pinned, limits=limits) if limits is not None:
            return (*((tree.NeverEvicted(span=value.span),) if pinned else ()), limits)
        case tree.ProtectItem(where=where) | tree.AdmissionItem(where=where):
            return () if where is None else (where,)
        case _:
            return None


def statement(node: tree.Spanned) -> str:
    """A statement or an item without a block, on one line."""
    match node:
        case tree.ResourceItem(title):
            return f"resource {name(title)}"
        case tree.PriorityItem():
            return head(node) + (" { never evicted }" if node.never_evicted else "")
        case tree.Use(profile):
            return f"use {profile}"
        case tree.ShareChoice():
            return passes.share(node)
        case tree.Order(subject, order):
            return f"order {subject} by {keys(order)}"
        case tree.Queueing(strict):
            return "queueing strict fifo" if strict else "queueing best effort"
        case tree.FlavorChoice(occasion, next_flavor):
            return f"when {occasion} {'try next flavor' if next_flavor else 'take flavor'}"
        case tree.PreemptBy(rules):
            return f"preempt by {names(rules) or 'nothing'}"
        case tree.PreemptWay(strategies):
            ways = ", ".join(strategy.replace("-", " ") for strategy in strategies)
            return f"preempt fairly by {ways}" if ways else "preempt classically"
        case tree.Decide():
            return passes.decide(node)
        case tree.UsageDecay(half_life, sampling):
            return f"usage halves every {half_life.text}, sampled every {sampling.text}"
        case tree.UsageWeights(weights):
            return f"usage weighs {', '.join(f'{name(resource)} {number.text}' for resource, number in weights)}"
        case tree.DefaultPriority(priority):
            return f"default priority {name(priority)}"
        case tree.Ignore(resources):
            return f"ignore {names(resources)}"
        case tree.PlacePods(way, sizes):
            kept = ", ".join(_amounts(size.amounts) for size in sizes)
            return f"place pods keeping room for {kept}" if sizes else f"place pods {way}"
        case tree.ShrinkFirst():
            return "shrink before evicting"
        case tree.LostNodes(deed):
            return f"when a node is lost {'replace pods' if deed == 'replace' else deed}"
        case tree.TriggerStatement(owner):
            return f"when workload fits what its {owner} owns"
        case tree.EvictFrom():
            return _evict_from(node)
        case tree.Where(inner):
            return f"where {guard(inner)}"
        case tree.OrderBy(order):
            return f"order by {keys(order)}"
        case _:
            about_passes = passes.statement(node)
            return _place_statement(node) if about_passes is None else about_passes


_SCOPES = {
    "same-queue": "the same queue",
    "borrowing-queues": "queues that borrow",
    "any-queue": "any queue",
    "other-queues": "other queues",
}


def _evict_from(node: tree.EvictFrom) -> str:
    return f"evict from {_SCOPES[node.scope]}" + (", in the same cohort" if node.same_cohort else "")


def _place_statement(node: tree.Spanned) -> str:
    """A statement of a cohort or a queue."""
    match node:
        case tree.QuotaStatement(verb, limit, what, flavor):
            words = {"amount": "", "up-to": "up to ", "all-but": "all but ", "nothing": "nothing", "anything": "anything"}
            said = words[limit] + (amount(what) if what is not None else "")
            return f"{verb} {said}" + (f" on {name(flavor)}" if flavor is not None else "")
        case tree.Weight(number):
            return f"weight {number.text}"
        case tree.ResourceWeight(number, resource):
            return f"weight {number.text} for {name(resource)}"
        case tree.QueuePriority(number):
            return f"priority {number.text}"
        case tree.Match(conditions):
            return "for " + " and ".join(_condition(condition) for condition in conditions)
        case tree.Namespaces(tests):
            return f"for namespaces where {' and '.join(_label_test(test) for test in tests)}" if tests else "for no namespaces"
        case tree.FlavorList(verb, flavors):
            return f"{verb} {names(flavors)}"
        case tree.Serves(resources, flavors):
            return f"serves {names(resources)} from {names(flavors)}" if resources else "serves nothing"
        case tree.Ceiling(priority):
            return f"priority at most {name(priority)}"
        case tree.Rather(rather):
            return f"rather {rather} than {'evict' if rather == 'borrow' else 'borrow'}"
        case tree.Evicts():
            return _evicts(node)
        case tree.Stopped(drained):
            return "stopped and drained" if drained else "stopped"
        case tree.NeedsCheck(check, flavors, for_nodes):
            return f"needs check {name(check)}" + (f" on {names(flavors)}" if flavors else "") + (" for nodes" if for_nodes else "")
        case tree.ByUsage():
            return "admits by usage"
        case _:
            return _flavor_statement(node)


def _evicts(node: tree.Evicts) -> str:
    match node.occasion:
        case "own":
            return "evicts its own of lower priority" + (" or newer" if node.whom == "lower-or-newer" else "")
        case "reclaims":
            return f"reclaims from {'anyone' if node.whom == 'any' else 'lower priority'}"
        case "borrowing":
            return "borrows by evicting lower priority" + (f" up to {node.up_to.text}" if node.up_to is not None else "")


def _label_test(node: tree.LabelTest) -> str:
    values = ", ".join(quoted(value.text) for value in node.values)
    return f"label {quoted(node.key.text)} {node.test}" + (f" {values}" if values else "")


def _flavor_statement(node: tree.Spanned) -> str:
    match node:
        case tree.CapacityStatement(resource, number):
            return f"{name(resource)} {number.text}"
        case tree.FromNodes(resources, labels):
            return f"{names(resources)} from nodes where {' and '.join(_label(label) for label in labels)}"
        case tree.AsOwned(resources):
            return f"{names(resources)} as owned"
        case tree.Worth(number):
            return f"worth {number.text}"
        case tree.NodeLabel(label):
            return f"label {_label(label)}"
        case tree.TaintStatement(key, value, effect):
            return f"taint {_key(key)}{_value(value)} {effect}"
        case tree.Tolerates(key, value, effect):
            what = "anything" if key is None else _key(key) + _value(value)
            return f"tolerates {what}" + (f" {effect}" if effect is not None else "")
        case tree.Missing():
            return "missing"
        case tree.PlacedIn(topology):
            return "placed on nodes" if topology is None else f"placed in {name(topology)}"
        case tree.LevelStatement(title, label):
            return f"level {name(title)} from {'node' if label is None else f'label {quoted(label)}'}"
        case _:
            return _step(node)


def _key(key: str) -> str:
    """A label's key, quoted where a bare word would not be read as this key: `tolerates anything/x` would start with a keyword."""
    return key if BARE_KEY.fullmatch(key) and key.partition("/")[0] != "anything" else quoted(key)


def _value(value: tree.Text | None) -> str:
    return f" = {quoted(value.text)}" if value is not None else ""


def _label(node: tree.LabelEquals) -> str:
    return f"{_key(node.key)} = {quoted(node.value.text)}"


def _condition(node: tree.MatchCondition) -> str:
    if node.key is not None:
        return f"label {quoted(node.key.text)} = {quoted(node.pattern.text)}"
    return f"{node.attribute} {quoted(node.pattern.text)}"


# --- tests ----------------------------------------------------------------------------------------------------------


def _step(node: tree.Spanned) -> str:
    match node:
        case tree.At(time, action):
            return f"at {time.text}" + (f" {_action(action)}" if action is not None else "")
        case tree.Expect():
            parts = [f"expect {name(node.workload)} {node.state}"]
            parts += ["borrowing"] if node.borrowing else []
            parts += [f"on {name(node.flavor)}"] if node.flavor is not None else []
            parts += [f"with {amount(node.pods)}"] if node.pods is not None else []
            parts += [f"on nodes {names(node.nodes)}"] if node.nodes else []
            parts += [f"because {name(node.reason)}"] if node.reason is not None else []
            parts += [f"by {name(node.rule)}"] if node.rule is not None else []
            return " ".join(parts)
        case _:
            raise TypeError(type(node).__name__)


def _action(node: tree.Action) -> str:
    match node:
        case tree.Submit(workload, queue, pods, attributes):
            entries = [_at_least(number) for number in node.astray]
            entries += [_pods_or_group(entry) for entry in pods] + [_attribute(entry) for entry in attributes]
            by = f" by {name(queue)}" if queue is not None else ""
            return f"submit {name(workload)}{by} {{ {', '.join(entries)} }}"
        case tree.Act(action, workload):
            return f"{action} {name(workload)}"
        case tree.SetCapacity(flavor, what):
            return f"capacity {name(flavor)} {amount(what)}"
        case tree.SetNode(node=title, entries=said):
            return f"node {name(title)} {{ {', '.join(_node_entry(entry) for entry in said)} }}"
        case tree.RemoveNode(node=title):
            return f"remove node {name(title)}"


def _pods_or_group(node: tree.Pods | tree.PodSetGroup) -> str:
    if isinstance(node, tree.Pods):
        return _pods(node)
    return f"group {name(node.name)} {{ {', '.join(_pods(entry) for entry in node.pods)} }}"


def _pods(node: tree.Pods) -> str:
    gang = f"{'gang of ' if node.gang else ''}{node.count.text} x " if node.count is not None else ""
    flavors = f" on {' or '.join(name(flavor) for flavor in node.flavors)}" if node.flavors else ""
    slices = "".join(f" in slices of {each.size.text} within {name(each.level)}" for each in node.slices)
    return gang + _amounts(node.amounts) + flavors + (_place_wish(node.place) if node.place is not None else "") + slices + _minimum(node)


def _minimum(node: tree.Pods) -> str:
    return f", {_at_least(node.minimum)}" if node.minimum is not None else ""


def _at_least(number: tree.Number) -> str:
    return f"at least {number.text}"


def _amounts(nodes: tuple[tree.Amount, ...]) -> str:
    return " and ".join(amount(each) for each in nodes)


def _place_wish(node: tree.PlaceWish) -> str:
    return f" {node.wish}" + (f" {name(node.level)}" if node.level is not None else "")


def _attribute(node: tree.Attribute) -> str:
    if node.key is not None and isinstance(node.value, tree.Text):
        return f"{node.attribute} {quoted(node.key.text)} = {quoted(node.value.text)}"
    if isinstance(node.value, tree.Name):
        return f"{node.attribute} {name(node.value)}"
    return f"{node.attribute} {quoted(node.value.text) if isinstance(node.value, tree.Text) else node.value.text}"


def _node_entry(node: tree.NodeAmounts | tree.NodeLabel | tree.TaintStatement | tree.Cordoned) -> str:
    match node:
        case tree.NodeAmounts(amounts):
            return _amounts(amounts)
        case tree.Cordoned():
            return "cordoned"
        case tree.NodeLabel() | tree.TaintStatement():
            return _flavor_statement(node)
