"""Elastic workloads in tests of policies: what may be said of them, and with how many pods they are expected."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.print.formatter import format_text
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.policy_tests import run_test

POLICY = """policy "t" { use gpol.fair }
flavor h100 { gpu 8 }
queue a { owns 4 gpu }
queue b { owns 4 gpu }
test "x" {
  at 0s submit t by a { 8 x 1 gpu, at least 4 }
  expect t admitted with 8 pods
  at 1s submit s by b { 2 gpu }
  expect s admitted
  expect t evicted by reclaim-owned
  expect t admitted with 6 pods
  at 2s finish s
  expect t admitted borrowing with 8 pods
}
"""


def failures(text: str) -> list[tuple[str, str]]:
    """What was expected of a policy's one test, and what was so."""
    checked = check(text, "t.gpol")
    assert checked.errors == ()
    return [(each.expected, each.found) for each in run_test(Policy.of(checked), checked.tests[0]).failures]


def test_pods_come_and_go() -> None:
    """Its surplus is counted, and who owns what it borrows gets that back."""
    assert failures(POLICY) == []


def test_the_wrong_number_is_told() -> None:
    """What was expected and what is so."""
    assert failures(POLICY.replace("with 6 pods", "with 5 pods")) == [("t admitted with 5 pods", "t runs with 6")]


def test_the_layout_stays() -> None:
    """A formatted text says the same."""
    assert POLICY.splitlines()[5:] == format_text(POLICY, "t.gpol").splitlines()[-len(POLICY.splitlines()[5:]) :]


@pytest.mark.parametrize(
    ("pods", "message"),
    [
        ("2 x 1 gpu", "it is not said how many of these pods start together"),
        ("gang of 2 x 1 gpu, at least 1", "pods that start together have no other minimum than all of them"),
        ("1 gpu, at least 1", "pods that start together have no other minimum than all of them"),
        ("2 x 1 gpu, at least 3", "at least 3 of 2 pods"),
        ("at least 1, 1 gpu", "`at least` says it of the pods before it"),
        ("2 x 1 gpu, priority 1, at least 1", "`at least` says it of the pods before it"),
    ],
)
def test_what_means_nothing_is_refused(pods: str, message: str) -> None:
    """Each with its own words."""
    checked = check(POLICY.replace("8 x 1 gpu, at least 4", pods), "t.gpol")
    assert message in [error.message for error in checked.errors]


def test_only_pods_are_expected() -> None:
    """How much of a resource it has is another matter."""
    checked = check(POLICY.replace("with 6 pods", "with 6 gpu"), "t.gpol")
    assert [error.message for error in checked.errors] == ["a workload is admitted with so many pods, and not with gpu"]


def test_surplus_goes_first_where_the_policy_says_so() -> None:
    """The same history without an eviction."""
    text = POLICY.replace("{ use gpol.fair }", "{\n  use gpol.fair\n  shrink before evicting\n}")
    assert failures(text.replace("  expect t evicted by reclaim-owned\n", "")) == []
    assert failures(text)[0] == ("t evicted", "t is running, and was never evicted")
    text = text.replace("use gpol.fair", "use kueue.fair").split("test")[0].replace("gpu 8", "gpu as owned")
    assert any("`shrink before evicting`" in error.message for error in check(text, "t.gpol").errors)


def test_cycles_have_no_surplus() -> None:
    """A policy that decides in cycles says so."""
    head = 'policy "t" { use kueue.fair }\nflavor f { gpu as owned }\nqueue a { owns 8 gpu on f }\n'
    text = head + 'test "x" {\n  at 0s submit t by a { 8 x 1 gpu, at least 4 }\n}\n'
    assert [error.message for error in check(text, "t.gpol").errors] == ["a policy that decides in cycles has no surplus of pods"]
