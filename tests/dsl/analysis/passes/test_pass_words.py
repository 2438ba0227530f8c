"""Words that go together where passes decide: each profile's do, and each word of another system is refused by name."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.analysis.passes.pass_words import GOES_WITH, SEARCH_WAYS

FLAVOR = """flavor gpus {
  gpu, cpu from nodes where pool = "a"
  placed on nodes
}
"""
TREE = "queue nlp { weight 2 }\nqueue vision { weight 1 }\n"

RULES = {
    "kai.default": ("preempt make-room", "in preempt", "search by scenarios", "take surplus pods one by one, then the rest together"),
    "volcano.drf": ("preempt make-room", "in preempt", "search node by node", "take single pods"),
    "armada.default": ("preempt rebalance", "in balance", "search by rescheduling", "take whole workloads"),
}
"""A rule of each system in the place of the profile's own: its head, its pass, its search and its unit."""


def policy(profile: str, choices: str = "", tree: str = TREE, items: str = "") -> str:
    """A policy that uses a profile."""
    said = "".join(f"  {choice}\n" for choice in choices.split("\n") if choice)
    return f'policy "p" {{\n  use {profile}\n{said}}}\n{FLAVOR}{items}{tree}'


def ruled(profile: str, statement: str, scope: str = "evict from the same queue", take: str = "") -> str:
    """The profile's system with a rule that says something more."""
    head, in_pass, search, unit = RULES[profile]
    scope = "evict from any queue" if profile == "armada.default" and scope == "evict from the same queue" else scope
    said = [in_pass, scope, search, take or unit, *([statement] if statement else [])]
    return policy(profile, items=f"{head} {{\n" + "".join(f"  {line}\n" for line in said) + "}\n")


@pytest.mark.parametrize("profile", ["kai.default", "volcano.proportion", "volcano.capacity", "volcano.drf", "armada.default"])
def test_each_profile_goes_with_itself(find, profile):
    """A policy that says nothing but its profile and what exists has no flaw."""
    assert find(policy(profile)) == []


@pytest.mark.parametrize("profile", RULES)
def test_a_rule_of_its_own_system_is_fine(find, profile):
    """The rules that are refused below are refused for one statement each."""
    assert find(ruled(profile, "")) == []


KAI, DRF, ARMADA = "kai.default", "volcano.drf", "armada.default"


@pytest.mark.parametrize(
    ("profile", "choices", "marked"),
    [
        (KAI, "decide in cycles of 1s by enqueue, allocate, consolidate, reclaim, preempt, end broken gangs", "enqueue"),
        (KAI, "decide in cycles of 1s by allocate, consolidate, reclaim, preempt, end broken gangs, backfill", "backfill"),
        (DRF, "decide in cycles of 1s by allocate, preempt, reclaim, end broken gangs\ngangs broken for 1m end", "end broken gangs"),
        (KAI, "entitle as owned", "entitle as owned"),
        (KAI, "entitle by weight", "entitle by weight"),
        (
            KAI,
            "entitle by weight up to demand, in at most 10 rounds, to 1/100",
            "entitle by weight up to demand, in at most 10 rounds, to 1/100",
        ),
        (DRF, "entitle owned first, then by weight", "entitle owned first, then by weight"),
        (ARMADA, "entitle by weight", "entitle by weight"),
        (KAI, "share used", "share used"),
        (KAI, "share of entitlement where nothing is due counts 1", "share of entitlement where nothing is due counts 1"),
        (DRF, "share of entitlement where nothing is due counts x1000", "share of entitlement where nothing is due counts x1000"),
        (ARMADA, "share of cost where nothing is due counts 1", "share of cost where nothing is due counts 1"),
        (
            KAI,
            "share of entitlement where nothing is due counts x1000 weighing gpu 2",
            "share of entitlement where nothing is due counts x1000 weighing gpu 2",
        ),
        (KAI, "order queues by saturated asc", "saturated asc"),
        (KAI, "order queues by priority desc", "priority desc"),
        (DRF, "order queues by starved desc", "starved desc"),
        (ARMADA, "order queues by share asc", "share asc"),
        (DRF, "order queues by large-first desc", "large-first desc"),
        (KAI, "order workloads by share asc", "share asc"),
        (ARMADA, "order workloads by readiness asc", "readiness asc"),
        (KAI, "place pods by evicts asc", "evicts asc"),
        (DRF, "place pods by score desc, free gpu asc", "free gpu asc"),
        (ARMADA, "place pods by fits-now desc", "fits-now desc"),
        (KAI, "place pods by free gpu in steps of 2 asc", "free gpu in steps of 2 asc"),
        (KAI, "place pods by score desc\nscore nodes balanced 1", "score desc"),
        (KAI, "admit within entitlement", "entitlement"),
        (DRF, "admit within owned if never evicted", "owned if never evicted"),
        (DRF, "admit within 1/2 of what exists", "1/2 of what exists"),
        (KAI, "enqueue within limits", "limits"),
        (DRF, "enqueue within entitlement", "entitlement"),
        (KAI, "start up to 1/2 of gpu a cycle", "start up to 1/2 of gpu a cycle"),
    ],
)
def test_choices_of_another_system(find, profile, choices, marked):
    """A choice that the profile's search does not know is refused where it stands, and nothing else is."""
    findings = [(each.code, each.marked) for each in find(policy(profile, choices))]
    assert ("GP046", marked) in findings
    assert {code for code, _ in findings} == {"GP046"}


