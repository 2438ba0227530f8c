"""Tests for warnings of policies in cycles that may never come to rest: where they stand, and what is quiet."""

import pytest

APART = "queue x {\n  owns 1 gpu on a\n  reclaims from anyone\n}\nqueue y { owns 1 gpu on a }\n"
FLAVORS = "flavor a { gpu as owned }\nflavor b { gpu as owned }\n"
OWN = "    evicts its own of lower priority\n"


def policy(first: str, second: str = "", header: str = "use kueue.classical") -> str:
    """Two queues of a cohort, each owning a gpu on a and with more statements."""
    queues = "".join(f"  queue {name} {{\n    only a\n    owns 1 gpu on a\n{body}  }}\n" for name, body in (("x", first), ("y", second)))
    return f'policy "p" {{\n  {header}\n}}\n{FLAVORS}cohort all {{\n{queues}}}\n'


def said(*statements: str) -> str:
    """Statements as they stand in a queue."""
    return "".join(f"    {statement}\n" for statement in statements)


@pytest.mark.parametrize(
    ("text", "marked", "cause"),
    [
        (policy(said("reclaims from lower priority")), "reclaims from lower priority", "fewer pods"),
        (policy(said("reclaims from anyone")), "reclaims from anyone", "fewer pods"),
        (policy(said("reclaims from anyone")).replace("only a", "prefer a"), "reclaims from anyone", "given a flavor"),
        (policy(said("reclaims from anyone"), header="use kueue.fair"), "reclaims from anyone", "the smaller share comes first"),
        (
            policy(said("reclaims from lower priority", "borrows by evicting lower priority")),
            "borrows by evicting lower priority",
            "evicts while it borrows",
        ),
    ],
)
def test_who_evicts_from_others_is_warned_of_by_what_takes_the_least(find, text, marked, cause):
    """The warning stands at the statement by which the queue evicts, and tells of one cause."""
    [finding] = find(text)
    assert (finding.code, finding.marked) == ("GP057", marked)
    assert "queue `x` evicts from other queues" in finding.message
    assert cause in finding.message
    assert "`use gpol.fair`" in finding.help


def test_a_policy_is_warned_of_once(find):
    """Where several queues evict, the first one is named, and how many more there are."""
    [finding] = find(policy(said("reclaims from anyone"), said("reclaims from anyone")))
    assert "queue `x` and 1 more evict from other queues" in finding.message


def test_a_queue_that_evicts_while_it_borrows_is_the_one_to_name(find):
    """Of several queues that evict from others those that do it while they borrow come first."""
    [finding] = find(policy(said("reclaims from anyone"), said("reclaims from anyone", "borrows by evicting lower priority")))
    assert "queue `y` evicts from other queues" in finding.message
    assert finding.marked == "borrows by evicting lower priority"


@pytest.mark.parametrize(
    "text",
    [
        policy(OWN, OWN),
        policy(OWN, header="use kueue.fair"),
        policy(said("evicts its own of lower priority or newer", "queueing strict fifo")),
        policy(OWN, header="use kueue.classical\n  order workloads by priority desc, pods asc"),
        policy(said("reclaims from anyone"), said("borrows nothing on a")),
        policy(said("borrows by evicting lower priority")),
        policy("", header="use gpol.fair"),
        f'policy "p" {{ use kueue.fair }}\n{FLAVORS}{APART}',
    ],
    ids=["own", "own fairly", "own strictly", "by priority", "nothing borrowed", "no reclaims", "at once", "trees apart"],
)
def test_what_comes_to_rest_is_not_warned_of(find, text):
    """Evicting within a queue by rank, and reclaiming where nobody borrows, always come to rest."""
    assert [finding for finding in find(text) if finding.code == "GP057"] == []


@pytest.mark.parametrize(
    ("statements", "header", "help_text"),
    [
        (("evicts its own of lower priority",), "order workloads by submitted asc", "order workloads by priority desc"),
        (("evicts its own of lower priority or newer",), "order workloads by priority desc, pods asc", "order workloads by priority desc"),
        (
            ("evicts its own of lower priority", "admits by usage", 'local queue "x/y"'),
            "usage halves every 7d, sampled every 5m",
            "leave out `admits by usage`",
        ),
    ],
    ids=["another order", "age left out", "by usage"],
)
def test_who_admits_its_victims_first_is_warned_of(find, statements, header, help_text):
    """Where the queue's order may put a victim before the one it went for, the warning says which order would not."""
    [finding] = find(policy(said(*statements), header=f"use kueue.classical\n  {header}"))
    assert (finding.code, finding.marked) == ("GP057", statements[0])
    assert help_text in finding.help
