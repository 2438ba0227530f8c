"""Tests for resource groups of queues."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.policy_graph import Group, Quota

HEADER = 'policy "p" { }\nresource license\nflavor a100 { gpu 50 }\nflavor h100 {\n  gpu 100\n  cpu 800\n}\nflavor seats { license 10 }\n'
"""Flavors a100, h100 and seats, which the graph numbers 0, 1 and 2."""


def queue(*statements: str) -> str:
    """A queue named q with these statements."""
    return "queue q {\n" + "".join(f"  {statement}\n" for statement in statements) + "}\n"


def test_groups_keep_the_order_of_flavors_and_of_groups():
    """Flavors are tried as listed, group after group; the resources of a group are a set."""
    made = compile_policy(HEADER + queue("serves license from seats", "serves gpu from h100, a100"), "p.gpol").queues[0]
    assert made.groups == (Group(("license",), (2,)), Group(("gpu",), (1, 0)))
    assert made.flavors == (2, 1, 0)
    both = compile_policy(HEADER + queue("serves gpu, cpu from h100"), "p.gpol").queues[0]
    assert both.groups == (Group(("cpu", "gpu"), (1,)),)


@pytest.mark.parametrize(
    ("statements", "code", "marked", "help_piece"),
    [
        (("serves gpu from h10",), "GP020", "h10", "did you mean `h100`?"),
        (("serves gpuu from h100",), "GP020", "gpuu", "did you mean `gpu`?"),
        (("serves gpu, gpu from h100",), "GP040", "gpu", "in one `serves` only"),
        (("serves gpu from h100, h100",), "GP040", "h100", "in one `serves` only"),
        (("serves gpu from h100", "serves cpu from h100"), "GP040", "h100", "name the flavor in one"),
        (("serves cpu from h100", "serves cpu, license from seats"), "GP040", "cpu", "name the resource in one"),
        (("serves gpu, cpu from h100, a100",), "GP020", "a100", "add `cpu` to the flavor"),
        (("serves gpu from h100", "only h100"), "GP027", "only h100", "keep one form"),
        (("serves gpu from h100", "owns 8 cpu on h100"), "GP041", "owns 8 cpu on h100", "`serves cpu from h100`"),
        (("serves gpu from h100", "borrows nothing on a100"), "GP041", "borrows nothing on a100", "from a100`"),
    ],
)
def test_each_mistake_is_found_alone(find, statements, code, marked, help_piece):
    """A wrong group gives its own code on its own text, with advice."""
    findings = find(HEADER + queue(*statements))
    assert [(finding.code, finding.marked) for finding in findings] == [(code, marked)]
    assert help_piece in findings[0].help


def test_nothing_without_a_flavor_means_all_that_exists():
    """`borrows nothing` in a queue with groups is no quota on what it does not serve."""
    made = compile_policy(HEADER + queue("serves gpu from h100", "borrows nothing", "lends nothing"), "p.gpol")
    assert {(quota.borrowing_limit, quota.lending_limit) for quota in made.nodes[1].quotas} == {(0, 0)}


def test_a_cohort_owns_what_its_queues_do_not_serve():
    """Groups bind the queue that says them, and no cohort above it."""
    text = HEADER + "cohort c {\n  owns 4 gpu on a100\n  queue q {\n    serves gpu from h100\n    owns 8 gpu on h100\n  }\n}\n"
    made = compile_policy(text, "p.gpol")
    owned = {node.name: [quota.nominal for quota in node.quotas if quota != Quota()] for node in made.nodes}
    assert owned == {"cluster": [], "c": [4000], "q": [8000]}
