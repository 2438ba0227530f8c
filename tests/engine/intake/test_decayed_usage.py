"""Usage that fades, and the order of a queue that goes by it."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from gpol.engine.default_core import freeze, thaw
from gpol.engine.errors import FactError
from gpol.engine.facts import FACT, TimeAdvanced
from gpol.engine.intake.decayed_usage import Consumed, rank, remaining
from gpol.engine.policy_graph import LocalQueue, Source
from gpol.engine.policy_settings import Usage

ONE = 1 << 64
HOUR = 3_600_000_000
SOURCE = Source("t.gpol", 1)


@pytest.mark.parametrize(
    ("elapsed", "half_life", "left"),
    [(0, HOUR, ONE), (HOUR, HOUR, ONE // 2), (3 * HOUR, HOUR, ONE // 8), (65 * HOUR, HOUR, 0), (5, 0, ONE)],
)
def test_halves(elapsed: int, half_life: int, left: int) -> None:
    """After each half-life half of it is left, after 65 of them nothing; without a half-life nothing fades."""
    assert remaining(elapsed, half_life) == left


@pytest.mark.parametrize("part", [1, 2, 7, 59, 60])
def test_between_halves(part: int) -> None:
    """After p of 60 minutes 0.5 to the power of p/60 is left, right to fifteen digits."""
    assert abs(remaining(part * HOUR // 60, HOUR) / ONE - 0.5 ** (part / 60)) < 1e-15


def test_half_of_a_half_life_squared() -> None:
    """Twice the fading of half a half-life is that of a whole one, but for the last of 64 digits."""
    half = remaining(HOUR // 2, HOUR)

    assert abs((half * half >> 64) - ONE // 2) <= 2


def usage(half_life: int = HOUR, **weights: int) -> Usage:
    """Usage sampled every half-life, so that a sample adds half of what is held."""
    return Usage(half_life, HOUR, tuple((name, Fraction(weight)) for name, weight in sorted(weights.items())))


def test_what_is_held_counts_as_it_fades_in() -> None:
    """Of eight held for an hour half count; idle for another hour, half of that is left."""
    consumed = Consumed()
    consumed.advance(HOUR, {"gpu": 8000}, usage())
    assert consumed.amounts == {"gpu": 4000 << 64}
    consumed.advance(2 * HOUR, {}, usage())
    assert (consumed.amounts, consumed.updated) == ({"gpu": 2000 << 64}, 2 * HOUR)


def test_an_admission_counts_at_once() -> None:
    """It adds what one sampling interval would: of six, half."""
    consumed = Consumed()
    consumed.charge({"gpu": 6000}, usage())
    consumed.charge({"gpu": 2000, "cpu": 1000}, usage())

    assert consumed.amounts == {"gpu": 4000 << 64, "cpu": 500 << 64}


def test_without_a_half_life_nothing_lasts() -> None:
    """Each sample forgets all, and an admission adds nothing."""
    consumed = Consumed({"gpu": 5 << 64})
    consumed.advance(HOUR, {"gpu": 8000}, usage(0))
    consumed.charge({"gpu": 8000}, usage(0))

    assert consumed.amounts == {"gpu": 0}


def local(weight: str) -> LocalQueue:
    """A local queue of this weight."""
    return LocalQueue("ns/a", Fraction(weight), "", SOURCE)


def test_ranks() -> None:
    """Two GPUs and 500m CPUs of weight 4, by weight 2: two; weight 0 comes after all others, whatever it used."""
    consumed = Consumed({"gpu": 2000 << 64, "cpu": 500 << 64})

    assert rank(consumed, local("2"), usage(cpu=4)) == (0, 2)
    assert rank(consumed, local("2"), usage()) == (0, Fraction(5, 4))
    assert rank(consumed, local("0"), usage()) > rank(consumed, local("1/1000000"), usage())


POLICY = """policy "u" {
  use kueue.classical
  usage halves every 1h, sampled every 1h
}
flavor a { gpu as owned }
queue q {
  owns 4 gpu
  admits by usage
  local queue "ns/a" { weight 1 }
  local queue "ns/b" { weight 1 }
  local queue "ns/c" { weight 2 }
  evicts its own of lower priority
}
"""


def submit(c: Any, name: str, by: str, **said: object) -> None:
    """A workload of one GPU, or as said, by a local queue."""
    c.submit(name, None, local_queue=f"ns/{by}", **said)


def test_who_used_least_goes_first(cycles: Callable[[str], Any]) -> None:
    """Once a1 counts, b's goes before a's, priority or not; then c's half counts less than b's whole."""
    c = cycles(POLICY)
    submit(c, "a1", "a")
    assert c.rest() == ["run a1"]
    submit(c, "a2", "a", priority=9)
    submit(c, "b1", "b")
    submit(c, "c1", "c")
    submit(c, "c2", "c")

    assert c.line("q") == ["b1", "c1", "c2", "a2"]
    assert [c.cycle() for _ in range(3)] == [["run b1"], ["run c1"], ["run c2"]]


def test_usage_reported_from_outside(cycles: Callable[[str], Any]) -> None:
    """What another system has counted stands in place of what was known, and fades from there; a policy that changes keeps it."""
    c = cycles(POLICY)
    c.fact("UsageReported", local_queue="ns/a", consumed={"gpu": "3"})
    submit(c, "a1", "a")
    submit(c, "b1", "b")
    assert c.core.probe.usage_of("a1") == (0, 3)
    assert c.head("q") == "b1"

    c.activate(POLICY.replace("owns 4", "owns 5"))
    assert c.core.probe.usage_of("a1") == (0, 3)


def test_usage_fades_while_cycles_run(cycles: Callable[[str], Any]) -> None:
    """An hour later, at the next cycle, half of what was reported is left, and half of what was held since is added."""
    c = cycles(POLICY)
    c.fact("UsageReported", local_queue="ns/a", consumed={"gpu": "2"})
    submit(c, "a1", "a")
    c.rest()
    assert c.core.probe.usage_of("a1") == (0, Fraction(5, 2)), "two, and half of the one it holds"
    c.at("1h")
    submit(c, "b1", "b")
    c.rest()

    assert c.core.probe.usage_of("a1") == (0, (Fraction(5, 4) + Fraction(1, 2)))


def test_a_copy_counts_for_itself(cycles: Callable[[str], Any]) -> None:
    """What is reported to a copy, and fades there, leaves the original's count alone."""
    c = cycles(POLICY)
    c.fact("UsageReported", local_queue="ns/a", consumed={"gpu": "2"})
    submit(c, "a1", "a")
    copy = c.core.copy()
    later = {"kind": "UsageReported", "local_queue": "ns/a", "consumed": {"gpu": "7"}}
    copy.step(FACT.validate_python({"time": HOUR, **later}))
    copy.step(TimeAdvanced(time=3 * HOUR))

    assert copy.probe.usage_of("a1") == (0, Fraction(7, 4) + Fraction(1, 2)), "faded twice, and one admitted since"
    assert c.core.probe.usage_of("a1") == (0, 2)


