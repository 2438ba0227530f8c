"""Quotas: amounts of one node as those of its whole subtree, and several flavors as none."""

import pytest

from ..volcano_exports import HEAD, notes, problems, specs

GPU = "nvidia.com/gpu"

TREE = """
cohort p {
  owns 2 "nvidia.com/gpu"
  guarantees 1 "nvidia.com/gpu"
  borrows up to 12 "nvidia.com/gpu"
  queue u {
    owns 12 "nvidia.com/gpu"
    guarantees 4 "nvidia.com/gpu"
    borrows up to 0 "nvidia.com/gpu"
  }
  queue y {
    owns 6 "nvidia.com/gpu"
    lends up to 4 "nvidia.com/gpu"
  }
}
"""


def test_a_queue_has_what_all_below_it_have() -> None:
    """What a cohort owns, keeps and may borrow comes on top of what those below it do; parents come first."""
    assert specs(HEAD + TREE) == {
        "p": {"deserved": {GPU: "20"}, "guarantee": {"resource": {GPU: "7"}}, "capability": {GPU: "32"}},
        "u": {"parent": "p", "deserved": {GPU: "12"}, "guarantee": {"resource": {GPU: "4"}}, "capability": {GPU: "12"}},
        "y": {"parent": "p", "deserved": {GPU: "6"}, "guarantee": {"resource": {GPU: "2"}}},
    }


@pytest.mark.parametrize(
    ("said", "guarantee"),
    [("lends nothing", "8"), ('lends all but 3 "nvidia.com/gpu"', "3"), ("lends anything", None), ('lends up to 8 "nvidia.com/gpu"', None)],
)
def test_what_is_not_lent_is_guaranteed(said: str, guarantee: str | None) -> None:
    """However the policy says it."""
    spec = specs(HEAD + f'queue a {{\n  owns 8 "nvidia.com/gpu"\n  {said}\n}}')["a"]
    assert spec.get("guarantee") == (None if guarantee is None else {"resource": {GPU: guarantee}})


def test_a_limit_is_never_above_that_of_a_parent() -> None:
    """Volcano's webhook wants that, and it has no effect."""
    tree = 'cohort p {\n  borrows nothing\n  queue u {\n    owns 8 "nvidia.com/gpu"\n    borrows up to 100 "nvidia.com/gpu"\n  }\n}'
    assert [spec["capability"] for spec in specs(HEAD + tree).values()] == [{GPU: "8"}, {GPU: "8"}]


def test_no_limit_is_not_said() -> None:
    """Nor one beyond 64 bits."""
    assert specs(HEAD + 'queue a { owns 8 "nvidia.com/gpu" }') == {"a": {"deserved": {GPU: "8"}}}
    huge = 'queue a {\n  owns 8 "nvidia.com/gpu"\n  borrows up to 9223372036854775807 "nvidia.com/gpu"\n}'
    assert specs(HEAD + huge) == {"a": {"deserved": {GPU: "8"}}}


# --- several flavors

FLAVORS = """\
policy "p" { use gpol.reclaim }

flavor a100 { gpu 16 }

flavor h100 {
  gpu 16
  cpu 64
}

"""
QUEUE = "queue a {\n  owns 4 gpu on a100\n  owns 8 gpu on h100\n  guarantees 2 gpu on h100\n  borrows up to 1 gpu on a100\n}\n"


def test_flavors_that_share_a_resource_are_refused() -> None:
    """Volcano has one quota for a resource; what to do is told with the option."""
    cause = "is of several flavors, a100, h100, and Volcano has one quota for a resource"
    remedy = "give each its own resource, as nodes can name them, or sum them up with --sum-flavors"
    assert problems(FLAVORS + QUEUE) == [f"p.gpol:3: resource gpu: {cause}; {remedy}"]


def test_flavors_are_summed_up_where_one_wants_that() -> None:
    """A limit is left only where each flavor has one; a note says what is lost."""
    assert specs(FLAVORS + QUEUE, sum_flavors=True) == {"a": {"deserved": {GPU: "12"}, "guarantee": {"resource": {GPU: "2"}}}}
    limited = QUEUE.replace("}\n", "  borrows up to 3 gpu on h100\n}\n")
    assert specs(FLAVORS + limited, sum_flavors=True)["a"]["capability"] == {GPU: "16"}
    told = "are summed up: Volcano has no flavors, so any of them may be used for all of the sum"
    assert f"resource gpu: a100, h100 {told}" in notes(FLAVORS + QUEUE, sum_flavors=True)


def test_flavors_that_share_nothing_are_apart() -> None:
    """Each resource of one flavor has its own quota in Volcano, too."""
    apart = FLAVORS.replace("  gpu 16\n  cpu 64", "  cpu 64")
    assert specs(apart + "queue a {\n  owns 4 gpu\n  owns 8 cpu\n}") == {"a": {"deserved": {"cpu": "8", GPU: "4"}}}


@pytest.mark.parametrize("said", ["only a100", "serves gpu from a100"])
def test_a_resource_that_a_queue_does_not_use(said: str) -> None:
    """Its capability is 0, which Volcano does not see for cpu and memory; what it owns of a flavor without using it is refused."""
    apart = FLAVORS.replace("  gpu 16\n  cpu 64", '  "example.com/nic" 64').replace(
        "flavor a100", 'resource "example.com/nic"\n\nflavor a100'
    )
    assert specs(f"{apart}queue a {{\n  owns 4 gpu\n  {said}\n}}")["a"]["capability"] == {"example.com/nic": "0"}
    native = FLAVORS.replace("  gpu 16\n  cpu 64", "  cpu 64")
    assert problems(f"{native}queue a {{\n  owns 4 gpu\n  {said}\n}}") == [
        "p.gpol:9: queue a: borrows: uses no cpu, and Volcano takes a capability of 0 cpu for no limit; "
        "let it own or borrow some cpu, however little"
    ]


def test_what_is_owned_of_an_unused_flavor_is_refused() -> None:
    """In Volcano a queue uses whatever it deserves."""
    told = problems(FLAVORS + "queue a {\n  owns 4 gpu on h100\n  only a100\n}", sum_flavors=True)
    assert (
        "p.gpol:10: queue a: owns: owns gpu on h100, which it does not use; in Volcano it would use that; "
        "let the queue use h100, or let a cohort above own that"
    ) in told


def test_parts_of_a_gpu_are_refused() -> None:
    """Kubernetes counts whole ones."""
    one = FLAVORS.partition("flavor h100")[0]
    assert problems(one + "queue a { owns 500m gpu }") == [
        "p.gpol:5: queue a: has 500m gpu, and Kubernetes counts whole ones; write a whole number"
    ]


def test_gpu_is_called_as_one_says() -> None:
    """As the cluster's nodes do."""
    one = FLAVORS.partition("flavor h100")[0]
    assert specs(one + "queue a { owns 8 gpu }", gpu="amd.com/gpu") == {"a": {"deserved": {"amd.com/gpu": "8"}}}
