"""Patterns for names of nodes: what they match is what Go's matcher does, however they are written, and none of them takes long."""

import re

import pytest
from gpol.adapters.volcano.read.topology.name_patterns import LONGEST, PatternError, name_pattern
from hypothesis import given
from hypothesis import strategies as st

ATOMS = ("a", "b", "-", r"\.", ".", "[ab]", "[^a]", "[a-c0-2-]", r"[\d.]", r"\d", r"\w", r"\W", "^", "$", "(a|b)", "(?:ab)", "(a*b|)", "()")
TIMES = ("", "", "*", "+", "?", "{2}", "{1,3}", "{0,1}", "{2,}", "*?", "+?")


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Patterns of which Python and Go mean the same: `$` is written as the end of the text."""
    parts = []
    for atom in draw(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=6)):
        parts.append(atom + (draw(st.sampled_from(TIMES)) if atom not in ("^", "$") else ""))
        parts.append(draw(st.sampled_from(["", "", "", "|"])))
    return "".join(parts)


@given(patterns(), st.lists(st.text("ab0-.c", min_size=1, max_size=9), max_size=5))
def test_a_pattern_matches_as_elsewhere(pattern: str, names: list[str]) -> None:
    """Python's matcher tries ways one after the other, and finds the same."""
    made, other = name_pattern(pattern), re.compile(pattern.replace("$", r"\Z"))
    for name in names:
        assert made.matches(name) == bool(other.search(name)), name


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("^node-[0-9]+$", ["node-1", "node-10"], ["node-", "node-1a", "a-node-1"]),
        ("node", ["node", "my-node-1"], ["nod"]),
        (r"^rack1\.(a|b)-\d{2,3}", ["rack1.a-10", "rack1.b-1000"], ["rack1.a-1", "rack1xa-10"]),
        (r"\Agpu-[^x]\z", ["gpu-a", "gpu--"], ["gpu-x", "gpu-ab"]),
        ("", ["any"], []),
        ("Node_1|ü", [], ["node-1"]),
        ("[]a]b", ["ab"], ["bb"]),
        ("^([a-z]|-)*9?$", ["a-b9"], ["a.b"]),
    ],
)
def test_what_patterns_match(pattern: str, yes: list[str], no: list[str]) -> None:
    """They are found anywhere in a name unless they say where."""
    made = name_pattern(pattern)
    assert [name for name in (*yes, *no) if made.matches(name)] == yes


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a**", "repeats what is repeated"),
        ("a{2}{3}", "repeats what is repeated"),
        ("+a", "has a `+` that repeats nothing"),
        ("(a", "has a `(` without a `)`"),
        ("a)", "has a `)` without a `(`"),
        ("[b-a]", "has the range `b-a`"),
        ("[a", "ends in the middle"),
        ("a\\", "ends in the middle"),
        (r"\bnode", r"has `\b`, which is not read"),
        (r"\x41", r"has `\x`, which is not read"),
        ("(?i)node", "has flags or names in a group"),
        ("[[:alpha:]]", "has a named class"),
        ("a{,3}", "says no number of times"),
        ("a{3,2}", "no number of times"),
        ("a{1001}", "no number of times"),
        ("((a{50}){50}){50}", "repeats too much"),
        ("(" * 60 + "a" + ")" * 60, "nests more than 50 groups"),
        ("a" * (LONGEST + 1), "has 257 characters"),
    ],
)
def test_what_is_not_read_is_refused(pattern: str, why: str) -> None:
    """What Go refuses, what gpol does not read, and what is too large."""
    with pytest.raises(PatternError, match=re.escape(why)):
        name_pattern(pattern)


@pytest.mark.parametrize("pattern", ["^(a|aa)+$", "(a*)*b", "^(([a-z])+.)+[A-Z]$", "a*a*a*a*a*a*a*b"])
def test_no_pattern_takes_long(pattern: str) -> None:
    """Those for which matchers that go back would take years on a long name."""
    assert not name_pattern(pattern).matches("a" * 252 + "-")


def test_the_hardest_pattern_ends_by_its_work() -> None:
    """Each of its characters may lead to where nobody has stood yet; what is kept of that is bounded, and so is what is done."""
    made = name_pattern("a.{300}$")
    names = ["".join("ab"[(number * 7 + at * at) % 3 % 2] for at in range(253)) for number in range(5)]
    assert made.among(names, 100_000_000) == []
    whole = made.work
    assert whole > 5 * 253 * 300
    made.among(names, whole // 4)
    assert whole // 4 < made.work < whole // 2
