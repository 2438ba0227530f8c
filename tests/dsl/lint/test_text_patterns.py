"""Tests for texts that match patterns, against matching itself."""

from itertools import product

import pytest
from gpol.dsl.lint.text_patterns import TooManyError, Work, common_text, fixed_end, fixed_start, shortest_text
from gpol.engine.guard import matches

PATTERNS = ["", "a", "b", "ab", "*", "?", "a*", "*a", "*b*", "?b", "a?", "a*b", "**", "a**?"]
TEXTS = ["".join(letters) for length in range(4) for letters in product("abx", repeat=length)]


@pytest.mark.parametrize("one", PATTERNS)
@pytest.mark.parametrize("other", PATTERNS)
def test_the_answers_are_those_of_matching(one, other):
    """Both, and one without the other: a text is found exactly where there is one, and it matches as it has to."""
    both = [text for text in TEXTS if matches(text, one) and matches(text, other)]
    apart = [text for text in TEXTS if matches(text, one) and not matches(text, other)]
    for found, expected, wanted in ((shortest_text((one, other)), both, True), (shortest_text((one,), (other,)), apart, False)):
        assert (found is None) == (expected == [])
        if found is not None:
            assert matches(found, one)
            assert matches(found, other) is wanted
            assert len(found) == len(expected[0])


LONGER = [*PATTERNS, "a?b*", "*ab?", "?*a*b", "*a?", "a*b*ab", "??", "a?b", "b*?a*"]


@pytest.mark.parametrize("one", LONGER)
@pytest.mark.parametrize("other", LONGER)
def test_a_common_text_is_found_without_search_where_there_is_one(one, other):
    """The text matches both patterns, and the shortest text exists exactly where it does."""
    found = common_text(one, other, Work(10_000))
    assert (found is None) == (shortest_text((one, other)) is None)
    assert found is None or (matches(found, one) and matches(found, other))


def test_work_is_counted():
    """Long patterns of one letter, and runs of wildcards, end once the work is done."""
    with pytest.raises(TooManyError):
        common_text("a" * 4_000, "*" + "a" * 2_000 + "b*", Work(100_000))
    with pytest.raises(TooManyError):
        shortest_text(["*a" * 2_000, "*b" * 2_000], work=Work(100_000))
    assert shortest_text(["*" * 4_000], work=Work(100)) == ""


def test_patterns_that_would_take_too_long_are_left_open():
    """Many wildcards make too many cases; nothing is claimed of them."""
    hard = ["*" + "?" * 9 + "a" + "?" * length + "*" for length in range(3, 9)]
    with pytest.raises(TooManyError):
        shortest_text(["*a*", *hard], [f"*{letter}" for letter in "abcdefghijklmnopqrstuvwx"])


def test_fixed_starts():
    """What stands before the first wildcard."""
    assert [fixed_start(pattern) for pattern in ("", "ab", "ab*", "a?b*", "*")] == ["", "ab", "ab", "a", ""]


def test_fixed_ends():
    """What stands behind the last wildcard."""
    assert [fixed_end(pattern) for pattern in ("", "ab", "*ab", "a?b*", "*c?d", "*")] == ["", "ab", "ab", "", "d", ""]
