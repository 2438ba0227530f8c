"""Tests for what is certain of a guard, against the core's own evaluation."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.lint.guard_contradictions import is_mutual, never_holds, possible

HEAD = 'policy "p" { }\nflavor h { gpu 9 }\npriority low 10\n'


def test_possible_priorities_end_at_the_highest_ceiling_if_all_have_one():
    """One queue without a ceiling opens the whole range."""
    capped = compile_policy(HEAD + "queue a { priority at most low }\n", "p.gpol")
    open_ = compile_policy(HEAD + "queue a { priority at most low }\nqueue b { }\n", "p.gpol")
    assert possible(capped).highest == 10
    assert possible(open_).highest == 2**31 - 1
    assert possible(open_).queues == {"a", "b"}
    assert possible(capped).lowest == -(2**31)


@pytest.mark.parametrize(
    ("comparison", "never"),
    [
        ("priority < -2147483648", True),
        ("priority <= -2147483648", False),
        ("priority > 10", True),
        ("priority >= 10", False),
        ("priority >= 11", True),
        ("priority = 11", True),
        ("priority = 10", False),
        ("priority != 11", False),
        ("pods < 0", True),
        ("pods <= 0", False),
        ("pods > 9223372036854775807", False),
        ("queue = a", False),
        ('queue = "?"', False),
        ('queue = "??"', True),
        ('queue = "[a]"', True),
        ('queue != "?"', True),
        ("queue != a", False),
        ('user = "nobody"', False),
    ],
)
def test_bounds_are_exact(comparison, never):
    """A comparison never holds exactly where no possible value satisfies it: priorities to 10, queues `a` and `b`."""
    queues = "queue a { priority at most low }\nqueue b { priority at most low }\n"
    graph = compile_policy(HEAD + queues + f"protect r {{ where victim.{comparison} }}\n", "p.gpol")
    assert never_holds(graph.protect[0].guard, possible(graph)) is never


def test_no_guard_always_holds():
    """A rule without a guard is not silent."""
    graph = compile_policy(HEAD, "p.gpol")
    assert not never_holds(None, possible(graph))


@pytest.mark.parametrize(("queues", "mutual"), [("queue a { }\nqueue b { }\n", True), ("queue a { }\nqueue x { }\n", False)])
def test_two_queues_must_be_able_to_play_both_parts(queues, mutual):
    """Across queues, two of them have to satisfy what the guard says of either side."""
    rule = 'preempt r {\n  evict from any queue\n  where victim.queue != "x" and workload.queue != "y"\n}\n'
    graph = compile_policy(HEAD + queues + rule, "p.gpol", {"gpol.fair": 'profile "gpol.fair" { }\n'})
    assert is_mutual(graph.preempt[0], possible(graph)) is mutual


def test_a_pair_within_the_possible_priorities_is_needed():
    """Equal workloads that no queue admits at that priority are no proof."""
    rule = "preempt r {\n  evict from any queue\n  where victim.priority >= 10 and workload.priority != 10\n}\n"
    queues = "queue a { priority at most low }\nqueue b { priority at most low }\n"
    graph = compile_policy(HEAD + queues + rule, "p.gpol", {"gpol.fair": 'profile "gpol.fair" { }\n'})
    assert is_mutual(graph.preempt[0], possible(graph)) is False
