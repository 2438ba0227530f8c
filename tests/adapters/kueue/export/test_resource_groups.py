"""Quotas and the tree on the way out."""

import pytest

from ..exports import AT_ONCE, IN_CYCLES, Json, notes, problems, specs


def quotas(spec: Json) -> Json:
    """The quotas of an object by flavor and resource: nominal, borrowing and lending limit."""
    return {
        f"{row['name']} on {flavor['name']}": tuple(row.get(field) for field in ("nominalQuota", "borrowingLimit", "lendingLimit"))
        for group in spec.get("resourceGroups", [])
        for flavor in group["flavors"]
        for row in flavor["resources"]
    }


def test_a_tree_in_cycles() -> None:
    """Quotas and limits come out as they are, cohorts name their parents, and what is said of nothing is left out."""
    text = (
        IN_CYCLES
        + """
cohort org {
  cohort team {
    owns 2 "nvidia.com/gpu" on a100
    lends up to 1 "nvidia.com/gpu" on a100
    queue q {
      serves "nvidia.com/gpu" from h100, a100
      owns 4 "nvidia.com/gpu" on a100
      borrows up to 3 "nvidia.com/gpu" on a100
      guarantees 1 "nvidia.com/gpu" on a100
    }
  }
}
"""
    )
    cohorts, queues = specs(text, "Cohort"), specs(text, "ClusterQueue")
    assert cohorts["org"] == {}
    assert cohorts["team"]["parentName"] == "org"
    assert quotas(cohorts["team"]) == {"nvidia.com/gpu on a100": ("2", None, "1")}
    assert queues["q"]["cohortName"] == "team"
    assert quotas(queues["q"]) == {"nvidia.com/gpu on h100": ("0", None, None), "nvidia.com/gpu on a100": ("4", "3", "3")}


def test_limits_without_effect_are_left_out() -> None:
    """A limit without a cohort above, and a queue that lends more than it owns, say nothing in Kueue, which does not allow them."""
    text = (
        IN_CYCLES
        + """
queue alone {
  serves "nvidia.com/gpu" from a100
  owns 1 "nvidia.com/gpu" on a100
  borrows up to 1 "nvidia.com/gpu" on a100
}
cohort c { queue q {
  serves "nvidia.com/gpu" from a100
  owns 1 "nvidia.com/gpu" on a100
  lends up to 2 "nvidia.com/gpu" on a100
} }
"""
    )
    assert quotas(specs(text, "ClusterQueue")["alone"]) == {"nvidia.com/gpu on a100": ("1", None, None)}
    assert quotas(specs(text, "ClusterQueue")["q"]) == {"nvidia.com/gpu on a100": ("1", None, None)}
    told = notes(text)
    assert "queue alone: borrows, lends: is limited without a cohort above: that has no effect, and is left out" in told
    assert "queue q: lends: is more than it owns: that has no effect, Kueue does not allow it, and it is left out" in told


def test_what_nobody_owns_becomes_the_root() -> None:
    """Under a policy that decides at once everything shares a root, which owns what nobody else does."""
    text = AT_ONCE + "queue a { owns 4 gpu }\ncohort c { queue b { owns 2 gpu } }\n"
    cohorts, queues = specs(text, "Cohort"), specs(text, "ClusterQueue")
    assert quotas(cohorts["cluster"]) == {"nvidia.com/gpu on a100": ("10", None, None)}
    assert cohorts["c"] == {"parentName": "cluster"}
    assert (queues["a"]["cohortName"], queues["b"]["cohortName"]) == ("cluster", "c")


def test_what_neither_borrows_nor_lends_stands_outside() -> None:
    """A queue at the top that neither borrows nor lends has no cohort, and there is no root where nobody needs one."""
    apart = "borrows nothing\n  lends nothing\n"
    text = AT_ONCE + f"queue a {{\n  owns 16 gpu\n  {apart}}}\n"
    assert specs(text, "Cohort") == {}
    assert "cohortName" not in specs(text, "ClusterQueue")["a"]
    assert quotas(specs(text, "ClusterQueue")["a"]) == {"nvidia.com/gpu on a100": ("16", None, None)}
    with_more = AT_ONCE + f"queue a {{\n  owns 8 gpu\n  {apart}}}\nqueue b {{ owns 8 gpu }}\n"
    assert specs(with_more, "Cohort") == {"cluster": {}}
    assert "cohortName" not in specs(with_more, "ClusterQueue")["a"]


