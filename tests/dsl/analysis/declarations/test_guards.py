"""Tests for the types of guards and orders."""

from fractions import Fraction

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.guard import And, Compare, Const, Field, Not, Or, Type
from gpol.engine.policy_settings import OrderKey


@pytest.mark.parametrize(
    ("guard", "code", "marked", "help_piece"),
    [
        ("victim.runnin < 10m", "GP020", "victim.runnin", "did you mean `victim.running`?"),
        ("workload.running < 10m", "GP020", "workload.running", "write `victim.running`"),
        ("victim.waiting < 10m", "GP020", "victim.waiting", "write `workload.waiting`"),
        ("victim.licens > 1", "GP020", "victim.licens", "did you mean `victim.license`?"),
        ("job.gpu > 1", "GP031", "job.gpu", "write `workload.gpu` or `victim.gpu`"),
        ("victim.submitted > 1", "GP031", "victim.submitted", "`victim.running`"),
        ("victim.admitted = workload.submitted", "GP031", "victim.admitted", "`workload.waiting`"),
        ("victim.label = 1", "GP031", "victim.label", '`victim.label "key"`'),
        ('victim.user "x" = "ada"', "GP031", 'victim.user "x"', "remove the text"),
        ("victim.priority < bath", "GP020", "bath", "did you mean `batch`?"),
        ("victim.queue = nlq", "GP020", "nlq", "did you mean `nlp`?"),
        ('victim.priority < "x"', "GP030", '"x"', "name of a priority"),
        ("victim.gpu > 8 cpu", "GP030", "8 cpu", "same resource"),
        ("victim.gpu > batch", "GP030", "batch", "`8 gpu`"),
        ("victim.user = 5", "GP030", "5", "text in quotes"),
        ("victim.user = ada", "GP030", "ada", "text in quotes"),
        ('victim.user < "ada"', "GP030", 'victim.user < "ada"', "`=` or `!=`"),
        ("victim.pods > 2 gpu", "GP030", "2 gpu", "whole number"),
        ("victim.running < 5 gpu", "GP030", "5 gpu", "`10m`"),
        ('victim.queue.share < "x"', "GP030", '"x"', "`1/2`"),
        ("victim.priority < workload.waiting", "GP030", "victim.priority < workload.waiting", "compare `victim.priority` with a priority"),
        ("victim.running < 10", "GP023", "10", "`10m`"),
        ("victim.running < 10y", "GP023", "10y", "`10m`"),
        ("victim.gpu > 8q", "GP023", "8q", "`8 gpu`"),
        ("victim.priority < 1.5", "GP023", "1.5", "whole number"),
        ("victim.pods < -1", "GP023", "-1", "from 0"),
        ("victim.evictions < 10m", "GP023", "10m", "a whole number"),
        ("victim.queue.share < 10%", "GP023", "10%", "`2`"),
    ],
)
def test_each_mistake_in_a_guard_is_found_alone(find_one, guard, code, marked, help_piece):
    """A wrong comparison gives its own code on its own text, with advice."""
    finding = find_one(f"protect rule {{ where {guard} }}\n")
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


def test_a_mismatch_of_fields_names_both_types(find_one):
    """Two fields of different types are named with their types."""
    finding = find_one("protect rule { where victim.priority < workload.waiting }\n")
    assert finding.message == "`victim.priority` is a priority, `workload.waiting` is a duration"


@pytest.mark.parametrize("path", ["waiting", "evictions", "queue.share"])
@pytest.mark.parametrize("action", ["deny", "hold"])
def test_deny_and_hold_use_only_what_a_submission_says(find_one, action, path):
    """A field that changes by itself cannot decide on a submission."""
    finding = find_one(f'{action} rule {{ where workload.{path} > 1 }} because "no"\n')
    assert (finding.code, finding.marked) == ("GP031", f"workload.{path}")
    assert "`priority`" in finding.help


def test_deny_knows_no_victim(find_one):
    """There is nobody to evict when a submission is judged."""
    finding = find_one('deny rule { where victim.gpu > 1 } because "no"\n')
    assert (finding.code, finding.marked, finding.help) == ("GP031", "victim.gpu", "write `workload.gpu`")


def test_all_wrong_parts_of_one_guard_are_found(find, base):
    """A wrong comparison does not hide the next one, at any depth."""
    findings = find(base + "protect rule { where victim.x = 1 and (victim.y = 1 or not victim.z = 1) }\n")
    assert [finding.marked for finding in findings] == ["victim.x", "victim.y", "victim.z"]


