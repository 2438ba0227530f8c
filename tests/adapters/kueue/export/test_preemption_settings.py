"""How Kueue has to decide, and who may evict whom."""

import pytest

from ..exports import AT_ONCE, IN_CYCLES, Json, notes, problems, specs

QUEUE = "queue q { owns 8 gpu }\n"
FAIR = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]


def at_once(choices: str, *rules: str) -> str:
    """A policy that decides at once by one or two rules of its own, which stand in place of its profile's two, or by none."""
    names = ["make-room", "reclaim-owned"] if rules else []
    listed = ", ".join(names) or "nothing"
    head = f'policy "p" {{\n  use gpol.reclaim\n  {choices}\n  preempt by {listed}\n}}\nflavor a100 {{ gpu 16 }}\n{QUEUE}'
    return head + "".join(f"preempt {name} {{\n  {rule}\n}}\n" for name, rule in zip(names, rules * 2, strict=False))


def said(text: str) -> tuple[Json, Json | None]:
    """The preemption of queue q, and the fair sharing of the Configuration."""
    configuration = specs(text, "Configuration").get("", {})
    return specs(text, "ClusterQueue")["q"].get("preemption", {}), configuration.get("fairSharing")


HEADS = "order queues by borrowing asc, priority desc, submitted asc"
LOWER = "where victim.priority < workload.priority"
OWN = f"evict from the same queue\n  {LOWER}"
RECLAIM = "when workload fits what its queue owns\n  evict from queues that borrow"
FINAL = "evict from queues that borrow\n  where workload.queue.share <= victim.queue.share_after"
INITIAL = "evict from queues that borrow\n  where victim.queue.share > workload.queue.share"


def test_the_default_profile_is_fair_sharing() -> None:
    """gpol.fair reclaims from anyone and evicts lower priority in the queue, and evens out final shares."""
    assert said(AT_ONCE + QUEUE) == (
        {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
        {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]},
    )


