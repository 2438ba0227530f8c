"""One concept at a time, decided by both cores alike: small cases where a mistake in one kernel shows."""

from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.events import AnyDecision
from player import Play

SECOND = 1_000_000

Plain = dict[str, Any]


def played(policy: str, facts: list[Plain]) -> list[str]:
    """What both cores decide alike, in short."""
    play = Play((policy,), CORES["definition"], CORES["careful"], often=1)
    for plain in ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *facts):
        play.step(plain)
    play.finish()
    return [f"{event.kind.removeprefix('Workload')} {event.workload}" for event, _ in play.events if isinstance(event, AnyDecision)]


def submitted(name: str, queue: str, *pods: Plain, time: int = 0, **said: Any) -> Plain:
    """A submission of these pod sets, or of one GPU."""
    pod_sets = [{"name": f"p{index}", **each} for index, each in enumerate(pods or ({"requests": {"gpu": "1"}},))]
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "pod_sets": pod_sets, **said}


def gpus(count: int) -> Plain:
    """Pods of one GPU each."""
    return {"requests": {"gpu": "1"}, "count": count}


@pytest.mark.parametrize(("weight", "first"), [(1, "b"), (4, "a")])
def test_a_weight_divides_a_share(weight: int, first: str) -> None:
    """q borrows two of eight and r one: the next free GPU is r's, unless the weight of q is 4."""
    queues = f"  queue q {{\n    owns nothing\n    weight {weight}\n  }}\n  queue r {{ owns nothing }}\n  queue s {{ owns 4 gpu }}\n"
    policy = f'policy "p" {{ use gpol.fair }}\nflavor f {{ gpu 4 }}\ncohort c {{\n{queues}}}\n'
    facts = [submitted("a0", "q", gpus(2)), submitted("b0", "r"), submitted("s0", "s")]
    facts += [submitted("a", "q", time=1), submitted("b", "r", time=1), {"kind": "WorkloadFinished", "time": 2, "workload": "s0"}]
    assert played(policy, facts)[-1] == f"Admitted {first}"


def test_a_pod_set_without_pods_gets_no_flavor() -> None:
    """All pods of the second set are done before the workload is admitted."""
    policy = 'policy "p" { use gpol.fair }\nflavor f { gpu 4 }\nqueue q { owns 4 gpu }\n'
    done = {"kind": "WorkloadUpdated", "time": 1, "workload": "w", "reclaimable": {"p1": 1}}
    facts = [submitted("w", "q", gpus(2), gpus(1), hold=True), done, {"kind": "WorkloadUpdated", "time": 2, "workload": "w", "hold": False}]
    assert played(policy, facts) == ["Admitted w"]


CYCLES = 'policy "p" {{\n  use {}\n}}\nflavor a {{ gpu as owned }}\nflavor b {{ gpu as owned }}\n'


def cycles(*seconds: int) -> list[Plain]:
    """Cycles at these moments."""
    return [{"kind": "TimeAdvanced", "time": each * SECOND} for each in seconds]


@pytest.mark.parametrize(("says", "last"), [("", "Admitted w"), ("rather evict than borrow", "Evicted v")])
def test_what_a_queue_would_rather_do(says: str, last: str) -> None:
    """On a it may evict v within what it owns, on b it may borrow."""
    ways = f"    when borrowing try next flavor\n    reclaims from anyone\n    {says}\n"
    serves = "    serves gpu from a, b\n    owns 4 gpu on"
    queues = f"  queue q {{\n{serves} a\n{ways}  }}\n  queue r {{\n{serves} b\n  }}\n"
    facts = [submitted("v", "r", {**gpus(4), "flavors": ["a"]}), *cycles(0), submitted("w", "q", gpus(4), time=SECOND), *cycles(1)]
    assert played(f"{CYCLES.format('kueue.classical')}cohort c {{\n{queues}}}\n", facts)[-1] == last


def test_of_equal_candidates_the_one_that_was_admitted_last_goes() -> None:
    """Both have the same priority, and v1 was submitted first."""
    policy = CYCLES.format("kueue.classical") + "queue q {\n  owns 2 gpu on a\n  evicts its own of lower priority\n}\n"
    facts = [submitted("v1", "q"), submitted("v2", "q"), *cycles(0, 1), submitted("w", "q", time=2 * SECOND, priority=1), *cycles(2)]
    assert played(policy, facts)[-1] == "Evicted v2"


