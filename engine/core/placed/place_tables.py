"""The places of a policy as tables: the domains of each flavor, what there is in the lowest ones, and of which kind their nodes are.

Nodes are of one kind where they have the same labels and taints, so that the same pods are kept off them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...event_parts import POD_COUNT, PodSet
from ...nodes.domains import DomainPath, DomainTree, amounts_in, domain_trees
from ...nodes.inventory import Machine
from ...nodes.kept_off import KeptOff
from ...policy_graph import PolicyGraph
from .. import columns as c
from ..tables import BeyondBoundsError, Ints, zeros

_WAYS = {"counted": c.COUNTED, "packed": c.PACKED, "spread": c.SPREAD, "keeping-room": c.KEEPING_ROOM}
_MOST_AMOUNT = 2**61


@dataclass(frozen=True, slots=True)
class PlaceTables:
    """What there is of places. `resources` are counted there, in order of name; `kinds` has a node of each kind; `leaves` finds the row of
    a lowest domain by flavor and place, and `places` the place of a row."""

    trees: tuple[DomainTree | None, ...]
    resources: tuple[str, ...]
    kinds: tuple[Machine, ...]
    leaves: Mapping[tuple[int, DomainPath], int]
    places: tuple[tuple[int, DomainPath], ...]
    tree: Ints
    domain: Ints
    leaf: Ints
    size: Ints
    size_kept: Ints
    there: Ints

    def sharing(self, flavor: int) -> list[int]:
        """The other flavors whose places are nodes, where those of a flavor are."""
        if not self.tree[flavor, c.T_OF_NODES]:
            return []
        return [other for other in range(len(self.trees)) if other != flavor and self.tree[other, c.T_OF_NODES]]


def resources_of_places(graph: PolicyGraph, machines: Mapping[str, Machine], asked: Iterable[PodSet]) -> tuple[str, ...]:
    """The resources that are counted at places: those that nodes have, those that pods ask for, and pods themselves."""
    if not graph.gives_places:
        return ()
    found = {POD_COUNT} | {resource for name in sorted(machines) for resource in machines[name].capacity}
    found |= {resource for size in graph.settings.room_kept for resource, _ in size}
    return tuple(sorted(found | {resource for pod_set in asked for resource in pod_set.requests}))


def place_tables(graph: PolicyGraph, machines: Mapping[str, Machine], resources: Sequence[str]) -> PlaceTables:
    """The tables of the places of a policy; `machines` are all nodes by name. Raises BeyondBoundsError."""
    trees = domain_trees(graph, machines)
    kinds: dict[str, int] = {}
    shown: list[Machine] = []
    for name in sorted(machines):
        if _kind(machines[name]) not in kinds:
            kinds[_kind(machines[name])] = len(shown)
            shown.append(machines[name])
    domains, leaves, sizes = list[list[int]](), list[list[int]](), list[list[int]]()
    rows = zeros(max(1, len(graph.flavors)), c.TREE_WIDTH)
    by_place: dict[tuple[int, DomainPath], int] = {}
    numbers: dict[tuple[int, DomainPath], int] = {}
    for flavor, tree in enumerate(trees):
        if tree is None:
            continue
        if len(tree.levels) > c.MOST_LEVELS:
            raise BeyondBoundsError("a topology has too many levels")
        begin, of_nodes = len(domains), tree.topology.ends_at_nodes
        rows[flavor, c.T_LEVELS], rows[flavor, c.T_OF_NODES] = len(tree.levels), of_nodes
        for level, of_level in enumerate(tree.levels):
            first = c.T_FIRST + 2 * level
            rows[flavor, first], rows[flavor, first + 1] = begin + of_level.start, begin + of_level.stop
        for number, domain in enumerate(tree.domains):
            row = [0] * c.DOMAIN_WIDTH
            row[c.D_PARENT], row[c.D_LEAF], row[c.D_CHILDREN] = c.NONE, c.NONE, len(domain.children)
            row[c.D_FIRST_CHILD] = begin + domain.children[0] if domain.children else 0
            if number in tree.lowest:
                place = tree.place(number)
                row[c.D_LEAF] = by_place[flavor, place] = len(leaves)
                amounts = amounts_in(machines, domain.machines)
                node = numbers.setdefault((-1 if of_nodes else flavor, place), len(numbers))
                unlimited = [int(resource == POD_COUNT and resource not in amounts) for resource in resources]
                leaves.append([node, len(leaves), kinds[_kind(machines[domain.machines[0]])], c.NONE, len(domains), c.NONE, *unlimited])
                sizes.append([amounts.get(resource, 0) for resource in resources])
            domains.append(row)
        for number, domain in enumerate(tree.domains):
            for child in domain.children:
                domains[begin + child][c.D_PARENT] = begin + number
    _tie(leaves)
    there = [[0] * len(resources) for _ in numbers]
    for names, rows_of_it in _shared(trees, by_place):
        for row_of_leaf in rows_of_it:
            leaves[row_of_leaf][c.L_SHARED] = len(there)
        amounts = amounts_in(machines, names)
        there.append([amounts.get(resource, 0) for resource in resources])
    if any(amount > _MOST_AMOUNT for size in sizes for amount in size):
        raise BeyondBoundsError("a node has too much of a resource")
    kept = [[dict(size).get(resource, 0) for resource in resources] for size in graph.settings.room_kept]
    places = tuple(sorted(by_place, key=by_place.__getitem__))
    return PlaceTables(
        trees,
        tuple(resources),
        tuple(shown),
        by_place,
        places,
        rows,
        _table(domains, c.DOMAIN_WIDTH),
        _table(leaves, c.L_UNLIMITED + len(resources)),
        _table(sizes, len(resources)),
        _table(kept if resources else [], len(resources)),
        _table(there, len(resources)),
    )


def causes_of(places: PlaceTables) -> tuple[KeptOff, ...]:
    """All that may keep pods off nodes of these kinds, in order."""
    taints = {f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}" for kind in places.kinds for taint in kind.taints}
    return (KeptOff("affinity"), KeptOff("selector"), *(KeptOff("taint", taint) for taint in sorted(taints)))


def note_settings(state: Ints, pool: list[int], graph: PolicyGraph, places: PlaceTables) -> None:
    """Note in the state what holds for all places; `pool` gets the flavors that give places, by their names."""
    settings = graph.settings
    state[c.PLACES], state[c.PLACING_WAY], state[c.TRIES_APART] = (
        graph.gives_places,
        _WAYS[settings.places_pods],
        settings.tries_places_apart,
    )
    state[c.PLACE_RESOURCES], state[c.SIZES_KEPT] = len(places.resources), len(places.size_kept)
    state[c.PODS_AT] = places.resources.index(POD_COUNT) if places.resources else c.NONE
    state[c.WISH_PART], state[c.CAUSES] = c.WISH_PART_WIDTH, len(causes_of(places))
    state[c.PLACING] = c.NONE
    state[c.KINDS_AT] = c.A_AMOUNTS + len(places.resources) + len(graph.flavors) * c.WISH_PART_WIDTH
    state[c.KINDS] = len(places.kinds)
    state[c.PART_WIDTH] = state[c.KINDS_AT] + len(graph.flavors) * len(places.kinds)
    widest = [len(of_level) for tree in places.trees if tree is not None for of_level in tree.levels]
    state[c.MOST_DOMAINS] = max(widest, default=1)
    placed = [flavor for flavor, tree in enumerate(places.trees) if tree is not None]
    state[c.PLACED_FLAVORS] = len(pool)
    pool += [len(placed), *sorted(placed, key=lambda flavor: graph.flavors[flavor].name)]


def _shared(trees: Sequence[DomainTree | None], rows: Mapping[tuple[int, DomainPath], int]) -> Iterator[tuple[list[str], list[int]]]:
    """The lowest domains that several flavors of one topology have, which ends above nodes: their nodes, and the rows of the domains."""
    found: dict[tuple[str, DomainPath], tuple[set[str], list[int]]] = {}
    for (flavor, place), row in sorted(rows.items()):
        tree = trees[flavor]
        if tree is not None and not tree.topology.ends_at_nodes:
            names, rows_of_it = found.setdefault((repr(tree.topology), place), (set(), []))
            rows_of_it.append(row)
            names |= set(next(tree.domains[leaf].machines for leaf in tree.lowest if tree.place(leaf) == place))
    for key in sorted(found):
        if len(found[key][1]) > 1:
            yield sorted(found[key][0]), found[key][1]


def _kind(machine: Machine) -> str:
    """What nodes of one kind have in common."""
    return repr((sorted(machine.labels.items()), machine.taints))


def _tie(leaves: list[list[int]]) -> None:
    """Tie the rows of one node together in a ring."""
    last: dict[int, int] = {}
    first: dict[int, int] = {}
    for row, leaf in enumerate(leaves):
        node = leaf[c.L_NODE]
        if node in last:
            leaves[last[node]][c.L_TWIN] = row
        first.setdefault(node, row)
        last[node] = row
    for node in sorted(last):
        leaves[last[node]][c.L_TWIN] = first[node]


def _table(rows: list[list[int]], width: int) -> Ints:
    return np.array(rows, np.int64) if rows and width else zeros(0, width)
