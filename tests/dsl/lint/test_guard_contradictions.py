"""Tests for what is certain of a guard, against the core's own evaluation."""

from dataclasses import replace

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.lint.guard_contradictions import Turns, contradiction, never_holds, turns_by
from gpol.dsl.lint.quota_reach import Reach
from gpol.dsl.lint.satisfiable import always_holds, possible
from gpol.dsl.lint.text_patterns import Work
from gpol.engine.guard import Type
from gpol.engine.policy_graph import PolicyGraph


def taken(graph: PolicyGraph) -> Turns | None:
    """The turns that the first preempt rule of a policy lets workloads take."""
    return turns_by(graph.preempt[0], graph, possible(graph), Reach(graph))


HEAD = 'policy "p" { }\nflavor h { gpu 9 }\npriority low 10\n'


def test_the_highest_ceiling_counts_if_all_queues_have_one():
    """One queue without a ceiling opens the whole range; a boost comes on top."""
    capped = compile_policy(HEAD + "queue a { priority at most low }\n", "p.gpol")
    open_ = compile_policy(HEAD + "queue a { priority at most low }\nqueue b { }\n", "p.gpol")
    assert possible(capped).ceiling == 10
    assert possible(open_).ceiling is None
    assert possible(open_).queues == {"a", "b"}
    assert possible(capped).bounds(Type.PRIORITY) == (-(2**32), 10 + 2**31 - 1)
    assert possible(open_).bounds(Type.PRIORITY) == (-(2**32), 2**32 - 2)


@pytest.mark.parametrize(
    ("comparison", "never"),
    [
        ("priority < -2147483648", False),
        ("priority > 2147483637", True),
        ("priority >= 2147483637", False),
        ("priority >= 2147483638", True),
        ("priority = 2147483638", True),
        ("priority = 2147483637", False),
        ("priority != 2147483638", False),
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
    """A comparison never holds exactly where no possible value satisfies it: asked priorities to -10, queues `a` and `b`."""
    queues = "queue a { priority at most low }\nqueue b { priority at most low }\n"
    graph = compile_policy(HEAD.replace("low 10", "low -10") + queues + f"protect r {{ where victim.{comparison} }}\n", "p.gpol")
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
    assert (taken(graph) is not None) is mutual


def test_a_pair_within_the_possible_values_is_needed():
    """Equal workloads that cannot exist are no proof."""
    rule = "preempt r {\n  evict from any queue\n  where victim.pods <= 0 and workload.pods != 0\n}\n"
    queues = "queue a { priority at most low }\nqueue b { priority at most low }\n"
    graph = compile_policy(HEAD + queues + rule, "p.gpol", {"gpol.fair": 'profile "gpol.fair" { }\n'})
    assert taken(graph) is None


@pytest.mark.parametrize(
    ("guard", "never", "always"),
    [
        ("workload.gpu > 8 and workload.gpu < 4", True, False),
        ("workload.gpu > 3 and workload.gpu < 4", False, False),
        ("workload.pods > 3 and workload.pods < 4", True, False),
        ("victim.priority < workload.priority and victim.priority > workload.priority", True, False),
        ("victim.gpu < workload.gpu and workload.gpu < 4 and victim.gpu >= 4", True, False),
        ("victim.gpu != workload.gpu and victim.gpu <= workload.gpu and victim.gpu >= workload.gpu", True, False),
        ('victim.user = "a*" and victim.user = "b*"', True, False),
        ('victim.user = "a-*" and victim.user != "a*"', True, False),
        ('victim.user = "a*" and victim.user != "a-*"', False, False),
        ('victim.user = workload.user and victim.user = "a" and workload.user = "b"', True, False),
        ("victim.queue = a and victim.queue = b", True, False),
        ("victim.running >= 0s", False, True),
        ("victim.gpu > 4 or victim.gpu <= 4", False, True),
        ("victim.gpu >= 5 or victim.gpu <= 4", False, False),
        ("not (victim.pods > 4 and victim.pods < 3)", False, True),
        ('victim.user = "*"', False, True),
        ('victim.user != "a" or victim.user != "b"', False, True),
        ("victim.queue = a or victim.queue = b", False, True),
        ("victim.priority <= 10", False, False),
    ],
)
def test_what_holds_never_and_always(guard, never, always):
    """Of several comparisons together: by order, by whole numbers, by patterns, by the queues there are."""
    queues = "queue a { priority at most low }\nqueue b { priority at most low }\n"
    graph = compile_policy(HEAD + queues + f"protect r {{ where {guard} }}\n", "p.gpol")
    made = graph.protect[0].guard
    assert made is not None
    assert (never_holds(made, possible(graph)), always_holds(made, possible(graph))) == (never, always)


def test_a_guard_too_big_to_judge_is_answered_at_once():
    """Hundreds of comparisons, whatever they are, take no time to speak of; then nothing is claimed."""
    queues = "queue a { }\nqueue b { }\n"
    long = " and ".join(f"(workload.gpu > {number} or workload.cpu < {number})" for number in range(60))
    wide = " or ".join(f"workload.gpu = {number}" for number in range(400))
    head = HEAD.replace("gpu 9", 'gpu, cpu from nodes where a = "b"')
    for guard in (f"{long} and workload.gpu < 1", wide, f"not ({wide})"):
        graph = compile_policy(head + queues + f"protect r {{ where {guard} }}\n", "p.gpol")
        assert graph.protect[0].guard is not None
        assert not never_holds(graph.protect[0].guard, possible(graph))


def test_all_questions_about_a_policy_share_their_work():
    """Once it is done, nothing is claimed, whatever is asked."""
    graph = compile_policy(HEAD + "queue a { }\nprotect r { where victim.pods < 0 }\n", "p.gpol")
    world, guard = replace(possible(graph), work=Work(before := 5_000)), graph.protect[0].guard
    assert never_holds(guard, world)
    assert world.work.left < before
    for _ in range(before):
        if not never_holds(guard, world):
            break
    assert world.work.left < 0
    assert not never_holds(guard, world)


def test_the_comparisons_that_exclude_each_other_are_named():
    """One comparison alone, or the first two that cannot hold together."""
    graph = compile_policy(HEAD + "queue a { }\nprotect r { where victim.pods > 1 and victim.gpu > 8 and victim.gpu < 4 }\n", "p.gpol")
    assert graph.protect[0].guard is not None
    found = contradiction(graph.protect[0].guard, possible(graph))
    assert [(each.op, each.right.value) for each in found] == [(">", 8000), ("<", 4000)]