def test_a_queue_that_no_longer_borrows_is_spared() -> None:
    """r borrows one and s two: one workload of r goes, though all of r have a lower priority than those of s."""
    queues = (
        "  queue q {\n    owns 3 gpu on a\n    reclaims from anyone\n  }\n  queue r { owns 2 gpu on a }\n  queue s { owns 1 gpu on a }\n"
    )
    facts = [submitted(f"r{number}", "r") for number in range(3)] + [submitted(f"s{number}", "s", priority=5) for number in range(3)]
    facts += [*cycles(0, 1, 2), submitted("w", "q", gpus(3), time=3 * SECOND), *cycles(3)]
    assert sorted(played(f"{CYCLES.format('kueue.classical')}cohort c {{\n{queues}}}\n", facts)[-3:]) == [
        "Evicted r2",
        "Evicted s1",
        "Evicted s2",
    ]


def test_a_victim_may_go_until_shares_are_even() -> None:
    """r borrows all four and q asks for two: the second victim leaves both with the same share."""
    header = CYCLES.format("kueue.fair\n  preempt fairly by final share")
    says = "    owns nothing\n    reclaims from anyone\n"
    queues = f"  queue q {{\n{says}  }}\n  queue r {{\n{says}  }}\n  queue s {{ owns 4 gpu on a }}\n"
    facts = [submitted(f"r{number}", "r") for number in range(4)]
    facts += [*cycles(0, 1, 2, 3), submitted("w", "q", gpus(2), time=4 * SECOND), *cycles(4)]
    assert sorted(played(f"{header}cohort c {{\n{queues}}}\n", facts)[-2:]) == ["Evicted r2", "Evicted r3"]


@pytest.mark.parametrize(("protected", "due"), [("<", 10 * SECOND), ("<=", 10 * SECOND + 1)])
def test_a_protection_ends_to_the_microsecond(protected: str, due: int) -> None:
    """v is protected for ten seconds; one that counts them in ends a microsecond later."""
    policy = (
        'policy "p" { use gpol.fair }\nflavor f { gpu 1 }\nqueue q { owns 1 gpu }\n'
        f"protect new {{ where victim.running {protected} 10s }}\n"
    )
    facts = [submitted("v", "q"), submitted("w", "q", time=SECOND, priority=1)]
    assert played(policy, [*facts, {"kind": "TimeAdvanced", "time": due - 1}])[-1] == "Admitted v"
    assert played(policy, [*facts, {"kind": "TimeAdvanced", "time": due}])[-1] == "Admitted w"


def test_each_rule_keeps_to_its_own_order() -> None:
    """By the first rule c goes; by the second, whose order is another one, a goes before b. That is enough without c."""
    rules = (
        "preempt small {\n  evict from the same queue\n  where victim.priority < workload.priority and victim.pods < 2\n}\n"
        "preempt large {\n  evict from the same queue\n  where victim.priority < workload.priority\n  order by victim.pods desc\n}\n"
    )
    policy = f'policy "p" {{\n  use test.bare\n  preempt by small, large\n}}\nflavor f {{ gpu 6 }}\nqueue q {{ owns 6 gpu }}\n{rules}'
    facts = [submitted("a", "q", gpus(3)), submitted("b", "q", gpus(2), time=1), submitted("c", "q", gpus(1), time=2)]
    facts.append(submitted("w", "q", gpus(3), time=3, priority=5))
    assert played(policy, facts)[3:] == ["Evicted a", "Admitted w"]


@pytest.mark.parametrize(
    ("asked", "kinds", "evicted"),
    [(3, (1, 1, 6), ["v1", "v0"]), (5, (4, 4), []), (3, (2, 6), ["v0"]), (3, (1, 1, 3, 3), ["v3"])],
)
def test_who_is_kept_keeps_only_those_who_are_like_it(asked: int, kinds: tuple[int, ...], evicted: list[str]) -> None:
    """r borrows 8 of 9, and q asks for some. Whoever would leave r a smaller share than q then has stays; of others the last goes first."""
    queues = "  queue q { owns nothing }\n  queue r { owns nothing }\n  queue s { owns 9 gpu }\n"
    policy = f'policy "p" {{ use gpol.fair }}\nflavor f {{ gpu 9 }}\ncohort c {{\n{queues}}}\n'
    facts = [submitted(f"v{number}", "r", gpus(each), time=number) for number, each in enumerate(kinds)]
    facts.append(submitted("w", "q", gpus(asked), time=9))
    expected = [f"Evicted {name}" for name in evicted]
    assert [each for each in played(policy, facts) if each.startswith("Evicted")] == expected