def test_the_reclaiming_profile_is_without_fair_sharing() -> None:
    """gpol.reclaim evicts as gpol.fair does, but for nobody's share; its order by share is noted."""
    text = AT_ONCE.replace("gpol.fair", "gpol.reclaim") + QUEUE
    assert said(text) == ({"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}, None)
    lost = "policy p: order queues: goes by share among those that borrow; Kueue without fair sharing goes by priority and time alone"
    assert lost in notes(text)


@pytest.mark.parametrize(
    ("rules", "preemption", "strategies"),
    [
        ([], {}, None),
        ([OWN], {"withinClusterQueue": "LowerPriority"}, None),
        ([f"{RECLAIM}\n  {LOWER}"], {"reclaimWithinCohort": "LowerPriority"}, None),
        ([f"{RECLAIM}\n  where workload.priority > victim.priority", RECLAIM], {"reclaimWithinCohort": "Any"}, None),
        (
            [f"evict from queues that borrow\n  {LOWER}"],
            {"reclaimWithinCohort": "LowerPriority", "borrowWithinCohort": {"policy": "LowerPriority"}},
            None,
        ),
    ],
)
def test_rules_of_an_author_that_say_what_kueue_says(rules: list[str], preemption: Json, strategies: Json | None) -> None:
    """A rule counts by its conditions, whatever it is called and whichever side of a comparison stands first."""
    assert said(at_once(HEADS, *rules)) == (preemption, strategies)


@pytest.mark.parametrize(("rules", "strategies"), [([INITIAL], FAIR[1:]), ([INITIAL, FINAL], FAIR)])
def test_rules_by_share(rules: list[str], strategies: list[str]) -> None:
    """Rules that compare shares are the strategies of fair sharing, in the one order that Kueue knows."""
    assert said(at_once("share borrowed", *rules)) == ({"reclaimWithinCohort": "Any"}, {"preemptionStrategies": strategies})


def test_an_order_by_share_alone_is_fair_sharing() -> None:
    """Queues that are served by share while nobody is evicted have fair sharing, which then evicts nobody either."""
    assert said(at_once("share borrowed")) == ({}, {"preemptionStrategies": FAIR})


@pytest.mark.parametrize(
    "rule",
    [
        "evict from any queue",
        "evict from the same queue",
        "evict from queues that borrow",
        f"{RECLAIM}, in the same cohort",
        "when workload fits what its cohort owns\n  evict from queues that borrow",
        f"{RECLAIM}\n  where victim.running > 10m",
        f"evict from the same queue\n  {LOWER} and victim.pods < 8",
        "evict from the same queue\n  where victim.priority <= workload.priority",
        "evict from the same queue\n  where victim.priority < 100",
    ],
)
def test_other_rules_are_refused(rule: str) -> None:
    """A rule whose conditions no policy of Kueue has is refused with its name and line."""
    assert problems(at_once(HEADS, rule, OWN)) == [
        "p.gpol:8: preempt rule make-room: evicts by conditions that no policy of preemption in Kueue has; "
        "use the rules of gpol.fair or gpol.reclaim, or rules with the same conditions"
    ]


def test_borrowing_by_evicting_and_shares_do_not_go_together() -> None:
    """Kueue with fair sharing never evicts by priority for one that borrows."""
    told = problems(at_once("share borrowed", FINAL, f"evict from queues that borrow\n  {LOWER}"))
    assert told == [
        "p.gpol:12: preempt rule reclaim-owned: evicts while its workload borrows, which Kueue with fair sharing does not; "
        "remove it, or the rules by share"
    ]


@pytest.mark.parametrize(
    ("choices", "rules", "field"),
    [
        ("order workloads by submitted asc", [], "order workloads"),
        ("order queues by priority desc", [], "order queues"),
        (HEADS, [FINAL], "order queues"),
        ("share used", [FINAL], "share"),
        ("share none", [FINAL], "share"),
        ("share used", [], "share"),
    ],
)
def test_other_orders_and_shares_are_refused(choices: str, rules: list[str], field: str) -> None:
    """Kueue's orders are fixed, and its share is of what is borrowed."""
    told = problems(at_once(choices, *rules))
    assert [problem.split(": ")[2] for problem in told] == [field]


def test_shares_of_nothing_order_nobody() -> None:
    """Where all shares are 0, an order by them is one without them: Kueue's without fair sharing."""
    assert said(at_once("share none", RECLAIM)) == ({"reclaimWithinCohort": "Any"}, None)


def test_an_order_of_victims_is_noted() -> None:
    """Kueue orders victims itself."""
    lost = "counts for nothing: Kueue takes the lowest priority first, then what was admitted last"
    assert f"preempt rule make-room, reclaim-owned: order by: {lost}" in notes(at_once(HEADS, f"{OWN}\n  order by victim.pods asc"))


# --- in cycles

TEAM = 'queue q { serves "nvidia.com/gpu" from a100 }\n'


def in_cycles(profile: str, choices: str = "") -> str:
    """A policy that decides in cycles."""
    return IN_CYCLES.replace("use kueue.classical", f"use {profile}\n  {choices}") + TEAM


def test_the_profiles_of_kueue() -> None:
    """Without fair sharing there is no Configuration; with it, the strategies are written out."""
    assert specs(in_cycles("kueue.classical"), "Configuration") == {}
    assert said(in_cycles("kueue.fair")) == ({}, {"preemptionStrategies": FAIR})
    assert said(in_cycles("kueue.fair", "preempt fairly by initial share")) == ({}, {"preemptionStrategies": FAIR[1:]})


@pytest.mark.parametrize(
    ("profile", "choices", "field"),
    [
        ("kueue.classical", "order queues by borrowing asc, share asc, priority desc, submitted asc", "order heads"),
        ("kueue.classical", "order heads by submitted asc", "order heads"),
        ("kueue.fair", "order heads by borrowing asc, priority desc, submitted asc", "order queues"),
        ("kueue.fair", "order queues by share asc", "order queues"),
        ("kueue.fair", "preempt fairly by initial share, final share", "preempt fairly"),
        ("kueue.classical", "order workloads by submitted asc", "order workloads"),
    ],
)
def test_other_procedures_are_refused(profile: str, choices: str, field: str) -> None:
    """What is not Kueue's procedure cannot be exported."""
    assert [problem.split(": ")[2] for problem in problems(in_cycles(profile, choices))] == [field]


def test_small_differences_are_noted() -> None:
    """Another period, and shares that are exact, hardly change anything."""
    told = notes(in_cycles("kueue.fair", "share borrowed\n  decide in cycles of 500ms"))
    assert "policy p: decide in cycles: is every 500ms here: Kueue's cycles follow one another at once" in told
    assert "policy p: share: are exact here, and Kueue rounds them: two that are almost equal may compare otherwise" in told
