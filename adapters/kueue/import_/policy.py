"""From the objects of a cluster to a policy: its header, what exists, the tree of queues, and rules that hold inactive ones."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....dsl.syntax import tree
from ....engine.event_parts import Toleration
from ....engine.policy_settings import Strategy
from ....engine.units import format_duration
from ..policy_names import PolicyNames
from ..problems import Findings
from ..read.objects import ClusterQueue, Configuration, KueueCohort, Objects, PreemptionStrategy, ResourceFlavor, WorkloadPriorityClass
from ..read.quantity import number_text
from .excluded_resources import ignored
from .quota_tree import QuotaTreeBuilder
from .topologies import lacking, placed_in, topology_items
from .tree_shorthands import name, number

CLASSICAL, FAIR, AT_ONCE = "kueue.classical", "kueue.fair", "gpol.fair"
PROFILES = (CLASSICAL, FAIR, AT_ONCE)
"""Profiles that an imported policy can use: Kueue's two, and gpol's own, which decides at once."""

INACTIVE = "inactive: "
CHECK_INACTIVE = f"{INACTIVE}admission check "
"""How the reasons begin for which ClusterQueues are held, and those of admission checks."""

_BUILT_IN = ("cpu", "gpu", "memory")
_STRATEGIES: dict[PreemptionStrategy, Strategy] = {
    "LessThanOrEqualToFinalShare": "final-share",
    "LessThanInitialShare": "initial-share",
}
_DEFAULT: tuple[PreemptionStrategy, ...] = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """How the policy is called, and the profile that it uses."""

    name: str
    profile: str

    @property
    def in_cycles(self) -> bool:
        """Whether the profile decides in cycles, as Kueue does."""
        return self.profile != AT_ONCE


def policy(objects: Objects, wanted: PolicyChoice, found: Findings) -> tree.File:
    """The policy of a cluster; what it cannot say goes to `found`."""
    settings = objects.configuration or Configuration()
    names, slots = PolicyNames(objects), _slots(objects)
    by_usage = wanted.in_cycles and settings.usage is not None
    resources = sorted({resource for having in slots.values() for resource in having})
    left_out = ignored(objects, found)
    items: list[tree.Item] = [_header(settings, wanted, resources, left_out, found)]
    items += [tree.ResourceItem(name(resource)) for resource in sorted({*resources, *left_out}) if resource not in _BUILT_IN]
    items += topology_items(objects)
    items += _flavors(objects, slots, wanted.in_cycles, found)
    items += [tree.PriorityItem(name(item.name), number(str(item.value)), never_evicted=False) for item in _priorities(objects)]
    items += QuotaTreeBuilder(objects, names, found, wanted.in_cycles, by_usage).items()
    items += _holds(objects, names, wanted.in_cycles, found)
    return tree.File(tuple(items))


def _priorities(objects: Objects) -> list[WorkloadPriorityClass]:
    return sorted(objects.priorities, key=lambda item: item.name)


# --- header


def _header(settings: Configuration, wanted: PolicyChoice, resources: list[str], left_out: tuple[str, ...], found: Findings) -> tree.Header:
    """What holds for the whole policy: `resources` are counted, `left_out` are ignored."""
    choices: list[tree.Choice] = [tree.Use(wanted.profile)]
    found.begin("Configuration", "", "")
    if wanted.profile == FAIR and settings.strategies not in ((), _DEFAULT):
        choices.append(tree.PreemptWay(tuple(_STRATEGIES[strategy] for strategy in settings.strategies)))
    if settings.usage is not None and wanted.in_cycles:
        half_life, sampling = number(format_duration(settings.usage.half_life)), number(format_duration(settings.usage.sampling))
        choices.append(tree.UsageDecay(half_life, sampling))
        weights = [(name(resource), number(number_text(weight))) for resource, weight in settings.usage.weights if resource in resources]
        choices += [tree.UsageWeights(tuple(weights))] if weights else []
        for resource in sorted({resource for resource, _ in settings.usage.weights}.difference(resources)):
            found.note(f"admissionFairSharing.resourceWeights.{resource}", "weighs what nobody has a quota of: it is left out")
    elif settings.usage is not None:
        found.note("admissionFairSharing", "cannot be said in a policy that decides at once: it is left out")
    choices += [tree.Ignore(tuple(map(name, left_out)))] if left_out else []
    return tree.Header("policy", tree.Text(wanted.name), tuple(choices))


# --- what exists


def _slots(objects: Objects) -> dict[str, set[str]]:
    """The resources that there are of each flavor: of which somebody has a quota, or a workload holds something."""
    slots: dict[str, set[str]] = {flavor.name: set() for flavor in objects.flavors}
    owners: list[ClusterQueue | KueueCohort] = [*objects.cluster_queues, *objects.cohorts]
    for owner in owners:
        for group in owner.groups:
            for flavor in group.flavors:
                slots.setdefault(flavor.flavor, set()).update(group.resources, (quota.resource for quota in flavor.quotas))
    for workload in objects.workloads:
        for assignment in workload.admission.assignments if workload.admission is not None else ():
            for resource in sorted(assignment.flavors):
                slots.setdefault(assignment.flavors[resource], set()).add(resource)
    return slots


def _flavors(objects: Objects, slots: dict[str, set[str]], in_cycles: bool, found: Findings) -> Iterator[tree.FlavorItem]:
    given = {flavor.name: flavor for flavor in objects.flavors}
    for flavor in sorted(slots):
        having = sorted(slots[flavor]) or ["cpu"]  # nobody owns any of it, but a flavor has to have something
        resources = tuple(name(resource) for resource in having)
        if flavor not in given:
            found.begin("ResourceFlavor", flavor, "")
            found.note("", "is not there: the ClusterQueues that name it admit nothing")
            yield tree.FlavorItem(name(flavor), (tree.AsOwned(resources), *([tree.Missing()] if in_cycles else [])))
            continue
        placed = placed_in(given[flavor], objects)
        labels = tuple(tree.LabelEquals(key, tree.Text(value)) for key, value in given[flavor].labels)
        if placed and not in_cycles:  # what is decided at once goes by what nodes have, so their labels say what there is
            has: tuple[tree.AsOwned | tree.FromNodes | tree.NodeLabel, ...] = (tree.FromNodes(resources, labels),)
        else:
            has = (tree.AsOwned(resources), *map(tree.NodeLabel, labels))
        yield tree.FlavorItem(name(flavor), (*has, *_taints(given[flavor]), *placed))


def _taints(flavor: ResourceFlavor) -> Iterator[tree.TaintStatement | tree.Tolerates]:
    for taint in flavor.taints:
        yield tree.TaintStatement(taint.key, tree.Text(taint.value) if taint.value else None, taint.effect)
    for toleration in flavor.tolerations:
        yield _tolerates(toleration)


def _tolerates(toleration: Toleration) -> tree.Tolerates:
    value = tree.Text(toleration.value) if toleration.operator == "Equal" else None
    return tree.Tolerates(toleration.key or None, value, toleration.effect or None)


# --- inactive queues


def _holds(objects: Objects, names: PolicyNames, in_cycles: bool, found: Findings) -> list[tree.AdmissionItem]:
    """A rule for each reason why ClusterQueues are inactive; noted, as a dump may lack what they need."""
    queues: dict[str, list[str]] = {}
    for queue in objects.cluster_queues:
        found.begin("ClusterQueue", queue.name, queue.file)
        for reason in _inactive(queue, objects, in_cycles):
            found.note("", f"is held, as in Kueue: {reason}")
            queues.setdefault(reason, []).append(names.queue(queue.name))
    return [
        tree.AdmissionItem("hold", name(f"inactive-{number}"), tuple(map(name, sorted(queues[reason]))), None, tree.Text(reason))
        for number, reason in enumerate(sorted(queues), start=1)
    ]


def _inactive(queue: ClusterQueue, objects: Objects, in_cycles: bool) -> Iterator[str]:
    checks = {check.name: check.active for check in objects.checks}
    for rule in queue.checks:
        if not checks.get(rule.check, False):
            yield f"{CHECK_INACTIVE}{rule.check} is {'not active' if rule.check in checks else 'not there'}"
    if queue.inactive:
        yield f"{INACTIVE}{queue.inactive}"
    for flavor, topology in lacking(queue, objects):
        yield f"{INACTIVE}topology {topology} of flavor {flavor} is not there"
    if not in_cycles:
        given = {flavor.name for flavor in objects.flavors}
        for flavor in sorted({flavor.flavor for group in queue.groups for flavor in group.flavors} - given):
            yield lacks(flavor)


def lacks(flavor: str) -> str:
    """Why a ClusterQueue is held that names a flavor that is not there."""
    return f"{INACTIVE}flavor {flavor} is not there"
