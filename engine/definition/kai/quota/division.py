"""KAI's division of fair shares: what is owned first, the rest by weight in whole units, level by level in the quota tree.

KAI: pkg/scheduler/plugins/proportion/resource_division/resource_division.go. There amounts are float64; here they are integers in the
smallest unit, and every quotient is an exact fraction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...session.pods import PodAmounts, PodStatus
from ...session.quota_nodes import ROOT, QuotaNode
from ...session.session import Session

USAGE_WEIGHT = Fraction(1)
"""How much past usage counts by default: KAI's `kValue`."""


@dataclass(frozen=True, slots=True)
class ShareClaim:
    """What one queue brings to the division of one resource.

    `owned` (None: as much as there is) and `limit` (None: none) are its quota, `asked` is what its workloads hold and wait for. `usage` is
    its past usage, as a share of what the cluster had. Of two queues the one with less `created` is older; `name` decides ties.
    """

    name: str
    owned: int | None
    limit: int | None
    weight: Fraction
    asked: int
    priority: int = 0
    created: int = 0
    usage: Fraction = Fraction(0)

    @property
    def grantable(self) -> int:
        """What it can be given at most (KAI: GetRequestableShare)."""
        return self.asked if self.limit is None else min(self.limit, self.asked)


def divide(total: int, claims: Sequence[ShareClaim], usage_weight: Fraction = USAGE_WEIGHT, unit: int = 1) -> tuple[list[int], int]:
    """The fair share of each claim, in their order, and what is left over (KAI: setResourceShare).

    What is owned is given even where it adds up to more than there is: quotas are not scaled down.
    """
    shares = [min(total if each.owned is None else each.owned, each.grantable) for each in claims]
    left = total - sum(shares)
    return divide_rest(left, claims, shares, usage_weight, unit) if left > 0 else (shares, 0)


def divide_rest(
    left: int, claims: Sequence[ShareClaim], shares: Sequence[int], usage_weight: Fraction = USAGE_WEIGHT, unit: int = 1
) -> tuple[list[int], int]:
    """Give what is left to those who want more than their `shares`, those of high priority first (KAI: divideOverQuotaResource).

    Within a priority by weight and in whole units of `unit`; what the rounding left goes unit by unit to the largest remainders.
    """
    shares = list(shares)
    remainders = [Fraction(0)] * len(claims)
    groups = [
        [index for index, each in enumerate(claims) if each.priority == priority]
        for priority in sorted({each.priority for each in claims}, reverse=True)
    ]
    for group in groups:
        left = _divide_by_weight(left, claims, group, shares, remainders, usage_weight, unit)
    for group in groups:
        rounded = [index for index in group if remainders[index]]
        for index in sorted(rounded, key=lambda each: (-remainders[each], claims[each].created, claims[each].name, each)):
            more = max(min(unit, left), 0)
            shares[index] += more
            left -= more
    return shares, left


def fair_shares(session: Session, usage_weight: Fraction = USAGE_WEIGHT, units: Sequence[int] = ()) -> tuple[PodAmounts, ...]:
    """What each quota node is due of each resource as the session stands, by their numbers; the root is due all there is.

    `units` are the whole units in which each resource is divided (none given: 1 of each). To be asked before any pass has changed the
    session: KAI divides once for each of its sessions (KAI: proportion.go, createQueueAttributes and setFairShareForQueues).
    """
    resources = range(len(session.resources))
    asked = requested(session)
    total = tuple(sum(node.capacity[resource] for node in session.nodes) for resource in resources)
    shares: list[PodAmounts] = [tuple(0 for _ in resources) for _ in session.quota_nodes]
    shares[ROOT] = total
    below = [ROOT]
    for number in below:  # grows as it goes
        parent = session.quota_nodes[number]
        by_resource = []
        for resource in resources:
            claims = [_claim(session.quota_nodes[child], resource, asked[child][resource]) for child in parent.children]
            unit = units[resource] if units else 1
            by_resource.append(divide(shares[parent.number][resource], claims, usage_weight, unit)[0])
        for position, child in enumerate(parent.children):
            shares[child] = tuple(of_resource[position] for of_resource in by_resource)
            below.append(child)
    return tuple(shares)


def requested(session: Session) -> list[list[int]]:
    """What workloads below each quota node hold and wait for; pods that stop are not counted."""
    sums = [list(held) for held in session.held]
    for pod in session.pods:
        queue = session.workload_of(pod).queue
        if pod.status is PodStatus.WAITING and queue >= 0:
            for node in session.paths[queue]:
                for resource, amount in enumerate(pod.requests):
                    sums[node][resource] += amount
    return sums


def _claim(node: QuotaNode, resource: int, asked: int) -> ShareClaim:
    return ShareClaim(node.name, node.owned[resource], node.limit[resource], node.weight[resource], asked, node.priority, node.created)


def _divide_by_weight(
    left: int,
    claims: Sequence[ShareClaim],
    group: Sequence[int],
    shares: list[int],
    remainders: list[Fraction],
    usage_weight: Fraction,
    unit: int,
) -> int:
    """Raise the `shares` of a group by weight, in rounds; gives what is left. `remainders` tells by how much each was rounded down.

    A round divides what was left when it began. Another one follows where someone got all that it wanted (KAI: divideUpToFairShare).
    """
    while left:
        unmet = [index for index in group if shares[index] < claims[index].grantable]
        weights = _weights([claims[index] for index in unmet], usage_weight)
        whole = sum(weights, Fraction(0))
        if not whole:
            break
        budget, again = left, False
        for index, weight in zip(unmet, weights, strict=True):
            if not left or not claims[index].weight:
                continue
            wanted = claims[index].grantable - shares[index]
            due = budget * weight / whole  # exact
            if wanted <= due:
                given, remainders[index] = wanted, Fraction(0)
            else:
                given = max(due // unit * unit, 0)
                # A remainder of an earlier round stays where this one is divided without any, as in the original.
                remainders[index] = due - given if due > given else remainders[index]
            shares[index] += given
            left -= given
            again = again or (given > 0 and wanted < due)
        if not again:
            break
    return left


def _weights(unmet: Sequence[ShareClaim], usage_weight: Fraction) -> list[Fraction]:
    """The weight of each claim that is not met, corrected by past usage (KAI: calcShareWeights)."""
    whole = sum((each.weight for each in unmet), Fraction(0))
    if not whole:
        return [Fraction(0)] * len(unmet)
    parts = [each.weight / whole for each in unmet]  # exact
    return [max(Fraction(0), part + usage_weight * (part - each.usage)) for each, part in zip(unmet, parts, strict=True)]
