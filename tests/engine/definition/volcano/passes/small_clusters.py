"""Small clusters for Volcano's passes: nodes, queues and PodGroups in a few words. Amounts are whole cpus and GPUs, and GiB of memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from gpol.engine.definition.session.pods import NO_NODE, Pod, PodStatus, SessionGroup, SessionWorkload
from gpol.engine.definition.session.quota_nodes import QuotaNode
from gpol.engine.definition.session.session import Session, SessionNode
from gpol.engine.definition.volcano.model.hyper_node_map import HyperNodeDomain, hyper_nodes_under_top
from gpol.engine.definition.volcano.model.pod_group_facts import (
    GroupPhase,
    NetworkWish,
    PodGroupFacts,
    SubJob,
    VolcanoPodFacts,
    VolcanoQueueFacts,
)
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.model.volcano_settings import CALLBACKS, PluginArgument, VolcanoPlugin, VolcanoSettings
from gpol.engine.definition.volcano.passes.volcano_passes import run_cycle
from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.inventory import Machine

RESOURCES = ("cpu", "memory", "nvidia.com/gpu", "pods")
GIB = 1024**3
EMPTY_PODS = PodSet(requests={})


@dataclass(frozen=True, slots=True)
class Asked:
    """A pod: what it asks for, its node (empty: it waits), its role and priority, the node that it was promised before."""

    cpu: int = 1
    memory: int = 1
    gpu: int = 0
    on: str = ""
    role: str = ""
    priority: int = 0
    promised: str = ""
    evicts: bool = True
    selector: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Gang:
    """A PodGroup with its pods, all in one sub-job. `least`: its `minResources`, as those of one pod."""

    name: str
    pods: tuple[Asked, ...]
    minimum: int = 1
    queue: str = "q"
    priority: int = 0
    phase: GroupPhase = GroupPhase.INQUEUE
    least: Asked | None = None
    roles: tuple[tuple[str, int], ...] = ()
    wish: NetworkWish | None = None


def row(asked: Asked, pods: int = 1) -> tuple[int, ...]:
    """What a pod asks for, in the order of `RESOURCES`."""
    return (asked.cpu * 1000, asked.memory * GIB, asked.gpu * 1000, pods)


def plugin(name: str, *off: str, **arguments: PluginArgument) -> VolcanoPlugin:
    """A plugin with all callbacks but some."""
    return VolcanoPlugin(name, frozenset(CALLBACKS) - set(off), {key.replace("__", "."): arguments[key] for key in arguments})


USUAL = ((plugin("priority"), plugin("gang"), plugin("conformance")), (plugin("predicates"), plugin("nodeorder")))


def cluster(
    nodes: Mapping[str, int],
    gangs: Iterable[Gang],
    passes: tuple[str, ...],
    tiers: tuple[tuple[VolcanoPlugin, ...], ...] = USUAL,
    *,
    most_pods: int = 110,
    queues: Iterable[str] = ("q", "r"),
    racks: Mapping[str, tuple[str, ...]] | None = None,
    aware: bool = False,
) -> VolcanoCycle:
    """A cycle; `nodes` by name with their cpus, each has 64 GiB and 8 GPUs.

    `racks` are HyperNodes of tier 1 below one of tier 2 that has all of them.
    """
    numbers = {name: number for number, name in enumerate(nodes)}
    machines = [
        SessionNode(numbers[name], name, Machine({"node": name}, {}, -1), row(Asked(cpus, 64, 8), most_pods))
        for name, cpus in nodes.items()
    ]
    names = ["", *queues]
    nothing, one = (None,) * 4, (Fraction(1),) * 4
    below = tuple(range(1, len(names)))
    quota = [
        QuotaNode(at, name, -1 if at == 0 else 0, below if at == 0 else (), nothing, nothing, (0,) * 4, one)
        for at, name in enumerate(names)
    ]
    workloads, pods, facts, groups = [], list[Pod](), list[VolcanoPodFacts](), list[PodGroupFacts]()
    for number, gang in enumerate(gangs):
        first = len(pods)
        for at, asked in enumerate(gang.pods):
            status = PodStatus.RUNNING if asked.on else PodStatus.WAITING
            pod_set = PodSet(requests={}, node_selector=dict(asked.selector))
            node = numbers.get(asked.on, NO_NODE)
            pods.append(Pod(first + at, f"{gang.name}-{at}", number, 0, row(asked), pod_set, status, node, asked.priority, at))
            promised = numbers.get(asked.promised, NO_NODE)
            facts.append(VolcanoPodFacts(f"{gang.name}-{at}", asked.role, evicts=asked.evicts, nominated=promised))
        whole = SessionGroup("", -1, (), gang.minimum)
        whose = tuple(range(first, len(pods)))
        queue = names.index(gang.queue)
        workloads.append(SessionWorkload(number, gang.name, queue, gang.priority, True, number, None, (whole,), whose))
        least = None if gang.least is None else row(gang.least, 0)
        groups.append(PodGroupFacts(gang.phase, least, (SubJob(gang.name, 0, network=gang.wish),), gang.roles, network=gang.wish))
    session = Session(RESOURCES, machines, quota, workloads, pods)
    domains = [HyperNodeDomain(name, 1, "top", (), tuple(numbers[node] for node in of)) for name, of in sorted((racks or {}).items())]
    if racks:
        domains.append(HyperNodeDomain("top", 2, "", tuple(sorted(racks)), tuple(range(len(nodes)))))
    settings = VolcanoSettings(passes, tiers, aware)
    hyper_nodes = hyper_nodes_under_top(domains, len(nodes))
    return VolcanoCycle(session, settings, groups, facts, [VolcanoQueueFacts() for _ in names], hyper_nodes)


def states(cycle: VolcanoCycle) -> dict[str, tuple[str, str]]:
    """Of each pod how it is after a cycle, and its node (empty: none)."""
    return {pod.name: (pod.status.name.lower(), cycle.session.nodes[pod.node].name if pod.node >= 0 else "") for pod in cycle.session.pods}


def ran(cycle: VolcanoCycle) -> dict[str, tuple[str, str]]:
    """Run a cycle, and say how each pod is then."""
    run_cycle(cycle)
    return states(cycle)


def evicted(cycle: VolcanoCycle) -> list[tuple[str, str, str]]:
    """Who was evicted, by which pass, and for whom."""
    pods = cycle.session.pods
    return [(pods[each.victim].name, each.by, pods[each.beneficiary].name) for each in cycle.evictions]
