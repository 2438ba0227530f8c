"""The cluster as it stands: its figures are those that a recount of the events alone comes to, after every batch."""

from collections.abc import Callable
from pathlib import Path

import cycle_cases
from cycle_cases import cycle_cases as cases_in_cycles
from generators import Case, activation, cases, fact_of
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import Charge
from gpol.engine.events import AnyEvent
from gpol.engine.facts import NodeAdded, OperatorAction
from gpol.engine.units import MINUTE
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.cluster_figures import ClusterFigures, Holding, cluster_of, live_workloads
from gpol.sim.measure.measure import Measure
from hypothesis import given

NESTED = """
policy "nested" { use gpol.fair }
flavor a100 { gpu from nodes where model = "A100" }
flavor h100 {
  gpu 4
  cpu 32
}
cohort all {
  cohort inner {
    owns 2 gpu on h100
    queue owner {
      owns 2 gpu on h100
      owns 2 gpu on a100
      prefer h100, a100
    }
  }
  queue guest {
    owns nothing
    prefer h100, a100
  }
}
"""


def _same(cluster: ClusterFigures, measure: Measure) -> None:
    """Every figure of a cluster is the one that a measure counted."""
    assert {(each.flavor, each.resource): each.exists for each in cluster.capacity} == measure.capacity
    counted = {key: amount for key, amount in measure.used.items() if amount}
    assert {(each.flavor, each.resource): each.used for each in cluster.capacity if each.used} == counted
    for place in cluster.places:
        if place.is_queue:
            figures = measure.queues[place.name]
            assert place.gpus() == (figures.owned, figures.used, figures.borrowed, figures.lent), place.name
            assert (place.running, place.waiting) == (len(figures.running), len(figures.waiting)), place.name
            uses = {each.flavor: each.uses for each in place.holdings if each.resource == "gpu" and each.uses}
            assert uses == {flavor: amount for flavor, amount in figures.uses.items() if amount}
    tops = [place for place in cluster.places if place.depth == 0]
    queues = [place for place in cluster.places if place.is_queue]
    assert sum(place.running for place in tops) == sum(place.running for place in queues)
    assert sum(place.gpus()[1] for place in tops) == sum(place.gpus()[1] for place in queues)


@given(cases())
def test_figures_are_those_of_the_recount(case: Case) -> None:
    """After every fact what exists and is used, owned, borrowed and lent, and who runs and waits, is what the events add up to."""
    core, measure = new_core(), Measure()
    measure.take(activation(case), core.step(activation(case), case.graph), case.graph)
    for number, step in enumerate(case.steps):
        fact = fact_of(core, case, number, step)
        measure.take(fact, core.step(fact), case.graph)
        _same(cluster_of(core), measure)


@given(cases_in_cycles())
def test_figures_in_cycles(case: cycle_cases.Case) -> None:
    """The same where the policy decides in cycles, is changed on the way, and workloads are adopted and grow."""
    measure = Measure()
    for core, fact, graph in cycle_cases.history(case):
        measure.take(fact, core.step(fact, graph), graph)
        cluster = cluster_of(core)
        nobodys = len(measure.queues["(none)"].waiting) if "(none)" in measure.queues else 0
        assert cluster.in_no_queue == nobodys
        _same(cluster, measure)


def test_nothing_yet() -> None:
    """A core without a policy stands for a cluster of nothing."""
    assert cluster_of(new_core()) == ClusterFigures(0, 0, (), (), (), 0)


def test_a_nested_cluster_by_hand(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Places stand in tree order, neighbours by name, with what they hold; machines are counted by flavor; who is on hold also waits."""
    made = policy(NESTED)
    player = Player()
    player.step(made.activation(0), made.graph)
    for number, model in enumerate(("A100", "A100", "T4")):
        player.step(NodeAdded(time=0, node=f"n{number}", labels={"model": model}, capacity={"gpu": "2"}))
    player.step(job("g", "guest", "0s", "1h", "3").fact)
    for name in ("o1", "o2"):
        player.step(job(name, "owner", "0s", "1h", "8").fact)
    player.step(OperatorAction(time=0, by="op", action="hold", workload="o2"))
    cluster = cluster_of(player.core)

    assert [(each.flavor, each.resource, each.exists, each.owned, each.used, each.idle) for each in cluster.capacity] == [
        ("a100", "gpu", 4000, 2000, 0, 4000),
        ("h100", "cpu", 32_000, 0, 0, 32_000),
        ("h100", "gpu", 4000, 4000, 3000, 1000),
    ]
    assert cluster.machines == (("", 1), ("a100", 2))
    told = [(each.name, each.parent, each.depth, each.is_queue, each.running, each.waiting, each.held) for each in cluster.places]
    assert told == [
        ("all", None, 0, False, 1, 2, 1),
        ("guest", "all", 1, True, 1, 0, 0),
        ("inner", "all", 1, False, 0, 2, 1),
        ("owner", "inner", 2, True, 0, 2, 1),
    ]
    used_below, guest, cohort, owner = (each.holdings for each in cluster.places)
    assert used_below == (Holding("h100", "gpu", 0, 3000, 0, 0),)
    assert cohort == (Holding("h100", "gpu", 2000, 0, 0, 0),)
    # The guest's 3 GPUs are the 2 that the cohort owns and no queue, and 1 that the owner leaves idle.
    assert owner == (Holding("a100", "gpu", 2000, 0, 0, 0), Holding("h100", "gpu", 2000, 0, 0, 1000))
    assert guest == (Holding("h100", "gpu", 0, 3000, 3000, 0),)


def test_live_workloads(policy: Callable[..., Policy], job: Callable[..., Job], tmp_path: Path) -> None:
    """Each workload with its state, since when, its charge, its place in line and a reason; a victim waits since its eviction."""
    batches: list[list[AnyEvent]] = []

    class Kept:
        """Keeps batches."""

        def append(self, some: list[list[AnyEvent]]) -> None:
            """Keep them."""
            batches.extend(some)

    player = Player(sink=Kept(), group=1)
    made = policy()
    facts = [
        job(name, queue, at, "1h", gpus).fact
        for name, queue, at, gpus in (("g", "guest", "0s", "4"), ("h", "guest", "1m", "8"), ("o", "owner", "5m", "8"))
    ]
    player.step(made.activation(0), made.graph)
    for fact in facts:
        player.step(fact)
    player.step(OperatorAction(time=6 * MINUTE, by="op", action="hold", workload="h"))
    with Journal.create(tmp_path / "j.db") as journal:
        journal.append(batches)
        core = core_at(journal)
        everyone = {each.name: each for each in live_workloads(core, journal)}

        assert [(each.name, each.state, each.since, each.queue, each.position, each.waiting) for each in everyone.values()] == [
            ("g", "waiting", 5 * MINUTE, "guest", 1, 1),
            ("h", "held", 1 * MINUTE, "guest", None, None),
            ("o", "running", 5 * MINUTE, "owner", None, None),
        ]
        assert everyone["o"].usage == (Charge(flavor="a100", resource="gpu", amount=8000),)
        assert {name: each.reason for name, each in everyone.items()} == {"g": "WaitingForQuota", "h": "OnHold", "o": "Running"}
        assert [each.name for each in live_workloads(core, journal, frozenset({"owner"}))] == ["o"]
