"""What goes with passes only, and what has no part in them."""

import pytest

FLAVOR = "flavor h100 { gpu as owned }\n"
PLACED = 'flavor gpus {\n  gpu from nodes where pool = "a"\n  placed on nodes\n}\n'
OTHERS = ["gpol.fair", "kueue.fair"]


@pytest.mark.parametrize("use", OTHERS)
@pytest.mark.parametrize(
    "choice",
    [
        "entitle as owned",
        "place pods by score desc",
        "score nodes balanced 1",
        "admit within limits",
        "enqueue within limits",
        "gangs broken for 60s end",
        "start up to 1/2 of gpu a cycle",
    ],
)
def test_choices_that_only_passes_know(find, use, choice):
    """Neither at once nor in cycles that nominate anybody asks for them."""
    [finding] = find(f'policy "p" {{\n  use {use}\n  {choice}\n}}\n')
    assert (finding.code, finding.marked) == ("GP037", choice)
    assert "for policies that decide by passes" in finding.message
    assert "`decide in cycles of 1s by ...`" in finding.help


@pytest.mark.parametrize("use", OTHERS)
def test_shares_that_only_passes_know(find, use):
    """The share of something that a queue is due."""
    choice = "share of owned where nothing is due counts 1"
    findings = find(f'policy "p" {{\n  use {use}\n  {choice}\n}}\n')
    assert ("GP037", choice) in [(finding.code, finding.marked) for finding in findings]


@pytest.mark.parametrize("use", OTHERS)
@pytest.mark.parametrize("statement", ["uses up to 8 gpu", "owns anything", "weight 2 for gpu", "priority 100", "never reclaimed"])
def test_statements_of_queues_that_only_passes_know(find, use, statement):
    """The same for queues."""
    findings = find(f'policy "p" {{ use {use} }}\n{FLAVOR}queue q {{ {statement} }}\n')
    assert ("GP037", statement) in [(finding.code, finding.marked) for finding in findings]
    assert {finding.code for finding in findings} <= {"GP037", "GP057"}


def test_parts_for_a_priority_that_only_passes_know(find):
    """And for priorities."""
    [finding] = find('policy "p" { }\npriority low 1 { queues use up to 1/2 of gpu }\n')
    assert (finding.code, finding.marked) == ("GP037", "queues use up to 1/2 of gpu")


@pytest.mark.parametrize(
    "statement",
    [
        "in reclaim",
        "when workload may be evicted",
        "when workload fits what its queue is entitled to",
        "search by scenarios",
        "take single pods",
        "accept where workload side stays less saturated",
        "votes { gang }",
    ],
)
def test_statements_of_rules_that_only_passes_know(find, statement):
    """A rule that is tried at once says nothing of them."""
    rule = f"preempt r {{\n  evict from the same queue\n  {statement}\n}}\n"
    findings = find('policy "p" { preempt by r, reclaim-owned, fair-share, make-room }\n' + rule)
    assert ("GP037", statement) in [(finding.code, finding.marked) for finding in findings]


@pytest.mark.parametrize(
    "choice",
    [
        "share borrowed",
        "preempt by nothing",
        "place pods packed",
        "place pods keeping room for 8 gpu",
        "when a node is lost wait",
        "when borrowing take flavor",
        "queueing strict fifo",
        "order heads by priority",
        "preempt classically",
        "usage halves every 7d, sampled every 5m",
    ],
)
def test_choices_that_no_pass_asks_for(find, choice):
    """A policy that decides by passes is told of each choice that it would not honour."""
    findings = find(f'policy "p" {{\n  use kai.default\n  {choice}\n}}\n{PLACED}queue q {{ }}\nqueue r {{ }}\n')
    assert ("GP037", choice) in [(finding.code, finding.marked) for finding in findings]
    assert [finding.label for finding in findings if finding.code == "GP037"] == ["this one decides by passes"]


@pytest.mark.parametrize(
    "statement",
    [
        "borrows up to 4 gpu",
        "borrows nothing",
        "lends nothing",
        "prefer gpus",
        "only gpus",
        "serves gpu from gpus",
        "queueing strict fifo",
        "when evicting try next flavor",
        "reclaims from anyone",
        "admits by usage",
        "rather evict than borrow",
        "needs check prov",
    ],
)
def test_statements_of_queues_that_no_pass_asks_for(find, statement):
    """Nor of queues: one error for each."""
    findings = find(f'policy "p" {{ use kai.default }}\n{PLACED}queue q {{ {statement} }}\nqueue r {{ }}\n')
    assert [(finding.code, finding.marked) for finding in findings] == [("GP037", statement)]


def test_protect_rules_and_worth_have_no_part_in_passes(find):
    """Nobody would ask them."""
    worth = PLACED.replace("  placed", "  worth 2\n  placed")
    findings = find(
        f'policy "p" {{ use kai.default }}\n{worth}queue q {{ }}\nqueue r {{ }}\nprotect warm-up {{ where victim.running < 1h }}\n'
    )
    assert [(finding.code, finding.marked) for finding in findings] == [("GP037", "worth 2"), ("GP037", "warm-up")]


@pytest.mark.parametrize(
    "statement",
    [
        'for user "ada"',
        "stopped",
        'for namespaces where label "a" exists',
        'local queue "a/b"',
        "queueing best effort",
        "priority at most low",
        "default priority low",
    ],
)
def test_who_comes_in_is_said_with_passes_as_well(find, statement):
    """Match rules, ceilings, local queues and stops are about who comes in."""
    assert find(f'policy "p" {{ use kai.default }}\n{PLACED}priority low 1\nqueue q {{ {statement} }}\nqueue r {{ }}\n') == []


def test_deny_and_hold_rules_are_fine_with_passes(find):
    """They judge a submission before anything is decided."""
    rules = 'deny big { where workload.gpu > 8 } because "at most 8"\nhold all for q because "moving racks"\n'
    assert find(f'policy "p" {{ use kai.default }}\n{PLACED}queue q {{ }}\nqueue r {{ }}\n{rules}') == []
