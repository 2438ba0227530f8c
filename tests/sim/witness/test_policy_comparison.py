"""Tests of two policies compared: a workload shows each difference, and its test passes under both policies as it says."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.diff.differences import differences
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.policy_tests import run_test
from gpol.sim.witness import policy_comparison as comparison
from gpol.sim.witness.policy_comparison import WitnessedChange, findings
from gpol.sim.witness.witness_search import Witness

LAB = """policy "lab" {
  use gpol.fair
  default priority batch
}
flavor h100 { gpu 8 }
flavor a100 { gpu 8 }
priority production 1000 { never evicted }
priority batch 100
priority scavenger 0
cohort research {
  queue nlp {
    owns 4 gpu on h100
    owns 4 gpu on a100
    prefer h100, a100
  }
  queue vision {
    owns 4 gpu on h100
    owns 4 gpu on a100
    prefer a100, h100
  }
  queue students {
    owns nothing
    only a100
    priority at most scavenger
  }
}
protect warm-up { where victim.running < 10m }
protect had-enough { where victim.evictions >= 3 }
deny too-big for students { where workload.gpu > 4 } because "too big"
"""

CYCLES = """policy "cycles" { use kueue.classical }
flavor h100 { gpu as owned }
flavor a100 { gpu as owned }
cohort research {
  queue nlp {
    serves gpu from h100, a100
    owns 4 gpu on h100
    reclaims from anyone
    for namespaces where label "team" in "nlp" and label "old" absent
  }
  queue vision {
    serves gpu from h100, a100
    owns 4 gpu on h100
    owns 4 gpu on a100
    evicts its own of lower priority
  }
}
"""


def policy(text: str, file: str) -> Policy:
    """A policy of a text without errors."""
    checked = check(text, file)
    assert checked.errors == ()
    return Policy.of(checked)


def compared(old: str, new: str) -> list[WitnessedChange]:
    """The findings between two texts."""
    policies = policy(old, "old.gpol"), policy(new, "new.gpol")
    return list(findings(*policies, differences(policies[0].graph, policies[1].graph)))


def witnesses(found: list[WitnessedChange]) -> Iterator[Witness]:
    """The witnesses of findings."""
    for finding in found:
        if finding.searched is not None and finding.searched.witness is not None:
            yield finding.searched.witness


def failures(text: str, test: str) -> int:
    """How many expectations of a pasted test fail."""
    checked = check(text + test, "pasted.gpol")
    assert checked.errors == (), test
    return len(run_test(Policy.of(checked), checked.tests[-1]).failures)


EDITS = [
    (LAB, "queue nlp {\n    owns 4 gpu on h100", "queue nlp {\n    owns 2 gpu on h100", ("admitted", "pending")),
    (LAB, "only a100", "only h100", ("admitted", "pending")),
    (LAB, "prefer h100, a100", "prefer a100, h100", ("admitted", "admitted")),
    (LAB, "at most scavenger", "at most batch", ("pending", "admitted")),
    (LAB, "use gpol.fair", "use gpol.fair\n  queueing strict fifo", ("admitted", "pending")),
    (LAB, "use gpol.fair", "use gpol.fair\n  order workloads by submitted asc", ("admitted", "pending")),
    (LAB, "use gpol.fair", "use gpol.fair\n  share used", ("pending", "admitted")),
    (LAB, "flavor a100 { gpu 8 }", "flavor a100 {\n  gpu 8\n  worth 11/10\n}", ("pending", "admitted")),
    (LAB, "flavor a100 { gpu 8 }", "flavor a100 {\n  gpu 8\n  taint spot NoSchedule\n}", ("admitted", "pending")),
    (LAB, "use gpol.fair", "use gpol.fair\n  when borrowing try next flavor", ("admitted", "admitted")),
    (LAB, "use gpol.fair", "use gpol.reclaim", ("admitted", "pending")),
    (LAB, "production 1000 { never evicted }", "production 1000", ("pending", "admitted")),
    (LAB, "< 10m", "< 5m", ("pending", "admitted")),
    (LAB, "< 10m", "<= 10m", ("admitted", "pending")),
    (LAB, "evictions >= 3", "evictions >= 2", ("admitted", "pending")),
    (LAB, "protect warm-up {", "protect warm-up for vision {", ("pending", "admitted")),
    (LAB, "workload.gpu > 4", "workload.gpu >= 4", ("admitted", "rejected")),
    (LAB, "deny too-big for students {", "deny too-big {", ("admitted", "rejected")),
    (LAB, "flavor a100 { gpu 8 }", "flavor a100 { gpu 9 }", ("pending", "admitted")),
    (LAB, "owns nothing", "weight 3\n    owns nothing", ("admitted", "pending")),
    (LAB, "owns nothing", "borrows up to 2 gpu on a100", ("admitted", "pending")),
    (LAB, "prefer a100, h100", "lends up to 1 gpu on h100\n    prefer a100, h100", ("admitted", "pending")),
    (LAB, "prefer a100, h100", 'for label "tier" = "p*"\n    prefer a100, h100', ("rejected", "admitted")),
    (LAB, "prefer a100, h100", "stopped\n    prefer a100, h100", ("admitted", "pending")),
    (CYCLES, "    owns 4 gpu on h100\n    reclaims", "    owns 2 gpu on h100\n    reclaims", ("admitted", "pending")),
    (CYCLES, "    reclaims from anyone\n", "", ("admitted", "pending")),
    (CYCLES, "h100 { gpu as owned }", "h100 {\n  gpu as owned\n  taint spot NoSchedule\n}", ("admitted", "pending")),
    (CYCLES, "    evicts its own of lower priority\n", "", ("admitted", "pending")),
    (CYCLES, 'label "team" in "nlp"', 'label "team" in "vision"', ("admitted", "pending")),
    (CYCLES, "h100, a100\n    owns 4 gpu on h100\n    r", "h100\n    owns 4 gpu on h100\n    r", ("admitted", "pending")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "old", "new", "states"), EDITS, ids=[f"{old.strip()} -> {new.strip()}" for _, old, new, _ in EDITS])
def test_a_workload_shows_an_edit(text: str, old: str, new: str, states: tuple[str, str]) -> None:
    """What becomes of it parts, in the state that is expected where the state does; pasted, its tests pass under their policies."""
    assert old in text
    changed = text.replace(old, new, 1)
    found = list(witnesses(compared(text, changed)))
    assert found
    for witness in found:
        assert witness.old.expect != witness.new.expect
        assert witness.old_test is not None
        assert witness.new_test is not None
        assert failures(text, witness.old_test) == failures(changed, witness.new_test) == 0
        assert failures(text, witness.new_test) + failures(changed, witness.old_test) > 0
    seen = [(witness.old.expect.state, witness.new.expect.state) for witness in found]
    assert {*states} <= {state for pair in seen for state in pair}


CAMPUS = Path(__file__).parents[3] / "examples" / "campus" / "campus.gpol"


@pytest.mark.parametrize(
    ("old", "new", "states"),
    [
        ("production 1000 { never evicted }", "production 1000", ("pending", "admitted")),
        ("urgent 200", "urgent 2000", ("pending", "admitted")),
    ],
)
def test_a_class_is_shown_against_those_that_it_overtakes(old: str, new: str, states: tuple[str, str]) -> None:
    """However many queues and classes there are: what a class is changed for is tried first."""
    text = CAMPUS.read_text().partition("\ntest ")[0]
    assert old in text
    [witness] = witnesses(compared(text, text.replace(old, new)))
    assert (witness.old.expect.state, witness.new.expect.state) == states


def test_what_a_queue_may_have_is_shown_by_its_own_workload() -> None:
    """Not by that of a neighbour which is here to fill the cluster, if one of the queue shows it as well."""
    found = witnesses(
        compared(
            CYCLES,
            CYCLES.replace(
                "queue nlp {\n    serves gpu from h100, a100\n    owns 4", "queue nlp {\n    serves gpu from h100, a100\n    owns 2"
            ),
        )
    )
    assert all(
        witness.new_test is not None and " by nlp " in witness.new_test.partition("submit w")[2].partition("\n")[0] for witness in found
    )


def test_a_witness_is_small() -> None:
    """It has no step that is not needed."""
    [witness] = witnesses(compared(LAB, LAB.replace("workload.gpu > 4", "workload.gpu > 3")))
    assert witness.new_test is not None
    assert re.findall(r"^  .*$", witness.new_test, re.MULTILINE) == [
        "  at 0s submit w by students { 4 gpu on a100 }",
        "  expect w rejected by too-big",
    ]


def test_a_witness_shows_its_own_change() -> None:
    """With several changes each has a workload about which that change alone, or its absence, decides."""
    changed = LAB.replace("< 10m", "< 30m").replace("gpu > 4", "gpu > 2").replace("flavor h100 { gpu 8 }", "flavor h100 { gpu 12 }")
    found = {str(each.change.subject): each.searched for each in compared(LAB, changed)}
    states = {
        subject: (searched.witness.old.expect.state, searched.witness.new.expect.state)
        for subject, searched in found.items()
        if searched is not None and searched.witness is not None
    }
    assert states == {
        "flavor h100": ("pending", "admitted"),
        "protect rule warm-up": ("admitted", "pending"),
        "deny rule too-big": ("admitted", "rejected"),
    }


def test_a_new_queue_is_shown_where_it_is() -> None:
    """A workload that names it is rejected under the old policy, which has no test for it."""
    [finding] = compared(LAB, LAB + "queue guests { owns nothing }\n")
    assert finding.searched is not None
    witness = finding.searched.witness
    assert witness is not None
    assert witness.old_test is None
    assert (witness.old.reason, witness.new.expect.state) == ("NoMatchingQueue", "admitted")


def test_what_nobody_is_decided_by_is_not_searched() -> None:
    """A name or the reason of a rule is shown to people, and no workload can show it."""
    found = compared(LAB, LAB.replace('"too big"', '"much too big"').replace('"lab"', '"laboratory"'))
    assert [(finding.change.about, finding.searched) for finding in found] == [("name", None), ("because", None)]


ONE_OWNER = """policy "p" { use gpol.fair }
flavor h100 {
  gpu 8
  worth 2
}
flavor a100 { gpu 8 }
queue owner {
  owns 8 gpu on h100
  owns 8 gpu on a100
}
queue guest { owns nothing }
"""
"""One queue alone can borrow, so whatever a flavor is worth, no two shares above zero ever meet."""


FAIR = """policy "p" { HEAD }
flavor h100 {
  gpu as owned
  worth 2
}
flavor a100 { gpu as owned }
cohort all {
  queue one {
    serves gpu from h100, a100
    owns 4 gpu on h100
  }
  queue two {
    serves gpu from h100, a100
    owns 4 gpu on a100
    weight 3
  }
  queue three {
    serves gpu from a100, h100
    reclaims from anyone
  }
}
"""


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (LAB, "use gpol.fair"),
        (LAB, "use gpol.reclaim"),
        (LAB, "share used"),
        (LAB, "order queues by share asc\n  preempt by nothing"),
        (FAIR, "use kueue.fair"),
        (FAIR, "use kueue.fair\n  preempt fairly by initial share"),
    ],
)
@pytest.mark.parametrize(("old", "new"), [("2", "3"), ("2", "1/2"), ("2", "2.02")])
def test_worth_is_shown_by_shares_that_are_close(text: str, header: str, old: str, new: str) -> None:
    """Whatever goes by shares, and however little a flavor's worth changes: somebody gets what another one got before."""
    before = text.replace("use gpol.fair", header).replace("HEAD", header)
    before = before.replace("flavor h100 { gpu 8 }", "flavor h100 {\n  gpu 8\n  worth 2\n}")
    [witness] = witnesses(compared(before, before.replace(f"worth {old}", f"worth {new}")))
    assert {witness.old.expect.state, witness.new.expect.state} <= {"admitted", "pending", "evicted"}
    assert witness.old.expect.state != witness.new.expect.state


