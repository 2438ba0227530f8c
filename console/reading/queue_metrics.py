"""The figures of all queues for Prometheus: what they own, use, borrow and lend, and who runs and waits. Amounts are in whole units."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ...engine.cores import Core
from ...engine.explain.holding import hold_standing
from ...engine.units import scale_of
from ...sim.measure.cluster_figures import ClusterFigures, cluster_of, is_held
from .journal_follower import Followed

IN_LINE = "InLine"
"""The reason of those who wait in the line of their queue, where nothing was found out about them: `explain` finds it out."""


def queue_metrics(followed: Followed) -> bytes:
    """The figures in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(followed.core))
    return generate_latest(registry)


class _Figures(Collector):
    def __init__(self, core: Core) -> None:
        self._core = core

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """All figures."""
        cluster = cluster_of(self._core)
        yield GaugeMetricFamily("gpol_figures_seq", "The event after which the figures of queues are.", value=cluster.seq)
        yield from _capacity(cluster)
        yield from _holdings(cluster)
        yield _workloads(cluster)
        yield _waiting(self._core)


def _capacity(cluster: ClusterFigures) -> Iterator[GaugeMetricFamily]:
    exists = GaugeMetricFamily("gpol_capacity", "What exists of a resource of a flavor.", labels=("flavor", "resource"))
    used = GaugeMetricFamily("gpol_capacity_used", "What is in use of a resource of a flavor.", labels=("flavor", "resource"))
    for each in cluster.capacity:
        exists.add_metric((each.flavor, each.resource), each.exists / scale_of(each.resource))
        used.add_metric((each.flavor, each.resource), each.used / scale_of(each.resource))
    yield from (exists, used)


def _holdings(cluster: ClusterFigures) -> Iterator[GaugeMetricFamily]:
    labels = ("queue", "flavor", "resource")
    owned = GaugeMetricFamily("gpol_queue_owned", "What a queue owns.", labels=labels)
    used = GaugeMetricFamily("gpol_queue_used", "What a queue uses.", labels=labels)
    borrowed = GaugeMetricFamily("gpol_queue_borrowed", "What a queue uses beyond what it owns.", labels=labels)
    lent = GaugeMetricFamily("gpol_queue_lent", "What others use of what a queue owns.", labels=labels)
    for place in cluster.places:
        for each in place.holdings if place.is_queue else ():
            scale = scale_of(each.resource)
            for family, amount in ((owned, each.owns), (used, each.uses), (borrowed, each.borrows), (lent, each.lends)):
                family.add_metric((place.name, each.flavor, each.resource), amount / scale)
    yield from (owned, used, borrowed, lent)


def _workloads(cluster: ClusterFigures) -> GaugeMetricFamily:
    """By queue and state; each workload is counted once. Those that belong to no queue have the queue \"\"."""
    family = GaugeMetricFamily("gpol_queue_workloads", "The workloads of a queue that are not over.", labels=("queue", "state"))
    for place in cluster.places:
        if place.is_queue:
            for state, count in (("running", place.running), ("waiting", place.waiting - place.held), ("held", place.held)):
                family.add_metric((place.name, state), count)
    family.add_metric(("", "waiting"), cluster.in_no_queue)
    return family


def _waiting(core: Core) -> GaugeMetricFamily:
    """By what is known without finding out anything: what holds them, or what the last cycle said of them."""
    graph, probe = core.graph, core.probe if core.graph is not None else None
    reasons = Counter[str]()
    for workload in core.view.workloads():
        if workload.admitted is not None or graph is None or probe is None:
            continue
        holds = probe.holds(workload.name) if is_held(workload) else ()
        if workload.queue < 0:
            reasons["Misconfigured"] += 1
        elif holds:
            reasons[hold_standing(graph, workload, holds[0]).reason] += 1
        else:
            reasons[workload.deferred.reason if workload.deferred is not None else IN_LINE] += 1
    help_text = f"The workloads that wait, by what holds them, or what the last cycle said of them; {IN_LINE}: they stand in line."
    family = GaugeMetricFamily("gpol_waiting_workloads", help_text, labels=("reason",))
    for reason in sorted(reasons):
        family.add_metric((reason,), reasons[reason])
    return family
