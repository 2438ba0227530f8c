"""Tests for warnings about queues: dead ones, quotas that they do not use, and workloads that two of them claim."""

import pytest

HEAD = 'policy "p" { }\nflavor h100 { gpu 8 }\nflavor a100 { gpu 4 }\n'
KEEPING = "queue rich {\n  owns 8 gpu on h100\n  owns 4 gpu on a100\n  guarantees 8 gpu on h100\n  guarantees 4 gpu on a100\n}\n"


def codes(find, text: str) -> list[str]:
    """The codes of what is found."""
    return [finding.code for finding in find(text)]


def test_who_owns_nothing_where_others_keep_everything_is_dead(find):
    """The note names a workload that waits for ever, and who keeps what there is."""
    [finding] = find(HEAD + KEEPING + "queue poor { owns nothing }\n")
    assert (finding.code, finding.marked) == ("GP053", "poor")
    assert "1 gpu on a100 in queue `poor` waits for ever: all 4 gpu on a100 are kept by others (owners: `rich`)" in finding.notes[0]


@pytest.mark.parametrize(
    "queues",
    [
        KEEPING.replace("  guarantees 4 gpu on a100\n", "") + "queue poor { owns nothing }\n",
        KEEPING.replace("owns 4 gpu on a100", "owns 3 gpu on a100").replace("guarantees 4", "guarantees 3") + "queue poor { }\n",
        "queue poor { owns nothing }\n",
    ],
)
def test_who_may_borrow_something_is_not_dead(find, queues):
    """One GPU that others lend, or that nobody owns, is enough."""
    assert codes(find, HEAD + queues) == []


def test_where_nothing_exists_yet_no_queue_is_judged(find):
    """Amounts of 0 are for nodes that come later; where nodes say what exists it is not known."""
    assert codes(find, 'policy "p" { }\nflavor h100 { gpu 0 }\nqueue a { }\n') == []
    assert codes(find, 'policy "p" { }\nflavor h100 { gpu from nodes where a = "b" }\nqueue a { }\n') == []


@pytest.mark.parametrize("statement", ["owns 8 gpu on h100", "borrows up to 1 gpu on h100", "lends up to 0 gpu on h100"])
def test_quotas_of_other_flavors_than_only_says(find, statement):
    """Amounts that the queue cannot use; `nothing` and 0 say just that."""
    found = codes(find, HEAD + f"queue q {{\n  {statement}\n  owns 4 gpu on a100\n  only a100\n}}\n")
    assert found == ([] if " 0 " in statement else ["GP059"])
    assert codes(find, HEAD + f"queue q {{\n  {statement}\n  prefer a100\n}}\n") == []


MATCHES = [
    ('namespace "x*"', 'namespace "x-*"', 'namespace "x-x"'),
    ('namespace "x"', 'namespace "x"', 'namespace "x"'),
    ('namespace "*-prod"', 'namespace "nlp-*"', 'namespace "nlp-prod"'),
    ('user "ada"', 'user "ada" and namespace "edu-*"', 'namespace "edu-x" and user "ada"'),
    ('label "tier" = "p*"', 'label "tier" = "prod"', 'label "tier" "prod"'),
    ('namespace "x-*"', 'namespace "y-*"', None),
    ('namespace "team1-*"', 'namespace "team10-*"', None),
    ('user "ada"', 'namespace "edu-*"', None),
    ('label "tier" = "*"', 'label "zone" = "*"', None),
    ('user "ada" and namespace "x"', 'user "ada" and namespace "y"', None),
    ('kind "job" and namespace "a*"', 'kind "job" and user "b"', None),
]


@pytest.mark.parametrize(("one", "other", "example"), MATCHES)
@pytest.mark.parametrize("swapped", [False, True])
def test_lines_that_the_same_workload_matches(find, one, other, example, swapped):
    """A workload that matches both is named; lines about different things are not compared."""
    first, second = (other, one) if swapped else (one, other)
    found = find(HEAD + f"queue a {{ for {first} }}\nqueue b {{ for {second} }}\n")
    assert [finding.code for finding in found] == ([] if example is None else ["GP062"])
    if example is not None:
        assert f"a workload of {example} that names no queue matches both and is rejected" in found[0].notes[0]


def test_alternatives_of_one_queue_may_overlap(find):
    """A workload that matches two lines of one queue belongs to it."""
    assert codes(find, HEAD + 'queue a {\n  for namespace "x*"\n  for namespace "x-*"\n}\n') == []


def test_a_queue_for_everything_is_told_once(find):
    """One warning, with the number of the others, not one for each."""
    others = "".join(f'queue q{number} {{ for namespace "t{number}" }}\n' for number in range(9))
    [finding] = find(HEAD + others + 'queue all { for namespace "*" }\n')
    assert finding.message == "queues `all` and `q0` and 8 more queues are for the same workloads"
