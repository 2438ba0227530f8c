"""Tests for who comes in by a queue."""

from fractions import Fraction

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.nodes.conditions import Requirement
from gpol.engine.policy_graph import Check, LocalQueue, Queue, Source

HEADER = 'policy "p" { use kueue.classical }\nflavor a100 { gpu as owned }\nflavor h100 { gpu as owned }\n'


def queue(*statements: str) -> str:
    """A queue named q with these statements, which start on line 5 behind the header."""
    return "queue q {\n" + "".join(f"  {statement}\n" for statement in statements) + "}\n"


def made(*statements: str) -> Queue:
    """The graph of the queue."""
    return compile_policy(HEADER + queue(*statements), "p.gpol").queues[0]


def test_conditions_on_namespaces():
    """Each test is a condition as Kubernetes knows it; they have an order of their own."""
    queue = made('for namespaces where label "x" exists and label "dep" in "lend", "eng" and label "y" absent and label "z" not in "a"')
    assert queue.namespaces == (
        Requirement("dep", "In", ("eng", "lend")),
        Requirement("x", "Exists", ()),
        Requirement("y", "DoesNotExist", ()),
        Requirement("z", "NotIn", ("a",)),
    )


def test_all_namespaces_or_none():
    """A queue that says nothing is open to all; `for no namespaces` is a condition that nothing meets."""
    assert made("weight 1").namespaces is None
    assert made("for no namespaces").namespaces == (Requirement("", "In", ()),)


def test_namespaces_stand_beside_the_match_rules():
    """Match rules find a queue, conditions on namespaces keep workloads out of it: both may be said."""
    queue = made('for namespace "nlp-*"', 'for namespaces where label "x" exists')
    assert len(queue.matches) == 1
    assert queue.namespaces == (Requirement("x", "Exists", ()),)


def test_checks_are_for_all_flavors_or_some():
    """Checks come in order of name, their flavors in the graph's."""
    assert made("needs check prov on h100, a100", 'needs check "a/b"').checks == (Check("a/b", ()), Check("prov", (0, 1)))
    assert made("needs check prov on h100 for nodes").checks == (Check("prov", (1,), gives_nodes=True),)
    assert made("needs check prov for nodes").checks == (Check("prov", (), gives_nodes=True),)


def test_checks_that_give_nodes():
    """A check for nodes is one that gives them, for all flavors or some."""
    assert made("needs check prov on h100 for nodes", "needs check other for nodes", "needs check budget").checks == (
        Check("budget", ()),
        Check("other", (), gives_nodes=True),
        Check("prov", (1,), gives_nodes=True),
    )


def test_local_queues():
    """A weight is 1 unless it is said; a local queue may be stopped by itself."""
    queue = made('local queue "t/b" { weight 1/2 }', 'local queue "t/c" { stopped and drained }', 'local queue "t/a"')
    assert queue.local_queues == (
        LocalQueue("t/a", Fraction(1), "", Source("p.gpol", 7)),
        LocalQueue("t/b", Fraction(1, 2), "", Source("p.gpol", 5)),
        LocalQueue("t/c", Fraction(1), "drain", Source("p.gpol", 6)),
    )


def test_a_weight_of_nothing_is_allowed():
    """With weight 0 a tenant goes last; it is no mistake."""
    assert made('local queue "t/a" { weight 0 }').local_queues[0].weight == 0


def test_stopped_queues():
    """`stopped` admits nothing new, `and drained` evicts what runs."""
    assert [made(statement).stopped for statement in ("weight 1", "stopped", "stopped and drained")] == ["", "hold", "drain"]


@pytest.mark.parametrize(
    ("statements", "code", "marked", "help_piece"),
    [
        (('for namespaces where label "" exists',), "GP036", '""', "1 to 253 characters"),
        (('for namespaces where label "a" in "b", "b"',), "GP022", '"b"', "keep one"),
        (('for namespaces where label "a" exists and label "a" exists',), "GP022", 'label "a" exists', "keep one"),
        (("needs check prov", "needs check prov"), "GP022", "needs check prov", "keep one"),
        (("needs check prov on h10",), "GP020", "h10", "did you mean `h100`?"),
        (("needs check prov on h100, h100",), "GP022", "h100", "keep one"),
        (('needs check ""',), "GP036", '""', "1 to 253 characters"),
        (("local queue team",), "GP042", "team", '`"namespace/name"`'),
        (('local queue "a/b/c"',), "GP042", '"a/b/c"', '`"namespace/name"`'),
        (('local queue "/b"',), "GP042", '"/b"', '`"namespace/name"`'),
        (('local queue "a/"',), "GP042", '"a/"', '`"namespace/name"`'),
        (('local queue "a/b" { weight -1 }',), "GP023", "-1", "at least 0"),
        (('local queue "a/b" { weight x }',), "GP003", "x", "a number"),
        (('local queue "a/b"', 'local queue "a/b"'), "GP022", '"a/b"', "keep one"),
    ],
)
def test_each_mistake_is_found_alone(find, statements, code, marked, help_piece):
    """A wrong entrance gives its own code on its own text, with advice."""
    findings = find(HEADER + queue(*statements))
    assert [(finding.code, finding.marked) for finding in findings] == [(code, marked)]
    assert help_piece in findings[0].help


def test_two_statements_of_a_local_queue_are_said_once(find):
    """A second weight or a second `stopped` is an error, also inside a local queue."""
    text = HEADER + queue('local queue "a/b" {', "  weight 1", "  weight 2", "  stopped", "  stopped", "}")
    assert [(finding.code, finding.marked, finding.line) for finding in find(text)] == [("GP022", "weight 2", 7), ("GP022", "stopped", 9)]


def test_a_local_queue_is_taken_in_the_whole_policy(find):
    """Two queues cannot share a tenant's entry."""
    findings = find(HEADER + queue('local queue "a/b"') + 'cohort c {\n  queue r { local queue "a/b" }\n}\n')
    assert [(finding.code, finding.marked) for finding in findings] == [("GP022", '"a/b"')]
