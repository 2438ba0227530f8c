"""Tests for what goes with one way of deciding only."""

import pytest
from gpol.dsl.analysis.checker import check

FLAVOR = "flavor h100 { gpu as owned }\n"

BOTH = {"t.torn": 'profile "t.torn" {\n  decide at once\n  preempt classically\n}\n'}
"""A profile that contradicts itself."""


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ('policy "p" { order heads by priority }\n', "order heads by priority"),
        ('policy "p" { preempt classically }\n', "preempt classically"),
        ('policy "p" { preempt fairly by final share }\n', "preempt fairly by final share"),
        ('policy "p" { usage halves every 7d, sampled every 5m }\n', "usage halves every 7d, sampled every 5m"),
        ('policy "p" { usage weighs cpu 1 }\n', "usage weighs cpu 1"),
        ('policy "p" { }\nflavor spot {\n  gpu as owned\n  missing\n}\n', "missing"),
        ('policy "p" { }\nqueue q { evicts its own of lower priority }\n', "evicts its own of lower priority"),
        ('policy "p" { }\nqueue q { reclaims from anyone }\n', "reclaims from anyone"),
        ('policy "p" { }\nqueue q { borrows by evicting lower priority }\n', "borrows by evicting lower priority"),
        ('policy "p" { }\nqueue q { rather evict than borrow }\n', "rather evict than borrow"),
        ('policy "p" { }\nqueue q { needs check prov }\n', "needs check prov"),
        ('policy "p" { }\ncohort c {\n  queue q { admits by usage }\n}\n', "admits by usage"),
    ],
)
def test_what_only_cycles_know(find, text, marked):
    """A policy that decides at once is told of each statement that it would not honour."""
    findings = [(finding.code, finding.marked, finding.label) for finding in find(text)]
    assert findings == [("GP037", marked, "this one decides at once")]


@pytest.mark.parametrize(
    "statement",
    [
        "serves gpu from h100",
        "when borrowing try next flavor",
        "stopped",
        "stopped and drained",
        'for namespaces where label "a" exists',
        "for no namespaces",
        'local queue "a/b" { weight 2 }',
    ],
)
@pytest.mark.parametrize("use", ["gpol.fair", "kueue.classical", "kueue.fair"])
def test_what_both_ways_know(find, use, statement):
    """What says who comes in, from what, is fine under either way of deciding."""
    assert find(f'policy "p" {{ use {use} }}\n{FLAVOR}queue q {{ {statement} }}\n') == []


@pytest.mark.parametrize("statement", ['label a = "b"', "taint a NoSchedule", "tolerates anything", "worth 2"])
@pytest.mark.parametrize("use", ["gpol.fair", "kueue.fair"])
def test_what_flavors_may_say_both_ways(find, use, statement):
    """Labels and taints choose among flavors under either way of deciding."""
    assert find(f'policy "p" {{ use {use} }}\nflavor h100 {{\n  gpu as owned\n  {statement}\n}}\n') == []


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ('policy "p" {\n  use kueue.fair\n  preempt by nothing\n}\n', "preempt by nothing"),
        ('policy "p" {\n  use kueue.fair\n  preempt by a\n}\n', "preempt by a"),
        ('policy "p" {\n  use kueue.fair\n  place pods packed\n}\n', "place pods packed"),
        (
            'policy "p" {\n  use kueue.fair\n  place pods keeping room for 8 gpu and 1 cpu, 1 gpu\n}\n',
            "place pods keeping room for 8 gpu and 1 cpu, 1 gpu",
        ),
        ('policy "p" {\n  use kueue.fair\n  when a node is lost wait\n}\n', "when a node is lost wait"),
        ('policy "p" { use kueue.fair }\npreempt a { evict from the same queue }\n', "a"),
        ('policy "p" { use kueue.fair }\npreempt a { where victim.nonsense = 1 }\n', "a"),
        ('policy "p" { use kueue.fair }\nprotect a { where victim.running < 1h }\n', "a"),
    ],
)
def test_what_only_deciding_at_once_knows(find, text, marked):
    """A policy that decides in cycles is told of each rule that it would not try, and of nothing inside it."""
    findings = [(finding.code, finding.marked, finding.label) for finding in find(text)]
    assert findings == [("GP037", marked, "this one decides in cycles")]


def test_deny_and_hold_rules_are_fine_in_cycles(find):
    """They judge a submission before anything is decided."""
    text = f'policy "p" {{ use kueue.fair }}\n{FLAVOR}queue q {{ owns 8 gpu }}\n'
    text += 'deny big { where workload.gpu > 4 } because "at most 4"\nhold all because "moving racks"\n'
    assert find(text) == []


@pytest.mark.parametrize(
    ("choices", "marked", "help_piece"),
    [
        ("decide in cycles of 1s", "decide in cycles of 1s", "`use kueue.classical`"),
        ("use gpol.fair\n  preempt classically\n  decide in cycles of 1s", "decide in cycles of 1s", "`use kueue.classical`"),
        ("use kueue.fair\n  decide at once", "decide at once", "`use gpol.fair`"),
        ("use kai.default\n  decide at once", "decide at once", "`use gpol.fair`"),
        ("use kai.default\n  decide in cycles of 1s", "decide in cycles of 1s", "`use kueue.classical`"),
        ("decide in cycles of 1s by allocate", "decide in cycles of 1s by allocate", "`use volcano.proportion`"),
        ("use kueue.fair\n  decide in cycles of 1s by allocate", "decide in cycles of 1s by allocate", "`use kai.default`"),
    ],
)
def test_a_profile_of_the_other_way_is_told_once(find, choices, marked, help_piece):
    """All that a profile brings for the other way is one error, where the policy chooses its own."""
    findings = find(f'policy "p" {{\n  {choices}\n}}\n')
    assert [(finding.code, finding.marked) for finding in findings] == [("GP037", marked)]
    assert help_piece in findings[0].help


def test_a_profile_that_contradicts_itself_is_told_where_it_is_used():
    """The policy chose nothing, so its name is the place; checked by itself the profile has the error."""
    used = check('policy "p" { use t.torn }\n', "p.gpol", BOTH.get)
    [diagnostic] = used.diagnostics
    assert (diagnostic.code, used.parsed.text[diagnostic.span.start : diagnostic.span.end]) == ("GP037", '"p"')
    alone = check(BOTH["t.torn"], "t.gpol")
    [diagnostic] = alone.diagnostics
    assert (diagnostic.code, alone.parsed.text[diagnostic.span.start : diagnostic.span.end]) == ("GP037", "preempt classically")
