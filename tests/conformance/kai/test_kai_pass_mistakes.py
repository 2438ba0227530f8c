"""Less obvious parts of KAI's passes, each left out in turn: a named recorded cluster is then decided otherwise than KAI decided it."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import kai_recorded
import pytest
from gpol.engine.definition.kai.kai_cycle import KaiCycle
from gpol.engine.definition.kai.passes import allocate, evicting
from gpol.engine.definition.kai.place import topologies
from gpol.engine.definition.kai.quota.shares import CountedAmounts
from gpol.engine.definition.kai.quota_state import counted
from gpol.engine.definition.kai.search import gathering, solver
from gpol.engine.definition.kai.search.scenario import VictimScenario, by_workload
from gpol.engine.definition.kai.search.trying import Solution
from gpol.engine.definition.session.pods import HOLDING, Pod, PodStatus

Seed = Callable[[pytest.MonkeyPatch], None]


def _instead(where: object, name: str, by: object) -> Seed:
    return lambda patch: patch.setattr(where, name, by)


def _as_one_block(cycle: KaiCycle, scenario: VictimScenario) -> dict[int, list[CountedAmounts]]:
    lost: dict[int, list[CountedAmounts]] = {}
    for batch in by_workload(scenario.batches):
        gone = [pod for pod in batch.pods if pod.status not in HOLDING]
        if gone:
            lost.setdefault(cycle.session.workloads[batch.workload].queue, []).append(counted(gone))
    return lost


def _leave_at_once(cycle: KaiCycle, pod: Pod, node: int) -> None:
    cycle.session.move(pod, PodStatus.PROMISED, node)


def _alike(tree: topologies.NodeDomains, common: int, level: int) -> dict[int, int]:
    return dict.fromkeys(tree.leaf_of, 0)


_evict, _solve = KaiCycle.evict_tentatively, solver.solve


def _pay_back_once(cycle: KaiCycle, pods: list[Pod]) -> None:
    _evict(cycle, gathering.each_once(pods))


def _take_back(search: solver.ScenarioSearch) -> tuple[bool, Solution] | None:
    mark, tentative = search.cycle.session.mark(), dict(search.cycle.tentative)
    found = _solve(search)
    if found is None or found[0]:
        return found
    search.cycle.give_up(mark, tentative)
    return None


MISTAKES: Mapping[str, tuple[Seed, str]] = {
    "surplus pods of a victim are judged as one block": (_instead(evicting, "lost_by_queue", _as_one_block), "elastic-411"),
    "a gang starts while some of its pods wait for room": (_instead(allocate, "only_promised", lambda *_: False), "whole-86"),
    "pods that move free their nodes at once": (_instead(KaiCycle, "promise", _leave_at_once), "whole-100"),
    "victims do not stay where they would fit again": (_instead(KaiCycle, "stands_on", lambda *_: False), "whole-309"),
    "victims that come twice are paid back once": (_instead(KaiCycle, "evict_tentatively", _pay_back_once), "elastic-92"),
    "trials that are not committed are taken back": (_instead(evicting, "solve", _take_back), "topology-197"),
    "groups that run are not counted as if they were to move": (_instead(gathering, "_room_for_groups", lambda *_: True), "topology-516"),
    "all domains of a level are alike": (
        _instead(topologies, "_scores", _alike),
        "topology-257",
    ),
    "domains stand by their names": (_instead(topologies._Room, "sort", lambda *_: None), "topology-596"),
}
"""What is wrong, and a cluster that shows it."""


@cache
def _recorded(folder: Path) -> dict[str, kai_recorded.Recorded]:
    return {cluster["Name"]: (cluster, wanted) for cluster, wanted in kai_recorded.recorded(folder)}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_part_of_the_passes_is_needed(mistake: str, kai_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named cluster is decided as KAI did, and otherwise with the mistake."""
    seed, name = MISTAKES[mistake]
    cluster, wanted = _recorded(kai_data)[name]
    assert kai_recorded.play(cluster, wanted) == ""
    seed(monkeypatch)
    assert kai_recorded.play(cluster, wanted) != ""
