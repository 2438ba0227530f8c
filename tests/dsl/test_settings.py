"""Tests for the header's choices and for what queues say beyond their quota."""

import pytest
from gpol.dsl.checker import compile_policy
from gpol.engine.graph import Condition, OrderKey

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
    ],
)
def test_each_mistake_in_the_header_is_found_alone(find, choices, code, marked, help_piece):
    """A wrong choice gives its own code on its own text, with advice."""
    findings = find('policy "p" {\n' + "".join(f"  {choice}\n" for choice in choices) + "}\n" + REST + "queue q { owns 1 gpu on h100 }\n")
    assert [(finding.code, finding.marked) for finding in findings] == [(code, marked)]
    assert help_piece in findings[0].help


@pytest.mark.parametrize(
    ("statements", "code", "marked", "help_piece"),
    [
        (("prefer h100, a10",), "GP020", "a10", "did you mean `a100`?"),
        (("only h100, h100",), "GP022", "h100", "keep one"),
        (("prefer h100", "only a100"), "GP022", "only a100", "keep one"),
        (("prefer h100", "prefer a100"), "GP022", "prefer a100", "keep one"),
        (("priority at most bath",), "GP020", "bath", "did you mean `batch`?"),
        (("priority at most batch", "priority at most production"), "GP022", "priority at most production", "keep one"),
        (("default priority zzz",), "GP020", "zzz", "`batch`, `production`"),
        (("queueing best effort", "queueing best effort"), "GP022", "queueing best effort", "keep one"),
    ],
)
def test_each_mistake_in_a_queue_is_found_alone(find_one, statements, code, marked, help_piece):
    """A wrong setting of a queue gives its own code on its own text, with advice."""
    finding = find_one("queue x {\n" + "".join(f"  {statement}\n" for statement in statements) + "}\n")
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


def made_queue(*statements: str, header: str = ""):
    """The graph of a policy with one queue."""
    text = f'policy "p" {{\n{header}\n}}\n{REST}queue q {{\n' + "".join(f"  {statement}\n" for statement in statements) + "}\n"
    made = compile_policy(text, "p.gpol")
    return made.queues[0], [made.flavors[flavor].name for flavor in made.queues[0].flavors]


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("weight 1", ["a100", "h100"]),
        ("prefer h100", ["h100", "a100"]),
        ("prefer h100, a100", ["h100", "a100"]),
        ("only h100", ["h100"]),
    ],
)
def test_flavors_are_tried_as_listed_then_by_name(statement, names):
    """`prefer` puts its flavors first, `only` allows no other, and without either the order is that of the names."""
    assert made_queue(statement)[1] == names


def test_the_default_priority_comes_from_queue_then_header_then_is_zero():
    """The nearest default wins; a default whose class is never evicted says so."""
    assert made_queue("weight 1")[0].default_priority == 0
    assert made_queue("weight 1", header="  default priority batch")[0].default_priority == 100
    nearest, _ = made_queue("default priority top", header="  default priority batch")
    assert (nearest.default_priority, nearest.default_pinned) == (900, True)
    assert made_queue("weight 1", header="  default priority batch")[0].default_pinned is False


def test_queueing_comes_from_queue_then_header():
    """A queue may be strict in a policy that is not, and the other way round."""
    assert made_queue("weight 1")[0].strict is False
    assert made_queue("queueing strict fifo")[0].strict is True
    assert made_queue("weight 1", header="  queueing strict fifo")[0].strict is True
    assert made_queue("queueing best effort", header="  queueing strict fifo")[0].strict is False


def test_a_ceiling_has_a_value_and_a_line():
    """`priority at most` gives the value of the class and where it is said."""
    queue, _ = made_queue("weight 1", "priority at most batch")
    assert queue.ceiling == 100
    assert queue.ceiling_source is not None
    assert queue.ceiling_source.line == 10
    assert made_queue("weight 1")[0].ceiling_source is None


def test_match_lines_are_alternatives_of_conditions():
    """Each `for` line is a conjunction; the lines are alternatives whose order does not matter."""
    lines = ('for namespace "nlp-*" and label "tier" = "prod"', 'for user "ada"')
    one, _ = made_queue(*lines)
    other, _ = made_queue(*reversed(lines))
    assert one.matches == other.matches
    assert sorted(one.matches, key=len) == [
        (Condition("user", None, "ada"),),
        (Condition("label", "tier", "prod"), Condition("namespace", None, "nlp-*")),
    ]


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
