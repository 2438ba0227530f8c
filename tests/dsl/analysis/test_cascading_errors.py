"""Tests that one cause gives one diagnostic."""

import pytest

HEADER = 'policy "p" { }\n'


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "flavor h100 { gpu % }\nqueue q { owns 8 gpu on h100 }\n",
        HEADER + 'flavor "h 100" { gpu % }\nqueue q { owns 8 gpu on "h 100" }\n',
        HEADER + "priority high !\nqueue q { priority at most high }\n",
        HEADER + 'queue q { owns }\nhold h for q because "x"\n',
        HEADER + "resource license x\nprotect r { where victim.license > 1 }\n",
        HEADER + 'queue q { owns }\ntest "t" { at 0s submit a by q { 1 gpu } }\n',
        HEADER + "flavor a { gpu 8 }\nflavor b { gpu % }\nqueue q { owns 9 gpu }\n",
        'policy "p" { preempt by reclaim-owned, fair-share, make-room, own }\npreempt own { evict }\n',
        'policy "p" {\n  shares used\n}\nqueue q { }\n',
    ],
)
def test_what_follows_from_a_broken_item_is_not_said(find, text):
    """Names that a broken item would declare, and what depends on it, are not reported again."""
    [finding] = find(text)
    assert finding.code < "GP020"


def test_what_has_nothing_to_do_with_the_broken_item_is_said(find):
    """An unknown name that no broken item speaks of is an error of its own."""
    findings = find(HEADER + "flavor h100 { gpu % }\nqueue q { owns 8 gpu on v200 }\n")
    assert [(finding.code, finding.marked) for finding in findings] == [("GP003", "%"), ("GP020", "v200")]


def test_a_missing_header_is_said_beside_a_broken_item(find):
    """A broken queue is no reason for a header to be missing."""
    assert next(finding.code for finding in find("queue q { owns }\n")) == "GP028"


def test_a_comment_declares_nothing(find):
    """A name in a comment between items does not count as said."""
    findings = find(HEADER + "# v200 is gone\nqueue z { owns }\nprotect x for v200\n")
    assert "GP020" in [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("flavor", "code"),
    [
        ("flavor h { gpu 25x }\n", "GP023"),
        ("flavor h { gpux 9 }\n", "GP020"),
        ("flavor h { gpu 1 }\nflavor h { gpux 9 }\n", "GP021"),
    ],
)
def test_a_faulty_flavor_is_not_held_against_its_owners(find, flavor, code):
    """Where a flavor's capacity is wrong, nobody is told that they own more than exists, or what it lacks."""
    findings = find(HEADER + flavor + "queue q { owns 5 gpu on h }\n")
    assert code in [finding.code for finding in findings]
    assert all(finding.line < 4 and "queue" not in finding.message for finding in findings)


def test_a_faulty_flavor_is_not_held_against_who_serves_it(find):
    """The same where a queue serves what the flavor would have, were it right."""
    findings = find(HEADER + "flavor h { gpux 9 }\nqueue q { serves gpu from h }\n")
    assert [(finding.code, finding.marked) for finding in findings] == [("GP020", "gpux")]


def test_an_unknown_profile_hides_its_rules_only(find):
    """Other unknown names are still reported."""
    findings = find('policy "p" {\n  use gpol.nope\n  preempt by a, b\n  default priority zzz\n}\nqueue q { }\n')
    assert [finding.marked for finding in findings] == ["use gpol.nope", "zzz"]


def test_of_a_file_read_in_part_only_that_is_said(find):
    """Beyond a limit nothing was read, so nothing can be said to be missing."""
    assert [finding.code for finding in find(HEADER.replace("policy", "x" * 5000 + "\npolicy") + 'hold h for zzz because "b"\n')] == [
        "GP002"
    ]
