"""Tests for what queues say beyond their quota."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.policy.doors import Condition
from gpol.engine.policy_graph import Preemption, Queue

REST = "flavor h100 { gpu 100 }\nflavor a100 { gpu 50 }\npriority batch 100\npriority top 900 { never evicted }\n"


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
        (("when borrowing take flavor", "when borrowing try next flavor"), "GP022", "when borrowing try next flavor", "keep one"),
        (("stopped", "stopped and drained"), "GP022", "stopped and drained", "keep one"),
        (("for no namespaces", "for no namespaces"), "GP022", "for no namespaces", "keep one"),
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


def in_cycles(*statements: str) -> Queue:
    """The only queue of a policy that decides in cycles; its statements start on line 4."""
    header = 'policy "p" { use kueue.classical }\nflavor h100 { gpu as owned }\nqueue q {\n'
    return compile_policy(header + "".join(f"  {statement}\n" for statement in statements) + "}\n", "p.gpol").queues[0]


def test_a_queue_that_says_nothing_leaves_all_open():
    """Without statements the header's flavor choices hold, nobody is evicted, nothing is stopped, and all namespaces may come."""
    queue = in_cycles("weight 1")
    assert (queue.groups, queue.next_flavor_before_borrowing, queue.next_flavor_before_evicting, queue.rather) == ((), None, None, "borrow")
    assert (queue.preemption, queue.stopped, queue.namespaces, queue.checks) == (Preemption(), "", None, ())
    assert (queue.by_usage, queue.local_queues) == (False, ())


@pytest.mark.parametrize("header", ["use gpol.fair", "use kueue.classical"])
def test_flavor_choices_of_a_queue_stand_beside_the_headers(header):
    """Either way of deciding, a queue may choose for itself; what it leaves open is None."""
    capacity = "gpu as owned"
    statements = "when borrowing try next flavor"
    made = compile_policy(f'policy "p" {{ {header} }}\nflavor h100 {{ {capacity} }}\nqueue q {{ {statements} }}\n', "p.gpol")
    assert (made.queues[0].next_flavor_before_borrowing, made.queues[0].next_flavor_before_evicting) == (True, None)
    assert in_cycles("when evicting take flavor").next_flavor_before_evicting is False


@pytest.mark.parametrize(
    ("statement", "field", "value"),
    [
        ("evicts its own of lower priority", "own", "lower"),
        ("evicts its own of lower priority or newer", "own", "lower-or-newer"),
        ("reclaims from lower priority", "reclaims", "lower"),
        ("reclaims from anyone", "reclaims", "any"),
        ("borrows by evicting lower priority", "borrowing", "lower"),
    ],
)
def test_whom_a_queue_may_evict(statement, field, value):
    """Each statement says one of the three, with its line, and leaves the other two at nothing."""
    preemption = in_cycles("weight 1", statement).preemption
    for name in ("own", "reclaims", "borrowing"):
        source = getattr(preemption, f"{name}_source")
        assert getattr(preemption, name) == (value if name == field else "nothing")
        assert (source.line if source is not None else None) == (5 if name == field else None)
    assert preemption.borrowing_up_to is None


def test_the_three_evictions_are_said_side_by_side():
    """A queue may say all three, and a threshold may be below zero."""
    preemption = in_cycles(
        "evicts its own of lower priority", "reclaims from anyone", "borrows by evicting lower priority up to -7"
    ).preemption
    assert (preemption.own, preemption.reclaims, preemption.borrowing, preemption.borrowing_up_to) == ("lower", "any", "lower", -7)


def test_rather_evict_than_borrow():
    """Which of two flavors is better is the queue's to say; the default is to borrow."""
    assert in_cycles("rather evict than borrow").rather == "evict"
    assert in_cycles("rather borrow than evict").rather == "borrow"
