"""Tests of policies: every kind of expectation holds where it should, and fails with its line and what was the case instead."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.print.formatter import format_text
from gpol.dsl.syntax import tree
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.policy_tests import TestPlay, TestResult, UnmetExpectation, run_test

POLICY = """policy "t" { use gpol.fair }
flavor a100 { gpu 8 }
flavor h100 { gpu 8 }
priority high 100
cohort all {
  queue owner {
    owns 8 gpu on a100
    prefer a100, h100
  }
  queue guest {
    owns nothing
    only a100
  }
}
protect warm-up { where victim.running < 10m }
deny too-big for guest { where workload.gpu > 8 } because "too big"
deny never for guest { where workload.user = "mallory" } because "never"
hold later { where workload.user = "eve" } because "later"
test "t" {
"""

FIRST = POLICY.count("\n") + 1
"""The line of a test's first step."""


def _run(*steps: str) -> TestResult:
    checked = check(POLICY + "".join(f"  {step}\n" for step in steps) + "}\n", "t.gpol")
    assert checked.errors == ()
    [test] = checked.tests
    return run_test(Policy.of(checked), test)


GUEST = "at 0s submit g by guest { 8 gpu }"
OWNER = "at 1m submit o by owner { 8 gpu on a100 }"
BIG = "at 0s submit g by guest { 9 gpu }"
HELD = 'at 0s submit g by guest { 8 gpu, user "eve" }'


@pytest.mark.parametrize(
    "steps",
    [
        (GUEST, "expect g admitted"),
        (GUEST, "expect g admitted borrowing"),
        (GUEST, "expect g admitted on a100"),
        (GUEST, OWNER, "expect o pending"),
        (GUEST, OWNER, "expect o pending because WaitingForProtectedWorkloads"),
        (GUEST, OWNER, "expect o pending because WaitingForProtectedWorkloads by warm-up"),
        (HELD, "expect g pending by later"),
        (GUEST, OWNER, "at 10m", "expect g evicted", "expect o admitted"),
        (GUEST, OWNER, "at 10m", "expect g evicted by reclaim-owned"),
        (BIG, "expect g rejected"),
        (BIG, "expect g rejected by too-big"),
        (GUEST, "at 1m evict g", "expect g evicted", "expect g pending", "at 2m release g", "expect g admitted"),
        (GUEST, OWNER, "at 2m finish g", "expect o admitted"),
        (GUEST, OWNER, "at 2m cancel g", "expect o admitted"),
        ("at 0s submit w by guest { gang of 4 x 2 gpu }", "at 0s submit v by guest { 1 gpu }", "expect w admitted", "expect v pending"),
        ("at 0s submit o by owner { 4 gpu on a100 }", OWNER.replace(" o ", " p "), "at 2m hold p", "at 3m finish o", "expect p pending"),
        (GUEST, OWNER, "at 2m capacity a100 16 gpu", "expect o admitted", "expect g admitted"),
        ("at 0s submit w by guest { 8 gpu }", "at 0s submit v by guest { 8 gpu, priority high }", "expect w admitted"),
    ],
)  # fmt: skip
def test_an_expectation_that_holds_passes(steps: tuple[str, ...]) -> None:
    """Each kind of expectation passes in a situation thought out to meet it."""
    assert _run(*steps) == TestResult("t", FIRST - 1, ())


@pytest.mark.parametrize(
    ("steps", "expected", "found"),
    [
        ((GUEST, OWNER, "expect o admitted"), "o admitted", "o is pending because WaitingForProtectedWorkloads"),
        ((BIG, "expect g admitted"), "g admitted", "g is rejected"),
        ((OWNER, "expect o admitted borrowing"), "o admitted borrowing", "o runs on what its queue owns"),
        ((OWNER, "expect o admitted on h100"), "o admitted on h100", "o runs on a100"),
        ((GUEST, "expect g pending"), "g pending", "g is running"),
        (
            (GUEST, OWNER, "expect o pending because WaitingForQuota"),
            "o pending because WaitingForQuota",
            "o is pending because WaitingForProtectedWorkloads",
        ),
        ((GUEST, OWNER, "expect o pending by later"), "o pending by later", "it is held by warm-up"),
        ((GUEST, "at 1m evict g", "expect g pending by later"), "g pending by later", "it is held by no rule"),
        ((GUEST, "expect g evicted"), "g evicted", "g is running, and was never evicted"),
        ((GUEST, OWNER, "at 10m", "expect g evicted by make-room"), "g evicted by make-room", "g was evicted by rule reclaim-owned"),
        ((GUEST, "at 1m evict g", "expect g evicted by make-room"), "g evicted by make-room", "g was evicted by EvictedByOperator"),
        ((GUEST, "expect g rejected"), "g rejected", "g is running"),
        ((BIG, "expect g rejected by never"), "g rejected by never", "g was rejected by rule too-big"),
        ((GUEST, "at 1m finish g", "expect g admitted"), "g admitted", "g is over"),
    ],
)  # fmt: skip
def test_an_expectation_that_does_not_hold_fails_with_its_line(steps: tuple[str, ...], expected: str, found: str) -> None:
    """The only failure is at the line of the last step, and says what was expected and what is the case."""
    assert _run(*steps).failures == (UnmetExpectation(FIRST + len(steps) - 1, expected, found),)


STRICT = """policy "t" { use gpol.fair }
flavor a100 { gpu 8 }
queue lab {
  owns 8 gpu
  borrows nothing
  queueing strict fifo
}
hold lab { where workload.user = "eve" } because "later"
test "t" {
  at 0s submit a by lab { 4 gpu }
  at 0s submit b by lab { 6 gpu }
  at 0s submit c by lab { 2 gpu }
  at 0s submit d by lab { 1 gpu, user "eve" }
  expect b pending because WaitingForQuota by lab
  expect c pending because BehindFirstInLine by lab
  expect d pending because OnHold by lab
}
"""


def test_a_limit_or_a_queue_of_the_same_name_is_no_rule() -> None:
    """Of three that wait in the queue `lab`, one waits for its limit, one for its place in line, and only the last by the rule `lab`."""
    checked = check(STRICT, "t.gpol")
    assert checked.errors == ()

    result = run_test(Policy.of(checked), checked.tests[0])

    assert result.failures == (
        UnmetExpectation(14, "b pending by lab", "it is held by no rule"),
        UnmetExpectation(15, "c pending by lab", "it is held by no rule"),
    )


def test_a_step_that_cannot_be_played_fails_and_the_rest_is_played() -> None:
    """A workload that waits cannot finish: that step fails at its line with the core's reason, and what follows is still tried."""
    result = _run(HELD, "at 1m finish g", "expect g admitted", "expect g pending")

    impossible, unmet = result.failures
    assert (impossible.line, impossible.expected) == (FIRST + 1, "the step can be played")
    assert "`g`" in impossible.found
    assert (unmet.line, unmet.expected) == (FIRST + 2, "g admitted")


def test_tests_do_not_see_each_other() -> None:
    """Each run starts with an empty cluster."""
    steps = (GUEST, "expect g admitted")

    assert _run(*steps) == _run(*steps)
    assert _run("at 0s submit g by guest { 8 gpu }", "expect g admitted").failures == ()


def test_a_policy_without_rest_fails_its_tests() -> None:
    """Where workloads take turns the test ends, names the rule, and fails."""
    text = 'policy "t" {\n  use gpol.fair\n  preempt by anyone, reclaim-owned, fair-share, make-room\n}\nflavor a { gpu 2 }\n'
    text += "queue x { owns nothing }\nqueue y { owns nothing }\n"
    text += "preempt anyone {\n  evict from any queue\n  where victim.running >= 1s\n}\n"
    text += 'test "t" {\n  at 0s submit j by x { 2 gpu }\n  at 1s submit k by y { 2 gpu }\n  at 1w cancel k\n}\n'
    checked = check(text, "t.gpol")
    assert checked.errors == ()
    [failure] = run_test(Policy.of(checked), checked.tests[0]).failures
    assert failure.line == 15
    assert "by anyone (t.gpol:8)" in str(failure)


BY_NAMESPACE = """policy "n" { use kueue.fair }
flavor a100 { gpu as owned }
queue nlp {
  serves gpu from a100
  owns 8 gpu
  for namespaces where label "team" in "nlp"
}
test "n" {
  at 0s submit mine by nlp { 4 gpu, namespace label "team" = "nlp", label "team" = "other" }
  at 0s submit theirs by nlp { 4 gpu, namespace label "team" = "vision", label "team" = "nlp" }
  expect mine admitted
  expect theirs pending because Misconfigured
}
"""


def test_a_submission_says_the_labels_of_its_namespace() -> None:
    """They are not the workload's own labels: queues that admit by namespaces look at them alone."""
    checked = check(BY_NAMESPACE, "n.gpol")
    assert checked.errors == ()
    assert run_test(Policy.of(checked), checked.tests[0]).failures == ()
    assert format_text(BY_NAMESPACE, "n.gpol").count('namespace label "team" = ') == 2
    twice = BY_NAMESPACE.replace('label "team" = "other"', 'namespace label "team" = "other"')
    assert [error.code for error in check(twice, "n.gpol").errors] == ["GP022"]


# --- nodes ----------------------------------------------------------------------------------------------------------

ON_NODES = """policy "n" { use gpol.fair }
flavor h100 {
  gpu from nodes where pool = "h"
  placed on nodes
}
queue nlp { owns 16 gpu }
test "nodes" {
"""


def _run_on_nodes(*steps: str) -> TestResult:
    checked = check(ON_NODES + "".join(f"  {step}\n" for step in steps) + "}\n", "n.gpol")
    assert checked.errors == ()
    return run_test(Policy.of(checked), checked.tests[0])


def test_nodes_come_change_and_go() -> None:
    """What a workload waits for is there when nodes are, as they were said last."""
    result = _run_on_nodes(
        'at 0s node n1 { 8 gpu, label pool = "h" }',
        "at 0s submit w by nlp { gang of 2 x 8 gpu }",
        "expect w pending",
        'at 1m node n2 { 8 gpu, label pool = "other" }',
        "expect w pending",
        'at 2m node n2 { 8 gpu, label pool = "h" }',
        "expect w admitted",
        "at 3m finish w",
        "at 3m remove node n1",
        "at 3m submit w by nlp { gang of 2 x 8 gpu }",
        "expect w pending",
        'at 4m node n1 { 8 gpu, label pool = "h" }',
        "expect w admitted",
    )
    assert result.failures == ()


def test_a_play_that_goes_on_knows_the_nodes() -> None:
    """A play from where another one stands changes the nodes that are there, and adds no second one."""
    checked = check(ON_NODES + '  at 0s node n1 { 8 gpu, label pool = "h" }\n}\n', "n.gpol")
    [step] = checked.tests[0].steps
    assert isinstance(step, tree.At)
    play = TestPlay.of(Policy.of(checked))
    play.at(step)
    again = play.again()
    again.at(step)
    assert (play.nodes, again.nodes) == ({"n1"}, {"n1"})


def test_pods_that_went_elsewhere_stand_there() -> None:
    """A node that leaves is lost to the workload on it, and its pods are expected on the one where they are now."""
    result = _run_on_nodes(
        'at 0s node n1 { 8 gpu, label pool = "h" }',
        "at 0s submit w by nlp { 8 gpu }",
        "expect w admitted on nodes n1",
        'at 1s node n2 { 8 gpu, label pool = "h" }',
        "at 2s remove node n1",
        "expect w admitted on nodes n2",
    )
    assert result.failures == ()
