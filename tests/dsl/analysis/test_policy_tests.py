"""Tests for the checks of `test` blocks."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.policy_tests import run_test


@pytest.mark.parametrize(
    ("steps", "code", "marked", "help_piece"),
    [
        (("at 1h", "at 59m"), "GP034", "59m", "in order of time"),
        (("expect a pending",), "GP034", "a", "submit it first"),
        (("at 0s finish a",), "GP034", "a", "submit it first"),
        (("at 0s submit job-one by nlp { 1 gpu }", "expect job-on pending"), "GP034", "job-on", "did you mean `job-one`?"),
        (("at 0s submit a by nlq { 1 gpu }",), "GP020", "nlq", "did you mean `nlp`?"),
        (("at 0s submit a by research { 1 gpu }",), "GP020", "research", "`nlp`"),
        (('at 0s submit a by nlp { user "ada" }',), "GP034", "a", "`{ 8 gpu }`"),
        (("at 0s submit a by nlp { 1 gpuu }",), "GP020", "gpuu", "did you mean `gpu`?"),
        (("at 0s submit a by nlp { 1 gpu on h10 }",), "GP020", "h10", "did you mean `h100`?"),
        (("at 0s submit a by nlp { 1x gpu }",), "GP023", "1x", "`8 gpu`"),
        (("at 0s submit a by nlp { gang of 2.0 x 1 gpu }",), "GP023", "2.0", "whole number"),
        (("at 0s submit a by nlp { 1 gpu, priority 10/2 }",), "GP023", "10/2", "whole number"),
        (("at 0s submit a by nlp { gang of 0 x 1 gpu }",), "GP023", "0", "from 1"),
        (("at 0s submit a by nlp { gang of 1000001 x 1 gpu }",), "GP023", "1000001", "to 1000000"),
        (("at 0s submit a by nlp { 1 gpu, priority bath }",), "GP020", "bath", "did you mean `batch`?"),
        (("at 0s submit a by nlp { 1 gpu, priority 1.5 }",), "GP023", "1.5", "whole number"),
        (('at 0s submit a by nlp { 1 gpu, user "x", user "y" }',), "GP022", 'user "y"', "keep one"),
        (("at 5 submit a by nlp { 1 gpu }",), "GP023", "5", "`90s`"),
        (("at 0s capacity h10 5 gpu",), "GP020", "h10", "did you mean `h100`?"),
        (("at 0s capacity h100 5 cpu",), "GP020", "h100", "`a100`"),
        (("at 0s capacity h100 5y gpu",), "GP023", "5y", "`8 gpu`"),
        (("at 0s submit a by nlp { 1 gpu }", "expect a admitted on h10"), "GP020", "h10", "did you mean `h100`?"),
        (("at 0s submit a by nlp { 1 gpu }", "expect a pending because WaitingForQota"), "GP020", "WaitingForQota", "`WaitingForQuota`"),
        (("at 0s submit a by nlp { 1 gpu }", "expect a pending because Zzz"), "GP020", "Zzz", "reasons:"),
        (("at 0s submit a by nlp { 1 gpu }", "expect a evicted by fair-shar"), "GP020", "fair-shar", "did you mean `fair-share`?"),
        (("at 0s submit a by nlp { 1 gpu }", "expect a rejected by fair-share"), "GP020", "fair-share", "declares no deny rule"),
    ],
)
def test_each_mistake_in_a_test_is_found_alone(find_one, steps, code, marked, help_piece):
    """A step that cannot be played gives its own code on its own text, with advice."""
    finding = find_one('test "t" {\n' + "".join(f"  {step}\n" for step in steps) + "}\n")
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


@pytest.mark.parametrize(
    ("entries", "most", "what"),
    [
        (lambda count: ", ".join(["1 gpu"] * count), 18, "sets of pods"),
        (lambda count: "1 gpu, " + ", ".join(f'label "l{number}" = ""' for number in range(count)), 256, "labels"),
        (lambda count: "1 gpu on " + " or ".join(f"f{number}" for number in range(count)), 64, "flavors"),
    ],
)
def test_a_submission_holds_as_much_as_its_event(find, base, entries, most, what):
    """What the event of a submission can hold is fine and can be played; one more is told, at the first that is too many."""
    flavors = "".join(f"flavor f{number} {{ gpu 1 }}\n" for number in range(most + 1))

    def submitting(count: int) -> str:
        return f'{base}{flavors}test "t" {{\n  at 0s submit a by nlp {{ {entries(count)} }}\n  at 1s cancel a\n}}\n'

    checked = check(submitting(most), "p.gpol")
    assert checked.diagnostics == ()
    assert run_test(Policy.of(checked), checked.tests[0]).failures == ()
    [finding] = find(submitting(most + 1))
    assert (finding.code, finding.message) == ("GP034", f"the workload has {most + 1} {what}; a submission has at most {most}")


def test_a_flavor_is_asked_for_once(find_one):
    """A flavor listed twice would be one alternative."""
    finding = find_one('test "t" { at 0s submit a by nlp { 1 gpu on h100 or h100 } }\n')
    assert (finding.code, finding.marked) == ("GP022", "h100")


def test_two_tests_have_two_names(find_one):
    """A test's name is how a report speaks of it."""
    finding = find_one('test "t" { at 0s }\ntest "t" { at 1s }\n')
    assert (finding.code, finding.marked) == ("GP022", '"t"')


