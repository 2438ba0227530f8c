"""Groups lie within one domain where they have to, and in as few as can be where they should."""

from fractions import Fraction

import pytest
from gpol.engine.definition.kai.kai_cycle import KaiCycle
from gpol.engine.definition.kai.settings import KaiPass
from gpol.engine.definition.session.pods import SessionGroup
from gpol.engine.nodes.domains import DomainTree, domain_tree
from gpol.engine.nodes.inventory import Machine
from gpol.engine.policy_graph import Flavor, Level, Source, Topology
from kai_clusters import WAITS, Job, Queue, cycle, run

_SOURCE = Source("", 0)
_ZONE, _RACK = (0, 0), (0, 1)


def _machines(racks: list[str]) -> list[Machine]:
    """Nodes of 4 GPUs in racks that are named by their zone and a letter."""
    return [Machine({"zone": rack[0], "rack": rack}, {"cpu": 1_000, "memory": 1_000, "gpu": 4, "pods": 110}, 0) for rack in racks]


def _tree(machines: list[Machine]) -> DomainTree:
    levels = (Level("zone", "zone"), Level("rack", "rack"), Level("", None))
    flavor = Flavor("nodes", (), None, Fraction(1), _SOURCE)
    return domain_tree(Topology("tree", levels, _SOURCE), flavor, {f"n{at}": machine for at, machine in enumerate(machines)})


def _made(racks: list[str], jobs: list[Job]) -> KaiCycle:
    machines = _machines(racks)
    return cycle([4] * len(racks), [Queue()], jobs, trees=[_tree(machines)], machines=machines)


def _gang(pods: int, within: tuple[int, int] | None = None, near: tuple[int, int] | None = None, running: tuple[int, ...] = ()) -> Job:
    nodes = (*running, *[WAITS] * (pods - len(running)))
    return Job("gang", 0, 4, nodes, groups=(SessionGroup("", -1, (), pods, within, near),))


def test_a_gang_that_needs_one_rack_gets_it_or_nothing() -> None:
    """The fuller of two racks with room is taken; with no rack large enough nothing starts."""
    racks = ["1a", "1a", "1a", "1b", "1b"]
    assert set(run(_made(racks, [_gang(2, within=_RACK)])).values()) == {("PLACED", 3), ("PLACED", 4)}
    assert run(_made(racks, [_gang(4, within=_RACK)]), KaiPass.ALLOCATE) == {}
    assert len(run(_made(racks, [_gang(4, within=_ZONE)]))) == 4


def test_a_gang_that_should_be_near_takes_more_where_it_has_to() -> None:
    """It gets one rack if one has room, else whatever there is."""
    racks = ["1a", "1b", "1b", "2c"]
    assert set(run(_made(racks, [_gang(2, near=_RACK)])).values()) == {("PLACED", 1), ("PLACED", 2)}
    assert len(run(_made(racks, [_gang(4, near=_RACK)]))) == 4


def test_what_runs_decides_where_the_rest_has_to_go() -> None:
    """A pod that runs in one rack keeps the others of its gang there, though another rack has more room."""
    racks = ["1a", "1a", "1b", "1b", "1b"]
    assert run(_made(racks, [_gang(2, within=_RACK, running=(0,))])) == {"gang-1": ("PLACED", 1)}
    assert run(_made(["1a", "1b", "1b"], [_gang(2, within=_RACK, running=(0,))]), KaiPass.ALLOCATE) == {}


@pytest.mark.parametrize("level", [(-1, 0), (0, -1)])
def test_a_domain_that_there_is_not_has_no_room(level: tuple[int, int]) -> None:
    """A topology or a level that does not exist keeps a gang waiting."""
    assert run(_made(["1a"], [_gang(1, within=level)]), KaiPass.ALLOCATE) == {}


def test_each_group_lies_in_a_domain_of_its_own_and_all_in_one() -> None:
    """Two groups of two pods, each within a rack, all within a zone: the zone with one full rack will not do."""
    groups = (SessionGroup("", -1, (1, 2), 2, _ZONE), SessionGroup("a", 0, (), 2, _RACK), SessionGroup("b", 0, (), 2, _RACK))
    job = Job("gang", 0, 4, (WAITS,) * 4, groups=groups, group_of=(1, 1, 2, 2))
    racks = ["1a", "1a", "1b", "2c", "2c", "2d", "2d"]
    placed = run(_made(racks, [job]))
    assert {racks[placed[name][1]] for name in ("gang-0", "gang-1")} | {racks[placed[name][1]] for name in ("gang-2", "gang-3")} == {
        "2c",
        "2d",
    }
    assert len({racks[placed[name][1]] for name in ("gang-0", "gang-1")}) == 1
