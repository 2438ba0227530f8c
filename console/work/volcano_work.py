"""gpol decides for Volcano, as work of a service: the extender answers from it while it goes on."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric

from ...adapters.kubernetes.api import Api
from ...adapters.kubernetes.nodes import follows_nodes
from ...adapters.kubernetes.object_events import EventWriter
from ...adapters.kubernetes.resource_kinds import FIELD_MANAGER
from ...adapters.live.decider import LiveDecider
from ...adapters.live.observer import Observer
from ...adapters.live.settings.serve_settings import ServeSettings
from ...adapters.volcano.extender.tally import ExtenderTally
from ...adapters.volcano.extender.verdicts import VolcanoAnswers
from ...adapters.volcano.live.volcano_decides import VolcanoDecisions
from .kueue_work import not_followed, workload_problems
from .work import ServiceWork


class ExtenderAnswers:
    """What Volcano's scheduler is answered from: `now` is None while gpol does not decide. `tally` counts what was answered."""

    def __init__(self) -> None:
        self.now: VolcanoAnswers | None = None
        self.tally = ExtenderTally()


def volcano_decides(
    settings: ServeSettings, api: Api, decider: LiveDecider, holder: str, observer: Observer, extender: ExtenderAnswers
) -> ServiceWork:
    """The work of `volcano.way: decide`."""
    volcano = VolcanoDecisions(api, decider, settings.gpu, EventWriter(api, FIELD_MANAGER, holder), observer)
    cluster = volcano.cluster
    reflectors = cluster.reflectors(follows_nodes(volcano.deciding.coming_graph))

    async def run() -> None:
        extender.now = volcano.answers
        try:
            await volcano.run()
        finally:
            extender.now = None

    return ServiceWork(
        "volcano",
        run,
        {"cluster": lambda: not_followed(reflectors)},
        lambda: volcano.problems,
        lambda: reflectors,
        lambda: _metrics(volcano, extender.tally),
    )


def _metrics(volcano: VolcanoDecisions, tally: ExtenderTally) -> Iterator[Metric]:
    answers = CounterMetricFamily("gpol_extender_answers", "What the extender answered, by verb and reason.", labels=("verb", "reason"))
    for (verb, reason), times in sorted(tally.answers.items()):
        answers.add_metric((verb, reason), times)
    yield answers
    refusals = CounterMetricFamily("gpol_extender_refusals", "Requests that the extender refused.", labels=("verb", "code"))
    for (verb, code), times in sorted(tally.refusals.items()):
        refusals.add_metric((verb, code), times)
    yield refusals
    yield workload_problems(len(volcano.problems))
