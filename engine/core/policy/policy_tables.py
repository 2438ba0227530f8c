"""A policy graph as tables: the quota tree, queues, rules, orders. `demands.py` has what workloads ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from ...eligibility import groups_of
from ...event_parts import POD_COUNT
from ...guard import Type, bounds_share, is_timeless, judges_by_kind, ranks_by_priority, reads_shares
from ...intake.capacity import NodeSizes
from ...intake.holds import is_inactive
from ...nodes.inventory import Machine
from ...policy_graph import PolicyGraph, Queue, covers
from .. import columns as c
from ..placed.place_tables import PlaceTables, note_settings, place_tables
from ..tables import BeyondBoundsError, Ints, zeros
from .guard_programs import DEEPEST, Programs

MOST = 2**60
"""The most that an amount, with all that is added to it on the way, may come to; a quarter of what 64 bits hold, so that sums fit."""

MOST_IDLE = 3
"""After so many cycles in a row that changed nothing, cycles wait for the next fact; a queue with more flavors than that has as many."""

_POLICIES = {"nothing": c.POLICY_NOTHING, "lower": c.POLICY_LOWER, "lower-or-newer": c.POLICY_NEWER, "any": c.POLICY_ANY}
_FORMULAS = {"none": c.BY_NOTHING, "borrowed": c.BY_BORROWED, "used": c.BY_USE}
_STRATEGIES = {"final-share": c.FINAL_SHARE, "initial-share": c.INITIAL_SHARE}
_SCOPES = {"same-queue": c.SAME_QUEUE, "borrowing-queues": c.BORROWING_QUEUES, "any-queue": c.ANY_QUEUE}
_TRIGGERS = {None: c.NONE, "fits-queue": c.FITS_QUEUE, "fits-cohort": c.FITS_COHORT}


@dataclass(frozen=True, slots=True)
class PolicyTables:
    """What a policy brings to the tables. `most` bounds every amount of a slot; `groups` are where a queue's resource groups begin."""

    graph: PolicyGraph
    programs: Programs
    resources: tuple[str, ...]
    most: int
    state: Ints
    node: Ints
    quota: Ints
    watch: Ints
    asked: Ints
    slot: Ints
    pool: Ints
    groups: dict[int, tuple[tuple[tuple[str, ...], int], ...]]
    sizes: NodeSizes
    places: PlaceTables


NO_MACHINES: dict[str, Machine] = {}


def compile_policy(
    graph: PolicyGraph,
    capacity: list[int],
    sizes: NodeSizes,
    machines: Mapping[str, Machine] = NO_MACHINES,
    counted: Sequence[str] = (),
) -> PolicyTables:
    """The tables of a policy over what exists, by slot, on nodes of these sizes; nobody uses anything yet. Raises BeyondBoundsError.

    `machines` are all nodes by name and `counted` the resources that are counted at places, where a flavor gives some.
    """
    if graph.settings.passes is not None:
        raise BeyondBoundsError("the policy decides by passes")
    programs = Programs(graph.settings.rounded)
    named = {slot.resource for slot in graph.slots} | {each for queue in graph.queues for group in queue.groups for each in group.resources}
    resources = tuple(sorted(named | {each for group in graph.groups for each in group} | {POD_COUNT}))
    most = bound(graph, capacity)
    state, node = zeros(c.STATE_WIDTH), zeros(len(graph.nodes), c.NODE_WIDTH)
    groups = {queue.node: _groups(programs, graph, queue, resources) for queue in graph.queues}
    _settings(state, graph, programs, resources)
    state[c.MOST_IN_ALL] = most
    places = _places(graph, machines, counted)
    note_settings(state, programs.pool, graph, places)
    _nodes(node, graph, programs)
    quota, slot = zeros(len(graph.nodes), max(1, len(graph.slots)), c.QUOTA_WIDTH), zeros(max(1, len(graph.slots)), c.SLOT_WIDTH)
    _slots(slot, graph, capacity, sizes, resources)
    _quotas(quota, node, slot, graph, capacity)
    if programs.deepest > DEEPEST:
        raise BeyondBoundsError("a guard is nested too deeply")
    if max(programs.longest, int(state[c.PERIOD])) > c.MOST_TIME:
        raise BeyondBoundsError("a duration is too long")
    watch = zeros(*quota.shape[:2], c.WATCH_WIDTH)
    watch[:, :, c.NEED], watch[:, :, c.LEAST_FREED] = c.NEVER, c.BEYOND
    asked, pool = _asked(node, len(graph.slots)), np.array(programs.pool, np.int64)
    return PolicyTables(graph, programs, resources, most, state, node, quota, watch, asked, slot, pool, groups, sizes, places)


