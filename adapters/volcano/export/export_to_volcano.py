"""The export: from a policy to Volcano's Queues, PriorityClasses and HyperNodes, with notes about what they say less well.

Nothing is dropped silently or exported partly. `docs/volcano.md` lists what becomes of each construct.
"""

from dataclasses import dataclass

from ....engine.policy_graph import PolicyGraph
from ...kueue.export.export_policy import GPU
from ...kueue.export.kubernetes_names import is_label_key, is_subdomain, place, suggestion
from ...kueue.export.yaml_text import Object, json_list, yaml_documents
from ...kueue.problems import ConversionNote, ExportRefused, Findings
from ..queue_names import ROOT_QUEUE, volcano_name
from ..read.resource_lists import counts
from .hyper_node_objects import Nodes, hyper_node_objects, report_placed
from .priority_objects import priority_classes
from .queue_objects import QueueObjects
from .unsaid import refuse_cycles, report_unsaid
from .volcano_evictions import volcano_evictions
from .volcano_quotas import SubtreeQuotas

__all__ = ["GPU", "ExportRefused", "VolcanoExport", "export_to_volcano", "json_list", "yaml_documents"]


@dataclass(frozen=True, slots=True)
class VolcanoExport:
    """Objects in the order in which to apply them, and notes."""

    objects: list[Object]
    notes: list[ConversionNote]


def export_to_volcano(
    graph: PolicyGraph, gpu: str = GPU, sum_flavors: bool = False, nodes: Nodes | None = None, quotas_alone: bool = False
) -> VolcanoExport:
    """The objects of a policy: PriorityClasses, and Queues, those above others first; and HyperNodes, those below others first.

    `gpu` is what the resource `gpu` is called. With `sum_flavors` the quotas of several flavors of a resource are one sum. `nodes` are
    those of the cluster, which HyperNodes need; with `quotas_alone` there are none. What is Volcano's default is left out. Raises
    ExportRefused, with all problems found.
    """
    found = Findings()
    refuse_cycles(graph, found)
    found.check(ExportRefused)
    resources = {resource: gpu if resource == "gpu" else resource for resource in sorted({slot.resource for slot in graph.slots})}
    _check_names(graph, found)
    _check_resources(graph, resources, found)
    evictions = volcano_evictions(graph, found)
    report_unsaid(graph, evictions, found)
    report_placed(graph, nodes, quotas_alone, found)
    quotas = SubtreeQuotas(graph, resources, sum_flavors, found)
    objects = [*priority_classes(graph, found), *QueueObjects(graph, quotas, evictions, found).objects()]
    objects += hyper_node_objects(graph, nodes, found) if nodes is not None and not quotas_alone else ()
    found.check(ExportRefused)
    return VolcanoExport(objects, found.notes())


def _check_names(graph: PolicyGraph, found: Findings) -> None:
    """Report every name that Kubernetes or Volcano does not allow, or that two Queues would share."""
    taken: dict[str, str] = {}
    for node in graph.nodes[1:]:
        name = volcano_name(node.name)
        found.begin("queue" if node.is_queue else "cohort", node.name, place(node.source))
        if not is_subdomain(name):
            found.problem("", "is no name that Kubernetes allows", f"call it `{suggestion(name, taken)}`, for instance")
        elif name == ROOT_QUEUE:
            found.problem("", f"is called as the {ROOT_QUEUE} of Volcano's tree", "give it another name")
        elif name in taken:
            found.problem("", f"would be called `{name}`, as {taken[name]} is", f"call it `{suggestion(name, taken)}`, for instance")
        taken.setdefault(name, f"`{node.name}`")


def _check_resources(graph: PolicyGraph, resources: dict[str, str], found: Findings) -> None:
    """Report resources that no pod can ask for, so that a quota of them would have no effect, and two of one name."""
    for resource, called in resources.items():
        found.begin("resource", resource, place(graph.nodes[0].source))
        if not is_label_key(called) or not counts(called):
            cause = f"would be called `{called}`, which Volcano does not count: no pod can ask for it"
            found.problem("", cause, "use cpu, memory, or a name with a domain, such as nvidia.com/gpu")
        elif list(resources.values()).count(called) > 1:
            found.problem("", f"would be called `{called}`, as another one is", "keep one of the two, or export gpu by another name")
