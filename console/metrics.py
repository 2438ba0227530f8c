"""The metrics of a service: what it counts, and what is read of its works when somebody asks. Names follow Prometheus' conventions.

The figures of queues are made by another process (`reading/queue_metrics.py`), as they take long where there are many workloads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..adapters.live.decider import LiveDecider, Numbered
from ..engine.events import AnyDecision
from .work.work import ServiceWork

BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
"""Seconds: from a decision alone, which takes less than a millisecond, to a write that an overloaded server answers late."""


class Metrics:
    """The metrics of one service. `problems` gives what keeps it from its work, by part.

    `works` are what it does now, and `decider` decides in it: None while no journal is open.
    """

    def __init__(self, problems: Callable[[], Mapping[str, str]]) -> None:
        self.works: list[ServiceWork] = []
        self.decider: LiveDecider | None = None
        self.registry = CollectorRegistry()
        self.registry.register(_ReadAtOnce(self, problems))
        made: dict[str, Any] = {"registry": self.registry}
        seconds: dict[str, Any] = {**made, "buckets": BUCKETS}
        self._decisions = Counter("gpol_decisions", "Decisions that were committed.", ("kind", "reason"), **made)
        self._facts = Counter("gpol_facts", "Facts that were committed.", ("kind",), **made)
        self._refused = Counter("gpol_facts_refused", "Facts that could not have happened as things stood.", ("kind",), **made)
        self._decide = Histogram("gpol_decide_seconds", "What deciding took, from the first fact to the last decision.", **seconds)
        self._commit = Histogram("gpol_commit_seconds", "What it took to put facts and decisions into the journal.", **seconds)
        self._effect = Histogram("gpol_effect_seconds", "What a write to the cluster took.", **seconds)
        self._requests = Counter("gpol_http_requests", "Requests that were answered over HTTP.", ("path", "method", "status"), **made)
        self._expires = Gauge("gpol_certificate_expiry_timestamp_seconds", "When the certificate of the server ends; 0: no TLS.", **made)

    # --- counting ---------------------------------------------------------------------------------------------------

    def decided(self, events: Sequence[Numbered]) -> None:
        """Count events that were committed."""
        for _, event in events:
            if isinstance(event, AnyDecision):
                self._decisions.labels(event.kind, event.reason).inc()
            else:
                self._facts.labels(event.kind).inc()

    def fact_refused(self, kind: str) -> None:
        """Count a fact that could not have happened, by its kind."""
        self._refused.labels(kind).inc()

    def observe_decide(self, seconds: float) -> None:
        """Note how long deciding took."""
        self._decide.observe(seconds)

    def observe_commit(self, seconds: float) -> None:
        """Note how long a commit took."""
        self._commit.observe(seconds)

    def observe_effect(self, seconds: float) -> None:
        """Note how long a write to the cluster took."""
        self._effect.observe(seconds)

    def answered(self, path: str, method: str, status: int) -> None:
        """Count a request; `path` is that of its route, without what stands for its parameters."""
        self._requests.labels(path, method, str(status)).inc()

    def certificate_expires(self, timestamp: float) -> None:
        """Note when the certificate ends, in seconds since the epoch."""
        self._expires.set(timestamp)

    # --- telling ----------------------------------------------------------------------------------------------------

    def text(self) -> bytes:
        """All of them in Prometheus' text format."""
        return generate_latest(self.registry)


class _ReadAtOnce(Collector):
    """Metrics that are read when somebody asks for them."""

    def __init__(self, metrics: Metrics, problems: Callable[[], Mapping[str, str]]) -> None:
        self._metrics, self._problems = metrics, problems

    def collect(self) -> Iterator[Metric]:
        """The metrics as they are now."""
        problem = GaugeMetricFamily("gpol_problem", "1 for each part that has a problem, which /readyz tells.", labels=("part",))
        for part in self._problems():
            problem.add_metric((part,), 1)
        yield problem
        decider = self._metrics.decider
        yield GaugeMetricFamily("gpol_journal_open", "1 while a journal is open to append.", value=int(decider is not None))
        if decider is not None:
            yield GaugeMetricFamily("gpol_journal_head_seq", "The number of the last event that was committed.", value=decider.core.seq)
            behind = decider.stamps.behind() / 1_000_000
            yield GaugeMetricFamily("gpol_clock_behind_seconds", "By how much the clock is behind the last event.", value=behind)
        if self._metrics.works:
            yield from _watches(self._metrics.works)
        families: dict[str, Metric] = {}
        for metric in (each for work in self._metrics.works for each in work.metrics()):
            families.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type)).samples += metric.samples
        yield from families.values()


def _watches(works: Iterable[ServiceWork]) -> Iterator[Metric]:
    labels = ("work", "kind")
    lag = GaugeMetricFamily("gpol_watch_lag_seconds", "Seconds since the server was heard of a kind of objects.", labels=labels)
    events = CounterMetricFamily("gpol_watch_events", "Events that watches have sent.", labels=labels)
    lists = CounterMetricFamily("gpol_watch_lists", "How often all objects of a kind were listed.", labels=labels)
    for work in works:
        for reflector in work.reflectors():
            values = (work.name, reflector.kind.plural)
            if reflector.lists:
                lag.add_metric(values, max(0.0, monotonic() - reflector.last_heard))
            events.add_metric(values, reflector.events)
            lists.add_metric(values, reflector.lists)
    yield from (lag, events, lists)
