"""Rules on the way out."""

from ..exports import AT_ONCE, IN_CYCLES, notes, problems, specs

QUEUES = "cohort c {\n  queue a { owns 4 gpu }\n  queue b { owns 4 gpu }\n}\nqueue d { owns 4 gpu }\n"


def test_a_plain_hold_stops_its_queues() -> None:
    """A hold rule without a guard is the stop policy of the queues below what it names; its reason is lost, which is noted."""
    text = AT_ONCE + QUEUES + 'hold move for c because "moving racks"\n'
    assert {name: spec.get("stopPolicy") for name, spec in specs(text, "ClusterQueue").items()} == {"a": "Hold", "b": "Hold", "d": None}
    assert "hold rule move: becomes stopPolicy: Hold; its reason is lost" in notes(text)


def test_a_hold_for_all_stops_every_queue() -> None:
    """A hold rule that names nobody is about everybody; a queue that is drained already stays so."""
    text = (
        AT_ONCE
        + QUEUES.replace("queue d {", "queue d {\n  stopped and drained\n ").replace("gpu }\n", "gpu\n}\n", 3)
        + 'hold all because "x"\n'
    )
    assert {name: spec.get("stopPolicy") for name, spec in specs(text, "ClusterQueue").items()} == {
        "a": "Hold",
        "b": "Hold",
        "d": "HoldAndDrain",
    }


def test_rules_about_workloads_are_refused() -> None:
    """Deny rules, holds with a guard, protections and priorities that are never evicted are refused, each with its line."""
    text = AT_ONCE + "priority top 9 { never evicted }\n" + QUEUES + 'deny big { where workload.gpu > 8 } because "too big"\n'
    text += 'hold late { where workload.user = "ada" } because "late"\nprotect young { where victim.running < 10m }\n'
    remedy = "remove it, and let an admission policy of Kubernetes turn such workloads away"
    kept = "keeps workloads from eviction, which Kueue cannot; remove it: whom Kueue may evict is said by its policies of preemption alone"
    assert problems(text) == [
        f"p.gpol:10: deny rule big: goes by what a workload says, and Kueue has no such rule; {remedy}",
        f"p.gpol:11: hold rule late: goes by what a workload says, and Kueue has no such rule; {remedy}",
        f"p.gpol:12: protect rule young: {kept}",
        f"p.gpol:4: priority top: never evicted: {kept}",
    ]


def test_the_state_of_a_cluster_is_left_out() -> None:
    """A rule by which an import holds an inactive ClusterQueue is not exported: Kueue finds out by itself."""
    queue = 'queue q {\n  serves "nvidia.com/gpu" from a100\n  needs check prov\n}\n'
    text = IN_CYCLES + queue + 'hold inactive-1 for q because "inactive: admission check prov is not there"\n'
    assert "stopPolicy" not in specs(text, "ClusterQueue")["q"]
    assert any(note.startswith("hold rule inactive-1: tells how the cluster stood") for note in notes(text))


def test_an_author_may_call_a_rule_alike() -> None:
    """A rule of an author that is only called like an import's stops its queue."""
    text = IN_CYCLES + 'queue q { serves "nvidia.com/gpu" from a100 }\nhold inactive-1 for q because "closed"\n'
    assert specs(text, "ClusterQueue")["q"]["stopPolicy"] == "Hold"


def test_a_flavor_that_was_not_there_is_not_created() -> None:
    """Under a policy that decides at once, the rule that holds a queue for a missing flavor keeps the export from creating it."""
    text = AT_ONCE + 'queue q { owns 8 gpu }\nhold inactive-1 for q because "inactive: flavor a100 is not there"\n'
    assert specs(text, "ResourceFlavor") == {}
    assert "stopPolicy" not in specs(text, "ClusterQueue")["q"]