def test_who_used_most_goes_first_as_a_victim(cycles: Callable[[str], Any]) -> None:
    """Of equal workloads of one queue the one of the local queue that used most is taken."""
    c = cycles(POLICY)
    for name in ("a1", "a2", "a3", "b1"):
        submit(c, name, name[0])
    c.rest()
    submit(c, "w", "c", priority=1)

    assert c.cycle() == ["preempt w", "evict a3 for w"], "the last admitted of those"


NO_USAGE = POLICY.replace("  usage halves every 1h, sampled every 1h\n", "").replace("  admits by usage\n", "")


@pytest.mark.parametrize(
    ("text", "local_queue", "error"),
    [(POLICY, "ns/zed", "no local queue `ns/zed`"), (NO_USAGE, "ns/a", "does not go by usage")],
)
def test_usage_of_nobody(cycles: Callable[[str], Any], text: str, local_queue: str, error: str) -> None:
    """Usage is refused where the policy has no such local queue or does not go by usage."""
    c = cycles(text)
    with pytest.raises(FactError, match=error):
        c.fact("UsageReported", local_queue=local_queue, consumed={"gpu": "1"})


@pytest.mark.parametrize("says", ["", "queueing strict fifo"])
def test_who_used_least_goes_before_who_has_evicted(cycles: Callable[[str], Any], says: str) -> None:
    """In either kind of queue a local queue that used less comes first, and takes the room that another one's workload has made."""
    c = cycles(POLICY.replace("  admits by usage", f"  admits by usage\n  {says}"))
    c.fact("UsageReported", local_queue="ns/a", consumed={"gpu": "100"})
    submit(c, "low", "a", pods=4)
    c.rest()
    submit(c, "made", "a", pods=4, priority=5)
    assert c.cycle() == ["preempt made", "evict low for made"]
    submit(c, "b1", "b", pods=4)

    assert c.line("q") == ["b1", "made", "low"]
    assert c.head("q") == "b1"
    assert c.cycle() == ["run b1"]


@pytest.mark.parametrize(("says", "line"), [("", ["made", "late", "low"]), ("queueing strict fifo", ["late", "made", "low"])])
def test_who_has_evicted_goes_first_of_equal_usage(cycles: Callable[[str], Any], says: str, line: list[str]) -> None:
    """Among those of a local queue whoever evicted others stays first, a more important one or not; in a strict queue priority counts."""
    c = cycles(POLICY.replace("  admits by usage", f"  admits by usage\n  {says}"))
    submit(c, "low", "a", pods=4)
    c.rest()
    submit(c, "made", "a", pods=4, priority=5)
    assert c.cycle() == ["preempt made", "evict low for made"]
    submit(c, "late", "a", pods=4, priority=9)

    assert c.line("q") == line
    assert c.head("q") == line[0]


def test_a_snapshot_keeps_what_was_used(cycles: Callable[[str], Any]) -> None:
    """Usage is kept to the last of its binary digits, beyond 64 bits, and fades on as it would have."""
    c = cycles(POLICY)
    c.fact("UsageReported", local_queue="ns/a", consumed={"gpu": "3", "cpu": "1"})
    submit(c, "a1", "a")
    c.rest()
    c.at("20m")
    submit(c, "b1", "b")
    c.rest()
    thawed = thaw(freeze(c.core), c.core.graph)
    assert thawed.state.consumed == c.state.consumed
    assert any(amount > 1 << 64 for amount in thawed.view.consumed("ns/a").values())

    for core in (thawed, c.core):
        core.step(FACT.validate_python({"kind": "WorkloadFinished", "time": 2 * HOUR, "workload": "a1"}))
    assert freeze(thawed) == freeze(c.core)
