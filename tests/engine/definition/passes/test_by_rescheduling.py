"""A policy decides by rescheduling: what a round of Armada does over a session comes out as decisions."""

import pytest
from by_passes import Passes, policy
from gpol.engine.errors import FactError

QUEUES = "queue q {\n  weight 1\n}\nqueue r {\n  weight 1\n}\n"
HEADER = "  place pods by evicts asc, free gpu asc\n"


def _armada(nodes: dict[str, int], queues: str = QUEUES, header: str = HEADER) -> Passes:
    return Passes(policy("armada.default", queues, header), nodes)


def test_shares_are_made_even_in_one_round() -> None:
    """Who is evicted gives room in the same round: both are told in one cycle."""
    cluster = _armada({"n1": 8})
    cluster.submit("b1", "r", "4")
    cluster.submit("b2", "r", "4")
    cluster.rest()
    cluster.submit("a", "q", "4")
    assert cluster.cycle() == ["evict b2 for a", "run a"]
    assert cluster.rest() == ["next b2"]
    assert cluster.running() == ["b1", "a"]


def test_nobody_within_its_share_is_evicted() -> None:
    """A queue that has no more than its share loses nothing."""
    cluster = _armada({"n1": 8})
    cluster.submit("b", "r", "4")
    cluster.submit("a", "q", "4")
    cluster.rest()
    cluster.submit("more", "q", "4")
    assert cluster.rest() == ["next more"]


def test_a_priority_may_bound_what_one_queue_uses() -> None:
    """A quarter of the cluster and no more, for workloads of this priority in one queue."""
    priorities = "priority low 10 {\n  queues use up to 1/4 of gpu\n}\n"
    cluster = _armada({"n1": 8}, priorities + QUEUES)
    cluster.submit("a", "q", "2", priority="low")
    cluster.submit("b", "q", "2", priority="low")
    assert cluster.rest() == ["run a", "next b"]


def test_gangs_are_whole() -> None:
    """All pods of a gang start together, or none does."""
    cluster = _armada({"n1": 8, "n2": 4})
    cluster.submit("gang", "q", "4", pods=4)
    assert cluster.rest() == ["next gang"]
    cluster.submit("less", "q", "4", pods=3)
    assert cluster.rest() == ["run less"]
    assert cluster.places("less") == {"n1": 2, "n2": 1}


def test_elastic_workloads_are_refused() -> None:
    """Armada knows whole gangs alone."""
    cluster = _armada({"n1": 8})
    with pytest.raises(FactError, match="has pods beyond its minimum"):
        cluster.submit("e", "q", sets=[{"count": 4, "minimum": 2, "requests": {"gpu": "1"}}])
