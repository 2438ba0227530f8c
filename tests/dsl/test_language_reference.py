"""The examples of the language reference, put together into one policy, mean what the reference says."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from gpol.dsl.analysis.checker import check
from gpol.engine.guard import And, Compare, Const, Field, Not, Type
from gpol.engine.nodes.conditions import Requirement, Taint, Toleration
from gpol.engine.policy.doors import Condition
from gpol.engine.policy.pass_settings import Entitlement, QueueTerms
from gpol.engine.policy_graph import Check, Group, Level, PolicyGraph, Quota, Slot
from gpol.engine.policy_settings import Cycles, OrderKey, Usage

REFERENCE = Path(__file__).parents[2] / "docs" / "language.md"


CYCLES = re.compile(r"^## Deciding in cycles\n.*?(?=^## )", re.DOTALL | re.MULTILINE)
"""The section whose blocks are a policy of their own."""


PASSES = re.compile(r"^## Deciding by passes\n.*?(?=^## )", re.DOTALL | re.MULTILINE)
"""Another such section."""


def blocks(text: str) -> list[str]:
    """The indented blocks of a text."""
    found = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", text, re.MULTILINE)
    return [re.sub(r"^ {4}", "", block, flags=re.MULTILINE) for block in found]


def assembled() -> str:
    """All blocks of the reference but the header, which it shortens, and the sections on cycles and passes, behind a header of our own."""
    items = blocks(PASSES.sub("", CYCLES.sub("", REFERENCE.read_text(encoding="utf-8"))))
    assert items[0].strip().startswith('policy "acme-gpuaas" {')
    header = 'policy "acme-gpuaas" {\n  use gpol.fair\n  default priority batch\n}\n'
    return header + "".join(items[1:]) + "queue vision { lends nothing }\n"


def in_cycles() -> PolicyGraph:
    """The graph of the policy that the section on cycles shows."""
    [section] = CYCLES.findall(REFERENCE.read_text(encoding="utf-8"))
    [text] = blocks(section)
    checked = check(text, "kueue.gpol")
    assert {diagnostic.code for diagnostic in checked.diagnostics} == {"GP057"}  # it shows all that may be said of evictions
    assert checked.graph is not None
    return checked.graph


@pytest.fixture(scope="module")
def graph() -> PolicyGraph:
    """The graph of the assembled policy."""
    checked = check(assembled(), "acme.gpol")
    assert checked.diagnostics == ()
    assert checked.graph is not None
    assert [test.name.text for test in checked.tests] == ["an owner gets its GPUs back", "a gang in one rack"]
    return checked.graph


def test_what_exists(graph):
    """Flavors by name with amounts in thousandths, or a selector with none; one group, for gpu and cpu meet in both."""
    assert graph.name == "acme-gpuaas"
    a100, h100 = graph.flavors
    assert (a100.name, a100.capacity, a100.worth) == ("a100", (("cpu", 0), ("gpu", 0)), Fraction(1))
    assert a100.nodes == (("gpu.product", "A100"), ("zone", "b"))
    assert (h100.name, h100.capacity, h100.worth) == ("h100", (("cpu", 8_192_000), ("gpu", 256_000)), Fraction(5, 2))
    assert h100.nodes is None
    assert graph.slots == (Slot(0, "cpu"), Slot(0, "gpu"), Slot(1, "cpu"), Slot(1, "gpu"))
    assert graph.groups == (("cpu", "gpu"),)
    assert graph.ignored == ()


def test_topologies(graph):
    """Levels from the widest down; the flavor that is placed there, and the one that is an amount."""
    [fabric] = graph.topologies
    assert fabric.name == "fabric"
    assert fabric.levels == (Level("block", "cloud/block"), Level("rack", "cloud/rack"), Level("host", None))
    assert [flavor.topology for flavor in graph.flavors] == [0, -1]


def test_priorities(graph):
    """Classes by name with their values."""
    assert [(item.name, item.value, item.never_evicted) for item in graph.priorities] == [("batch", 100, False), ("production", 1000, True)]


def test_the_tree(graph):
    """Root, then all nodes by name; the cohort above its two queues."""
    assert [(node.name, node.parent, node.children, node.queue, node.weight) for node in graph.nodes] == [
        ("cluster", -1, (2, 4), -1, Fraction(1)),
        ("nlp", 2, (), 0, Fraction(2)),
        ("research", 0, (1, 3), -1, Fraction(3)),
        ("students", 2, (), 1, Fraction(1)),
        ("vision", 0, (), 2, Fraction(1)),
    ]
    assert graph.nodes[0].quotas == (Quota(),) * 4


def test_quotas(graph):
    """What nlp owns, may borrow and lends; what research owns; vision lends nothing of anything."""
    nlp, research, students, vision = (graph.nodes[index].quotas for index in (1, 2, 3, 4))
    assert (nlp[3].nominal, nlp[3].borrowing_limit, nlp[3].lending_limit) == (64_000, 64_000, 48_000)
    assert nlp[0] == nlp[1] == nlp[2] == Quota()
    assert (research[3].nominal, research[3].borrowing_limit, research[3].lending_limit) == (32_000, None, None)
    assert students == (Quota(),) * 4
    assert [(quota.nominal, quota.lending_limit) for quota in vision] == [(0, 0)] * 4


def test_queues(graph):
    """Matches, the order of flavors, the ceiling and the default."""
    nlp, students, vision = graph.queues
    assert nlp.node == 1
    assert sorted(nlp.matches, key=len) == [
        (Condition("user", None, "ada"),),
        (Condition("label", "tier", "prod"), Condition("namespace", None, "nlp-*")),
    ]
    assert nlp.flavors == (1, 0)
    assert (nlp.ceiling, nlp.default_priority, nlp.default_pinned, nlp.strict) == (100, 100, False, False)
    assert students.matches == ((Condition("namespace", None, "edu-*"),),)
    assert (students.flavors, students.ceiling) == ((0, 1), None)
    assert vision.matches == ()


def test_settings_come_from_the_profile(graph):
    """What the policy leaves open is the profile's: its orders, share formula and flavor choices."""
    assert graph.settings.share == "borrowed"
    assert graph.settings.queue_order == (
        OrderKey("borrowing", False),
        OrderKey("share", False),
        OrderKey("priority", True),
        OrderKey("submitted", False),
    )
    assert graph.settings.workload_order == (OrderKey("priority", True), OrderKey("submitted", False))
    assert (graph.settings.next_flavor_before_borrowing, graph.settings.next_flavor_before_evicting) == (False, True)


