"""Tests for resources, flavors and priorities."""

from fractions import Fraction

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.policy_graph import Slot

HEADER = 'policy "p" { }\n'


@pytest.mark.parametrize(
    ("addition", "code", "marked", "help_piece"),
    [
        ("resource license\n", "GP021", "license", "another name"),
        ("resource gpu\n", "GP021", "gpu", "remove this line"),
        ("flavor h100 { gpu 1 }\n", "GP021", "h100", "another name"),
        ("priority batch 7\n", "GP021", "batch", "another name"),
        ("flavor v100 { gpux 4 }\n", "GP020", "gpux", "`gpu`"),
        ("flavor v100 { licens 4 }\n", "GP020", "licens", "did you mean `license`?"),
        ('flavor v100 { gpuu from nodes where a = "b" }\n', "GP020", "gpuu", "did you mean `gpu`?"),
        ("flavor v100 { worth 2 }\n", "GP035", "v100", "`gpu 256`"),
        ("flavor v100 {\n  gpu 4\n  gpu 5\n}\n", "GP022", "gpu 5", "keep one"),
        ("flavor v100 {\n  gpu 4\n  worth 1\n  worth 2\n}\n", "GP022", "worth 2", "keep one"),
        ("flavor v100 {\n  gpu 4\n  worth 0\n}\n", "GP023", "0", "above 0"),
        ("flavor v100 {\n  gpu 4\n  worth -1\n}\n", "GP023", "-1", "write a number"),
        ("flavor v100 {\n  gpu 4\n  worth 2kg\n}\n", "GP023", "2kg", "`2.5`"),
        ('flavor v100 {\n  gpu 4\n  cpu from nodes where a = "b"\n}\n', "GP027", "gpu 4", "keep one form"),
        ('flavor v100 {\n  gpu from nodes where a = "b"\n  cpu from nodes where a = "c"\n}\n', "GP022", None, "keep one"),
        ('flavor v100 {\n  gpu as owned\n  cpu from nodes where a = "b"\n}\n', "GP027", "gpu as owned", "keep one form"),
        ("flavor v100 {\n  gpu as owned\n  gpu 4\n}\n", "GP022", "gpu 4", "keep one"),
        ("flavor v100 { gpu, gpu as owned }\n", "GP022", "gpu", "keep one"),
        ("flavor v100 { gpuu as owned }\n", "GP020", "gpuu", "did you mean `gpu`?"),
        ("flavor v100 { gpu as own }\n", "GP003", "own", "did you mean `owned`?"),
        ("flavor v100 { gpu 50% }\n", "GP023", "50%", "later version"),
        ("flavor v100 { gpu 1/3 }\n", "GP023", "1/3", "`8 gpu`"),
        ("flavor v100 { gpu -4 }\n", "GP023", "-4", "`8 gpu`"),
        ("flavor v100 { memory 4GB }\n", "GP023", "4GB", "`80Gi memory`"),
        ("flavor v100 { license 9999999999999999999 }\n", "GP023", "9999999999999999999", "`8 license`"),
        ("priority huge 2147483648\n", "GP023", "2147483648", "to 2147483647"),
        ("priority low -2147483649\n", "GP023", "-2147483649", "from -2147483648"),
        ("priority half 1.5\n", "GP023", "1.5", "whole number"),
    ],
)
def test_each_mistake_is_found_alone(find_one, addition, code, marked, help_piece):
    """A mistake in what exists gives its own code on its own text, with advice."""
    finding = find_one(addition)
    assert (finding.code, finding.severity) == (code, "error")
    assert help_piece in finding.help
    if marked is not None:
        assert finding.marked == marked


def test_a_double_points_at_the_first_one(find, base):
    """The note of a name declared twice marks the first declaration."""
    text = base + "priority batch 7\n"
    [finding] = find(text)
    [note] = finding.diagnostic.notes
    assert text[note.span.start : note.span.end] == "batch"
    assert note.span.start < finding.diagnostic.span.start


def test_bounds_of_a_priority_are_included():
    """The smallest and the biggest 32-bit priority are fine."""
    made = compile_policy(HEADER + "priority high 2147483647\npriority low -2147483648\n", "p.gpol")
    assert [(item.name, item.value) for item in made.priorities] == [("high", 2**31 - 1), ("low", -(2**31))]


