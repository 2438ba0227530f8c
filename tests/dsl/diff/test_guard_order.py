"""Tests for the comparison of guards."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.diff.guard_order import Holds, implies, meaning, written
from gpol.engine.guard import Expr

POLICY = """policy "p" {{ }}
flavor h100 {{ gpu 8 }}
priority batch 100
queue nlp {{ owns 8 gpu }}
protect it {{ where {} }}
"""


def guard(text: str) -> Expr | None:
    """The guard of a protect rule."""
    return meaning(compile_policy(POLICY.format(text), "p.gpol").protect[0].guard)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("victim.running < 10m", "victim.running < 30m"),
        ("victim.running < 10m", "victim.running <= 10m"),
        ("victim.gpu > 8", "victim.gpu >= 8"),
        ("victim.gpu > 8", "victim.gpu > 7"),
        ("victim.gpu = 8", "victim.gpu >= 8"),
        ("victim.gpu = 8", "victim.gpu < 9"),
        ("victim.gpu = 8", "victim.gpu != 9"),
        ("victim.gpu < 8", "victim.gpu != 8"),
        ("victim.gpu > 9", "victim.gpu != 8"),
        ("victim.gpu > 8 and victim.running < 1h", "victim.gpu > 8"),
        ("victim.gpu > 8 and victim.running < 1h", "victim.gpu > 7 and victim.running < 2h"),
        ("victim.gpu > 8", "victim.gpu > 8 or victim.running < 1h"),
        ("victim.gpu > 8 and victim.running < 1h", "victim.gpu > 8 or victim.running < 1h"),
        ("not victim.gpu > 7", "not victim.gpu > 8"),
        ('victim.user = "ada" and victim.gpu > 1', 'victim.user = "ada"'),
        ("victim.gpu > 8 and (victim.running < 1h or victim.pods = 1)", "victim.running < 1h or victim.pods = 1"),
    ],
)
def test_one_guard_holds_wherever_the_other_does(narrow: str, wide: str) -> None:
    """It is told in that direction, and not in the other."""
    assert implies(guard(narrow), guard(wide))
    assert not implies(guard(wide), guard(narrow))
    assert Holds(guard(narrow)) < Holds(guard(wide))
    assert not Holds(guard(wide)) < Holds(guard(narrow))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("victim.gpu > 8", "victim.pods > 8"),
        ("victim.gpu > 8", "victim.gpu < 8"),
        ("victim.gpu > 8 and victim.running < 1h", "victim.gpu > 9"),
        ('victim.user = "a*"', 'victim.user = "*a"'),
        ("victim.queue.share > workload.queue.share", "victim.queue.share > 1/2"),
    ],
)
def test_neither_holds_wherever_the_other_does(one: str, other: str) -> None:
    """Where it is not so, or cannot be told, nothing is said."""
    assert not implies(guard(one), guard(other))
    assert not implies(guard(other), guard(one))


def test_no_guard_holds_everywhere() -> None:
    """A rule without a guard applies to all."""
    assert Holds(guard("victim.gpu > 8")) < Holds(None)
    assert not Holds(None) < Holds(guard("victim.gpu > 8"))
    assert not Holds(None) < Holds(None)


@pytest.mark.parametrize(
    "text",
    [
        "victim.running < 10m and (victim.gpu > 8 gpu or not victim.pods = 1)",
        'not (victim.user = "ada" and workload.label "a b" != "c*")',
        "victim.priority < batch",
        "workload.queue.share <= victim.queue.share_after",
        "not not victim.gpu > 8 gpu",
    ],
)
def test_a_guard_is_written_as_it_was(text: str) -> None:
    """Its text is that of the language, which reads it as the same guard."""
    made = compile_policy(POLICY.format(text), "p.gpol").protect[0].guard
    assert made is not None
    assert written(made) == text
