"""The export: from a policy to Kueue's objects, with notes about what they cannot express. Nothing is dropped silently or exported partly.

`docs/kueue.md` lists how each construct of the language is exported.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from ....engine.nodes.conditions import Taint, Toleration
from ....engine.policy_graph import Flavor, PolicyGraph, PriorityClass
from ....engine.policy_settings import Usage
from ..import_.excluded_resources import shortest
from ..problems import ConversionNote, ExportRefused, Findings
from ..read.configuration import STRATEGIES
from ..read.kinds import CONFIG_KEY, CONFIG_MAP, CONFIG_NAMESPACE
from .amounts import duration_text
from .cluster_queues import QueueWriter, plain
from .kubernetes_names import NameCheck, place
from .preemption_settings import PreemptionSettings, preemption_settings
from .resource_groups import Quotas
from .topology_objects import report_placed, topology_name, topology_objects
from .unsupported_rules import stops
from .yaml_text import Object, json_list, yaml_document, yaml_documents

__all__ = ["GPU", "ExportRefused", "Exported", "export", "json_list", "yaml_documents"]

GPU = "nvidia.com/gpu"
"""What gpol's resource `gpu` is called in Kueue, where the caller does not say otherwise."""

_CONFIGURATION = "config.kueue.x-k8s.io/v1beta2"
_MANAGER = (
    f"needs the Configuration in ConfigMap {CONFIG_MAP}, which replaces the present one when it is applied: "
    "put what else your manager's says into it first, and restart the manager, which reads it when it starts"
)
_STRATEGIES = dict(zip(("final-share", "initial-share"), STRATEGIES, strict=True))


@dataclass(frozen=True, slots=True)
class Exported:
    """Objects in the order in which to apply them, the ConfigMap of the manager's Configuration last where there is one; and notes."""

    objects: list[Object]
    notes: list[ConversionNote]


def export(graph: PolicyGraph, gpu: str = GPU) -> Exported:
    """The objects of a policy: Topologies, ResourceFlavors, priorities, Cohorts, ClusterQueues, LocalQueues, and the ConfigMap.

    `gpu` is what the resource `gpu` is called. What is Kueue's default is left out. Raises ExportRefused, with all problems found.
    """
    found = Findings()
    resources = {resource: gpu if resource == "gpu" else resource for resource in _resources(graph)}
    quotas = Quotas(graph, resources, found)
    NameCheck(graph, resources, quotas.has_root, found).check()
    chosen, stopped = preemption_settings(graph, found), stops(graph, found)
    writer = QueueWriter(graph, quotas, chosen, stopped, found)
    objects = [
        *topology_objects(graph, found),
        *_flavors(graph, stopped.lacking, found),
        *(priority_class(priority) for priority in graph.priorities),
        *writer.cohorts(),
        *writer.cluster_queues(),
        *writer.local_queues(),
        *_configuration(graph, chosen, resources, found),
    ]
    found.check(ExportRefused)
    return Exported(objects, found.notes())


def _resources(graph: PolicyGraph) -> list[str]:
    """All resources that the policy speaks of."""
    usage = graph.settings.cycles.usage if graph.settings.cycles is not None else None
    weighed = [resource for resource, _ in usage.weights] if usage is not None else []
    return sorted({*(slot.resource for slot in graph.slots), *weighed})


# --- what exists ------------------------------------------------------------------------------------------------------


def _flavors(graph: PolicyGraph, lacking: Collection[str], found: Findings) -> Iterator[Object]:
    by_share = graph.settings.share != "none" and graph.settings.cycles is None
    weighed = by_share and len({flavor.worth for flavor in graph.flavors}) > 1
    for flavor in graph.flavors:
        found.begin("flavor", flavor.name, place(flavor.source))
        if weighed and flavor.worth != 1:
            found.note("worth", f"is {flavor.worth} here; Kueue counts all flavors alike in shares")
        if flavor.nodes is not None:
            found.note("from nodes", "has more than is owned as its nodes come; Kueue knows only what is owned")
        if flavor.missing or flavor.name in lacking:
            found.note("missing", "is not exported: the queues that serve it admit nothing, in Kueue too")
        else:
            report_placed(graph, flavor, found)
            yield plain("ResourceFlavor", flavor.name, spec={**_flavor(flavor), **topology_name(graph, flavor)})


