"""Laws of rounds of Armada, on small clusters in which some rounds were played."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from armada_cluster import GIB, TEST_SETTINGS, ArmadaCluster, ArmadaJob, ArmadaNode, RoundOutcome
from gpol.engine.definition.armada.armada_settings import ArmadaCap
from gpol.engine.definition.session.pods import PodStatus
from hypothesis import given
from hypothesis import strategies as st

QUEUES = ("a", "b", "c")

jobs = st.builds(
    lambda queue, cpu, memory, *others: ArmadaJob("", queue, (cpu, memory * GIB), *others),
    st.sampled_from(QUEUES),
    st.integers(1, 4),
    st.sampled_from([1, 4, 16]),
    st.sampled_from([1, 1, 1, 2, 3]),
    st.integers(0, 2),
    st.sampled_from([True, True, True, False]),
    st.sampled_from(["", "", "", "x"]),
    st.booleans(),
    st.booleans(),
)
histories = st.lists(st.lists(jobs, max_size=8), min_size=1, max_size=4)


@st.composite
def clusters(draw: st.DrawFn) -> ArmadaCluster:
    """A few nodes, three queues, and what a profile may vary."""
    settings = replace(
        TEST_SETTINGS,
        protected=draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])),
        protects_uncapped=draw(st.booleans()),
        large_first=draw(st.booleans()),
        caps=draw(st.sampled_from([(), (ArmadaCap(1, True, (("cpu", Fraction(1, 3)),)),)])),
    )
    size = st.tuples(st.integers(2, 8), st.sampled_from([16 * GIB, 64 * GIB]))
    nodes = draw(st.lists(st.builds(ArmadaNode, size, st.sampled_from(["", "x", "y"]), st.sampled_from([False, False, True])), max_size=4))
    weights = {queue: draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 3)])) for queue in QUEUES}
    return ArmadaCluster(nodes, weights, settings)


def play(cluster: ArmadaCluster, history: Sequence[Sequence[ArmadaJob]]) -> list[RoundOutcome]:
    """Rounds one after the other; a job is named by its round and its place there."""
    return [
        cluster.play([replace(job, name=f"{job.queue}/{number}/{at}") for at, job in enumerate(submitted)])
        for number, submitted in enumerate(history)
    ]


@given(clusters(), histories)
def test_what_is_held_and_used(cluster: ArmadaCluster, history: list[list[ArmadaJob]]) -> None:
    """After each round a queue holds what its pods that run ask for. Once those that stop are gone no node has more than its own, unless
    the round says so, as Armada's may; and even there those of the highest priority, and those that may not be evicted, have room."""
    for outcome in play(cluster, history):
        session = outcome.session
        running = [pod for pod in session.pods if pod.status in (PodStatus.RUNNING, PodStatus.PLACED)]
        for queue in session.quota_nodes[1:]:
            own = [pod.requests for pod in running if session.workload_of(pod).queue == queue.number]
            assert session.held[queue.number] == [sum(amounts) for amounts in zip((0, 0), *own, strict=True)]
        for node in session.nodes:
            there = [pod for pod in running if pod.node == node.number]
            if node.number in outcome.told.oversubscribed:
                highest = max(session.workload_of(pod).priority for pod in there)
                whose = [(pod, session.workload_of(pod)) for pod in there]
                there = [pod for pod, workload in whose if workload.priority == highest or not workload.preemptible]
            sums = [sum(amounts) for amounts in zip((0, 0), *(pod.requests for pod in there), strict=True)]
            assert all(amount <= has for amount, has in zip(sums, node.capacity, strict=True))


@given(clusters(), histories)
def test_gangs_are_whole_and_stay(cluster: ArmadaCluster, history: list[list[ArmadaJob]]) -> None:
    """All pods of a workload start, stop, run or wait together; who ran is on the node where it was; who may not be evicted runs on."""
    ran: dict[str, ArmadaJob] = {}
    for outcome in play(cluster, history):
        session, then = outcome.session, ran
        ran = {}
        for workload in session.workloads:
            pods = session.pods_of(workload)
            assert len({pod.status for pod in pods}) == 1
            status, nodes = pods[0].status, tuple(pod.node for pod in pods)
            before = then.get(workload.name)
            if before is None:
                assert status in (PodStatus.PLACED, PodStatus.WAITING)
            else:
                assert status in (PodStatus.RUNNING, PodStatus.STOPPING)
                assert nodes == before.nodes
                assert status is PodStatus.RUNNING or before.preemptible
            if status in (PodStatus.RUNNING, PodStatus.PLACED):
                ran[workload.name] = ArmadaJob(workload.name, "", (), preemptible=workload.preemptible, nodes=nodes)


@given(clusters(), histories)
def test_nothing_is_evicted_for_nothing(cluster: ArmadaCluster, history: list[list[ArmadaJob]]) -> None:
    """A round in which nothing waits changes nothing, and neither does one in which nothing of what waits starts."""
    for outcome in play(cluster, [*history, []]):
        assert outcome.started or not outcome.preempted


@given(clusters(), histories)
def test_lower_ones_displace_nobody(cluster: ArmadaCluster, history: list[list[ArmadaJob]]) -> None:
    """Who gets the room of an evicted pod has no lower priority than that pod, and starts or was evicted again itself."""
    for outcome in play(cluster, history):
        session = outcome.session
        for victim, winner in outcome.told.displaced_by.items():
            loser, gainer = session.workload_of(session.pods[victim]), session.workload_of(session.pods[winner])
            assert session.pods[victim].status is PodStatus.STOPPING
            assert session.pods[winner].status in (PodStatus.PLACED, PodStatus.WAITING)
            assert gainer.priority >= loser.priority


@given(clusters(), histories)
def test_names_do_not_matter(cluster: ArmadaCluster, history: list[list[ArmadaJob]]) -> None:
    """Queues and jobs of other names, in the same order, have the same outcomes."""
    other = replace(cluster, weights={f"q-{queue}": weight for queue, weight in cluster.weights.items()}, running=[], cordoned=set())
    renamed = [[replace(job, queue=f"q-{job.queue}") for job in submitted] for submitted in history]
    for one, two in zip(play(cluster, history), play(other, renamed), strict=True):
        assert [f"q-{name}" for name in one.started] == list(two.started)
        assert [f"q-{name}" for name in one.preempted] == list(two.preempted)
        assert [(pod.status, pod.node) for pod in one.session.pods] == [(pod.status, pod.node) for pod in two.session.pods]


@given(clusters(), histories, st.integers(2, 1000))
def test_units_do_not_matter(cluster: ArmadaCluster, history: list[list[ArmadaJob]], factor: int) -> None:
    """Amounts in a smaller unit have the same outcomes."""
    packing = tuple((resource, size * factor) for resource, size in cluster.settings.packing)
    nodes = [replace(node, capacity=tuple(amount * factor for amount in node.capacity)) for node in cluster.nodes]
    other = replace(cluster, nodes=nodes, settings=replace(cluster.settings, packing=packing), running=[], cordoned=set())
    scaled = [[replace(job, requests=tuple(amount * factor for amount in job.requests)) for job in submitted] for submitted in history]
    for one, two in zip(play(cluster, history), play(other, scaled), strict=True):
        assert (one.started, one.preempted) == (two.started, two.preempted)
