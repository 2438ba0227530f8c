"""gpol decides for Kueue, as work of a service."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from ...adapters.kubernetes.api import Api
from ...adapters.kubernetes.object_events import EventWriter
from ...adapters.kueue.live.decides import KueueDecisions
from ...adapters.kueue.live.protocol import CONTROLLER
from ...adapters.live.decider import LiveDecider
from ...adapters.live.observer import Observer
from ...adapters.live.settings import ServeSettings
from .work import ServiceWork


def kueue_decides(settings: ServeSettings, api: Api, decider: LiveDecider, holder: str, observer: Observer) -> ServiceWork:
    """The work of `kueue.way: decide`."""
    events = EventWriter(api, CONTROLLER, holder)
    kueue = KueueDecisions(api, decider, settings.kueue.check, settings.gpu, settings.kueue.follow_pods, events, observer)
    cluster = kueue.cluster
    return ServiceWork(
        "kueue",
        kueue.run,
        {"admission check": lambda: kueue.status.problem, "workloads": lambda: cluster.workloads.problem},
        lambda: (cluster.workloads, cluster.namespaces, cluster.nodes, kueue.status.checks),
        lambda: _metrics(kueue),
    )


def _metrics(kueue: KueueDecisions) -> Iterator[Metric]:
    pending, postponed = len(kueue.carrying_out.writes), len(kueue.carrying_out.postponed)
    yield GaugeMetricFamily("gpol_effects_pending", "Workloads to which something is to be written.", value=pending)
    yield GaugeMetricFamily("gpol_effects_postponed", "Workloads that are admitted and wait for others to stop.", value=postponed)
    yield GaugeMetricFamily("gpol_workload_problems", "Workloads about which nothing can be decided.", value=len(kueue.problems))
