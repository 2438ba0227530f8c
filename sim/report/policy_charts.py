"""Charts of several histories of the same jobs: what each queue used and waited for, on one axis of time and one scale."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..compare.played_policy import PlayedPolicy
from ..measure.series import METRICS
from ..measure.step_areas import Values
from .stack_charts import Chart, coarser, stacked, styles_of
from .wording import short

_TITLES = {"used": "GPUs in use", "waiting": "GPUs asked for by waiting workloads"}


class PolicyCharts:
    """The charts of policies. `moments` are the starts of the steps up to the `end` of the longest history."""

    def __init__(self, policies: Sequence[PlayedPolicy]) -> None:
        start, self.end = min(each.history.start for each in policies), max(each.history.end for each in policies)
        width = max(each.series.queues.width for each in policies)
        averages = [each.series.queues.averages_until(self.end, width) / 1000 for each in policies]
        moments = [start + step * width for step in range(len(averages[0]))]
        self.styles = _styles(policies, averages)
        found = [coarser(moments, values) for values in averages]
        self.moments = found[0][0]
        pairs = [self._pair(number, each, values) for number, (each, (_, values)) in enumerate(zip(policies, found, strict=True))]
        self.pairs = _on_one_scale(pairs)

    @property
    def charts(self) -> list[Chart]:
        """All charts."""
        return [chart for pair in self.pairs for chart in pair]

    def _pair(self, number: int, played: PlayedPolicy, averages: Values) -> list[Chart]:
        """What was used, and what was waited for. What exists is drawn as it is at the end of the history."""
        early = played.early
        ends = "" if early is None else f" (up to {short(early.time - played.history.start)})"
        exists = np.full(len(self.moments), played.exists / 1000)
        return [
            Chart(
                f"{metric}-{number}",
                f"{played.name}: {title}{ends}",
                stacked(played.series.queues.names, averages[:, METRICS.index(metric)], self.styles),
                exists if metric == "used" else None,
                "what exists",
                small=True,
            )
            for metric, title in _TITLES.items()
        ]


def _styles(policies: Sequence[PlayedPolicy], averages: Sequence[Values]) -> dict[str, str]:
    """The style of each queue of any policy, by what it used and waited for under all of them."""
    weights: dict[str, float] = {}
    for each, values in zip(policies, averages, strict=True):
        sums = values[:, [METRICS.index(metric) for metric in _TITLES]].sum(axis=(0, 1))
        for name, weight in zip(each.series.queues.names, sums.tolist(), strict=True):
            weights[name] = weights.get(name, 0.0) + weight
    names = sorted(weights)
    return styles_of(names, np.array([weights[name] for name in names]))


def _on_one_scale(pairs: Sequence[list[Chart]]) -> list[list[Chart]]:
    """The charts of each metric with the same top."""
    tops = [max(chart.greatest() for chart in same) for same in zip(*pairs, strict=True)]
    return [[replace(chart, most=top) for chart, top in zip(pair, tops, strict=True)] for pair in pairs]