@pytest.mark.parametrize(
    ("profile", "statement", "marked"),
    [
        (KAI, "when workload fits what its queue is entitled to in any resource", ""),
        (KAI, "when workload fits what its queue is entitled to, up to 2 levels above", ""),
        (DRF, "when workload may be evicted", ""),
        (ARMADA, "when workload fits what its queue is entitled to", ""),
        (DRF, "where victim.priority < workload.priority", ""),
        (ARMADA, "where victim.priority < workload.priority", ""),
        (DRF, "accept where victim side is over its entitlement", "victim side is over its entitlement"),
        (KAI, "accept where victim side is over 1/2 of its entitlement", "victim side is over 1/2 of its entitlement"),
        (KAI, "accept where victim side is over its uncapped entitlement", "victim side is over its uncapped entitlement"),
        (ARMADA, "accept where workload side is owed what it owns", "workload side is owed what it owns"),
        (ARMADA, "accept where workload side stays less saturated", "workload side stays less saturated"),
        (KAI, "votes { gang }", ""),
        (ARMADA, "votes { priority }", ""),
    ],
)
def test_rules_of_another_system(find, profile, statement, marked):
    """A statement of a rule that its search does not know is refused by name."""
    findings = [(each.code, each.marked) for each in find(ruled(profile, statement))]
    assert findings == [("GP046", marked or statement)]


@pytest.mark.parametrize(
    ("profile", "scope", "take"),
    [
        (DRF, "evict from any queue", ""),
        (ARMADA, "evict from other queues", ""),
        (KAI, "evict from the same queue", "take single pods"),
        (KAI, "evict from the same queue", "take whole workloads"),
        (DRF, "evict from the same queue", "take surplus pods one by one, then the rest together"),
        (ARMADA, "evict from any queue", "take single pods"),
    ],
)
def test_whom_and_what_of_another_system(find, profile, scope, take):
    """From which queues victims come, and what is evicted at once, belong to the search as well."""
    assert [(each.code, each.marked) for each in find(ruled(profile, "", scope, take))] == [("GP046", take or scope)]


@pytest.mark.parametrize(
    ("profile", "tree", "marked"),
    [
        (DRF, "queue nlp { owns anything }\nqueue vision { }\n", "owns anything"),
        (KAI, "queue nlp {\n  owns 4 gpu\n  guarantees 2 gpu\n}\nqueue vision { }\n", "guarantees 2 gpu"),
        (ARMADA, "queue nlp { uses up to 4 gpu }\nqueue vision { }\n", "uses up to 4 gpu"),
        (ARMADA, "queue nlp { owns 4 gpu }\nqueue vision { }\n", "owns 4 gpu"),
        (DRF, "queue nlp { weight 2 for gpu }\nqueue vision { }\n", "weight 2 for gpu"),
        (ARMADA, "queue nlp { priority 4 }\nqueue vision { }\n", "priority 4"),
        (KAI, "queue nlp { never reclaimed }\nqueue vision { }\n", "never reclaimed"),
        (ARMADA, "cohort all {\n  queue nlp { weight 2 }\n}\nqueue vision { }\n", "all"),
    ],
)
def test_queues_of_another_system(find, profile, tree, marked):
    """So do statements of queues and cohorts."""
    findings = [(each.code, each.marked) for each in find(policy(profile, tree=tree))]
    assert ("GP046", marked) in findings
    assert {code for code, _ in findings} == {"GP046"}


