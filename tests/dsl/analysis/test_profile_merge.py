"""Tests for a policy on top of its profile."""

from gpol.dsl.analysis.profile_merge import choice_key, merge
from gpol.dsl.syntax.parser import parse
from gpol.dsl.syntax.tree import DefaultPriority, FlavorChoice, Name, Order, PreemptBy, PreemptWay, ShareChoice

PROFILE = """profile "x.y" {
  share used
  queueing strict fifo
}
priority low 1
preempt a { evict from the same queue }
protect a
deny a because "profile"
hold b because "profile"
"""


def test_a_policys_choice_replaces_the_same_choice_only():
    """What the policy says counts; what it leaves open is the profile's."""
    merged = merge(parse('policy "p" { share none }\n', "p"), parse(PROFILE, "q"))
    assert merged.choices["share"] == ShareChoice("none")
    assert merged.choices["Queueing"].strict is True  # type: ignore[union-attr]


def test_an_items_origin_is_the_file_that_says_it():
    """Choices and rules know whether they come from the policy or the profile."""
    policy, profile = parse('policy "p" { share none }\nprotect a\n', "p"), parse(PROFILE, "q")
    merged = merge(policy, profile)
    assert merged.origin[id(merged.choices["share"])] is policy
    assert merged.origin[id(merged.choices["Queueing"])] is profile
    assert [merged.origin[id(item)] for item in (*merged.protect, *merged.preempt)] == [policy, profile]


def test_a_rule_replaces_that_of_the_same_name_and_kind():
    """A policy's protect `a` takes the place of the profile's protect `a`, not of its preempt or deny `a`."""
    merged = merge(parse('policy "p" { }\nprotect a for z\n', "p"), parse(PROFILE, "q"))
    assert [item.scope for item in merged.protect] == [(Name("z"),)]
    assert len(merged.preempt) == 1
    assert len(merged.admission) == 2


def test_deny_and_hold_are_different_kinds():
    """A policy's hold `a` stands beside the profile's deny `a`."""
    merged = merge(parse('policy "p" { }\nhold a because "policy"\n', "p"), parse(PROFILE, "q"))
    found = [(item.action, item.name.text, item.because.text) for item in merged.admission]
    assert found == [("deny", "a", "profile"), ("hold", "b", "profile"), ("hold", "a", "policy")]


def test_a_priority_is_replaced_by_name():
    """A policy may give a profile's priority another value."""
    merged = merge(parse('policy "p" { }\npriority low 5\n', "p"), parse(PROFILE, "q"))
    assert [item.value.text for item in merged.priorities] == ["5"]


def test_doubles_within_a_file_stay_for_the_checker():
    """The first choice counts and both rules are kept, so that the second can be reported."""
    merged = merge(parse('policy "p" {\n  share none\n  share used\n}\nprotect a\nprotect a\n', "p"), None)
    assert merged.choices["share"] == ShareChoice("none")
    assert len(merged.protect) == 2


def test_the_header_is_the_policys():
    """Both headers are kept, and the policy's is the one that counts."""
    merged = merge(parse('policy "p" { }\n', "p"), parse(PROFILE, "q"))
    assert merged.header is not None
    assert merged.header.name.text == "p"
    assert [header.keyword for header in merged.headers] == ["profile", "policy"]
    assert merge(parse("", "p"), None).header is None


def test_choices_of_one_kind_have_one_key():
    """Orders of turns replace each other, and so do ways to preempt; orders of workloads and the two occasions are choices of their own."""
    assert choice_key(Order("queues", ())) != choice_key(Order("workloads", ()))
    assert choice_key(FlavorChoice("borrowing", True)) != choice_key(FlavorChoice("evicting", True))
    assert choice_key(Order("queues", ())) == choice_key(Order("heads", ()))
    assert choice_key(PreemptBy(())) == choice_key(PreemptWay(("final-share",))) == choice_key(PreemptWay(()))
    assert choice_key(ShareChoice("used")) == choice_key(ShareChoice("none")) != choice_key(DefaultPriority(Name("a")))
