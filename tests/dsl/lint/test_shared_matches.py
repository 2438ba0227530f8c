"""Which `for` lines share workloads, and how much work that takes."""

import pytest
from gpol.dsl.lint.shared_matches import Claim, Examples, shared_matches
from gpol.dsl.lint.text_patterns import Work
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.tree import Span

PLENTY = 10_000_000


def claims(patterns: list[str], queues: int | None = None) -> list[Claim]:
    """Claims on namespaces, each by a queue of its own or, with `queues`, by so many in turn."""
    statement = tree.Match((), span=Span(0, 0))
    return [Claim(f"q{at % (queues or len(patterns))}", statement, {("namespace", ""): each}) for at, each in enumerate(patterns)]


@pytest.mark.parametrize("shape", ["*-research-team-{:04}", "team-{:04}-*", "team-{:04}", "{:04}-*-x"])
def test_patterns_that_differ_at_one_end_are_not_compared(shape):
    """The work grows with the number of patterns, not with its square."""
    work = Work(PLENTY)
    assert list(shared_matches(claims([shape.format(number) for number in range(1_000)]), work)) == []
    assert PLENTY - work.left < 200_000


def test_partners_are_found_by_any_start_or_end():
    """A pattern with a fixed end finds those with a shorter, a longer and no fixed end."""
    one, *others = claims(["*-prod", "nlp-*", "a-prod", "*x-prod", "*prod?", "*-dev"])
    assert [other.tests["namespace", ""] for first, other in shared_matches([one, *others]) if first is one] == [
        "nlp-*",
        "a-prod",
        "*x-prod",
    ]


@pytest.mark.parametrize(
    ("patterns", "queues"), [(["*"] * 5_000, 1), (["*"] * 5_000, 2), (["*a*" + "b" * 40] * 5_000, 2), (["*aaaab*", "a" * 4_000] * 100, 2)]
)
def test_the_work_is_bounded(patterns, queues):
    """However many pairs there are, of one queue or of two, the comparing ends when the work is done."""
    work = Work(300_000)
    found = list(shared_matches(claims(patterns, queues), work))
    assert len(found) < 50_000
    assert work.left < 0


def test_examples_are_found_without_search_once_that_took_long():
    """Each is an example still, if not the shortest."""
    one, other = claims(["*-prod", "nlp-*"])
    examples = Examples()
    assert examples.of(one, other) == 'namespace "nlp-prod"'
    examples.work = Work(10)
    assert examples.of(one, other) == 'namespace "nlp--prod"'