def test_parts_for_a_priority_belong_to_one_system(find):
    """Only rescheduling knows how much of what exists a queue may use for a priority."""
    item = "priority low 10 { queues use up to 1/4 of gpu }\n"
    assert find(policy(ARMADA, items=item)) == []
    assert [(each.code, each.marked) for each in find(policy(KAI, items=item))] == [("GP046", "queues use up to 1/4 of gpu")]


def test_two_searches_in_one_policy(find):
    """A rule of the policy with another search than the profile's is refused."""
    rule = "preempt make-room {\n  in preempt\n  evict from the same queue\n  search node by node\n  take single pods\n}\n"
    findings = find(policy(KAI, items=rule))
    assert ("GP046", "search node by node") in [(each.code, each.marked) for each in findings]


def test_without_any_search_words_have_to_go_together_all_the_same(find):
    """A cycle that evicts nobody belongs to the system that knows most of its words."""
    said = "decide in cycles of 1s by allocate\nentitle as owned\nshare of owned where nothing is due counts 1\norder queues by share asc\n"
    head = f'policy "p" {{\n  {said.replace(chr(10), chr(10) + "  ")}'
    rest = "order workloads by submitted asc\n  place pods by score desc\n  score nodes balanced 1\n  preempt by nothing\n}\n"
    bare = check(f"{head}{rest}{FLAVOR}{TREE}", "p.gpol", {"gpol.fair": 'profile "gpol.fair" { queueing best effort }\n'}.get)
    assert [each.code for each in bare.diagnostics] == ["GP037"]  # `preempt by nothing`
    text = f"{head}{rest}{FLAVOR}{TREE}".replace("  preempt by nothing\n", "")
    assert check(text, "p.gpol", {"gpol.fair": 'profile "gpol.fair" { queueing best effort }\n'}.get).diagnostics == ()
    mixed = text.replace("order queues by share asc", "order queues by share asc, starved desc")
    found = check(mixed, "p.gpol", {"gpol.fair": 'profile "gpol.fair" { queueing best effort }\n'}.get).diagnostics
    assert [each.code for each in found] == ["GP046"]


def test_nominate_stands_alone(find):
    """It is a whole cycle, and no other pass goes with it."""
    findings = find(policy(KAI, "decide in cycles of 1s by nominate, allocate, consolidate, reclaim, preempt, end broken gangs"))
    assert [(each.code, each.marked) for each in findings] == [("GP046", "nominate")]
    assert find('policy "p" {\n  use kueue.fair\n  decide in cycles of 2s by nominate\n}\n') == []


def test_a_second_flavor(find):
    """Passes decide over one."""
    other = FLAVOR.replace("gpus", "others").replace('"a"', '"b"')
    assert ("GP046", "others") in [(each.code, each.marked) for each in find(policy(KAI, items=other))]


def test_what_is_owned_does_not_count_by_weight(find):
    """It is refused where everything is divided by weight."""
    findings = find(policy("volcano.proportion", tree="queue nlp { owns 4 gpu }\nqueue vision { }\n"))
    assert [(each.code, each.marked) for each in findings] == [("GP046", "owns 4 gpu")]


def test_every_word_of_the_table_is_a_word_of_the_searches():
    """Each search knows some word of each place but votes and the like, and no search is named that there is not."""
    for place, words in GOES_WITH.items():
        named = set().union(*words.values())
        assert named <= set(SEARCH_WAYS)
        if place not in ("enqueue within", "score nodes", "when", "accept where"):
            assert named == set(SEARCH_WAYS), place
