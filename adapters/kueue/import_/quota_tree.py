"""Cohorts and ClusterQueues as the tree of a policy: quotas, weights, and what each queue says of itself."""

from collections.abc import Iterator
from fractions import Fraction

from ....dsl.syntax import tree
from ..policy_names import PolicyNames
from ..problems import Findings
from ..read.objects import ClusterQueue, KueueCohort, KueueLocalQueue, Objects, ResourceQuota, Selector
from ..read.quantity import number_text, text
from .topologies import gives_nodes
from .tree_shorthands import In, name, number, quota_amount

_TESTS: dict[str, In] = {"In": "in", "NotIn": "not in", "Exists": "exists", "DoesNotExist": "absent"}

_NO_EFFECT = "limits borrowing or lending without a cohort above: that has no effect, and is left out"

QueueStatement = (
    tree.QuotaStatement
    | tree.Weight
    | tree.Queueing
    | tree.FlavorChoice
    | tree.Serves
    | tree.Rather
    | tree.Evicts
    | tree.Stopped
    | tree.Namespaces
    | tree.NeedsCheck
    | tree.ByUsage
    | tree.LocalQueueStatement
)


class QuotaTreeBuilder:
    """Builds the tree; `in_cycles` says that the policy decides as Kueue does, `by_usage` that usage counts."""

    def __init__(self, objects: Objects, names: PolicyNames, found: Findings, in_cycles: bool, by_usage: bool) -> None:
        self.objects, self.names, self.found = objects, names, found
        self.in_cycles, self.by_usage = in_cycles, by_usage
        self.flavors = {flavor.flavor for owner in self._owners() for group in owner.groups for flavor in group.flavors}
        self.owned = _owned_below(objects)
        self.local_queues: dict[str, list[KueueLocalQueue]] = {}
        for local in objects.local_queues:
            self.local_queues.setdefault(local.cluster_queue, []).append(local)

    def _owners(self) -> list[ClusterQueue | KueueCohort]:
        return [*self.objects.cluster_queues, *self.objects.cohorts]

    def items(self) -> list[tree.CohortItem | tree.QueueItem]:
        """What stands at the top: cohorts, then queues, each in order of name."""
        self._note_lost_local_queues()
        cohorts = {cohort.name: cohort for cohort in self.objects.cohorts}
        named = {queue.cohort for queue in self.objects.cluster_queues} | {cohort.parent for cohort in self.objects.cohorts}
        for implicit in sorted(named - {""} - cohorts.keys()):
            cohorts[implicit] = KueueCohort(implicit, "", "", (), Fraction(1))
        below: dict[str, list[KueueCohort]] = {}
        for cohort in sorted(cohorts.values(), key=lambda cohort: cohort.name):
            below.setdefault(cohort.parent, []).append(cohort)
        queues: dict[str, list[ClusterQueue]] = {}
        for queue in sorted(self.objects.cluster_queues, key=lambda queue: queue.name):
            queues.setdefault(queue.cohort, []).append(queue)
        return self._inside("", below, queues)

    def _inside(
        self, cohort: str, below: dict[str, list[KueueCohort]], queues: dict[str, list[ClusterQueue]]
    ) -> list[tree.CohortItem | tree.QueueItem]:
        made: list[tree.CohortItem | tree.QueueItem] = [
            tree.CohortItem(name(self.names.cohort(inner.name)), (*self._of_cohort(inner), *self._inside(inner.name, below, queues)))
            for inner in below.get(cohort, [])
        ]
        return made + [self._queue(queue) for queue in queues.get(cohort, [])]

    def _note_lost_local_queues(self) -> None:
        known = {queue.name for queue in self.objects.cluster_queues}
        for local in self.objects.local_queues:
            if local.cluster_queue not in known:
                self.found.begin("LocalQueue", f"{local.namespace}/{local.name}", local.file)
                self.found.note("spec.clusterQueue", "is not there: the LocalQueue is left out, and its workloads wait")

    # --- cohorts

    def _of_cohort(self, cohort: KueueCohort) -> Iterator[tree.QuotaStatement | tree.Weight]:
        self.found.begin("Cohort", cohort.name, cohort.file)
        yield from self._quotas(cohort, bool(cohort.parent))
        yield from _weight(cohort.weight)

    def _quotas(self, owner: ClusterQueue | KueueCohort, has_parent: bool) -> Iterator[tree.QuotaStatement]:
        """What an owner has of each flavor. Limits count toward a parent only; without one, a policy that decides at once says so."""
        for group in owner.groups:
            for flavor in group.flavors:
                for quota in flavor.quotas:
                    yield from self._quota(owner, quota, flavor.flavor, has_parent)
        if not has_parent and not self.in_cycles:
            yield tree.QuotaStatement("borrows", "nothing", None, None)
            yield tree.QuotaStatement("lends", "nothing", None, None)

    def _quota(
        self, owner: ClusterQueue | KueueCohort, quota: ResourceQuota, flavor: str, has_parent: bool
    ) -> Iterator[tree.QuotaStatement]:
        yield tree.QuotaStatement("owns", "amount", quota_amount(text(quota.nominal, quota.resource), quota.resource), name(flavor))
        limited = quota.borrowing_limit is not None or quota.lending_limit is not None
        if limited and not has_parent:
            self.found.note("spec.resourceGroups", _NO_EFFECT)
            return
        if quota.borrowing_limit is not None:
            amount = quota_amount(text(quota.borrowing_limit, quota.resource), quota.resource)
            yield tree.QuotaStatement("borrows", "up-to", amount, name(flavor))
        if quota.lending_limit is not None and self._may_lend(owner, quota, flavor):
            amount = quota_amount(text(quota.lending_limit, quota.resource), quota.resource)
            yield tree.QuotaStatement("lends", "up-to", amount, name(flavor))

    def _may_lend(self, owner: ClusterQueue | KueueCohort, quota: ResourceQuota, flavor: str) -> bool:
        """Whether to write a lending limit: one above all that is owned has no effect, and a policy that decides at once may not say it.

        A cohort lends of what its queues and cohorts own as well.
        """
        below = self.owned.get((owner.name, flavor, quota.resource), 0) if isinstance(owner, KueueCohort) else 0
        assert quota.lending_limit is not None
        if self.in_cycles or quota.lending_limit <= quota.nominal + below:
            return True
        self.found.note("spec.resourceGroups", "lends more than it owns: that has no effect, and is left out")
        return False

    # --- queues

    def _queue(self, queue: ClusterQueue) -> tree.QueueItem:
        self.found.begin("ClusterQueue", queue.name, queue.file)
        return tree.QueueItem(name(self.names.queue(queue.name)), tuple(self._of_queue(queue)))

    def _of_queue(self, queue: ClusterQueue) -> Iterator[QueueStatement]:
        if not queue.groups:
            yield tree.Serves((), ())
        for group in queue.groups:
            resources = tuple(name(resource) for resource in group.resources)
            yield tree.Serves(resources, tuple(name(flavor.flavor) for flavor in group.flavors))
        yield from self._quotas(queue, bool(queue.cohort))
        yield from _weight(queue.weight)
        if queue.strict:
            yield tree.Queueing(strict=True)
        if queue.try_next_when_borrowing:
            yield tree.FlavorChoice("borrowing", next_flavor=True)
        if not queue.try_next_when_evicting:
            yield tree.FlavorChoice("evicting", next_flavor=False)
        yield from self._as_in_cycles(queue)
        yield from _namespaces(queue.selector)
        if queue.stop != "None":
            yield tree.Stopped(drained=queue.stop == "HoldAndDrain")
        for local in sorted(self.local_queues.get(queue.name, []), key=lambda local: (local.namespace, local.name)):
            yield _local_queue(local)

    def _as_in_cycles(self, queue: ClusterQueue) -> Iterator[QueueStatement]:
        """What only a policy that decides in cycles can say; noted where this one does not."""
        said = [
            *(("spec.preemption", statement) for statement in _evicts(queue)),
            *((("spec.flavorFungibility.preference", tree.Rather("evict")),) if queue.evict_rather_than_borrow else ()),
            *(("spec.admissionChecksStrategy", statement) for statement in self._checks(queue)),
            *((("spec.admissionScope", tree.ByUsage()),) if queue.by_usage else ()),
        ]
        for field, statement in said:
            if not self.in_cycles:
                self.found.note(field, "cannot be said in a policy that decides at once: it is left out")
            elif isinstance(statement, tree.ByUsage) and not self.by_usage:
                self.found.note(field, "has no effect without admissionFairSharing in the Configuration: it is left out")
            else:
                yield statement

    def _checks(self, queue: ClusterQueue) -> Iterator[tree.NeedsCheck]:
        for rule in queue.checks:
            flavors = tuple(name(flavor) for flavor in rule.flavors if flavor in self.flavors)
            if flavors or not rule.flavors:
                yield tree.NeedsCheck(name(rule.check), flavors, gives_nodes(queue, rule, self.objects))
            if len(flavors) < len(rule.flavors):
                self.found.note("spec.admissionChecksStrategy", "names flavors on which nothing has a quota: there the check never counts")