def _places(graph: PolicyGraph, machines: Mapping[str, Machine], counted: Sequence[str]) -> PlaceTables:
    """The places of a policy. A queue of several groups with places could give a pod set two: that is for the definition."""
    for queue in graph.queues:
        if sum(any(graph.flavors[flavor].topology >= 0 for flavor in group.flavors) for group in groups_of(graph, queue)) > 1:
            raise BeyondBoundsError("a queue has several groups whose flavors give places")
    places = place_tables(graph, machines, counted)
    if graph.gives_places and any(check.gives_nodes for queue in graph.queues for check in queue.checks):
        raise BeyondBoundsError("pods get places once a check has made nodes")
    return places


def bound(graph: PolicyGraph, capacity: list[int]) -> int:
    """The most that may be asked for, used or owned of a slot, so that no share is too large. Raises BeyondBoundsError.

    Three times as much may be charged at a time: what was adopted, what all who are live ask for together, and one of them once more.
    Unless heads keep room (`heads_keep_room`) nobody is charged for more than exists, and it does not matter what all ask for together.
    """
    scale = lcm(*(flavor.worth.denominator for flavor in graph.flavors))
    worth: dict[str, int] = {}
    for slot in graph.slots:
        worth[slot.resource] = worth.get(slot.resource, 0) + int(graph.flavors[slot.flavor].worth * scale)
    widest = max((worth[resource] for resource in sorted(worth)), default=1)
    weights = max(max(node.weight.numerator, node.weight.denominator) for node in graph.nodes)
    most = MOST // max(1, widest if graph.settings.rounded else widest * weights)
    if graph.settings.rounded and not graph.settings.forest:
        most = 2**51 // max(1, widest)  # shares of what nobody can lend are rounded once, and have to be exact until then
    if graph.settings.rounded and any(node.weight.denominator >= 1024 for node in graph.nodes):
        raise BeyondBoundsError("a weight has too many decimals to be rounded in 64 bits")
    for index in range(len(graph.slots)):
        quotas = [node.quotas[index] for node in graph.nodes]
        limits = [limit for quota in quotas for limit in (quota.borrowing_limit, quota.lending_limit) if limit is not None]
        if max([sum(quota.nominal for quota in quotas), capacity[index], *limits]) > most:
            raise BeyondBoundsError("an amount is too large")
    return most


def _settings(state: Ints, graph: PolicyGraph, programs: Programs, resources: tuple[str, ...]) -> None:
    settings = graph.settings
    state[c.NODES], state[c.SLOTS] = len(graph.nodes), len(graph.slots)
    state[c.RESOURCES], state[c.QUEUES], state[c.POD_COUNT] = len(resources), len(graph.queues), resources.index(POD_COUNT)
    state[c.FOREST], state[c.FLAT], state[c.TOGETHER] = settings.forest, settings.flat, settings.judges_together
    state[c.COUNTS_LEVELS], state[c.BY_RULES], state[c.FAIR] = (
        settings.counts_levels,
        settings.victims == "rules",
        settings.victims == "fair",
    )
    state[c.FORMULA], state[c.ROUNDED] = _FORMULAS[settings.share], settings.rounded
    for column, strategy in zip((c.STRATEGY_1, c.STRATEGY_2), settings.strategies, strict=False):
        state[column] = _STRATEGIES[strategy]
    if settings.cycles is not None:
        longest = max((len(group.flavors) for queue in graph.queues for group in groups_of(graph, queue)), default=0)
        state[c.IN_CYCLES], state[c.PERIOD], state[c.MOST_IDLE] = 1, settings.cycles.period, max(MOST_IDLE, longest)
    slot_of = {name: slot for slot, name in enumerate(graph.slot_names)}
    state[c.SLOT_OF] = len(programs.pool)
    programs.pool += [slot_of.get((flavor.name, resource), c.NONE) for flavor in graph.flavors for resource in resources]
    state[c.QUEUE_KEYS], state[c.WORKLOAD_KEYS] = programs.order(settings.queue_order), programs.order(settings.workload_order)
    rows: list[int] = []
    in_queue = [[key for key in rule.order if key.of_victim.type is not Type.SHARE] for rule in graph.preempt]  # all of one queue share it
    state[c.VICTIM_KEYS] = programs.victim_order(in_queue[0] if in_queue else ())
    for rule, keys in zip(graph.preempt, in_queue, strict=True):
        row = [_TRIGGERS[rule.trigger], _SCOPES[rule.scope], int(rule.range == "same-cohort"), programs.guard(rule.guard)]
        rows += [*row, int(is_timeless(rule.guard)), int(judges_by_kind(rule.guard)), int(reads_shares(rule.guard))]
        rows += [programs.victim_order(rule.order), int(keys == in_queue[0]), programs.compared(rule.compared)]
    state[c.RULES] = programs.listed(rows, len(graph.preempt))
    guards = [rule.guard for rule in graph.preempt] + [rule.guard for rule in graph.protect]
    state[c.TELLS_TIME] = not all(is_timeless(guard) for guard in guards)
    _kept_refusals(state, graph)