def test_flavors_and_slots_stand_in_order_of_name():
    """Slots are sorted by flavor and resource, amounts are in smallest units."""
    made = compile_policy(HEADER + "flavor b {\n  memory 1Ki\n  gpu 1.5\n  worth 5/2\n}\nflavor a { cpu 500m }\n", "p.gpol")
    assert [(flavor.name, flavor.capacity, flavor.worth) for flavor in made.flavors] == [
        ("a", (("cpu", 500),), Fraction(1)),
        ("b", (("gpu", 1500), ("memory", 1024)), Fraction(5, 2)),
    ]
    assert made.slots == (Slot(0, "cpu"), Slot(1, "gpu"), Slot(1, "memory"))


def test_a_selector_is_sorted_and_has_no_amount():
    """A flavor from nodes lists its resources with 0 and its labels in order."""
    made = compile_policy(HEADER + 'flavor a { gpu, cpu from nodes where zone = "b" and "gpu.product" = "A100" }\n', "p.gpol")
    [flavor] = made.flavors
    assert flavor.capacity == (("cpu", 0), ("gpu", 0))
    assert flavor.nodes == (("gpu.product", "A100"), ("zone", "b"))


def test_resources_are_grouped_through_shared_flavors():
    """Resources that meet in a flavor, directly or through others, are one group; the others stand alone."""
    text = HEADER + "resource license\nflavor a {\n  gpu 1\n  cpu 1\n}\nflavor b {\n  cpu 1\n  memory 1\n}\nflavor c { license 1 }\n"
    assert compile_policy(text, "p.gpol").groups == (("cpu", "gpu", "memory"), ("license",))


def test_the_sources_are_lines_of_the_file():
    """Flavors and priorities know the line they stand on."""
    made = compile_policy(HEADER + "\nflavor a { gpu 1 }\npriority p 1 { never evicted }\n", "p.gpol")
    assert (made.flavors[0].source.file, made.flavors[0].source.line) == ("p.gpol", 3)
    assert made.priorities[0].source.line == 4
    assert made.priorities[0].never_evicted


@pytest.mark.parametrize("use", ["gpol.fair", "kueue.fair"])
def test_as_owned_is_the_sum_of_what_is_owned(use):
    """There is what cohorts and queues own together, of each resource, either way of deciding; of what nobody owns there is nothing."""
    text = f'policy "p" {{ use {use} }}\nflavor a {{ gpu, cpu as owned }}\nflavor b {{ gpu as owned }}\n'
    text += "cohort c {\n  owns 4 gpu on a\n  queue q {\n    owns 8 gpu on a\n    owns 1.5 cpu\n  }\n}\nqueue r { owns 16 gpu on b }\n"
    assert [flavor.capacity for flavor in compile_policy(text, "p.gpol").flavors] == [(("cpu", 1500), ("gpu", 12_000)), (("gpu", 16_000),)]


def test_as_owned_stands_beside_amounts_of_other_resources():
    """At once, one resource may be what is owned and another an amount, which is compared with what is owned."""
    text = HEADER + "flavor a {\n  gpu as owned\n  cpu 10\n}\nqueue q { owns 8 gpu }\n"
    assert compile_policy(text, "p.gpol").flavors[0].capacity == (("cpu", 10_000), ("gpu", 8000))


def test_what_is_owned_fits_64_bits(find):
    """`as owned` has no limit but the arithmetic's."""
    text = HEADER + "resource byte\nflavor a { byte as owned }\nqueue q { owns 9223372036854775807 byte }\nqueue r { owns 1 byte }\n"
    assert [(finding.code, finding.marked) for finding in find(text)] == [("GP023", "q")]


def test_a_flavor_in_cycles_is_told_of_what_cycles_take(find):
    """A flavor without a capacity is advised as the policy decides: amounts at once, what is owned in cycles."""
    [finding] = find('policy "p" { use kueue.classical }\nflavor x { missing }\nqueue q { owns nothing }\n')
    assert (finding.code, finding.marked, finding.help) == ("GP035", "x", "say what it has, such as `gpu as owned`")
