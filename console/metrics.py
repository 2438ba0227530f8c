"""The metrics of a service: what it counts while it works, and what is read when somebody asks. Names follow Prometheus' conventions.

The figures of queues are made by another process (`reading/queue_metrics.py`), as they take long where there are many workloads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..adapters.kubernetes.reflector import Reflector
from ..adapters.live.decider import Numbered
from ..engine.events import AnyDecision

BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
"""Seconds: from a decision alone, which takes less than a millisecond, to a write that an overloaded server answers late."""


@dataclass(frozen=True, slots=True)
class LiveValues:
    """What is read whenever somebody asks for the metrics, while a journal is open.

    `clock_behind` is in microseconds (`Stamps.behind`). `effects_pending` counts workloads to which something is to be written,
    `effects_postponed` those that are admitted and wait for others to stop, `workload_problems` those about which nothing can be decided.
    `reflectors` follow the kinds of objects.
    """

    journal_head: Callable[[], int]
    clock_behind: Callable[[], int]
    effects_pending: Callable[[], int]
    effects_postponed: Callable[[], int]
    workload_problems: Callable[[], int]
    reflectors: Callable[[], Iterable[Reflector[Any]]]


class Metrics:
    """The metrics of one service. `problems` gives what keeps it from its work, by part; `live` is None while no journal is open."""

    def __init__(self, problems: Callable[[], Mapping[str, str]]) -> None:
        self.live: LiveValues | None = None
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
        self._drift = Gauge("gpol_drift_objects", "Objects that are not as the policy wants them.", ("kind",), **made)
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

    def drifted(self, kind: str, objects: int) -> None:
        """Note how many objects of a kind are not as the policy wants them."""
        self._drift.labels(kind).set(objects)

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
        live = self._metrics.live
        yield GaugeMetricFamily("gpol_journal_open", "1 while a journal is open to append.", value=int(live is not None))
        if live is not None:
            yield from _values(live)
            yield from _watches(live.reflectors())


def _values(live: LiveValues) -> Iterator[Metric]:
    yield GaugeMetricFamily("gpol_journal_head_seq", "The number of the last event that was committed.", value=live.journal_head())
    behind = live.clock_behind() / 1_000_000
    yield GaugeMetricFamily("gpol_clock_behind_seconds", "By how much the clock is behind the last event.", value=behind)
    yield GaugeMetricFamily("gpol_effects_pending", "Workloads to which something is to be written.", value=live.effects_pending())
    postponed = live.effects_postponed()
    yield GaugeMetricFamily("gpol_effects_postponed", "Workloads that are admitted and wait for others to stop.", value=postponed)
    undecided = live.workload_problems()
    yield GaugeMetricFamily("gpol_workload_problems", "Workloads about which nothing can be decided.", value=undecided)


def _watches(reflectors: Iterable[Reflector[Any]]) -> Iterator[Metric]:
    lag = GaugeMetricFamily("gpol_watch_lag_seconds", "Seconds since the server was heard of a kind of objects.", labels=("kind",))
    events = CounterMetricFamily("gpol_watch_events", "Events that watches have sent.", labels=("kind",))
    lists = CounterMetricFamily("gpol_watch_lists", "How often all objects of a kind were listed.", labels=("kind",))
    for reflector in reflectors:
        kind = (reflector.kind.plural,)
        if reflector.lists:
            lag.add_metric(kind, max(0.0, monotonic() - reflector.last_heard))
        events.add_metric(kind, reflector.events)
        lists.add_metric(kind, reflector.lists)
    yield from (lag, events, lists)
