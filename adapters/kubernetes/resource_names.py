"""What resources are called in a policy and in a cluster: a policy's `gpu` has the name there that its vendor gave it."""

from collections.abc import Mapping

from ...engine.policy_graph import PolicyGraph

_MILLI = 1000
"""A policy counts GPUs in thousandths, and a cluster whole ones."""


def names_in_cluster(gpu: str) -> dict[str, str]:
    """What resources of a policy are called in a cluster, where that is another name."""
    return {"gpu": gpu}


def in_policy_names(amounts: Mapping[str, int], graph: PolicyGraph, names: Mapping[str, str]) -> dict[str, int]:
    """Amounts by the policy's names of resources. `names` says what those are called in the cluster, where that is another name."""
    known = {slot.resource for slot in graph.slots} | set(graph.ignored)
    ours = {theirs: name for name, theirs in names.items() if name in known}
    found = {ours.get(name, name): amounts[name] * (_MILLI if ours.get(name) == "gpu" else 1) for name in amounts}
    return {name: found[name] for name in sorted(found)}


def in_cluster_names(amounts: Mapping[str, int], names: Mapping[str, str]) -> dict[str, int]:
    """Amounts by what resources are called in the cluster, whichever policy they were counted by: `in_policy_names` backwards."""
    found = {names.get(name, name): amount // _MILLI if name == "gpu" and name in names else amount for name, amount in amounts.items()}
    return {name: found[name] for name in sorted(found)}
