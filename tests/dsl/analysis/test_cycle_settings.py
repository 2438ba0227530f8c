"""Tests for deciding in cycles: what a policy chooses, and what it needs."""

from fractions import Fraction

import pytest
from gpol.dsl.analysis.checker import check, compile_policy
from gpol.dsl.diagnostics import PolicyError
from gpol.engine.guard import Type
from gpol.engine.policy_settings import Cycles, OrderKey, Settings, Usage

SECOND = 1_000_000
DAY = 86_400 * SECOND

BARE = {
    name: f'profile "{name}" {{\n  decide in cycles of 1s\n{choices}}}\n'
    for name, choices in {
        "t.bare": "",
        "t.fair": "  order queues by share asc\n  preempt fairly by final share\n",
        "t.used": "  share used\n  order queues by share asc\n  preempt fairly by final share\n",
        "t.weighs": "  order heads by priority\n  preempt classically\n  usage weighs cpu 1\n",
    }.items()
}
"""Profiles that leave open what shipped ones say."""


def header(*choices: str) -> str:
    """A policy header with these choices, from line 2 on."""
    return 'policy "p" {\n' + "".join(f"  {choice}\n" for choice in choices) + "}\n"


def settings(*choices: str) -> Settings:
    """The settings of a policy with these choices."""
    return compile_policy(header(*choices), "p.gpol").settings


def cycles(*choices: str) -> Cycles:
    """How a policy with these choices decides in cycles."""
    found = settings(*choices).cycles
    assert found is not None
    return found


@pytest.mark.parametrize("choices", [(), ("decide at once",), ("use gpol.fair",)])
def test_at_once_is_the_default(choices):
    """A policy that says nothing else decides every fact at once."""
    assert settings(*choices).cycles is None


def test_the_classical_profile():
    """Kueue without fair sharing: heads compared all at once, victims by the queues' own statements, a cycle every second."""
    made = settings("use kueue.classical")
    assert made.cycles == Cycles(SECOND, flat=True, victims="classical", strategies=(), usage=None)
    assert made.queue_order == (OrderKey("borrowing", False), OrderKey("priority", True), OrderKey("submitted", False))
    assert made.workload_order == (OrderKey("priority", True), OrderKey("submitted", False))
    assert (made.next_flavor_before_borrowing, made.next_flavor_before_evicting) == (False, True)


def test_the_fair_profile():
    """Kueue with fair sharing: heads compared down the tree, by shares after borrowing; both strategies, in Kueue's order."""
    made = settings("use kueue.fair")
    assert made.cycles == Cycles(SECOND, flat=False, victims="fair", strategies=("final-share", "initial-share"), usage=None)
    assert [key.field for key in made.queue_order] == ["borrowing", "share", "priority", "submitted"]
    assert made.share == "borrowed"