def test_resources_that_share_flavors_are_one_group() -> None:
    """Without `serves`, a queue has the policy's groups with the flavors in its order; what a flavor lacks, it has 0 of."""
    text = """policy "p" { use gpol.fair }
flavor a { gpu 8 }
flavor b {
  gpu 8
  cpu 64
}
flavor m { memory 1Gi }
queue q {
  owns 8 gpu on a
  prefer b, m
}
"""
    groups = specs(text, "ClusterQueue")["q"]["resourceGroups"]
    assert [(group["coveredResources"], [flavor["name"] for flavor in group["flavors"]]) for group in groups] == [
        (["cpu", "nvidia.com/gpu"], ["b", "a"]),
        (["memory"], ["m"]),
    ]
    assert quotas({"resourceGroups": groups})["cpu on a"] == ("0", None, None)


def test_gpu_has_the_name_that_is_asked_for() -> None:
    """The resource `gpu` is called nvidia.com/gpu, or as the caller says; it counts whole ones."""
    text = AT_ONCE + "queue q { owns 4 gpu }\n"
    assert list(quotas(specs(text, "ClusterQueue")["q"])) == ["nvidia.com/gpu on a100"]
    assert list(quotas(specs(text, "ClusterQueue", gpu="amd.com/gpu")["q"])) == ["amd.com/gpu on a100"]


def test_a_part_of_a_gpu_is_refused() -> None:
    """Kueue counts whole ones of what is no cpu."""
    assert problems(AT_ONCE + "queue q { owns 500m gpu }\n") == [
        "p.gpol:1: cohort cluster: has 15500m gpu, and Kueue counts whole ones; write a whole number",
        "p.gpol:4: queue q: has 500m gpu, and Kueue counts whole ones; write a whole number",
    ]


def test_a_quota_that_its_queue_does_not_use_is_refused() -> None:
    """A ClusterQueue uses whatever it owns, so one cannot own for others only."""
    text = """policy "p" { use gpol.fair }
flavor a { gpu 8 }
flavor b { gpu 8 }
queue q {
  owns 8 gpu on a
  only b
}
"""
    assert problems(text) == [
        "p.gpol:4: queue q: owns: owns gpu on a, which it does not use; a ClusterQueue uses whatever it owns; "
        "let the queue use a, or let a cohort above own that"
    ]


def test_a_missing_flavor_has_to_be_served_by_name() -> None:
    """A queue that only may use a missing flavor goes on without it, and a ClusterQueue would not."""
    text = 'policy "p" { use kueue.classical }\nflavor a {\n  gpu as owned\n  missing\n}\nqueue q { owns 1 gpu }\n'
    assert problems(text) == [
        "p.gpol:6: queue q: may use a, which is missing; a ClusterQueue that names it admits nothing; say by `serves` what the queue serves"
    ]


@pytest.mark.parametrize(("flavors", "refused"), [(64, False), (65, True)])
def test_kueue_has_limits(flavors: int, refused: bool) -> None:
    """A group of more flavors than Kueue allows is refused."""
    text = 'policy "p" { use kueue.classical }\n' + "".join(f"flavor f{number} {{ gpu as owned }}\n" for number in range(flavors))
    text += "queue q { serves gpu from " + ", ".join(f"f{number}" for number in range(flavors)) + " }\n"
    if refused:
        assert problems(text) == [f"p.gpol:{flavors + 2}: queue q: would have 65 flavors in one group; Kueue allows at most 64: use fewer"]
    else:
        assert len(quotas(specs(text, "ClusterQueue")["q"])) == 64
