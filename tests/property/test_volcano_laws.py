"""Laws that hold of any cycle of Volcano's passes, over small clusters that are drawn."""

from gpol.engine.definition.session.pods import ON_NODE, PodStatus
from gpol.engine.definition.volcano.model.job_standing import starts_later
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.model.volcano_settings import VolcanoPlugin
from gpol.engine.definition.volcano.passes.volcano_passes import run_cycle
from hypothesis import given
from hypothesis import strategies as st
from small_clusters import Asked, Gang, cluster, plugin, states

Case = tuple[list[Gang], list[str], tuple[tuple[VolcanoPlugin, ...], ...]]
"""PodGroups, passes in their order, and tiers of plugins."""

NODES = {"a": 8, "b": 6, "c": 5}
PASSES = ("enqueue", "allocate", "preempt", "reclaim", "backfill")
SHAPES = (
    ((plugin("priority"), plugin("gang"), plugin("conformance")), (plugin("drf"), plugin("predicates"), plugin("nodeorder"))),
    ((plugin("priority"), plugin("gang", "Preemptable", "Reclaimable")), (plugin("predicates"), plugin("proportion"), plugin("binpack"))),
    ((plugin("gang"), plugin("priority"), plugin("capacity"), plugin("predicates")),),
)


@st.composite
def _gangs(draw: st.DrawFn) -> list[Gang]:
    """Some that run, on nodes that have room for them, and some that wait."""
    free = dict(NODES)
    gangs = []
    for number in range(draw(st.integers(1, 7))):
        asked = draw(st.integers(0, 4))
        pods = []
        for _ in range(draw(st.integers(1, 4))):
            node = draw(st.sampled_from(["", *NODES]))
            on = node if node and free[node] >= asked else ""
            if on:
                free[on] -= asked
            pods.append(Asked(asked, asked, on=on, priority=draw(st.integers(0, 2))))
        phase = GroupPhase.RUNNING if any(pod.on for pod in pods) else draw(st.sampled_from([GroupPhase.PENDING, GroupPhase.INQUEUE]))
        minimum = draw(st.integers(0, len(pods)))
        queue = draw(st.sampled_from(["q", "r"]))
        least = draw(st.sampled_from([None, Asked(asked, asked)]))
        gangs.append(Gang(f"g{number}", tuple(pods), minimum, queue, draw(st.integers(0, 2)), phase, least))
    return gangs


_CASES = st.tuples(_gangs(), st.permutations(PASSES), st.sampled_from(SHAPES))


def _cycle(case: Case) -> VolcanoCycle:
    gangs, passes, tiers = case
    return cluster(NODES, gangs, tuple(passes), tiers)


@given(_CASES)
def test_laws_of_a_cycle(case: Case) -> None:
    """No node has more than it is large, now or later; gangs start whole; who is evicted ran, and somebody waits for that room."""
    cycle = _cycle(case)
    run_cycle(cycle)
    session = cycle.session
    for node in session.nodes:
        assert min(session.free(node.number)[:3]) >= 0
        assert min(session.free_later(node.number)[:3]) >= 0
        for index in range(len(session.resources)):
            assert session.used[node.number][index] == sum(
                pod.requests[index] for pod in session.pods if pod.node == node.number and pod.status in ON_NODE
            )
    for workload in session.workloads:
        pods = session.pods_of(workload)
        if any(pod.status is PodStatus.PLACED for pod in pods):
            assert starts_later(cycle, pods, workload.groups[0].minimum)
    victims = [each.victim for each in cycle.evictions]
    assert len(set(victims)) == len(victims)
    for each in cycle.evictions:
        victim, beneficiary = session.pods[each.victim], session.pods[each.beneficiary]
        assert (cycle.came[each.victim], victim.status) == (PodStatus.RUNNING, PodStatus.STOPPING)
        own = session.workload_of(victim).queue == session.workload_of(beneficiary).queue
        assert each.by == ("preempt" if own else "reclaim")
    assert sorted(victims) == [pod.number for pod in session.pods if pod.status is PodStatus.STOPPING]


@given(_CASES)
def test_the_same_cycle_decides_the_same(case: Case) -> None:
    """Nothing is left over from one cycle to the next, and nothing hangs on the order of a set."""
    first, again = _cycle(case), _cycle(case)
    run_cycle(first)
    run_cycle(again)
    assert states(first) == states(again)
    assert first.phases == again.phases
    assert first.evictions == again.evictions


@given(_CASES)
def test_taking_back_leaves_no_trace(case: Case) -> None:
    """What a whole cycle did to pods is taken back to the last amount."""
    cycle = _cycle(case)
    session = cycle.session
    before = (states(cycle), [list(row) for row in session.used], [list(row) for row in session.held])
    mark = cycle.mark()
    run_cycle(cycle)
    cycle.undo(mark)
    assert (states(cycle), session.used, session.held) == before
    assert cycle.evictions == []
    assert session.promised == [[0] * len(session.resources) for _ in session.nodes]
