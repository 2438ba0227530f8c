"""Looking for victims for a workload: how many of its pods can be placed, from 1 on, with the victims of the part before as a start.

KAI: actions/common/solvers/job_solver.go. KAI's budgets of time are not reproduced: the search ends when there is no scenario left.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...session.pods import Pod
from ..kai_cycle import KaiCycle
from ..order.workload_line import Line
from ..quota_state import GPU
from ..views import WorkloadView, gang_whole, partial, used_pods
from .generators import GENERATORS, Generator
from .scenario import VictimBatch
from .trying import Accepts, Solution, try_out


class ScenarioSearch(NamedTuple):
    """What a pass asks for: a workload, the line of its victims (made anew for each probe), and which solutions will do.

    `waiting` are the workloads with pods that wait, the workload itself included.
    """

    cycle: KaiCycle
    view: WorkloadView
    line: Callable[[], Line]
    waiting: tuple[int, ...]
    accepts: Accepts


def solve(search: ScenarioSearch) -> tuple[bool, Solution] | None:
    """Find victims, and leave the session as it is with them; None: there are none, and the session is as it was.

    False beside a solution: the workload was placed, but a leaf of it has not got its minimum. KAI does not commit that, and leaves it in
    its session: nobody is told to stop, but what follows in the cycle sees the room as taken.
    """
    cycle, view = search.cycle, search.view
    pods = view.pods_to_place(cycle.tentative)
    if not pods:
        return None
    before = used_pods(view)
    nodes = _feasible(cycle, view)
    failed: set[tuple[tuple[int, ...], ...]] = set()
    for generator in GENERATORS:
        solution = _search_with(search, generator, pods, nodes, failed)
        if solution is not None:
            return gang_whole(view) and used_pods(view) > before, solution
    return None


def _search_with(
    search: ScenarioSearch, generator: Generator, pods: Sequence[Pod], nodes: Sequence[int], failed: set[tuple[tuple[int, ...], ...]]
) -> Solution | None:
    """Look for the largest part that can be placed; if any can, try all of it."""
    recorded: tuple[VictimBatch, ...] = ()
    touched: tuple[Pod, ...] = ()

    def probe(count: int) -> bool:
        nonlocal recorded, touched
        cycle = search.cycle
        mark, tentative = cycle.session.mark(), dict(cycle.tentative)
        solution = _solve_part(search, generator, pods[:count], nodes, recorded, touched, failed)
        if solution is None:
            return False
        cycle.give_up(mark, tentative)
        recorded, touched = solution.batches, solution.victims
        return True

    if largest_part(len(pods), probe) == 0:
        return None
    return _solve_part(search, generator, pods, nodes, recorded, touched, failed)


def largest_part(count: int, probe: Callable[[int], bool]) -> int:
    """The largest number for which a probe succeeds: doubled until one fails, then halved (KAI: searchMaxSolvableK)."""
    low, high, part = 0, count + 1, 1
    while part < high:
        if not probe(part):
            high = part
            break
        low = part
        if part == count:
            return count
        part = min(2 * part, count)
    while high - low > 1:
        middle = (low + high) // 2
        if probe(middle):
            low = middle
        else:
            high = middle
    return low


def _solve_part(
    search: ScenarioSearch,
    generator: Generator,
    pods: Sequence[Pod],
    nodes: Sequence[int],
    recorded: Sequence[VictimBatch],
    touched: Sequence[Pod],
    failed: set[tuple[tuple[int, ...], ...]],
) -> Solution | None:
    """The first scenario that does for some of the pods."""
    cycle = search.cycle
    claimant = partial(search.view, pods)
    usable = list(dict.fromkeys([*nodes, *(pod.node for pod in touched)]))
    for scenario in generator(cycle, claimant, recorded, search.line(), usable):
        key = scenario.fingerprint
        if key in failed:
            continue
        solution = try_out(cycle, scenario, usable, search.waiting, search.accepts)
        if solution is not None:
            return solution
        failed.add(key)
    return None


def _feasible(cycle: KaiCycle, view: WorkloadView) -> list[int]:
    """The nodes that have GPUs free, now or later; all where a pod asks for none (KAI: FeasibleNodesForJob)."""
    numbers = [node.number for node in cycle.session.nodes]
    if any(not pod.requests[GPU] for pod in view.pods):
        return numbers
    return [node for node in numbers if max(cycle.session.free(node)[GPU], _stopping(cycle, node)) > 0]


def _stopping(cycle: KaiCycle, node: int) -> int:
    """The GPUs of a node that will be free and that nobody was promised (KAI: releasing)."""
    session = cycle.session
    return session.stopping[node][GPU] - session.promised[node][GPU]
