"""The ledger of a cycle: what is counted follows from where the pods are, and undoing takes back exactly what was tried."""

from fractions import Fraction

from gpol.engine.definition.session.pods import HOLDING, NO_NODE, ON_NODE, Pod, PodStatus, SessionGroup, SessionWorkload
from gpol.engine.definition.session.quota_nodes import QuotaNode
from gpol.engine.definition.session.session import Session, SessionNode
from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.inventory import Machine
from hypothesis import given
from hypothesis import strategies as st

_PODS = PodSet(name="main", count=1, requests={"gpu": 1})
_NODES = 3


def _session(sizes: list[int]) -> Session:
    """Three nodes of 8 GPUs; two queues below one parent, each with a workload of a pod of each size. The second may not be evicted."""
    nodes = [SessionNode(number, f"n{number}", Machine({}, {"gpu": 8}, -1), (8, 110)) for number in range(_NODES)]
    children = {0: (1,), 1: (2, 3)}
    quota = [
        QuotaNode(number, name, parent, children.get(number, ()), (None, None), (None, None), (0, 0), (Fraction(1), Fraction(1)))
        for number, (name, parent) in enumerate([("cluster", -1), ("all", 0), ("a", 1), ("b", 1)])
    ]
    workloads, pods = [], list[Pod]()
    for number in range(2):
        first = len(pods)
        pods += [Pod(first + at, f"w{number}-{at}", number, 0, (size, 1), _PODS) for at, size in enumerate(sizes)]
        group = SessionGroup("", -1, (), 1)
        whose = tuple(range(first, len(pods)))
        workloads.append(SessionWorkload(number, f"w{number}", 2 + number, 0, number == 0, 0, None, (group,), whose))
    return Session(("gpu", "pods"), nodes, quota, workloads, pods)


def _counted(session: Session) -> tuple[object, ...]:
    pods = [[pod.number for pod in session.pods_on(node)] for node in range(_NODES)]
    free = [(session.free(node), session.free_later(node)) for node in range(_NODES)]
    return session.used, session.stopping, session.promised, session.held, session.held_for_good, pods, free


_MOVES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(PodStatus), st.integers(0, _NODES - 1)), max_size=20)


def _play(session: Session, moves: list[tuple[int, PodStatus, int]]) -> None:
    for number, status, node in moves:
        session.move(session.pods[number], status, NO_NODE if status in (PodStatus.WAITING, PodStatus.DONE) else node)


@given(_MOVES, _MOVES)
def test_undo_takes_back_everything_since_a_mark(before: list[tuple[int, PodStatus, int]], tried: list[tuple[int, PodStatus, int]]) -> None:
    """After `undo` everything is as it was at the mark."""
    session, other = _session([1, 2, 3]), _session([1, 2, 3])
    _play(session, before)
    _play(other, before)
    mark = session.mark()
    _play(session, tried)
    assert {pod.number for pod in session.changed(mark)} == {number for number, _, _ in tried}
    session.undo(mark)
    assert _counted(session) == _counted(other)
    assert session.changed(mark) == []


@given(_MOVES)
def test_sums_follow_from_where_pods_are(moves: list[tuple[int, PodStatus, int]]) -> None:
    """What is used on nodes and held by queues is the sum over pods."""
    session = _session([1, 2, 3])
    _play(session, moves)
    for node in range(_NODES):
        there = [pod for pod in session.pods if pod.node == node]
        used = sum(pod.requests[0] for pod in there if pod.status in ON_NODE)
        later = sum(pod.requests[0] for pod in there if pod.status in ON_NODE - {PodStatus.STOPPING} | {PodStatus.PROMISED})
        assert session.free(node)[0] == 8 - used
        assert session.free_later(node)[0] == 8 - later
    for queue, workload in ((2, session.workloads[0]), (3, session.workloads[1])):
        assert session.held[queue][0] == sum(pod.requests[0] for pod in session.pods_of(workload) if pod.status in HOLDING)
    assert session.held[0] == session.held[1] == [a + b for a, b in zip(session.held[2], session.held[3], strict=True)]
    assert session.held_for_good[1] == session.held[3]


@given(_MOVES, st.lists(st.integers(0, _NODES - 1), max_size=2), st.integers(0, 2))
def test_a_pod_that_moves_takes_room_where_it_leaves(moves: list[tuple[int, PodStatus, int]], leaving: list[int], overpaid: int) -> None:
    """Its room counts as used and as free later on each node that it leaves; what is given back too often is held by nobody."""
    session = _session([1, 2, 3])
    _play(session, moves)
    pod = session.pods[4]
    session.move(pod, PodStatus.PROMISED, 1)
    free, later, held = _free(session), _later(session), session.held[3][0]
    mark = session.mark()
    session.move(pod, PodStatus.PROMISED, 1, tuple(leaving), overpaid)
    assert _free(session) == [there - 2 * leaving.count(node) for node, there in enumerate(free)]
    assert _later(session) == later
    assert session.held[3][0] == held - 2 * overpaid
    session.undo(mark)
    assert (_free(session), _later(session), session.held[3][0]) == (free, later, held)
    assert (pod.leaving, pod.overpaid) == ((), 0)


def _free(session: Session) -> list[int]:
    return [session.free(node)[0] for node in range(_NODES)]


def _later(session: Session) -> list[int]:
    return [session.free_later(node)[0] for node in range(_NODES)]