def _owned_below(objects: Objects) -> dict[tuple[str, str, str], int]:
    """What the ClusterQueues and Cohorts below each Cohort own, by its name, flavor and resource."""
    parents = {cohort.name: cohort.parent for cohort in objects.cohorts}
    owners = [*((queue.cohort, queue.groups) for queue in objects.cluster_queues), *((one.parent, one.groups) for one in objects.cohorts)]
    total: dict[tuple[str, str, str], int] = {}
    for above, groups in owners:
        while above:
            for flavor in (flavor for group in groups for flavor in group.flavors):
                for quota in flavor.quotas:
                    slot = (above, flavor.flavor, quota.resource)
                    total[slot] = total.get(slot, 0) + quota.nominal
            above = parents.get(above, "")
    return total


def _weight(weight: Fraction) -> Iterator[tree.Weight]:
    if weight != 1:
        yield tree.Weight(number(number_text(weight)))


def _evicts(queue: ClusterQueue) -> Iterator[tree.Evicts]:
    """Whom the queue may evict."""
    if queue.within != "Never":
        yield tree.Evicts("own", "lower" if queue.within == "LowerPriority" else "lower-or-newer")
    if queue.reclaim != "Never":
        yield tree.Evicts("reclaims", "lower" if queue.reclaim == "LowerPriority" else "any")
    if queue.borrow != "Never":
        up_to = None if queue.borrow_up_to is None else number(str(queue.borrow_up_to))
        yield tree.Evicts("borrowing", "lower", up_to)


def _namespaces(selector: Selector | None) -> Iterator[tree.Namespaces]:
    """Which namespaces may come: nothing is said where all may, and without a selector none may."""
    if selector is None:
        yield tree.Namespaces(())
    elif selector.requirements:
        yield tree.Namespaces(
            tuple(
                tree.LabelTest(tree.Text(wanted.key), _TESTS[wanted.operator], tuple(tree.Text(value) for value in wanted.values))
                for wanted in selector.requirements
            )
        )


def _local_queue(local: KueueLocalQueue) -> tree.LocalQueueStatement:
    stopped = () if local.stop == "None" else (tree.Stopped(drained=local.stop == "HoldAndDrain"),)
    return tree.LocalQueueStatement(name(f"{local.namespace}/{local.name}"), (*_weight(local.weight), *stopped))
