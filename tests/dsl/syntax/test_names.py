"""Tests for names: what may be one, and which one was meant."""

import pytest
from gpol.dsl.syntax.names import closest, flaw, listed

QUEUES = ["nlp", "vision", "students", "serving"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("nlq", "nlp"), ("NLP", "nlp"), ("visoin", "vision"), ("student", "students"), ("warehouse", None), ("x", None), ("", None)],
)
def test_the_closest_name_is_found_or_none(name, meant):
    """A slip of a letter, a swap or another case finds the name; a different word finds nothing."""
    assert closest(name, QUEUES) == meant


def test_the_spelling_of_the_known_name_is_kept():
    """The suggestion is the name as it is declared."""
    assert closest("nlp", ["NLP", "Vision"]) == "NLP"


def test_nothing_known_is_nothing_close():
    """Without known names there is no suggestion."""
    assert closest("nlp", []) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("victim.runing", "victim.running"),
        ("victim.user", None),
        ("victm.running", "victim.running"),
        ("victim.queue.shar", "victim.queue.share"),
    ],
)
def test_dotted_names_are_compared_by_what_differs(name, meant):
    """A common start does not make two fields alike, and a slip in the start is found as well."""
    assert closest(name, ["victim.running", "victim.gpu", "victim.queue.share"]) == meant


def test_the_order_of_the_known_names_does_not_matter():
    """Of equally close names the same one is suggested, in whatever order they come."""
    assert closest("team-x", ["team-a", "team-b"]) == closest("team-x", ["team-b", "team-a"])


def test_lists_are_sorted_short_and_never_empty():
    """Names are listed once, in order, at most as many as asked."""
    assert listed(["b", "a", "b"]) == "`a`, `b`"
    assert listed(["c", "b", "a"], limit=2) == "`a`, `b` and 1 more"
    assert listed([]) == "none"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("", "is empty"),
        ("n" * 254, "has 254 characters"),
        ("a\tb", "has the invisible character U+0009"),
        ("a\nb", "has the invisible character U+000A"),
        ("a\u200bb", "has the invisible character U+200B"),
        ("a\u2028b", "has the invisible character U+2028"),
        (" a", "starts or ends with a space"),
        ("a\u00a0", "starts or ends with a space"),
        ("n" * 253, None),
        ("Zürich, 2nd floor", None),
        ("机器学习", None),
        ('q"uote\\', None),
    ],
)
def test_a_name_is_what_can_be_seen_and_told_apart(name, wrong):
    """Whatever prints is a name, up to 253 characters; the flaw of anything else is named."""
    assert flaw(name) == wrong


@pytest.mark.parametrize(
    ("addition", "marked"),
    [
        ('queue "" { }\n', '""'),
        (f"queue {'n' * 254} {{ }}\n", "n" * 254),
        ('cohort "a " { }\n', '"a "'),
        ('flavor "" { gpu 1 }\n', '""'),
        ('resource "a\tb"\n', '"a\tb"'),
        ('priority "" 5\n', '""'),
        ('protect "" { where victim.running < 1m }\n', '""'),
        ('hold "" because "b"\n', '""'),
        ('test "" { at 0s }\n', '""'),
        ('test "t" { at 0s submit "" by nlp { 1 gpu } }\n', '""'),
        ('test "t" { at 0s submit a by nlp { 1 gpu, user "" } }\n', '""'),
        ('test "t" { at 0s submit a by nlp { 1 gpu, label "" = "" } }\n', '""'),
        ('queue x { for label "" = "y" }\n', '""'),
        ('protect r { where victim.label "" = "y" }\n', '""'),
        ('flavor n { gpu from nodes where "" = "y" }\n', '"" = "y"'),
        ('hold r because " "\n', '" "'),
    ],
)
def test_whatever_is_named_gets_a_name_or_an_error(find_one, addition, marked):
    """Every place that gives a name, and every reason, refuses what cannot be shown, once and at its place."""
    finding = find_one(addition)
    assert (finding.code, finding.marked) == ("GP036", marked)


@pytest.mark.parametrize("text", ['policy "" { }\n', 'profile "" { }\n', 'policy "p" { ignore "" }\n'])
def test_headers_name_their_file_and_what_they_ignore(find, text):
    """The name of a policy or a profile, and that of a resource which is not counted, has to be one."""
    assert [(finding.code, finding.marked) for finding in find(text)] == [("GP036", '""')]


def test_long_names_are_shortened_in_headlines(find):
    """A name that goes on and on leaves the headline readable."""
    [finding] = find('policy "p" { preempt by reclaim-owned, fair-share, make-room, ' + "r" * 4096 + " }\n")
    assert finding.message == f"unknown preempt rule `{'r' * 77}...`"