def _flavor(flavor: Flavor) -> Object:
    labels = dict([*flavor.labels, *(flavor.nodes or ())])
    return {
        **({"nodeLabels": {key: labels[key] for key in sorted(labels)}} if labels else {}),
        **({"nodeTaints": [_taint(taint) for taint in flavor.taints]} if flavor.taints else {}),
        **({"tolerations": [_toleration(one) for one in flavor.tolerations]} if flavor.tolerations else {}),
    }


def _taint(taint: Taint) -> Object:
    return {"key": taint.key, **({"value": taint.value} if taint.value else {}), "effect": taint.effect}


def _toleration(one: Toleration) -> Object:
    return {
        **({"key": one.key} if one.key else {}),
        "operator": one.operator,
        **({"value": one.value} if one.value else {}),
        **({"effect": one.effect} if one.effect else {}),
    }


def priority_class(priority: PriorityClass) -> Object:
    """A priority as a WorkloadPriorityClass."""
    return plain("WorkloadPriorityClass", priority.name, value=priority.value)


# --- Configuration ----------------------------------------------------------------------------------------------------


def _configuration(graph: PolicyGraph, chosen: PreemptionSettings, resources: dict[str, str], found: Findings) -> Iterator[Object]:
    """The manager's Configuration in its ConfigMap, where the policy needs one."""
    found.begin("policy", graph.name, place(graph.nodes[0].source))
    if graph.settings.placing:
        found.note("place pods", "is left out: Kueue places pods in its own way")
    if graph.settings.lost_nodes:
        found.note("when a node is lost", "is left out: what Kueue does then is said by the feature gates of its manager")
    if graph.settings.shrinks_first:
        found.note("shrink before evicting", "is left out: Kueue has no surplus of pods, and evicts whole workloads")
    said: Object = {}
    if chosen.strategies:
        said["fairSharing"] = {"preemptionStrategies": [_STRATEGIES[strategy] for strategy in chosen.strategies]}
    if graph.settings.cycles is not None and graph.settings.cycles.usage is not None:
        said["admissionFairSharing"] = _usage(graph.settings.cycles.usage, resources, found)
    if graph.ignored:
        said["resources"] = {"excludeResourcePrefixes": _excluded(graph, resources, found)}
    if said:
        found.note("", _MANAGER)
        metadata = {"name": CONFIG_MAP, "namespace": CONFIG_NAMESPACE}
        text = yaml_document({"apiVersion": _CONFIGURATION, "kind": "Configuration", **said})
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {CONFIG_KEY: text}}


def _usage(usage: Usage, resources: dict[str, str], found: Findings) -> Object:
    made: Object = {"usageHalfLifeTime": duration_text(usage.half_life), "usageSamplingInterval": duration_text(usage.sampling)}
    if usage.weights:
        made["resourceWeights"] = {resources[resource]: _number(weight, resource, found) for resource, weight in usage.weights}
    return made


def _number(weight: Fraction, resource: str, found: Findings) -> int | float:
    """A weight as Kueue reads it: a whole number, or the double that is written with the same digits."""
    if weight.denominator == 1:
        return weight.numerator
    near = float(weight)
    if Fraction(repr(near)) != weight:
        cause = f"counts {resource} for {weight}, which no decimal number says exactly"
        found.problem("usage weighs", cause, f"multiply all weights by {weight.denominator}: only their ratio counts")
    return near


def _excluded(graph: PolicyGraph, resources: dict[str, str], found: Findings) -> list[str]:
    """The resources that are not counted; Kueue leaves out all whose names begin so."""
    prefixes = list(shortest(graph.ignored))
    for ignored in prefixes:
        lost = [name for name in sorted(resources.values()) if name.startswith(ignored)]
        if lost:
            cause = f"leaves {ignored} out, and Kueue would leave {lost[0]} out with it, which begins so"
            found.problem("ignore", cause, f"call {lost[0]} otherwise, or do not ignore {ignored}")
        found.note("ignore", f"leaves out {ignored}, and in Kueue all resources whose names begin so")
    return prefixes
