"""Whether the ClusterQueues of a cluster in which gpol decides, and the queues of a policy, belong together."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from ...engine.policy_graph import PolicyGraph
from ..kubernetes.access import missing_rights, rights
from ..kubernetes.api import Api
from ..kubernetes.reflector import key_of
from .live.learned import queues_by_cluster_queue
from .live.protocol import LOCAL_QUEUE
from .policy_names import kueue_name


async def entries_of(api: Api, graph: PolicyGraph) -> dict[str, str] | None:
    """The ClusterQueues to which LocalQueues of the policy lead, by their names; None where gpol may not list these. Raises ApiError."""
    if not graph.doors.by_local_queue:
        return {}
    if await missing_rights(api, rights(("list",), LOCAL_QUEUE)):
        return None
    listed = {key_of(item): str((item.get("spec") or {}).get("clusterQueue", "")) for item in (await api.list_all(LOCAL_QUEUE)).items}
    return {name: listed[name] for name in listed if name in graph.doors.by_local_queue}


def unmatched(
    graph: PolicyGraph, check: str, checked: Sequence[str], there: Collection[str], entries: Mapping[str, str] | None
) -> Iterator[str]:
    """What does not belong together, a line each with what to do.

    `checked` are the ClusterQueues that need gpol's check, `there` all of them, and `entries` those of `entries_of`. Nothing is said of
    those about which match rules, or LocalQueues that are not known, may decide.
    """
    has_rules = any(queue.matches for queue in graph.queues)
    named = queues_by_cluster_queue(graph)
    for name in checked:
        if name not in named and not has_rules and entries is not None and name not in entries.values():
            cause = f"needs `{check}`, and no queue of the policy is for it: none is called so, or has a LocalQueue that leads there"
            yield f"ClusterQueue `{name}` {cause}; whoever waits there is turned away. Give the policy such a queue, or take the check out"
    for queue in graph.queues:
        name = graph.nodes[queue.node].name
        cluster_queue = kueue_name(name)
        by_entry = any(entries is None or entries.get(local.name) in checked for local in queue.local_queues)
        if cluster_queue in checked or queue.matches or by_entry:
            continue
        if cluster_queue in there:
            yield f"queue `{name}`: its ClusterQueue `{cluster_queue}` does not need `{check}`, so Kueue decides there; add the check"
        else:
            yield f"queue `{name}` has no ClusterQueue `{cluster_queue}` in the cluster; `gpol export kueue --live` writes it"
