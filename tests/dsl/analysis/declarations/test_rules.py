"""Tests for preempt, protect, deny and hold rules."""

import pytest
from gpol.dsl.analysis.checker import compile_policy

REST = "flavor h100 { gpu 100 }\ncohort c {\n  queue a { owns 10 gpu }\n  queue b { }\n}\nqueue d { }\n"
PLAIN = {"gpol.fair": 'profile "gpol.fair" { }\n'}
RULE = "preempt {} {{\n  evict from the same queue\n  where victim.priority < workload.priority\n}}\n"


@pytest.mark.parametrize(
    ("choice", "rules", "code", "marked", "help_piece"),
    [
        ("preempt by reclaim-owned, fair-share, make-room", ("own",), "GP032", None, "own"),
        ("preempt by reclaim-owned, fair-share", (), "GP032", "preempt by reclaim-owned, fair-share", "make-room"),
        ("preempt by reclaim-owned, fair-share, make-rom, make-room", (), "GP020", "make-rom", "did you mean `make-room`?"),
        ("preempt by fair-share, reclaim-owned, fair-share, make-room", (), "GP022", "fair-share", "keep one"),
        ("preempt by nothing", ("own",), "GP032", "own", "list it in `preempt by`"),
    ],
)
def test_the_order_of_rules_lists_each_once(find, choice, rules, code, marked, help_piece):
    """`preempt by` lists every rule of the policy and its profile once, and only these."""
    findings = find(f'policy "p" {{\n  {choice}\n}}\n' + REST + "".join(RULE.format(name) for name in rules))
    assert [finding.code for finding in findings] == [code]
    assert marked in (None, findings[0].marked)
    assert help_piece in findings[0].help


def test_two_rules_without_an_order_are_an_error():
    """The order of items means nothing, so two rules need `preempt by`; the help writes it."""
    from gpol.dsl.analysis.checker import check

    text = 'policy "p" { use x.y }\n' + REST + RULE.format("one") + RULE.format("two")
    [error] = check(text, "p.gpol", {"x.y": 'profile "x.y" { }\n'}.get).errors
    assert (error.code, text[error.span.start : error.span.end]) == ("GP032", '"p"')
    assert "`preempt by one, two`" in error.help


def test_one_rule_needs_no_order():
    """A single rule is tried without being listed."""
    made = compile_policy('policy "p" { }\n' + REST + RULE.format("one"), "p.gpol", PLAIN)
    assert [rule.name for rule in made.preempt] == ["one"]


def test_nothing_switches_off_the_rules_of_the_profile():
    """`preempt by nothing` leaves no rule."""
    assert compile_policy('policy "p" { preempt by nothing }\n' + REST, "p.gpol").preempt == ()


@pytest.mark.parametrize(
    ("body", "code", "marked", "help_piece"),
    [
        ("where victim.priority < workload.priority", "GP033", "own", "`evict from the same queue`"),
        ("evict from the same queue\n  evict from any queue", "GP022", "evict from any queue", "keep one"),
        (
            "when workload fits what its cohort owns\n  evict from the same queue",
            "GP027",
            "evict from the same queue",
            "queues that borrow",
        ),
    ],
)
def test_each_mistake_in_a_preempt_rule_is_found_alone(find, body, code, marked, help_piece):
    """A preempt rule says whom to evict, once, and outside the cohort that owns."""
    [finding] = find('policy "p" { preempt by own, reclaim-owned, fair-share, make-room }\n' + REST + f"preempt own {{\n  {body}\n}}\n")
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


@pytest.mark.parametrize(
    ("when", "evict", "trigger", "scope", "reach"),
    [
        ("", "the same queue", None, "same-queue", "cluster"),
        ("when workload fits what its queue owns", "queues that borrow", "fits-queue", "borrowing-queues", "cluster"),
        ("when workload fits what its cohort owns", "queues that borrow", "fits-cohort", "borrowing-queues", "cluster"),
        ("", "any queue, in the same cohort", None, "any-queue", "same-cohort"),
    ],
)
def test_a_preempt_rule_is_compiled_word_by_word(when, evict, trigger, scope, reach):
    """Trigger, scope and range are what the rule says; the source is its line."""
    body = f"  {when}\n" if when else ""
    rule = f"preempt own {{\n{body}  evict from {evict}\n  where victim.priority < workload.priority\n}}\n"
    [made] = compile_policy('policy "p" { }\n' + REST + rule, "p.gpol", PLAIN).preempt
    assert (made.trigger, made.scope, made.range) == (trigger, scope, reach)
    assert (made.source.file, made.source.line) == ("p.gpol", 8)


@pytest.mark.parametrize(
    ("rule", "code", "marked", "help_piece"),
    [
        ("protect x for nlq { where victim.pods > 1 }\n", "GP020", "nlq", "did you mean `nlp`?"),
        ("protect x for nlp, nlp { where victim.pods > 1 }\n", "GP022", "nlp", "keep one"),
        ("protect x for h100 { where victim.pods > 1 }\n", "GP020", "h100", "`nlp`"),
        ("protect x for nlp\nprotect x for vision\n", "GP021", "x", "another name"),
        ('deny x for nlp because "a"\ndeny x for vision because "b"\n', "GP021", "x", "another name"),
        ('hold x for reserch because "a"\n', "GP020", "reserch", "did you mean `research`?"),
    ],
)
def test_each_mistake_in_a_scoped_rule_is_found_alone(find_one, rule, code, marked, help_piece):
    """Rules have names of their own within a kind and speak of queues and cohorts that exist, once."""
    finding = find_one(rule)
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


def test_one_name_may_serve_rules_of_different_kinds():
    """A protect, a deny and a hold may have the same name."""
    rules = 'protect x for a\ndeny x for a because "no"\nhold x for a because "later"\n'
    made = compile_policy('policy "p" { }\n' + REST + rules, "p.gpol")
    assert [rule.name for rule in made.protect] == ["x"]
    assert [(rule.action, rule.name, rule.because) for rule in made.admission] == [("deny", "x", "no"), ("hold", "x", "later")]


def test_scopes_are_sorted_nodes_and_none_is_everybody():
    """`for` becomes node indices in order; without it the rule is for all."""
    made = compile_policy('policy "p" { }\n' + REST + 'hold y because "all"\nprotect x for d, a\n', "p.gpol")
    names = [node.name for node in made.nodes]
    assert names == ["cluster", "a", "b", "c", "d"]
    assert made.protect[0].nodes == (1, 4)
    assert made.admission[0].nodes is None


def test_rules_stand_in_order_of_name():
    """Protect rules are sorted by name, deny and hold by action and name."""
    rules = 'hold a because "1"\nprotect z for a\nprotect m for a\ndeny z for a because "2"\ndeny b for a because "3"\n'
    made = compile_policy('policy "p" { }\n' + REST + rules, "p.gpol")
    assert [rule.name for rule in made.protect] == ["m", "z"]
    assert [(rule.action, rule.name) for rule in made.admission] == [("deny", "b"), ("deny", "z"), ("hold", "a")]
