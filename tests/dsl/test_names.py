"""Tests for names in human reach."""

import pytest
from gpol.dsl.names import closest, listed

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
