"""Tests for the header's choices."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.policy_settings import OrderKey

REST = "flavor h100 { gpu 100 }\nflavor a100 { gpu 50 }\npriority batch 100\npriority top 900 { never evicted }\n"


@pytest.mark.parametrize(
    ("choices", "code", "marked", "help_piece"),
    [
        (("share used", "share none"), "GP022", "share none", "keep one"),
        (("queueing best effort", "queueing strict fifo"), "GP022", "queueing strict fifo", "keep one"),
        (("order queues by shar asc",), "GP020", "shar asc", "did you mean `share`?"),
        (("order queues by evictions asc",), "GP020", "evictions asc", "known:"),
        (("order workloads by share asc",), "GP020", "share asc", "known:"),
        (("order workloads by priority desc, priority asc",), "GP022", "priority asc", "keep one"),
        (("ignore gpu",), "GP027", "gpu", "do not ignore it"),
        (("default priority bach",), "GP020", "bach", "did you mean `batch`?"),
        (("ignore license2, license2",), "GP022", "license2", "keep one"),
        (("use gpol.fair", "use gpol.fair"), "GP022", "use gpol.fair", "keep one"),
        (("when borrowing take flavor", "when borrowing try next flavor"), "GP022", "when borrowing try next flavor", "keep one"),
        (("place pods packed", "place pods spread"), "GP022", "place pods spread", "keep one"),
        (("when a node is lost wait", "when a node is lost evict"), "GP022", "when a node is lost evict", "keep one"),
    ],
)
def test_each_mistake_in_the_header_is_found_alone(find, choices, code, marked, help_piece):
    """A wrong choice gives its own code on its own text, with advice."""
    findings = find('policy "p" {\n' + "".join(f"  {choice}\n" for choice in choices) + "}\n" + REST + "queue q { owns 1 gpu on h100 }\n")
    assert [(finding.code, finding.marked) for finding in findings] == [(code, marked)]
    assert help_piece in findings[0].help


def test_the_header_chooses_the_settings():
    """Orders, share formula and flavor choices are those of the header, the rest the profile's."""
    text = (
        'policy "p" {\n  share used\n  order queues by gpu desc, submitted\n  when borrowing try next flavor\n'
        "  when evicting take flavor\n  ignore zeta, alpha\n}\n"
    )
    made = compile_policy(text + REST, "p.gpol")
    assert made.settings.share == "used"
    assert made.settings.queue_order == (OrderKey("gpu", descending=True), OrderKey("submitted", descending=False))
    assert made.settings.workload_order == (OrderKey("priority", descending=True), OrderKey("submitted", descending=False))
    assert made.settings.next_flavor_before_borrowing is True
    assert made.settings.next_flavor_before_evicting is False
    assert made.ignored == ("alpha", "zeta")


def test_without_any_profile_choice_the_plainest_holds():
    """A profile that says nothing leaves no shares, no orders and the first flavor that does."""
    made = compile_policy('policy "p" { use a.b }\n', "p.gpol", {"a.b": 'profile "a.b" { }\n'})
    assert (made.settings.share, made.settings.queue_order, made.settings.workload_order) == ("none", (), ())
    assert not made.settings.next_flavor_before_borrowing
    assert not made.settings.next_flavor_before_evicting
    assert made.preempt == ()