def test_the_search_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more scenarios are tried than allowed, for one change and for all; the number is told."""
    old, new = policy(ONE_OWNER, "old.gpol"), policy(ONE_OWNER.replace("worth 2", "worth 3"), "new.gpol")
    changes = differences(old.graph, new.graph)
    [finding] = findings(old, new, changes, most=7)
    assert finding.searched is not None
    assert finding.searched.tried <= 7
    monkeypatch.setattr(comparison, "MOST_TRIED_IN_ALL", 30)
    many = list(findings(old, new, changes * 10, most=50))
    assert [each.searched.tried for each in many if each.searched is not None] == [comparison.FEWEST_TRIED] * 3 + [0] * 7


def test_the_same_policies_give_the_same_findings() -> None:
    """Nothing in a comparison is random."""
    changed = LAB.replace("only a100", "only h100").replace("< 10m", "< 30m")
    assert compared(LAB, changed) == compared(LAB, changed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "old", "new"),
    [
        ("lab/lab.gpol", "only a100", "only h100"),
        ("campus/campus.gpol", "guarantees 4 gpu", "guarantees 8 gpu"),
        ("campus/campus.gpol", "borrows up to 16 gpu", "borrows up to 24 gpu"),
        ("philly/full.gpol", "queue e13805 { owns 128 gpu }", "queue e13805 { owns 64 gpu }"),
    ],
)
def test_an_edit_of_an_example_is_shown(example: str, old: str, new: str, root: Path) -> None:
    """Examples are of a size at which a workload is found as well."""
    text = (root / "examples" / example).read_text()
    changed = text.replace(old, new, 1)
    assert changed != text
    for witness in witnesses(found := compared(text, changed)):
        assert failures(changed, witness.new_test or "") == failures(text, witness.old_test or "") == 0
    assert all(finding.searched is not None and finding.searched.witness is not None for finding in found)