def test_a_full_history_is_fine(find, base):
    """Everything that the language reference lists for tests passes."""
    text = """deny big { where workload.gpu > 64 } because "too big"
hold racks for vision because "moving"
protect young { where victim.running < 1m }
test "all" {
  at 0s submit a by nlp { gang of 4 x 1 gpu and 2 cpu on a100 or h100, priority batch, user "u", label "k" = "v", label "l" = "w" }
  at 0s submit b { 8 gpu, priority 7, namespace "n" }
  expect a admitted borrowing on a100
  at 1h capacity h100 50 gpu
  at 1h hold b
  at 1h release b
  at 2h evict a
  at 2h cancel b
  at 2h submit b by nlp { 65 gpu }
  expect a evicted by reclaim-owned
  expect b rejected by big
  expect b pending because WaitingForQuota by racks
  expect a pending by young
  at 3h finish a
}
"""
    assert find(base + text) == []


def test_time_is_kept_after_a_step_back(find, base):
    """Only the step that goes back is reported, not those after it."""
    findings = find(base + 'test "t" {\n  at 2h\n  at 1h\n  at 2h\n}\n')
    assert [finding.marked for finding in findings] == ["1h"]


CYCLES = 'policy "p" { use kueue.fair }\nflavor h100 { gpu as owned }\nqueue nlp { owns 8 gpu }\nqueue vision { owns 8 gpu }\n'


def test_in_cycles_an_eviction_is_by_the_queue_that_wants_the_place(find):
    """The lines by which workloads are evicted stand in queues, so `by` names one."""
    steps = "  at 0s submit a by nlp { 1 gpu }\n  expect a pending because WaitingForPreemptedWorkloads\n"
    assert find(CYCLES + f'test "t" {{\n{steps}  expect a evicted by vision\n}}\n') == []
    findings = find(CYCLES + f'test "t" {{\n{steps}  expect a evicted by visio\n}}\n')
    assert [(finding.code, finding.marked, finding.help) for finding in findings] == [("GP020", "visio", "did you mean `vision`?")]


def test_in_cycles_no_test_changes_capacities(find):
    """There is what is owned; a fact that said otherwise would mean nothing."""
    findings = find(CYCLES + 'test "t" { at 0s capacity h100 4 gpu }\n')
    assert [(finding.code, finding.marked) for finding in findings] == [("GP034", "h100")]
