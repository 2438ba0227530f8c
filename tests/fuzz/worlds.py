"""What the policies of one history have in common: resources, flavors, priorities, the tree of queues, the size of amounts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from draws import Draw
from gpol.engine.units import INT64_MAX, format_amount

NAMESPACES = ("nlp", "nlp-dev", "edu", "")
USERS = ("ada", "bob", "")
GROUPS = ("staff", "guests", "")
KINDS = ("Job", "RayCluster", "")
LABELS = (("tier", "prod"), ("tier", "dev"), ("exam", "yes"), ("team/a", "x y"))
"""What a submission may say of itself; match rules and guards ask for the same."""

PATTERNS = ("nlp*", "nlp", "*", "?da", "ada", "staff", "edu*", "Job", "*Cluster", "prod", "yes", "x*", "", "[nlp]*", "q*")
NAMESPACE_LABELS = (("dep", "eng"), ("dep", "edu"), ("suspended", "yes"))
NODE_LABELS = (("pool", "f0"), ("pool", "f1"), ("zone", "a"), ("zone", "b"), ("size", "8"), ("size", "16"))
"""Labels of machines: of flavors, of nodes, and what pod sets select."""

EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
CHECKS = ("prov", "a/b")
PRIORITIES = ("low", "normal", "high")
SIZES = ("small", "small", "small", "fine", "huge", "edge")
"""Amounts of a world: a few whole units, also odd thousandths of them, some near 2^62 and 2^63, or near what tables hold."""

EDGES = (56, 54, 52, 50, 58, 48, 46, 44, 60)
"""Powers of two near which tables end, whatever the weights and worths of a policy take of it; a world near them has one."""

SECOND = 1_000_000


@dataclass
class Node:
    """A cohort with what is below it, or a queue."""

    name: str
    children: list["Node"] | None = None

    def queues(self) -> list[str]:
        """The queues at or below it."""
        return [self.name] if self.children is None else [name for child in self.children for name in child.queues()]

    def names(self) -> list[str]:
        """It and all below it."""
        return [self.name, *(name for child in self.children or [] for name in child.names())]


@dataclass
class World:
    """A world: `flavors` are the resources of each, `size` is that of amounts. In a `crowded` one long lines wait for room."""

    in_cycles: bool
    size: str
    resources: list[str]
    flavors: dict[str, list[str]]
    tree: list[Node]
    local_queues: dict[str, list[str]]
    priorities: tuple[str, ...] = PRIORITIES
    crowded: bool = False

    @property
    def slots(self) -> list[tuple[str, str]]:
        """Every resource of every flavor."""
        return [(flavor, resource) for flavor, resources in self.flavors.items() for resource in resources]

    @property
    def queues(self) -> list[str]:
        """The names of all queues."""
        return [name for node in self.tree for name in node.queues()]

    @property
    def nodes(self) -> list[str]:
        """The names of all cohorts and queues."""
        return [name for node in self.tree for name in node.names()]


def world(draw: Draw, in_cycles: bool, sizes: Sequence[str] = SIZES, crowded: bool = False) -> World:
    """A small world with amounts of one of these sizes."""
    size = draw.pick(sizes)
    size = f"edge {draw.pick(EDGES)}" if size == "edge" else size
    counted = ["gpu", *draw.some(["cpu", "memory", "license", "nvidia.com/gpu", *(["pods", "pods"] if in_cycles else [])], most=2)]
    counted = list(dict.fromkeys(counted))
    joined = counted[: draw.number(1, len(counted))]
    flavors: dict[str, list[str]] = {}
    for group in (joined, [each for each in counted if each not in joined]):
        for _ in range(draw.pick([1, 2, 2, 3]) if group else 0):
            flavors[f"f{len(flavors)}"] = group if draw.number(1, 4) < 4 else draw.some(group, least=1)
    tree = _trees(draw)
    made = World(in_cycles, size, sorted({each for some in flavors.values() for each in some}), flavors, tree, {}, crowded=crowded)
    for queue in made.queues:
        made.local_queues[queue] = [f"{namespace}/{queue}" for namespace in draw.some(["nlp", "edu"])]
    return made


def changed(draw: Draw, world: World) -> World:
    """A world for a further policy: the same, or with other queues, flavors or priorities, or with the other way of deciding."""
    in_cycles = world.in_cycles if draw.number(1, 10) < 10 else not world.in_cycles
    flavors, tree = dict(world.flavors), world.tree
    if len(flavors) > 1 and draw.chance(8):
        del flavors[draw.pick(list(flavors))]
    if draw.chance(6):
        tree = draw.shuffled(tree)[: max(1, len(tree) - 1)]
    if draw.chance(3):
        tree = _moved(draw, tree)
    if not in_cycles:
        flavors = {name: [each for each in resources if each != "pods"] or ["gpu"] for name, resources in flavors.items()}
    made = replace(world, in_cycles=in_cycles, flavors=flavors, tree=tree, local_queues=dict(world.local_queues))
    for queue in made.queues:
        made.local_queues.setdefault(queue, [f"{namespace}/{queue}" for namespace in draw.some(["nlp", "edu"])])
    made.resources = sorted({each for some in flavors.values() for each in some})
    made.priorities = ("low", "high") if draw.chance(8) else PRIORITIES
    return made


def _moved(draw: Draw, tree: list[Node]) -> list[Node]:
    """The same tree with a new queue, and maybe with one of its queues elsewhere."""
    moving = draw.pick([None, *(name for node in tree for name in node.queues())])
    kept = [node for node in (_without(node, moving) for node in tree) if node is not None]
    cohorts = [node for node in kept if node.children is not None]
    for name in ("new", *([moving] if moving is not None else [])):
        place = draw.pick([kept, *(node.children for node in cohorts if node.children is not None)])
        place.append(Node(name))
    return kept


def _without(node: Node, name: str | None) -> Node | None:
    """A copy of a node without a queue; None where that leaves nothing of it."""
    if node.children is None:
        return None if node.name == name else Node(node.name)
    left = [child for child in (_without(each, name) for each in node.children) if child is not None]
    return Node(node.name, left) if left else None


def _trees(draw: Draw) -> list[Node]:
    """Two or three nodes below the root, cohorts down to three levels; five queues or so."""
    left, numbers = [draw.pick([2, 3, 4, 5, 6, 6, 12])], [0, 0]

    def queue() -> Node:
        numbers[0] += 1
        left[0] -= 1
        return Node(f"q{numbers[0] - 1}" if numbers[0] != 3 else "team two")

    def node(depth: int) -> Node:
        if depth == 3 or draw.number(1, 2 + depth) > 2:
            return queue()
        numbers[1] += 1
        name = f"c{numbers[1] - 1}"
        return Node(name, [node(depth + 1) for _ in range(draw.pick([2, 2, 1, 3]))] if left[0] > 0 else [queue()])

    top = [node(0)]
    while left[0] > 0:
        top.append(node(draw.number(0, 3)))
    return top


# --- amounts --------------------------------------------------------------------------------------------------------

UNITS = {"gpu": 1000, "cpu": 1000, "memory": 10**11}
"""What a small amount is a multiple of, in smallest units; of memory several 10^11 bytes are asked for."""

HUGE = (2**62, 2**61, 2**62 - 1, 2**62 + 1, 2**60 + 1, 2**61 + 2**60, 2**63 - 1, 2**63 - 2, 1, 2**53 + 1)


def near_bounds(draw: Draw, size: str) -> int:
    """An amount near one that tables just hold."""
    return 2 ** (int(size.split()[1]) - draw.pick([1, 2, 3, 0])) + draw.pick([0, 0, -1, 1])


def drawn_amount(draw: Draw, size: str, resource: str, most: int = 8) -> int:
    """An amount of a resource in its smallest unit."""
    unit = UNITS.get(resource, 1)
    if size == "huge" and not draw.chance(4):
        return draw.pick(HUGE)
    if size.startswith("edge") and not draw.chance(4):
        return near_bounds(draw, size)
    if size == "fine" and draw.chance(2):
        return draw.number(0, most * unit)
    return draw.number(0, most) * unit


def supply(draw: Draw, size: str, resource: str) -> int:
    """How much exists of a resource of a flavor."""
    if size == "huge":
        return draw.pick([INT64_MAX, 2**62, 2**63 - 2, 2**62 + 2**61])
    if size.startswith("edge"):
        return near_bounds(draw, size)
    return draw.number(4, 16) * UNITS.get(resource, 1)


def written(amount: int, resource: str) -> str:
    """An amount with its resource as a policy writes it."""
    return f"{format_amount(amount, resource)} {named(resource)}"


def named(name: str) -> str:
    """A name as a policy writes it."""
    return name if all(each.isalnum() or each in "_-" for each in name) else f'"{name}"'


def listed(names: list[str]) -> str:
    """Names as a policy lists them."""
    return ", ".join(named(name) for name in names)
