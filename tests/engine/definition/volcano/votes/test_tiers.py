"""Votes of plugins, put together: stubs say what is asked for."""

from collections.abc import Sequence

import pytest
from gpol.engine.definition.session.pods import Pod
from gpol.engine.definition.volcano.model.plugin_votes import OpenPlugin, PluginVotes
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.model.volcano_settings import VolcanoPlugin
from gpol.engine.definition.volcano.votes.tiers import PluginTiers
from small_clusters import Asked, Gang, cluster, plugin

_Said = list[list[int] | None]
"""Of each plugin of a tier the pods that it names; None: it says nothing."""


def _tiers(*tiers: Sequence[PluginVotes]) -> PluginTiers:
    named = [[(f"p{at}{of}", votes) for of, votes in enumerate(tier)] for at, tier in enumerate(tiers)]
    opens: dict[str, OpenPlugin] = {}
    for name, votes in (each for tier in named for each in tier):

        def opened(cycle: object, plugin: VolcanoPlugin, votes: PluginVotes = votes) -> PluginVotes:
            return votes

        opens[name] = opened
    pods = tuple(Asked(1, on="n") for _ in range(4))
    cycle = cluster(
        {"n": 9}, [Gang("g", pods, phase=GroupPhase.RUNNING)], (), tuple(tuple(plugin(name) for name, _ in tier) for tier in named)
    )
    return PluginTiers(cycle, opens)


def _names(numbers: list[int] | None) -> PluginVotes:
    if numbers is None:
        return PluginVotes()
    return PluginVotes(reclaimable=lambda pod, candidates: [each for each in candidates if each.number in numbers])


@pytest.mark.parametrize(
    ("tiers", "victims"),
    [
        ([[[0, 1, 2], [1, 2, 3]]], [1, 2]),  # those that both name
        ([[[0, 1]], [[2]]], [0, 1]),  # the first tier is final
        ([[[]], [[2]]], [2]),  # nobody is no answer: the next tier is asked
        ([[None], [[2]]], [2]),
        ([[[0, 1], [], [3]], [[2]]], [2]),  # nobody ends a tier
        ([[[0], [1], [3]]], [3]),  # who agree on nobody are forgotten
        ([[[0], [1]], [[2]]], [2]),
        ([], []),
    ],
)
def test_victims(tiers: list[_Said], victims: list[int]) -> None:
    """Within a tier those that all name; the first tier that leaves any decides."""
    asked = _tiers(*([_names(numbers) for numbers in tier] for tier in tiers))
    pods = list(asked.cycle.session.pods)
    assert [pod.number for pod in asked.victims("reclaimable", pods[0], pods)] == victims
    assert asked.victims("preemptable", pods[0], pods) == []


@pytest.mark.parametrize(
    ("votes", "kept"),
    [([[1, 0]], True), ([[1, -1]], False), ([[1], [-1]], True), ([[0], [-1]], False), ([[0], [0]], True), ([], True)],
)
def test_one_no_decides_and_a_tier_with_a_yes_ends_the_asking(votes: list[list[int]], kept: bool) -> None:
    """A later tier may say no to what nobody has said yes to."""
    asked = _tiers(*([PluginVotes(job_promised=lambda job, vote=vote: vote) for vote in tier] for tier in votes))
    assert asked.job_is_promised(asked.cycle.jobs[0]) is kept


@pytest.mark.parametrize(("votes", "starves"), [([[True, False]], False), ([[], [True]], True), ([[True], [False]], True), ([], False)])
def test_the_first_tier_with_an_opinion_says_who_starves(votes: list[list[bool]], starves: bool) -> None:
    """In it all have to agree."""
    asked = _tiers(*([PluginVotes(job_starving=lambda job, vote=vote: vote) for vote in tier] for tier in votes))
    assert asked.job_starves(asked.cycle.jobs[0]) is starves


def test_callbacks_that_are_off_say_nothing() -> None:
    """Only those that a plugin has enabled count, and plugins that are not known do not."""
    cycle = cluster({"n": 9}, [Gang("g", (Asked(1),))], (), ((plugin("gang", "JobReady"), plugin("unknown")),))
    votes = PluginVotes(job_ready=lambda job: False, overused=lambda queue: True)
    asked = PluginTiers(cycle, {"gang": lambda cycle, plugin: votes})
    assert asked.job_is_ready(cycle.jobs[0])
    assert asked.overused(1)


def test_orders_end_at_age_and_name() -> None:
    """The first plugin that knows a difference decides; of equal pods the one with the lower number in its role comes first."""
    asked = _tiers([PluginVotes(pod_order=lambda left, right: 0), PluginVotes(pod_order=_by_number)])
    first, last = asked.cycle.session.pods[0], asked.cycle.session.pods[3]
    assert asked.pod_before(last, first)
    unasked = _tiers([PluginVotes()])
    assert unasked.pod_before(first, last)
    assert not unasked.pod_before(last, first)


def _by_number(left: Pod, right: Pod) -> int:
    return right.number - left.number
