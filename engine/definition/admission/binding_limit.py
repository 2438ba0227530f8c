"""The limit that binds: which of all limits on the way up the tree keeps a queue from what it asks for."""

from dataclasses import replace

from ...outcome.decision import BindingLimit, tightest
from ...outcome.nomination import Attempt, Nomination, Obstacle, Request
from ..state.state import ActivePolicy


def binding_limit(policy: ActivePolicy, nomination: Nomination) -> BindingLimit | None:
    """The tightest limit of what asks for more than could ever be; else the tightest of the slots on which others have to go."""
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
    find = policy.tree.binding if obstacle.kind == "short" else policy.tree.binding_at_most
    limit = find(queue, slot, obstacle.assumed + obstacle.asked)
    return replace(limit, available=min(limit.available, obstacle.limit))  # in the middle of a cycle there may have been less


def limit_on(policy: ActivePolicy, queue: int, request: Request) -> BindingLimit | None:
    """The limit that keeps a queue from a request now: of all slots that are short the tightest; None where it fits."""
    short = [(slot, amount) for slot, amount in request if amount > policy.tree.room(queue, slot)]
    return tightest([policy.tree.binding(queue, slot, amount) for slot, amount in short])