def _kept_refusals(state: Ints, graph: PolicyGraph) -> None:
    """What the rules that look into other queues rest on: whether, and by which bounds, a refusal outlasts a fact."""
    others = [rule for rule in graph.preempt if rule.scope != "same-queue"]
    untriggered = [rule for rule in others if rule.trigger is None]
    own = [rule for rule in graph.preempt if rule.scope == "same-queue"]
    if own:
        state[c.EVICTS_OWN] = c.BY_PRIORITY if all(ranks_by_priority(rule.guard) for rule in own) else c.BY_ANY_GUARD
    state[c.RESTS_ON_QUEUE] = any(rule.trigger == "fits-queue" for rule in others)
    state[c.RESTS_ON_COHORT] = any(rule.trigger == "fits-cohort" for rule in others)
    if not untriggered:
        state[c.KEEPS] = c.BY_TRIGGERS
    elif graph.settings.share == "borrowed" and not graph.settings.rounded and all(bounds_share(rule.guard) for rule in untriggered):
        state[c.KEEPS] = c.BY_SHARES
        state[c.SHARES_AFTER] = all(bounds_share(rule.guard, True) for rule in untriggered)
    if graph.settings.cycles is not None:
        state[c.KEEPS] = c.KEEPS_NOTHING


def _groups(programs: Programs, graph: PolicyGraph, queue: Queue, resources: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], int], ...]:
    """The resource groups of a queue, each with where its flavors begin; its resources stand behind them."""
    made = []
    for group in groups_of(graph, queue):
        made.append((group.resources, programs.listed(group.flavors)))
        programs.listed([resources.index(each) for each in group.resources])
    return tuple(made)


def _nodes(node: Ints, graph: PolicyGraph, programs: Programs) -> None:
    node[:, [c.PARENT, c.FIRST_CHILD, c.NEXT_CHILD, c.QUEUE_INDEX, c.LINE, c.RUNNING, c.FIRST_RUNNING, c.PREEMPTOR]] = c.NONE
    node[:, [c.NEEDS_OF, c.KEYS_OF, c.FIRST_PARKED, c.FIRST_BORROWER]] = c.NONE
    node[:, c.EPOCH] = 1
    protects = [programs.guard(rule.guard) for rule in graph.protect]
    forever = programs.listed([], 0)  # a rule without a guard keeps everything: its program is NONE, which is true
    for index, each in enumerate(graph.nodes):
        path, row = graph.path(index), node[index]
        row[c.PARENT], row[c.DEPTH], row[c.TOP] = path[1] if len(path) > 1 else c.NONE, len(path) - 1, path[-1]
        row[c.WEIGHT], row[c.WEIGHT_PARTS], row[c.IS_QUEUE] = each.weight.numerator, each.weight.denominator, each.is_queue
        for above, at in enumerate(path):
            node[at, c.HEIGHT] = max(node[at, c.HEIGHT], above)
        children = [child for child in each.children if len(graph.path(child)) > 1]
        for child, following in zip(children, [*children[1:], c.NONE], strict=False):
            node[child, c.NEXT_CHILD] = following
        row[c.FIRST_CHILD] = children[0] if children else c.NONE
        row[c.PROTECTED_BY] = forever
        if each.is_queue:
            covering = [(rule, program) for rule, program in zip(graph.protect, protects, strict=True) if covers(rule, path)]
            row[c.PROTECTED_BY] = programs.listed([program for _, program in covering]) if covering else forever
            row[c.KEPT_BY_KIND] = all(judges_by_kind(rule.guard) for rule, _ in covering)
            row[c.KEPT_BY_SHARES] = any(reads_shares(rule.guard) for rule, _ in covering)
            _queue(row, graph, graph.queue_at(index))
    _rivals(node, graph)


def _rivals(node: Ints, graph: PolicyGraph) -> None:
    """Where each node meets its rivals, and which part of `rival` is for those who meet at a node."""
    above = np.maximum(node[1:, c.PARENT], 0)
    node[0, c.MEETS_AT], node[1:, c.MEETS_AT] = c.NONE, 0 if graph.settings.flat else above
    children = np.bincount(above, minlength=len(node))
    node[:, c.FIRST_RIVAL] = np.cumsum(children) - children


