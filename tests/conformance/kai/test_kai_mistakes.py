"""Mistakes that the recorded clusters catch: with each of them seeded, named clusters are decided otherwise than KAI decided them."""

import dataclasses
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import kai_recorded
import pytest
from gpol.adapters.kai import rounds
from gpol.engine.definition.kai.kai_cycle import KaiCycle
from gpol.engine.definition.kai.order import heap, workload_line
from gpol.engine.definition.kai.passes import evicting
from gpol.engine.definition.kai.place import gangs
from gpol.engine.definition.kai.quota import division, limits, reclaim_tests, strategies
from gpol.engine.definition.kai.search import solver
from gpol.engine.definition.kai.search.generators import GENERATORS
from gpol.engine.definition.kai.settings import KaiPass, KaiSettings, NodePick, QueueKey

Seed = Callable[[pytest.MonkeyPatch], None]


def _replaced(where: object, name: str, by: object) -> Seed:
    return lambda patch: patch.setattr(where, name, by)


def _with(**settings: Any) -> Seed:
    made = KaiSettings(**settings)
    return _replaced(rounds, "KaiCycle", lambda session, terms, _: KaiCycle(session, terms, made))


def _without(key: QueueKey) -> Seed:
    return _with(queue_keys=tuple(each for each in QueueKey if each is not key))


_PREEMPT = evicting.EVICTING_PASSES[KaiPass.PREEMPT]
_EQUALS_TOO = dataclasses.replace(
    _PREEMPT,
    may_lose=lambda cycle, view, other: (
        other is not view and other.workload.queue == view.workload.queue and other.workload.priority <= view.workload.priority
    ),
)
_CLAIM = division._claim


def _claims(**changes: Any) -> Seed:
    return _replaced(division, "_claim", lambda *given: dataclasses.replace(_CLAIM(*given), **changes))


def _younger_first(*given: Any) -> division.ShareClaim:
    claim = _CLAIM(*given)
    return dataclasses.replace(claim, created=-claim.created)


def _nothing_more(left: int, claims: Any, shares: list[int], *more: Any) -> tuple[list[int], int]:
    return shares, left


def _without_action(name: str) -> Seed:
    return lambda patch: patch.setitem(rounds.ACTIONS, name, lambda cycle: None)


def _no_quota(patch: pytest.MonkeyPatch) -> None:
    for where in (limits, evicting):
        patch.setattr(where, "over_quota", lambda *_: None)


MISTAKES: Mapping[str, tuple[Seed, str]] = {
    "saturation is not compared": (_replaced(reclaim_tests._Taken, "_less_saturated", lambda *_: True), "whole-1582"),
    "nobody is filtered out as a victim": (_replaced(evicting, "keeps_victim", lambda *_: True), "whole-143"),
    "limits and quotas are ignored": (_replaced(gangs, "over_capacity", lambda *_: None), "whole-323"),
    "only what is owed may be taken": (_replaced(reclaim_tests, "may_be_taken", strategies.owed_what_is_owned), "whole-168"),
    "only what is over a share may be taken": (
        _replaced(reclaim_tests, "may_be_taken", lambda asked, taker, victim, left: strategies.over_its_share(victim, left)),
        "whole-488",
    ),
    "victims that move count as lost": (_with(moves_victims=False), "elastic-592"),
    "nodes are spread": (_with(pick=NodePick.SPREAD), "whole-604"),
    "victims on one node are not tried": (_replaced(solver, "GENERATORS", GENERATORS[1:]), "elastic-571"),
    "victims on several nodes are not tried": (_replaced(solver, "GENERATORS", GENERATORS[:1]), "topology-276"),
    "equal priority preempts": (lambda patch: patch.setitem(evicting.EVICTING_PASSES, KaiPass.PREEMPT, _EQUALS_TOO), "whole-629"),
    "workloads at their minimum stand like others": (_replaced(workload_line, "readiness", lambda view: 0), "elastic-512"),
    "queues are never put right": (_replaced(heap.LazyHeap, "settle_top", lambda self: None), "whole-309"),
    "starved queues do not come first": (_without(QueueKey.STARVED), "topology-57"),
    "the priority of queues is ignored": (_without(QueueKey.PRIORITY), "whole-581"),
    "the share with the workload is not compared": (_without(QueueKey.SHARE_WITH), "whole-168"),
    "limits are ignored": (_replaced(limits, "over_limit", lambda *_: None), "whole-381"),
    "those never evicted may exceed what is owned": (_no_quota, "whole-323"),
    "a workload reclaims beyond a fair share": (_replaced(evicting, "can_reclaim", lambda *_: True), "whole-70"),
    "all weights are equal": (_claims(weight=Fraction(1)), "whole-143"),
    "the division ignores priority": (_claims(priority=0), "whole-309"),
    "of equal remainders the younger queue is first": (_replaced(division, "_claim", _younger_first), "whole-70"),
    "what nobody owns is not divided": (_replaced(division, "divide_rest", _nothing_more), "whole-5"),
    "nobody reclaims": (_without_action("reclaim"), "whole-168"),
    "nobody preempts": (_without_action("preempt"), "whole-361"),
    "nothing is consolidated": (_without_action("consolidation"), "whole-1"),
    "broken gangs run on": (_without_action("stalegangeviction"), "topology-197"),
}
"""Each mistake, and a cluster that shows it."""


@cache
def _named(folder: Path) -> dict[str, kai_recorded.Recorded]:
    return {cluster["Name"]: (cluster, wanted) for cluster, wanted in kai_recorded.recorded(folder)}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_caught(mistake: str, kai_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named cluster is decided as KAI did without the mistake, and otherwise with it."""
    seed, name = MISTAKES[mistake]
    cluster, wanted = _named(kai_data)[name]
    assert kai_recorded.play(cluster, wanted) == ""
    seed(monkeypatch)
    assert kai_recorded.play(cluster, wanted) != ""