def test_a_policy_replaces_the_profiles_choices():
    """Orders of queues and of heads replace each other, and so do the ways to look for victims; periods and strategies as well."""
    made = cycles("use kueue.classical", "order queues by priority desc", "preempt fairly by initial share", "decide in cycles of 500ms")
    assert made == Cycles(SECOND // 2, flat=False, victims="fair", strategies=("initial-share",), usage=None)
    made = cycles("use kueue.fair", "order heads by priority desc", "preempt classically")
    assert (made.flat, made.victims, made.strategies) == (True, "classical", ())


def test_usage():
    """Half life and sampling are durations, weights exact and in order of name; a half life of 0 forgets at once."""
    choices = ("use kueue.classical", "usage halves every 7d, sampled every 5m", "usage weighs memory 0, cpu 1/2")
    assert cycles(*choices).usage == Usage(7 * DAY, 300 * SECOND, (("cpu", Fraction(1, 2)), ("memory", Fraction(0))))
    assert cycles("use kueue.classical", "usage halves every 0s, sampled every 1s").usage == Usage(0, SECOND, ())


@pytest.mark.parametrize(
    ("choices", "code", "marked", "help_piece"),
    [
        (("decide in cycles of 0s",), "GP023", "0s", "above 0"),
        (("decide in cycles of 1",), "GP023", "1", "`90s`"),
        (("decide in cycles",), "GP003", "s", "`of`"),
        (("decide soon",), "GP003", "soon", "`at`"),
        (("decide in cycles of 1s", "decide at once"), "GP022", "decide at once", "keep one"),
        (("order heads by share asc",), "GP031", "share asc", "leave it out"),
        (("order heads by shar asc",), "GP020", "shar asc", "did you mean `share`?"),
        (("preempt classically", "preempt fairly by final share"), "GP022", "preempt fairly by final share", "keep one"),
        (("preempt fairly by final share, final share",), "GP022", "preempt fairly by final share, final share", "keep one of each"),
        (("preempt fairly by finale share",), "GP003", "finale", "`final`"),
        (("usage halves every 7d",), "GP003", "d", "`,`"),
        (("usage halves every 7d, sampled every 0s",), "GP023", "0s", "above 0"),
        (("usage halves every 7d, sampled every 5m", "usage weighs cpu -1"), "GP023", "-1", "at least 0"),
        (("usage halves every 7d, sampled every 5m", "usage weighs cpuu 1"), "GP020", "cpuu", "did you mean `cpu`?"),
        (("usage halves every 7d, sampled every 5m", "usage weighs cpu 1, cpu 2"), "GP022", "cpu", "keep one"),
        (("usage weighs cpu 1",), "GP038", "usage weighs cpu 1", "`usage halves every 7d, sampled every 5m`"),
        (("share used", "preempt fairly by final share"), "GP038", "share used", "`share borrowed`"),
        (("share none", "preempt fairly by final share"), "GP038", "share none", "`share borrowed`"),
    ],
)
def test_each_mistake_in_the_header_is_found_alone(find, choices, code, marked, help_piece):
    """A wrong choice gives its own code on its own text, with advice."""
    findings = find(header("use kueue.classical", *choices))
    assert [(finding.code, finding.marked) for finding in findings] == [(code, marked)]
    assert help_piece in findings[0].help


@pytest.mark.parametrize(
    ("choices", "marked", "help_text"),
    [
        (("use t.bare",), '"p"', "add `order heads by ...` or `order queues by ...`, and `preempt classically` or"),
        (("use t.bare", "preempt classically"), '"p"', "add `order heads by ...` or `order queues by ...`"),
        (("use t.bare", "order heads by priority"), '"p"', "add `preempt classically` or"),
        (("use t.bare", "order heads by priority", "decide in cycles of 2s"), "decide in cycles of 2s", "add `preempt classically` or"),
        (("use t.fair",), '"p"', "write `share borrowed`, or `preempt classically`"),
        (("use t.used",), '"p"', "write `share borrowed`, or `preempt classically`"),
        (("use t.weighs",), '"p"', "add `usage halves every 7d, sampled every 5m` to the header"),
    ],
)
def test_what_a_profile_leaves_open_is_asked_of_its_policy(choices, marked, help_text):
    """The place is where the policy chooses its way, or its name where the profile does."""
    checked = check(header(*choices), "p.gpol", BARE.get)
    [diagnostic] = checked.diagnostics
    assert diagnostic.code == "GP038"
    assert diagnostic.help.startswith(help_text)
    assert checked.parsed.text[diagnostic.span.start : diagnostic.span.end] == marked


@pytest.mark.parametrize("name", ["t.bare", "t.fair", "t.weighs"])
def test_a_profile_may_leave_choices_to_its_policies(name):
    """Checked by itself it has no errors."""
    assert check(BARE[name], "t.gpol").diagnostics == ()


def test_a_profile_that_contradicts_itself_is_told_so():
    """What no policy could mend by adding is wrong in the profile."""
    assert [diagnostic.code for diagnostic in check(BARE["t.used"], "t.gpol").diagnostics] == ["GP038"]


@pytest.mark.parametrize("capacity", ["gpu 64", 'gpu from nodes where pool = "a"'])
def test_capacities_are_what_is_owned(find, capacity):
    """In cycles a flavor has no amounts and no nodes of its own."""
    findings = find(header("use kueue.fair") + f"flavor h100 {{ {capacity} }}\nqueue q {{ owns 8 gpu }}\n")
    assert [(finding.code, finding.marked) for finding in findings] == [("GP039", capacity)]
    assert "`gpu as owned`" in findings[0].help


def test_lending_more_than_owned_is_a_warning(find):
    """What at once is an error costs a policy in cycles no graph; what is kept beyond what is owned lends nothing."""
    text = header("use kueue.fair") + "flavor h100 { gpu as owned }\nqueue a {\n  owns 8 gpu\n  lends up to 12 gpu\n}\n"
    text += "queue b {\n  owns 8 gpu\n  guarantees 12 gpu\n}\n"
    assert [(finding.code, finding.severity, finding.marked) for finding in find(text)] == [("GP056", "warning", "12 gpu")] * 2
    limits = [node.quotas[0].lending_limit for node in compile_policy(text, "p.gpol").nodes]
    assert limits == [None, 12_000, 0]


def test_a_broken_header_is_the_only_thing_told(find):
    """How the policy decides is not known then, so nothing is said of statements that go with one way."""
    text = 'policy "p" {\n  use kueue.fair\n  decide in circles of 1s\n}\nflavor h100 { gpu as owned }\n'
    text += "queue q {\n  owns 8 gpu\n  reclaims from anyone\n  admits by usage\n}\n"
    assert [(finding.code, finding.marked) for finding in find(text)] == [("GP003", "circles")]


def test_an_unknown_profile_is_the_only_thing_told(find):
    """The same where the profile is not known that would say how to decide."""
    text = header("use kueue.fare") + "flavor h100 { gpu as owned }\nqueue q {\n  owns 8 gpu\n  reclaims from anyone\n}\n"
    assert [(finding.code, finding.marked) for finding in find(text)] == [("GP020", "use kueue.fare")]


def test_pods_may_be_a_resource_of_cycles():
    """Where every workload asks for as many pods as it has, the resource and the field are the same number; guards take the field."""
    body = "resource pods\nflavor f { pods as owned }\nqueue q {\n  serves pods from f\n  owns 8 pods\n}\n"
    guard = 'hold big { where workload.pods > 4 } because "too many"\n'
    made = compile_policy('policy "p" { use kueue.classical }\n' + body + guard, "p.gpol")
    assert [slot.resource for slot in made.slots] == ["pods"]
    assert made.admission[0].guard.left.type is Type.NUMBER


def test_pods_are_no_resource_of_a_policy_that_decides_at_once():
    """There only what a submission asks for is counted, and a quota of pods would count none."""
    with pytest.raises(PolicyError, match="would hide it"):
        compile_policy('policy "p" { }\nresource pods\nflavor f { pods 8 }\nqueue q { owns 8 pods }\n', "p.gpol")