def guard_of(base: str, guard: str):
    """The typed guard of a protect rule."""
    return compile_policy(f"{base}protect rule {{ where {guard} }}\n", "p.gpol").protect[0].guard


PRIORITY, SHARE = Field("victim", "priority", Type.PRIORITY), Field("victim", "queue.share", Type.SHARE)


@pytest.mark.parametrize(
    ("guard", "made"),
    [
        ("victim.priority < batch", Compare("<", PRIORITY, Const(100, Type.PRIORITY, "batch"))),
        ("victim.priority >= -5", Compare(">=", PRIORITY, Const(-5, Type.PRIORITY, "-5"))),
        ("victim.gpu > 8", Compare(">", Field("victim", "gpu", Type.AMOUNT), Const(8000, Type.AMOUNT, "8 gpu"))),
        ("victim.memory > 1Ki memory", Compare(">", Field("victim", "memory", Type.AMOUNT), Const(1024, Type.AMOUNT, "1Ki memory"))),
        ("victim.license = 2", Compare("=", Field("victim", "license", Type.AMOUNT), Const(2, Type.AMOUNT, "2 license"))),
        ("victim.pods <= 3", Compare("<=", Field("victim", "pods", Type.NUMBER), Const(3, Type.NUMBER, "3"))),
        ("victim.running < 1h30m", Compare("<", Field("victim", "running", Type.DURATION), Const(5_400_000_000, Type.DURATION, "1h30m"))),
        ("victim.queue.share > 1/2", Compare(">", SHARE, Const(Fraction(1, 2), Type.SHARE, "1/2"))),
        ('victim.user != "a*"', Compare("!=", Field("victim", "user", Type.TEXT), Const("a*", Type.TEXT, "a*"))),
        ("victim.queue = nlp", Compare("=", Field("victim", "queue", Type.TEXT), Const("nlp", Type.TEXT, "nlp"))),
        ('victim.label "k" = "v"', Compare("=", Field("victim", "label", Type.TEXT, "k"), Const("v", Type.TEXT, "v"))),
        (
            "workload.queue.share <= victim.queue.share_after",
            Compare("<=", Field("workload", "queue.share", Type.SHARE), Field("victim", "queue.share_after", Type.SHARE)),
        ),
    ],
)
def test_comparisons_are_typed_in_smallest_units(base, guard, made):
    """A field has its type, a constant its exact value in the smallest unit of that type."""
    assert guard_of(base, guard) == made


def test_connectives_keep_their_shape(base):
    """`and` binds tighter than `or`, `not` tightest."""
    one, two, three = (Compare("=", Field("victim", "pods", Type.NUMBER), Const(n, Type.NUMBER, str(n))) for n in (1, 2, 3))
    made = guard_of(base, "not victim.pods = 1 and victim.pods = 2 or victim.pods = 3")
    assert made == Or((And((Not(one), two)), three))


@pytest.mark.parametrize(
    ("key", "marked", "help_piece"),
    [
        ("victim.priorit asc", "victim.priorit asc", "did you mean `victim.priority`?"),
        ("victim.user asc", "victim.user asc", "known:"),
        ("workload.priority asc", "workload.priority asc", "known:"),
    ],
)
def test_a_victim_order_knows_its_keys(find, key, marked, help_piece):
    """Victims are ranked by what has an order and belongs to them."""
    rule = f"preempt r {{\n  when workload fits what its queue owns\n  evict from the same queue\n  order by {key}\n}}\n"
    [finding] = find('policy "p" { preempt by r, reclaim-owned, fair-share, make-room }\nqueue q { }\n' + rule)
    assert (finding.code, finding.marked) == ("GP020", marked)
    assert help_piece in finding.help


def test_victims_are_ranked_as_said_or_least_important_and_youngest_first():
    """An order is taken over key by key; without one it is priority ascending, then latest admission."""
    rule = "preempt r {{\n  evict from the same queue\n  where victim.priority < workload.priority\n{}}}\n"
    policy = 'policy "p" {{ preempt by r }}\nqueue q {{ }}\n{}'
    order = "  order by victim.queue.share desc, victim.gpu, victim.submitted desc\n"
    profiles = {"gpol.fair": 'profile "gpol.fair" { }\n'}
    said = compile_policy(policy.format(rule.format(order)), "p.gpol", profiles).preempt[0]
    unsaid = compile_policy(policy.format(rule.format("")), "p.gpol", profiles).preempt[0]
    assert said.order == (OrderKey("victim.queue.share", True), OrderKey("victim.gpu", False), OrderKey("victim.submitted", True))
    assert unsaid.order == (OrderKey("victim.priority", False), OrderKey("victim.admitted", True))
