"""The law of rest for policies in cycles: what `check` does not warn of comes to rest on every history."""

import re
from dataclasses import replace

from cycle_cases import PROFILES, Case, cycle_cases, played
from gpol.dsl import check
from gpol.sim.drive.player import Player
from hypothesis import event, given
from hypothesis import strategies as st

NO_LIMITS = re.compile(r"^ *borrows up to .*\n", re.MULTILINE)
NO_RECLAIMS = re.compile(r"^ *(reclaims|borrows by).*\n", re.MULTILINE)
QUEUE_BELOW = re.compile(r"^( *)(queue q[0-3] \{)\n", re.MULTILINE)


def warned(text: str) -> bool:
    """Whether a policy is warned of as one that may never come to rest."""
    checked = check(text, "cycles.gpol")
    assert checked.graph is not None
    return any(diagnostic.code == "GP057" for diagnostic in checked.diagnostics)


def within_queues(text: str) -> str:
    """A policy in which queues evict their own only."""
    return NO_RECLAIMS.sub("", text)


def without_borrowing(text: str) -> str:
    """A policy in which no queue of a cohort borrows, so that there is nothing to reclaim, and what may be is all said."""
    nothing = r"\1\2\n\1  borrows up to 0 gpu on a\n\1  borrows up to 0 gpu on b\n\1  borrows up to 0 cpu on c\n"
    return QUEUE_BELOW.sub(nothing, NO_LIMITS.sub("", text))


@given(cycle_cases(), st.sampled_from([within_queues, without_borrowing]))
def test_what_is_not_warned_of_comes_to_rest(case: Case, quietly: object) -> None:
    """Law 7: without the warning cycles end after every history, whatever workloads ask for and operators do.

    Why they must. Who is evicted by its own queue ranks below the one it goes for, which then is its queue's head and stays it (best
    effort), or is it again (strict), while all that had been parked is looked at again. So nobody of that queue comes before it; who
    comes from other queues keeps the room, since only its own queue may evict it. Suppose some evict on and on: of these the one that
    ranks highest in its queue is itself evicted no more, so it waits for ever, and is robbed each time by heads of other queues; those
    are evicted on and on as well, by workloads that rank above them, of which the highest would have to wait for ever in their turn,
    and be their queues' heads instead. Where nobody can borrow, what uses more than it owns was admitted under another policy, or adopted:
    once it is evicted it does not come back so.
    """
    assert callable(quietly)
    texts = (quietly(case.texts[0]), quietly(case.texts[1]))
    assert not any(map(warned, texts))
    core, _ = played(replace(case, texts=texts))
    event("evictions" if any(workload.evictions for workload in core.view.workloads()) else "none")
    for _ in Player(core).come_to_rest():
        pass
    assert core.next_wake() is None


@given(cycle_cases())
def test_whoever_may_evict_a_borrower_is_warned_of(case: Case) -> None:
    """The warning depends on nothing but what is said: a policy with it loses it where no queue evicts from others, and only there."""
    for text in case.texts:
        shared = text[: text.index("queue q4")]
        assert warned(text) == ("reclaims from" in shared and _some_other_borrows(text))
        assert not warned(within_queues(text))


def _some_other_borrows(text: str) -> bool:
    """Whether beside each queue that reclaims all others borrow nothing: in generated policies that is said by limits of 0."""
    queues = re.split(r"^ *queue q", text, flags=re.MULTILINE)[1:5]
    free = [not all(f"borrows up to 0 {slot}" in queue for slot in ("gpu on a", "gpu on b", "cpu on c")) for queue in queues]
    return any("reclaims from" in queue and any(free[:at] + free[at + 1 :]) for at, queue in enumerate(queues))


def test_both_profiles_are_warned_of() -> None:
    """The law says nothing of a profile of which nothing is said: two queues of a cohort that reclaim are warned of under either."""
    for profile in sorted(PROFILES):
        queues = "".join(f"  queue {name} {{\n    owns 1 gpu\n    reclaims from lower priority\n  }}\n" for name in "xy")
        assert warned(f'policy "p" {{ use {profile} }}\nflavor a {{ gpu as owned }}\ncohort all {{\n{queues}}}\n')
