"""A policy that says something otherwise than the system decides it whose passes it uses is refused where it would become active."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.core.core import ArrayCore
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.errors import FactError
from gpol.engine.facts import PolicyActivated
from gpol.engine.policy.undecided import why_undecided

PROFILES = ("kai.default", "volcano.proportion", "volcano.capacity", "volcano.drf", "armada.default")


def _policy(profile: str, header: str = "", rule: str = "") -> str:
    """A policy with a profile, and something said otherwise in its header or by one more rule."""
    flavor = 'flavor gpus {\n  gpu from nodes where pool = "a"\n  placed on nodes\n}\nqueue a {\n  weight 1\n}\n'
    return f'policy "p" {{\n  use {profile}\n{header}}}\n{flavor}{rule}'


def _why(profile: str, header: str = "", rule: str = "") -> str | None:
    return why_undecided(compile_policy(_policy(profile, header, rule), "p.gpol"))


@pytest.mark.parametrize("profile", PROFILES)
def test_the_profiles_are_decided(profile: str) -> None:
    """Each profile says what its system decides."""
    assert _why(profile) is None


@pytest.mark.parametrize("profile", ["gpol.fair", "kueue.fair"])
def test_other_ways_are_decided(profile: str) -> None:
    """At once and in cycles that nominate there is nothing that no core decides."""
    assert why_undecided(compile_policy(f'policy "p" {{ use {profile} }}\n', "p.gpol")) is None


@pytest.mark.parametrize(
    ("profile", "header", "told"),
    [
        ("kai.default", "  order queues by share desc", "in `order queues by`: KAI knows each key in one direction alone"),
        ("kai.default", "  order workloads by submitted asc", "in `order workloads by`: KAI's order is `priority desc, readiness asc, "),
        ("kai.default", "  place pods by free gpu asc", "in `place pods by`: KAI's order is"),
        ("kai.default", "  entitle owned first, then by weight", "in `entitle`: KAI entitles"),
        ("kai.default", "  place pods by domain desc, fits-now desc, plain-node desc, free cpu asc", "in `place pods by`: KAI's order is"),
        ("kai.default", "  admit within limits", "in `admit within`: KAI's bounds are"),
        (
            "volcano.proportion",
            "  order queues by share asc, created asc",
            "with Volcano's plugin `proportion` the order is `queue-priority desc, ",
        ),
        ("volcano.proportion", "  order workloads by submitted asc, priority desc", "in `order workloads by`: Volcano's keys are"),
        ("volcano.capacity", "  admit within entitlement", "in `admit within`: Volcano's plugin `capacity` has bounds of its own"),
        ("volcano.drf", "  score nodes packed 1/2 for cpu", "in `score nodes`: Volcano's weights are whole numbers"),
        ("armada.default", "  entitle by weight up to demand, in at most 3 rounds, to 1/100", "in `entitle`: Armada entitles"),
        ("armada.default", "  order queues by share-with asc", "in `order queues by`: Armada's order is"),
        ("armada.default", "  order workloads by submitted asc", "in `order workloads by`: Armada's order is"),
        ("armada.default", "  place pods by free gpu asc", "in `place pods by`: Armada's order is"),
    ],
)
def test_what_a_system_does_not_decide_is_told(profile: str, header: str, told: str) -> None:
    """The place, the word, and what the system has instead."""
    why = _why(profile, header + "\n")
    assert why is not None
    assert why.startswith("p.gpol:1: policy `p` says something that ")
    assert told in why


MAKE_ROOM = """preempt make-room {
  in preempt
  evict from the same queue
  search by scenarios, moving whom it can
  take surplus pods one by one, then the rest together
}
"""
EVEN_OUT = """preempt even-out {
  in reclaim
  evict from other queues
  search node by node
  take single pods
  votes { priority }
}
"""
REBALANCE = """preempt rebalance {
  in balance
  evict from any queue
  search by rescheduling
  take whole workloads
  accept where victim side is over its entitlement
  accept where victim side is over its entitlement
}
"""


@pytest.mark.parametrize(("profile", "rule"), [("kai.default", MAKE_ROOM), ("volcano.drf", EVEN_OUT), ("armada.default", REBALANCE)])
def test_rules_are_those_of_the_system(profile: str, rule: str) -> None:
    """A rule that asks otherwise is named."""
    why = _why(profile, rule=rule)
    assert why is not None
    assert f"rule `{rule.split()[1]}`" in why


@pytest.mark.parametrize("make", [DefinitionCore, ArrayCore])
def test_it_does_not_become_active(make) -> None:
    """The core stays as it was."""
    text = _policy("kai.default", "  order queues by share desc\n")
    core, graph = make(), compile_policy(text, "p.gpol")
    with pytest.raises(FactError, match=r"^p.gpol:1: .* KAI does not decide"):
        core.step(PolicyActivated(time=0, file="p.gpol", text=text, digest=graph.digest), graph)
    assert (core.graph, core.seq) == (None, 0)


@pytest.mark.parametrize("profile", ["volcano.proportion", "volcano.capacity", "volcano.drf"])
def test_passes_without_rules_are_known_by_what_they_entitle_to(profile: str) -> None:
    """Volcano as shipped has no `preempt` and no `reclaim`."""
    assert _why(profile, "  decide in cycles of 1s by enqueue, allocate, backfill\n") is None


@pytest.mark.parametrize(
    ("profile", "said", "told"),
    [
        ("volcano.proportion", "weight 0", "Volcano's weights are whole numbers from 1 to 65,535"),
        ("volcano.drf", "weight 1.5", "Volcano's weights are whole numbers from 1 to 65,535"),
        ("volcano.drf", "uses up to 2 gpu", "to Volcano's plugin `drf` queues have a `weight` and no more"),
        ("volcano.drf", "owns 2 gpu", "to Volcano's plugin `drf` queues have a `weight` and no more"),
        ("armada.default", "weight 0", "Armada's weights are above 0"),
    ],
)
def test_queues_say_what_the_system_knows_of_them(profile: str, said: str, told: str) -> None:
    """A queue that says more, or a number that the system does not have, is named."""
    text = _policy(profile).replace("  weight 1\n", f"  {said}\n")
    assert told in (why_undecided(compile_policy(text, "p.gpol")) or "")


def test_a_vote_is_in_one_tier() -> None:
    """A plugin of Volcano stands in one tier, whatever it votes on."""
    rule = EVEN_OUT.replace("votes { priority }", "votes { share } then { conformance }")
    assert "in `votes`: a plugin of Volcano is in one tier" in (_why("volcano.drf", rule=rule) or "")
