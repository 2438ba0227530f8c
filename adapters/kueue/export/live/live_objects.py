"""The live export: what is to be applied in a cluster before `gpol serve` works there.

Where gpol decides: an AdmissionCheck, wide ClusterQueues, LocalQueues, priorities, and rights. Where gpol guards quotas, it applies the
objects of the policy by itself, and only the rights are exported.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .....engine.policy_graph import PolicyGraph
from ....kubernetes.nodes import follows_nodes
from ...policy_names import kueue_name
from ...problems import ExportRefused, Findings
from ..cluster_queues import plain
from ..export_policy import GPU, Exported, priority_class
from ..kubernetes_names import NameCheck, is_label_key, is_namespace, is_subdomain, place
from ..local_queues import entries
from ..yaml_text import Object
from .access_rights import AccessChoices, LiveWay, access_objects
from .not_honoured import report_not_honoured
from .wide_queues import admission_check, covered_resources, wide_flavor, wide_queues

CHECK, NAMESPACE = "gpol", "gpol-system"
"""What the AdmissionCheck and gpol's namespace are called, where the caller does not say otherwise."""


@dataclass(frozen=True, slots=True)
class LiveChoices:
    """What the objects are to be like.

    `gpu` is what the resource `gpu` is called, `cover` are further resources that pods may ask for. `reviews` and `deletes` are rights
    that gpol needs for some of its settings.
    """

    way: LiveWay = "decide"
    check: str = CHECK
    namespace: str = NAMESPACE
    gpu: str = GPU
    cover: Sequence[str] = ()
    reviews: bool = False
    deletes: bool = False


def export_live(graph: PolicyGraph, choices: LiveChoices) -> Exported:
    """The objects by which gpol comes to work in a cluster, in the order in which to apply them.

    Raises ExportRefused, with all problems found.
    """
    found = Findings()
    _check_choices(choices, found)
    nodes = follows_nodes(graph)
    access = AccessChoices(choices.way, choices.namespace, choices.check, choices.reviews, choices.deletes, nodes)
    objects = [*access_objects(access), *(_to_decide(graph, choices, found) if choices.way == "decide" else ())]
    found.check(ExportRefused)
    return Exported(objects, found.notes())


def _check_choices(choices: LiveChoices, found: Findings) -> None:
    """Report names that Kubernetes does not allow."""
    letters = "use small letters, digits and `-`"
    found.begin("", "", "--check")
    if not is_subdomain(choices.check):
        found.problem("", f"`{choices.check}` is no name of an AdmissionCheck", f"{letters}, at most 253 of them")
    found.begin("", "", "--namespace")
    if not is_namespace(choices.namespace):
        found.problem("", f"`{choices.namespace}` is no name of a namespace", f"{letters}, at most 63 of them")
    found.begin("", "", "--cover")
    for resource in choices.cover:
        if not is_label_key(resource):
            found.problem("", f"`{resource}` is no name of a resource", "write it as pods do, such as `example.com/fpga`")


def _to_decide(graph: PolicyGraph, choices: LiveChoices, found: Findings) -> list[Object]:
    """What Kueue needs so that it asks gpol about every workload."""
    resources = {slot.resource: choices.gpu if slot.resource == "gpu" else slot.resource for slot in graph.slots}
    NameCheck(graph, resources, False, found).check_for_live()
    report_not_honoured(graph, found)
    covered = covered_resources(graph, list(resources.values()), choices.cover, found)
    return [
        admission_check(choices.check),
        wide_flavor(),
        *(priority_class(priority) for priority in graph.priorities),
        *wide_queues(graph, covered, choices.check, found),
        *_local_queues(graph, found),
    ]


def _local_queues(graph: PolicyGraph, found: Findings) -> list[Object]:
    """The LocalQueues. What the policy says of them beyond their names, gpol counts itself: Kueue would only be in its way."""
    named = [(local, queue) for queue in graph.queues for local in queue.local_queues]
    made = []
    for local, queue in sorted([*named, *entries(graph, found)], key=lambda entry: entry[0].name.split("/")):
        found.begin("local queue", local.name, place(local.source))
        namespace, _, name = local.name.partition("/")
        made.append(plain("LocalQueue", name, namespace, spec={"clusterQueue": kueue_name(graph.nodes[queue.node].name)}))
    return made
