"""Corners of the checker: what would mean nothing, or something else than it says, is an error with a place and a remedy."""

import pytest
from gpol import dsl
from gpol.dsl.analysis.checker import check


@pytest.mark.parametrize(
    ("addition", "code", "marked", "help_piece"),
    [
        ("protect r { where victim.gpu < workload.cpu }\n", "GP030", "victim.gpu < workload.cpu", "an amount of gpu"),
        ("resource priority\n", "GP021", "priority", "another name"),
        ('flavor n { gpu, gpu from nodes where a = "b" }\n', "GP022", "gpu", "keep one"),
        ('flavor n { gpu from nodes where a = "b" and c = "d" and a = "e" }\n', "GP022", 'a = "e"', "keep one"),
        ('queue x { for user "a" and kind "k" and user "a" }\n', "GP022", 'user "a"', "keep one"),
        (
            'queue x {\n  for user "a" and kind "k"\n  for kind "k" and user "a"\n}\n',
            "GP022",
            'for kind "k" and user "a"',
            "keep one",
        ),
        ("resource share\n", "GP021", "share", "another name"),
        ("queue x {\n  owns 8x cpu\n  lends up to 4 cpu\n}\n", "GP023", "8x", "`8 cpu`"),
        ('test "t" {\n  at 0s submit a by nlp { 1 gpu }\n  at 1s submit a by nlp { 1 gpu }\n}\n', "GP034", "a", "another name"),
        ('test "t" { at 0s submit a by nlp { 1 gpu and 2 gpu } }\n', "GP022", "2 gpu", "keep one"),
        ('test "t" { at 0s submit a by nlp { gang of 1000000 x 9000000000000000 gpu } }\n', "GP023", None, "less"),
        (
            'flavor n { gpu from nodes where a = "b" }\ntest "t" { at 0s capacity n 4 gpu }\n',
            "GP034",
            "n",
            "`node n1 { 4 gpu, label ... }`",
        ),
        (
            'flavor n { memory from nodes where a = "b" }\nqueue x { owns 6000Pi memory }\nqueue y { owns 6000Pi memory }\n',
            "GP023",
            None,
            "own less",
        ),
    ],
)
def test_each_corner_is_told_alone(find_one, addition, code, marked, help_piece):
    """One cause gives one diagnostic, at its place."""
    finding = find_one(addition)
    assert finding.code == code
    assert marked in (None, finding.marked)
    assert help_piece in finding.help


def test_a_name_is_free_again_after_an_end(find, base):
    """Finishing, cancelling or being rejected frees a workload's name."""
    steps = "  at 0s submit a by nlp {{ 1 gpu }}\n  {}\n  at 2s submit a by nlp {{ 1 gpu }}\n"
    for end in ("at 1s finish a", "at 1s cancel a", "expect a rejected"):
        assert find(base + 'test "t" {\n' + steps.format(end) + "}\n") == []


def test_a_rule_that_the_profiles_list_lacks_is_told_at_the_rule(find, base):
    """The author is sent to the policy, not into the shipped profile."""
    [finding] = find(base + "preempt own {\n  evict from the same queue\n  where victim.priority < workload.priority\n}\n")
    assert (finding.code, finding.file, finding.marked) == ("GP032", "p.gpol", "own")
    assert "`preempt by reclaim-owned, fair-share, make-room, own`" in finding.help


def test_a_wrong_constant_is_named_with_both_types(find_one):
    """What the field is and what it is compared with stand in the headline."""
    assert find_one('protect r { where victim.priority < "x" }\n').message == "`victim.priority` is a priority, not a text"
    assert find_one("protect r { where victim.gpu > 8 cpu }\n").message == "`victim.gpu` is an amount of gpu, not an amount of cpu"


def test_more_owned_than_exists_says_who_owns_what(find_one):
    """The note lists each owner with its amount."""
    assert find_one("queue x { owns 51 gpu on h100 }\n").notes == ["owned: `nlp` 40, `vision` 10, `x` 51"]


def test_a_profile_whose_own_list_is_incomplete_is_told_there():
    """Where the profile forgets one of its own rules, the policy's author can only be shown the profile's list."""
    rules = "".join(f"preempt {name} {{\n  evict from the same queue\n  where victim.priority < workload.priority\n}}\n" for name in "ab")
    profile = 'profile "x" { preempt by a }\n' + rules
    checked = check('policy "p" { use x }\n', "p.gpol", {"x": profile}.get)
    [diagnostic] = checked.errors
    assert (diagnostic.code, diagnostic.file) == ("GP032", "x.gpol")
    assert profile[diagnostic.span.start : diagnostic.span.end] == "preempt by a"


def test_a_comparison_starts_with_a_field(find_one):
    """A bare word on the left is nothing that a guard can look at."""
    finding = find_one("protect r { where gpu > 8 }\n")
    assert (finding.code, finding.marked) == ("GP031", "gpu")


def test_the_room_has_the_names_that_it_says_and_no_others():
    """Each public name can be had from the package; another one is an ordinary missing attribute."""
    assert all(hasattr(dsl, name) for name in dsl.__all__)
    assert not hasattr(dsl, "anything_else")