def _asked(node: Ints, slots: int) -> Ints:
    """Room for the trees of what nodes ask for (`kernels/watch/asked.py`), and which part and which row of it is whose."""
    begin, askers = 0, list[tuple[int, int]]()
    for index in np.flatnonzero(node[:, c.IS_QUEUE] == 0):
        children, child = list[int](), int(node[index, c.FIRST_CHILD])
        while child != c.NONE:
            children.append(child)
            child = int(node[child, c.NEXT_CHILD])
        leaves = 1 << (max(1, len(children)) - 1).bit_length()
        node[index, c.FIRST_ASKED], node[children, c.ASKED_ROW] = begin, leaves + np.arange(len(children))
        askers += [(begin + leaves + place, child) for place, child in enumerate(children)]
        begin += 2 * leaves
    asked = np.full((begin, c.OF_SLOT + max(1, slots)), c.NEVER)
    asked[:, c.ASKER] = c.NONE
    for place, child in askers:
        asked[place, c.ASKER] = child
    return asked


def _queue(row: Ints, graph: PolicyGraph, queue: Queue) -> None:
    settings, preemption = graph.settings, queue.preemption
    row[c.QUEUE_INDEX], row[c.STRICT], row[c.RATHER_EVICT] = graph.nodes[queue.node].queue, queue.strict, queue.rather == "evict"
    row[c.LOOKS_ON_BORROWING], row[c.LOOKS_ON_EVICTING] = queue.looks_on_borrowing(settings), queue.looks_on_evicting(settings)
    row[c.INACTIVE] = is_inactive(graph, queue.node)
    row[c.OWN], row[c.RECLAIMS] = _POLICIES[preemption.own], _POLICIES[preemption.reclaims]
    row[c.TO_BORROW], row[c.HAS_UP_TO] = preemption.borrowing != "nothing", preemption.borrowing_up_to is not None
    row[c.UP_TO], row[c.BY_USAGE] = preemption.borrowing_up_to or 0, queue.by_usage and settings.usage is not None


def _slots(slot: Ints, graph: PolicyGraph, capacity: list[int], sizes: NodeSizes, resources: tuple[str, ...]) -> None:
    scale = lcm(*(flavor.worth.denominator for flavor in graph.flavors))  # cancels out: worth weighs both sides
    by_resource = sorted(range(len(graph.slots)), key=lambda index: (graph.slots[index].resource, index))
    for index, each in enumerate(graph.slots):
        slot[index, c.CAPACITY], slot[index, c.WORTH] = capacity[index], int(graph.flavors[each.flavor].worth * scale)
        slot[index, c.RESOURCE], slot[index, c.BY_RESOURCE] = resources.index(each.resource), by_resource[index]
        slot[index, c.LARGEST] = max((size[each.resource] for size in sizes[each.flavor]), default=0)


def _quotas(quota: Ints, node: Ints, slot: Ints, graph: PolicyGraph, capacity: list[int]) -> None:
    """What each node owns, keeps local and could use at most, as in `definition/quota/tree.py`."""
    deepest_first = sorted(range(len(graph.nodes)), key=lambda index: -len(graph.path(index)))
    for index in range(len(graph.slots)):
        quotas = [each.quotas[index] for each in graph.nodes]
        table = quota[:, index]
        table[:, c.NOMINAL] = [each.nominal for each in quotas]
        table[:, c.BORROWING] = [c.NONE if each.borrowing_limit is None else each.borrowing_limit for each in quotas]
        table[:, c.OWNED] = table[:, c.NOMINAL]
        table[0, c.OWNED] = 0 if graph.settings.forest else capacity[index] - sum(each.nominal for each in quotas[1:])
        for at in deepest_first:
            owned, lending = int(table[at, c.OWNED]), quotas[at].lending_limit
            table[at, c.LOCAL] = 0 if lending is None else max(0, owned - lending)
            if graph.nodes[at].parent >= 0 and at:
                above = 0 if node[at, c.PARENT] < 0 else int(node[at, c.PARENT])
                table[above, c.OWNED] += owned - table[at, c.LOCAL]
        for at in reversed(deepest_first):
            reach, above = int(table[at, c.OWNED]), int(node[at, c.PARENT])
            if above >= 0:
                reach = int(table[at, c.LOCAL] + table[above, c.POTENTIAL])
                limit = quotas[at].borrowing_limit
                if limit is not None:
                    reach = min(reach, int(table[at, c.OWNED]) + limit)
            table[at, c.POTENTIAL] = reach
    for resource in range(max(slot[:, c.RESOURCE]) + 1 if len(graph.slots) else 0):
        of_it = [index for index in range(len(graph.slots)) if slot[index, c.RESOURCE] == resource]
        lendable = sum(slot[index, c.WORTH] * quota[:, index, c.POTENTIAL] for index in of_it)
        for index in of_it:
            quota[:, index, c.LENDABLE] = lendable


def fraction(level: int, above: int, below: int, rounded: bool) -> tuple[int, Fraction]:
    """A share of the tables as one of an outcome."""
    if not rounded:
        return level, Fraction(above, below)
    return level, Fraction(0) if above == 0 else above * Fraction(2) ** below
