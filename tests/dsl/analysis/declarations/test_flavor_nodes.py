"""Tests for what a flavor says of its nodes."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.nodes.conditions import Taint, Toleration
from gpol.engine.policy_graph import Flavor


def text(*statements: str, use: str = "gpol.fair") -> str:
    """A policy with a flavor that has these statements, from line 4 on."""
    return f'policy "p" {{ use {use} }}\nflavor spot {{\n  gpu as owned\n' + "".join(f"  {each}\n" for each in statements) + "}\n"


def made(*statements: str) -> Flavor:
    """The graph of the flavor."""
    return compile_policy(text(*statements), "p.gpol").flavors[0]


def test_labels_taints_and_tolerations():
    """Each statement gives one entry; they have an order of their own."""
    flavor = made(
        'label pool = "spot"',
        'label "any where" = ""',
        'taint pool = "spot" NoSchedule',
        "taint gone NoExecute",
        'tolerates pool = "spot" NoSchedule',
        "tolerates pool",
        "tolerates pool PreferNoSchedule",
        'tolerates "anything"',
        "tolerates anything",
        "tolerates anything NoExecute",
    )
    assert flavor.labels == (("any where", ""), ("pool", "spot"))
    assert flavor.taints == (Taint("gone", "", "NoExecute"), Taint("pool", "spot", "NoSchedule"))
    assert set(flavor.tolerations) == {
        Toleration("pool", "Equal", "spot", "NoSchedule"),
        Toleration("pool", "Exists", "", ""),
        Toleration("pool", "Exists", "", "PreferNoSchedule"),
        Toleration("anything", "Exists", "", ""),
        Toleration("", "Exists", "", ""),
        Toleration("", "Exists", "", "NoExecute"),
    }
    assert len(flavor.tolerations) == 6


def test_the_order_of_statements_means_nothing():
    """The same statements in another order are the same flavor, so the same policy."""
    statements = ('taint b = "1" NoSchedule', 'taint a = "1" NoSchedule', 'label b = "1"', 'label a = "1"', "tolerates b", "tolerates a")
    forth = compile_policy(text(*statements), "p.gpol")
    back = compile_policy(text(*reversed(statements)), "p.gpol")
    assert forth.flavors == back.flavors
    assert forth.digest == back.digest


def test_one_key_may_have_taints_of_several_effects():
    """Taints differ by key, value and effect."""
    assert len(made('taint a = "1" NoSchedule', 'taint a = "1" NoExecute', 'taint a = "2" NoSchedule').taints) == 3


def test_a_missing_flavor_still_has_resources():
    """Queues own of it what they did; it only admits nothing."""
    flavor = compile_policy(text("missing", use="kueue.fair") + "queue q { owns 8 gpu }\n", "p.gpol").flavors[0]
    assert (flavor.missing, flavor.capacity) == (True, (("gpu", 8000),))


@pytest.mark.parametrize(
    ("statements", "code", "marked", "help_piece"),
    [
        (('label a = "1"', 'label "a" = "2"'), "GP022", 'label "a" = "2"', "keep one"),
        (("taint a NoSchedule", 'taint a = "" NoSchedule'), "GP022", 'taint a = "" NoSchedule', "keep one"),
        (("tolerates anything", "tolerates anything"), "GP022", "tolerates anything", "keep one"),
        (('label "" = "1"',), "GP036", 'label "" = "1"', "1 to 253 characters"),
        (('taint "a\u200b" NoSchedule',), "GP036", 'taint "a\u200b" NoSchedule', "1 to 253 characters"),
        (("taint a",), "GP003", "a", "`NoSchedule`, `NoExecute` or `PreferNoSchedule`"),
        (("taint a noschedule",), "GP003", "noschedule", "`NoSchedule`"),
        (("tolerates",), "GP003", "s", "`anything`"),
        (("label pool spot",), "GP003", "spot", "`=`"),
    ],
)
def test_each_mistake_is_found_alone(find, statements, code, marked, help_piece):
    """A wrong statement gives its own code on its own text, with advice."""
    findings = find(text(*statements))
    assert [(finding.code, finding.marked) for finding in findings] == [(code, marked)]
    assert help_piece in findings[0].help


def test_missing_goes_with_nothing_about_nodes(find):
    """What nothing defines has no labels, taints or tolerations; the first of them is told."""
    findings = find(text("missing", "tolerates anything", 'label a = "1"', use="kueue.fair"))
    assert [(finding.code, finding.marked) for finding in findings] == [("GP027", "tolerates anything")]