def test_the_policys_rule_replaces_the_profiles(graph):
    """The rule of the same name is the policy's, with its file and line; the others stay the profile's, in its order."""
    assert [(rule.name, rule.source.file) for rule in graph.preempt] == [
        ("reclaim-owned", "acme.gpol"),
        ("fair-share", "gpol/fair.gpol"),
        ("make-room", "gpol/fair.gpol"),
    ]
    rule = graph.preempt[0]
    line = assembled()[: assembled().index("preempt reclaim-owned")].count("\n") + 1
    assert rule.source.line == line
    assert (rule.trigger, rule.scope, rule.range) == ("fits-queue", "borrowing-queues", "same-cohort")
    victim, workload = Field("victim", "priority", Type.PRIORITY), Field("workload", "priority", Type.PRIORITY)
    other = Compare("=", Field("victim", "queue", Type.TEXT), Const("x", Type.TEXT, "x"))
    assert rule.guard == And((Compare("<=", victim, workload), Not(other)))
    assert rule.order == (
        OrderKey("victim.queue.share", True),
        OrderKey("victim.priority", False),
        OrderKey("victim.admitted", True),
    )


def test_protect_deny_and_hold(graph):
    """Rules by name with their scopes as nodes and their reasons."""
    assert [(rule.name, rule.nodes) for rule in graph.protect] == [("exams", (3,)), ("warm-up", None)]
    running = Field("victim", "running", Type.DURATION)
    assert graph.protect[1].guard == Compare("<", running, Const(600_000_000, Type.DURATION, "10m"))
    deny, hold = graph.admission
    assert (deny.action, deny.name, deny.nodes, deny.because) == (
        "deny",
        "too-big",
        (3,),
        "students may use at most 8 GPUs in one job",
    )
    assert deny.guard == Compare(">", Field("workload", "gpu", Type.AMOUNT), Const(8000, Type.AMOUNT, "8 gpu"))
    assert (hold.action, hold.name, hold.nodes, hold.guard) == ("hold", "drained", (1, 4), None)


