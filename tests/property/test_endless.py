"""Each way in which a policy in cycles never comes to rest: it is warned of, told when it happens, and what is advised ends it."""

import re
from pathlib import Path

import pytest
from endless_cases import CAUSES, Asked
from gpol.dsl import check
from gpol.engine.facts import PolicyActivated
from gpol.sim.drive.player import MOST_TURNS_IN_CYCLES, EndlessError, Player

REFERENCE = Path(__file__).parents[2] / "docs" / "language.md"

BETWEEN = [name for name, cause in CAUSES.items() if not cause.by.startswith("evicts its own")]
"""Those in which queues evict from others."""


def settled(policy: str, asked: tuple[Asked, ...]) -> Player:
    """Play submissions to their rest. Raises EndlessError."""
    checked = check(policy, "p.gpol")
    assert checked.graph is not None, checked.diagnostics
    player = Player()
    player.step(PolicyActivated(time=0, file="p.gpol", text=policy, digest=checked.graph.digest), checked.graph)
    for number, each in enumerate(asked):
        for _ in player.play(each.fact(number)):
            pass
    for _ in player.come_to_rest() if player.core.decides_in_cycles else player.advance(player.core.time):
        pass
    return player


def warnings(policy: str) -> list[str]:
    """What `check` warns of as never coming to rest."""
    return [diagnostic.message for diagnostic in check(policy, "p.gpol").diagnostics if diagnostic.code == "GP057"]


@pytest.mark.parametrize("name", CAUSES)
def test_it_goes_on_for_ever(name: str) -> None:
    """The policy is warned of, and goes round in a circle; the player stops it and names the victim and the statement."""
    cause = CAUSES[name]
    assert len(warnings(cause.policy)) >= 1
    with pytest.raises(EndlessError, match=f"more than {MOST_TURNS_IN_CYCLES} times") as caught:
        settled(cause.policy, cause.asked)
    assert cause.victim in {eviction.workload for eviction in caught.value.evictions}
    lines = cause.policy.splitlines()
    by = {lines[eviction.why.rule.line - 1].strip() for eviction in caught.value.evictions if eviction.why.rule is not None}
    assert any(line.startswith(cause.by) for line in by)


@pytest.mark.parametrize("name", CAUSES)
def test_its_change_ends_it(name: str) -> None:
    """With the change that the reference names for it the same cluster comes to rest."""
    changed = CAUSES[name].changed()
    player = settled(changed.policy, changed.asked)
    assert player.core.next_wake() is None


@pytest.mark.parametrize("name", BETWEEN)
def test_evicting_within_queues_ends_it(name: str) -> None:
    """What the player advises: where no queue evicts from others, all of them come to rest, and nothing is warned of."""
    cause = CAUSES[name]
    with pytest.raises(EndlessError, match=r"let queues evict their own only, or use the profile gpol\.fair"):
        settled(cause.policy, cause.asked)
    within = re.sub(r" *(reclaims|borrows by evicting)[^\n]*\n", "", cause.policy)
    assert warnings(within) == []
    assert settled(within, cause.asked).core.next_wake() is None


@pytest.mark.parametrize("name", BETWEEN)
def test_the_default_profile_ends_it(name: str) -> None:
    """What the player advises as well: under gpol.fair all of them come to rest."""
    cause = CAUSES[name]
    at_once = re.sub(r" *(reclaims|borrows by evicting|evicts its own)[^\n]*\n", "", cause.policy)
    at_once = re.sub(r"use kueue\.\w+(\n  preempt fairly by final share)?", "use gpol.fair", at_once)
    core = settled(at_once, cause.asked).core
    assert core.graph is not None
    assert core.graph.settings.cycles is None
    assert core.next_wake() is None


@pytest.mark.parametrize("name", sorted(set(CAUSES) - set(BETWEEN)))
def test_within_a_queue_it_advises_otherwise(name: str) -> None:
    """Where a queue evicts its own only, the advice is about the order in which it admits."""
    with pytest.raises(EndlessError, match="let the queue admit by priority, and not by usage"):
        settled(CAUSES[name].policy, CAUSES[name].asked)
    assert warnings(CAUSES[name].changed().policy) == []


@pytest.mark.parametrize(("name", "ends"), [("by usage", False), ("an order of its own", True)])
def test_in_the_other_kind_of_queue(name: str, ends: bool) -> None:
    """By usage the victim comes first in a strict queue as well; in an order of its own not at once in one that is not strict."""
    policy = CAUSES[name].policy
    strict = "  queueing strict fifo\n"
    other = policy.replace(strict, "") if strict in policy else policy.replace("  owns 2 gpu\n", "  owns 2 gpu\n" + strict)
    assert len(warnings(other)) == 1
    if ends:
        assert settled(other, CAUSES[name].asked).core.next_wake() is None
    else:
        with pytest.raises(EndlessError):
            settled(other, CAUSES[name].asked)


def test_the_reference_lists_them() -> None:
    """The table of the reference has one row for each of them, in their order."""
    section = re.search(
        r"^### Policies that never come to rest\n(.*?)(?=^##)", REFERENCE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert section is not None
    rows = re.findall(r"^\| ([^|]+?) \|", section[1], re.MULTILINE)
    assert rows[1:] == list(CAUSES)
