"""gpol decides for Kueue, or watches what it decides, as work of a service."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ...adapters.kubernetes.api import Api
from ...adapters.kubernetes.nodes import follows_nodes
from ...adapters.kubernetes.object_events import EventWriter
from ...adapters.kubernetes.reflector import Reflector
from ...adapters.kubernetes.resource_kinds import FIELD_MANAGER
from ...adapters.kueue.live.decides import KueueDecisions
from ...adapters.kueue.live.shadow.kueue_shadow import KueueShadow
from ...adapters.live.decider import LiveDecider
from ...adapters.live.observer import Observer
from ...adapters.live.settings.serve_settings import ServeSettings
from ..answers import UnansweredError
from ..reading.question import NAMES, REASONS
from ..reading.reader import Reader
from .work import ServiceWork

LOG = logging.getLogger("gpol.kueue")

ANSWER_SECONDS = 300.0
"""How long it may take to find out why some workloads wait."""


def kueue_decides(
    settings: ServeSettings, api: Api, decider: LiveDecider, holder: str, observer: Observer, reader: Reader | None
) -> ServiceWork:
    """The work of `kueue.way: decide`. The process beside this one is asked why workloads wait: here nothing would be decided meanwhile."""
    events, why = EventWriter(api, FIELD_MANAGER, holder), partial(_ask_why, reader) if reader is not None else None
    kueue = KueueDecisions(api, decider, settings.kueue.check, settings.gpu, settings.kueue.follow_pods, events, observer, why)
    cluster = kueue.cluster
    reflectors = (*cluster.reflectors(follows_nodes(kueue.deciding.coming_graph)), kueue.status.checks)
    return ServiceWork(
        "kueue",
        kueue.run,
        {"admission check": lambda: kueue.status.problem, "cluster": lambda: not_followed(reflectors)},
        lambda: kueue.problems,
        lambda: reflectors,
        lambda: _of_decisions(kueue),
    )


async def _ask_why(reader: Reader, names: Sequence[str]) -> dict[str, str]:
    """Why workloads wait, by name; nothing where there is no answer, which is logged."""
    try:
        told = await reader.ask("why", body=NAMES.dump_json(list(names)), seconds=ANSWER_SECONDS)
        if told.status != HTTPStatus.OK:
            raise ValueError(told.body.decode())
        return REASONS.validate_json(told.body)
    except (UnansweredError, ValueError, OSError) as error:  # a cut answer is no JSON; deciding goes on in any case
        LOG.warning("why workloads wait cannot be told now: %s", error)
        return {}


def _of_decisions(kueue: KueueDecisions) -> Iterator[Metric]:
    pending, postponed = len(kueue.carrying_out.writes), len(kueue.carrying_out.postponed)
    yield GaugeMetricFamily("gpol_effects_pending", "Workloads to which something is to be written.", value=pending)
    yield GaugeMetricFamily("gpol_effects_postponed", "Workloads that are admitted and wait for others to stop.", value=postponed)
    yield workload_problems(len(kueue.problems))


def kueue_watches(settings: ServeSettings, api: Api, decider: LiveDecider, observer: Observer) -> ServiceWork:
    """The work of `kueue.way: watch`. Raises ImportRefused for a Configuration that cannot be used."""
    shadow = KueueShadow(api, decider, settings.kueue.watch, observer.decided)
    return ServiceWork(
        "kueue watch",
        shadow.run,
        {"kueue watch": lambda: shadow.problem, "kueue configuration": lambda: "; ".join(shadow.notes)},
        lambda: shadow.problems,
        shadow.cluster.reflectors.values,
        lambda: _of_shadow(shadow),
    )


def _of_shadow(shadow: KueueShadow) -> Iterator[Metric]:
    differences = CounterMetricFamily("gpol_shadow_differences", "Decisions of Kueue that gpol did not make, by kind.", labels=("kind",))
    for kind in sorted(shadow.counts):
        differences.add_metric((kind,), shadow.counts[kind])
    yield differences
    yield CounterMetricFamily("gpol_shadow_explained", "Decisions of Kueue that gpol made too.", value=shadow.explained)
    yield CounterMetricFamily("gpol_shadow_unchecked", "Stretches of which a part could not be compared.", value=shadow.unchecked)
    yield workload_problems(len(shadow.problems))


def not_followed(reflectors: Iterable[Reflector[Any]]) -> str:
    """What cannot be followed, and why; empty where all is followed."""
    return "; ".join(each.problem for each in reflectors if each.problem)


def workload_problems(number: int) -> Metric:
    """How many workloads gpol cannot represent or decide about."""
    return GaugeMetricFamily("gpol_workload_problems", "Workloads about which nothing can be decided.", value=number)
