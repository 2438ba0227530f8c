"""Tests for warnings about places in policies and for flavors that place no pods."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.analysis.profiles import shipped

AT_ONCE = """policy "p" {{
  {choice}
}}
flavor h100 {{
  gpu from nodes where pool = "h"
  {flavor}
}}
queue q {{ owns 8 gpu }}
"""

IN_CYCLES = """policy "p" {{ use kueue.fair }}
flavor a100 {{ gpu as owned }}
flavor h100 {{
  gpu as owned
  {flavor}
}}
queue q {{
  serves gpu from a100, h100
  owns 8 gpu on h100
  needs check prov {check}
}}
"""

CHOICES = ("place pods packed", "place pods spread", "place pods keeping room for 1 gpu", "when a node is lost evict")


@pytest.mark.parametrize("choice", CHOICES)
def test_choices_about_places_need_a_flavor_that_is_placed(find, choice):
    """The choice is marked; with a flavor that is placed nothing is found."""
    [finding] = find(AT_ONCE.format(choice=choice, flavor=""))
    assert (finding.code, finding.severity, finding.marked) == ("GP065", "warning", choice)
    assert "`placed on nodes`" in finding.help
    assert find(AT_ONCE.format(choice=choice, flavor="placed on nodes")) == []


@pytest.mark.parametrize("choice", CHOICES)
def test_a_profile_may_say_it_for_others(choice):
    """A policy is not warned of what its profile says, though it places no pods itself."""
    fair = (shipped("gpol.fair") or "").replace("  share borrowed\n", f"  share borrowed\n  {choice}\n")
    checked = check(AT_ONCE.format(choice="use gpol.fair", flavor=""), "p.gpol", lambda _: fair)
    assert checked.diagnostics == ()
    assert checked.graph is not None
    assert (checked.graph.settings.placing, checked.graph.settings.lost_nodes) != ("", "")


def test_a_topology_needs_a_flavor_that_is_placed_in_it(find):
    """Its name is marked; one in which a flavor is placed is found by nobody."""
    topologies = "".join(
        f'topology {name} {{\n  level {name} from label "{name}"\n  level host from node\n}}\n' for name in ("used", "idle")
    )
    text = AT_ONCE.format(choice="use gpol.fair", flavor="placed in used").replace("flavor h100", topologies + "flavor h100")
    [finding] = find(text)
    assert (finding.code, finding.severity, finding.marked) == ("GP065", "warning", "idle")
    assert finding.help == "say `placed in idle` in the flavors that have its nodes, or remove it"


@pytest.mark.parametrize("check", ["for nodes", "on h100 for nodes", "on a100, h100 for nodes"])
def test_a_check_for_nodes_needs_a_flavor_that_is_placed(find, check):
    """Of all its flavors, or of all of the queue, one has to be placed."""
    [finding] = find(IN_CYCLES.format(check=check, flavor=""))
    assert (finding.code, finding.marked) == ("GP065", f"needs check prov {check}")
    assert "leave out `for nodes`" in finding.help
    assert find(IN_CYCLES.format(check=check, flavor="placed on nodes")) == []


def test_a_check_on_another_flavor_gives_no_nodes(find):
    """That some flavor of the queue is placed does not help where the check is for another one."""
    [finding] = find(IN_CYCLES.format(check="on a100 for nodes", flavor="placed on nodes"))
    assert (finding.code, finding.message) == ("GP065", "`for nodes` has no effect: no pod gets a place in `a100`")
    assert find(IN_CYCLES.format(check="on a100", flavor="placed on nodes")) == []
