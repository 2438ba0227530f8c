"""The metrics: their names, what is counted, and what is read when somebody asks."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gpol.adapters.live.decider import Numbered
from gpol.console.metrics import Metrics
from gpol.console.reading.journal_follower import JournalFollower
from gpol.console.reading.queue_metrics import queue_metrics
from gpol.console.work.work import ServiceWork
from gpol.journal.journal import Journal
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(text: bytes) -> Samples:
    """Each sample by its name and labels."""
    families = list(text_string_to_metric_families(text.decode()))
    assert len({family.name for family in families}) == len(families)
    assert all(family.documentation for family in families)
    return {(each.name, tuple(sorted(each.labels.items()))): each.value for family in families for each in family.samples}


def reflector(kind: str, lists: int, last_heard: float) -> Any:
    """Something that follows a kind of objects."""
    return SimpleNamespace(kind=SimpleNamespace(plural=kind), lists=lists, events=5, last_heard=last_heard)


def work(name: str, *reflectors: Any) -> ServiceWork:
    """A work with a metric of its own: how many letters its name has."""

    async def run() -> None:
        """Nothing."""

    def metrics() -> Iterator[Metric]:
        things = GaugeMetricFamily("gpol_things", "Things.", labels=("system",))
        things.add_metric((name,), len(name))
        yield things

    return ServiceWork(name, run, {}, dict, lambda: reflectors, metrics)


def test_what_is_counted(place: Path) -> None:
    """Each event is counted by its kind, a decision by its reason as well; times lie in the buckets."""
    metrics = Metrics(dict)
    with Journal.open(place) as journal:
        metrics.decided([Numbered(recorded.seq, recorded.event) for recorded in journal.events()])
    metrics.fact_refused("WorkloadFinished")
    metrics.observe_decide(0.0004)
    metrics.observe_commit(0.003)
    metrics.observe_effect(20)
    metrics.answered("/v1/state", "GET", 200)
    found = samples(metrics.text())
    assert found["gpol_decisions_total", (("kind", "WorkloadAdmitted"), ("reason", "FitsBorrowing"))] == 1
    assert found["gpol_facts_total", (("kind", "WorkloadSubmitted"),)] == 3
    assert found["gpol_facts_refused_total", (("kind", "WorkloadFinished"),)] == 1
    assert found["gpol_decide_seconds_bucket", (("le", "0.0005"),)] == 1
    assert found["gpol_commit_seconds_bucket", (("le", "0.002"),)] == 0
    assert found["gpol_commit_seconds_bucket", (("le", "0.005"),)] == 1
    assert found["gpol_effect_seconds_bucket", (("le", "10.0"),)] == 0
    assert found["gpol_effect_seconds_sum", ()] == 20
    assert found["gpol_http_requests_total", (("method", "GET"), ("path", "/v1/state"), ("status", "200"))] == 1


def test_what_is_read_when_somebody_asks() -> None:
    """Values of now are read each time; while no journal is open they are not there, and problems always are."""
    problems = {"journal": "its disk is full"}
    metrics = Metrics(lambda: problems)
    found = samples(metrics.text())
    assert found["gpol_problem", (("part", "journal"),)] == 1
    assert found["gpol_journal_open", ()] == 0
    assert ("gpol_journal_head_seq", ()) not in found
    problems.clear()
    decider: Any = SimpleNamespace(core=SimpleNamespace(seq=12), stamps=SimpleNamespace(behind=lambda: 2_500_000))
    metrics.decider = decider
    metrics.works = [
        work("kueue", reflector("workloads", 1, 0.0), reflector("nodes", 0, 0.0)),
        work("kueue guard", reflector("cohorts", 2, 0.0)),
    ]
    found = samples(metrics.text())
    named = {name: value for (name, labels), value in found.items() if not labels}
    assert named["gpol_journal_open"] == 1
    assert named["gpol_journal_head_seq"] == 12
    assert named["gpol_clock_behind_seconds"] == 2.5
    workloads, nodes, cohorts = (
        (("kind", kind), ("work", name)) for kind, name in (("workloads", "kueue"), ("nodes", "kueue"), ("cohorts", "kueue guard"))
    )
    assert found["gpol_watch_lag_seconds", workloads] > 0
    assert ("gpol_watch_lag_seconds", nodes) not in found
    assert found["gpol_watch_events_total", workloads] == 5
    assert found["gpol_watch_lists_total", workloads] == 1
    assert found["gpol_watch_lists_total", cohorts] == 2
    assert [found["gpol_things", (("system", name),)] for name in ("kueue", "kueue guard")] == [5, 11]
    assert not any(name == "gpol_problem" for name, _ in found)


def test_figures_of_queues(place: Path) -> None:
    """What queues own, use, borrow and lend is told in whole units, and who runs and waits, and why."""
    found = samples(queue_metrics(JournalFollower(str(place)).catch_up()))

    def of(name: str, queue: str) -> float:
        return found[f"gpol_queue_{name}", (("flavor", "a100"), ("queue", queue), ("resource", "gpu"))]

    assert [of(name, "owner") for name in ("owned", "used", "borrowed", "lent")] == [8, 0, 0, 8]
    assert [of(name, "guest") for name in ("owned", "used", "borrowed", "lent")] == [0, 8, 8, 0]
    states = {labels: value for (name, labels), value in found.items() if name == "gpol_queue_workloads" and value}
    assert states == {
        (("queue", "guest"), ("state", "running")): 1,
        (("queue", "guest"), ("state", "held")): 1,
        (("queue", "owner"), ("state", "waiting")): 1,
    }
    reasons = {labels[0][1]: value for (name, labels), value in found.items() if name == "gpol_waiting_workloads"}
    assert reasons == {"InLine": 1, "OnHold": 1}
    assert found["gpol_capacity", (("flavor", "a100"), ("resource", "gpu"))] == 8
    assert found["gpol_figures_seq", ()] == 5


def test_names_follow_the_conventions(place: Path) -> None:
    """All names begin with gpol_, and no metric is told by both processes."""
    figures = samples(queue_metrics(JournalFollower(str(place)).catch_up()))
    own = samples(Metrics(dict).text())
    assert all(name.startswith("gpol_") for name, _ in [*figures, *own])
    assert not {name for name, _ in figures} & {name for name, _ in own}
