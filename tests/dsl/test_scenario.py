"""Tests for the checks of `test` blocks."""

import pytest


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