def test_deciding_in_cycles():
    """The profile's way with one strategy, and usage that decays."""
    made = in_cycles().settings.cycles
    usage = Usage(7 * 86_400_000_000, 300_000_000, (("cpu", Fraction(0)), ("memory", Fraction(0))))
    assert made == Cycles(1_000_000, flat=False, victims="fair", strategies=("final-share",), usage=usage)


def test_flavors_in_cycles():
    """There is what is owned; a taint that the flavor itself forgives."""
    graph = in_cycles()
    on_demand, spot = graph.flavors
    assert on_demand.capacity == (("cpu", 512_000), ("nvidia.com/gpu", 64))
    assert spot.capacity == (("cpu", 0), ("nvidia.com/gpu", 0))
    assert spot.labels == (("pool", "spot"),)
    assert spot.taints == (Taint("pool", "spot", "NoSchedule"),)
    assert spot.tolerations == (Toleration("pool", "Equal", "spot", "NoSchedule"),)


def test_queues_in_cycles():
    """Groups, whom the queue evicts, who comes in."""
    nlp, students = in_cycles().queues
    assert nlp.groups == (Group(("cpu", "nvidia.com/gpu"), (0, 1)),)
    assert (nlp.next_flavor_before_borrowing, nlp.next_flavor_before_evicting, nlp.rather) == (True, None, "evict")
    assert (nlp.preemption.own, nlp.preemption.reclaims) == ("lower-or-newer", "any")
    assert (nlp.preemption.borrowing, nlp.preemption.borrowing_up_to) == ("lower", 100)
    assert nlp.namespaces == (Requirement("suspended", "DoesNotExist", ()), Requirement("team", "In", ("nlp", "speech")))
    assert nlp.checks == (Check("provisioning", (1,)),)
    assert nlp.by_usage
    assert [(local.name, local.weight) for local in nlp.local_queues] == [("nlp/batch", 1), ("nlp/interactive", 2)]
    assert students.groups == (Group(("nvidia.com/gpu",), (1,)),)
    assert (students.preemption.reclaims, students.stopped) == ("lower", "hold")


def test_deciding_by_passes():
    """The profile's passes with a longer grace, and what the cohort and its queue say beyond their quotas."""
    [section] = PASSES.findall(REFERENCE.read_text(encoding="utf-8"))
    [text] = blocks(section)
    checked = check(text, "passes.gpol")
    assert checked.diagnostics == ()
    assert checked.graph is not None
    passes = checked.graph.settings.passes
    assert passes is not None
    assert passes.order == ("allocate", "consolidate", "reclaim", "preempt", "end-broken-gangs")
    assert (passes.entitlement, passes.broken_for) == (Entitlement("owned-first", whole_units=True, by_priority=True), 300_000_000)
    terms = {node.name: node.terms for node in checked.graph.nodes}
    one, two = Fraction(1), Fraction(2)
    assert terms["nlp"] == QueueTerms((None, 96_000, None), (False,) * 3, (0,) * 3, (one, two, one), 100)
    assert terms["research"] == QueueTerms((None,) * 3, (True,) * 3, (0,) * 3, (one,) * 3, 0)
    assert [rule.search.in_pass for rule in checked.graph.preempt if rule.search] == ["consolidate", "reclaim", "preempt"]
