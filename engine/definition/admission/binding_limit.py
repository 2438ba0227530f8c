"""The limit that binds: which of all limits on the way up the tree keeps a queue from what it asks for."""

from dataclasses import replace

from ...outcome.decision import BindingLimit, tightest
from ...outcome.nomination import Attempt, Nomination, Obstacle, Request
from ..state.state import ActivePolicy


def binding_limit(policy: ActivePolicy, nomination: Nomination) -> BindingLimit | None:
    """The limit that binds: of what asks for more than could ever be, else of the slots on which others have to go, the tightest."""
    flavors = nomination.flavors
    obstacles = [(each, policy.slot(each.flavor, each.resource)) for pods in flavors.pod_sets for each in pods.obstacles if each.by_quota]
    exceeding = [each for each in obstacles if each[0].kind == "exceeds" and flavors.reason == "ExceedsMaxQuota"]
    needing = [each for each in obstacles if each[1] in flavors.needing]
    short = [each for each in obstacles if each[0].kind == "short"]
    return tightest([_met(policy, nomination.queue, obstacle) for obstacle, _ in exceeding or needing or short or obstacles])


def attempt_limits(policy: ActivePolicy, queue: int, attempt: Attempt) -> list[BindingLimit]:
    """Every limit that a flavor that was tried is short of."""
    return [_met(policy, queue, obstacle) for obstacle in attempt.obstacles if obstacle.by_quota]


def _met(policy: ActivePolicy, queue: int, obstacle: Obstacle) -> BindingLimit:
    """The limit that an obstacle of quota met."""
    slot = policy.slot(obstacle.flavor, obstacle.resource)
    assert slot is not None
    find = limit_now if obstacle.kind == "short" else limit_at_most
    limit = find(policy, queue, slot, obstacle.assumed + obstacle.asked)
    return replace(limit, available=min(limit.available, obstacle.limit))  # in the middle of a cycle there may have been less


def limit_on(policy: ActivePolicy, queue: int, request: Request) -> BindingLimit | None:
    """The limit that keeps a queue from a request now: of all slots that are short the tightest; None where it fits."""
    short = [(slot, amount) for slot, amount in request if amount > policy.tree.room(queue, slot)]
    return tightest([limit_now(policy, queue, slot, amount) for slot, amount in short])


def limit_now(policy: ActivePolicy, queue: int, slot: int, asked: int) -> BindingLimit:
    """The limit on what a queue may use of a slot as things stand."""
    binding = policy.tree.binding(queue, slot)
    return BindingLimit(binding.node, binding.limit, slot, asked, binding.available)


def limit_at_most(policy: ActivePolicy, queue: int, slot: int, asked: int) -> BindingLimit:
    """The limit on what a queue could use of a slot were everything else idle."""
    tree, most = policy.tree, max(0, policy.tree.most(queue, slot))
    if not tree.forest and tree.capacity[slot] <= tree.potential[queue][slot]:
        return BindingLimit(0, "capacity", slot, asked, most)
    for node in tree.paths[queue][:-1]:
        limit = policy.graph.nodes[node].quotas[slot].borrowing_limit
        if limit is not None and tree.potential[node][slot] == tree.subtree[node][slot] + limit:
            return BindingLimit(node, "borrowing", slot, asked, most)
    return BindingLimit(tree.paths[queue][-1], "owned", slot, asked, most)
