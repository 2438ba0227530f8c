"""What a policy says as a whole: refused where Volcano would decide otherwise, noted elsewhere."""

import pytest

from ..volcano_exports import HEAD, exported, notes, problems

QUEUE = 'queue a { owns 8 "nvidia.com/gpu" }\n'
PLAIN = HEAD + QUEUE


def test_every_export_tells_what_volcano_needs() -> None:
    """How it decides, the plugin and the actions; a tree needs a setting more."""
    told = [str(note) for note in exported(PLAIN).notes]
    assert told[1].startswith("policy p: decides at once; Volcano decides in sessions by its own procedure")
    assert told[2].startswith("policy p: needs the plugin capacity in volcano-scheduler-configmap, instead of proportion, and the actions ")
    nested = [str(note) for note in exported(HEAD + f"cohort c {{\n  {QUEUE}}}").notes]
    assert "instead of proportion, with enableHierarchy: true, and the actions" in nested[2]


def test_what_exists_beyond_what_is_owned_is_noted() -> None:
    """Volcano knows it from its nodes; where all is owned nothing is said."""
    assert any("has more than is owned" in str(note) for note in exported(PLAIN).notes)
    assert not any("has more than is owned" in str(note) for note in exported(PLAIN.replace('gpu" 64', 'gpu" 8')).notes)


@pytest.mark.parametrize(
    ("line", "field"),
    [('label pool = "x"', "label"), ("taint pool NoSchedule", "taint"), ("tolerates pool", "tolerates")],
)
def test_what_is_said_of_nodes_is_noted(line: str, field: str) -> None:
    """Pods select nodes themselves in Volcano."""
    text = PLAIN.replace('{ "nvidia.com/gpu" 64 }', f'{{\n  "nvidia.com/gpu" 64\n  {line}\n}}')
    assert notes(text) == [f"flavor f: {field}: is left out: in Volcano a pod runs on whatever nodes it selects itself"]


def test_flavors_from_nodes_places_and_worth_are_noted() -> None:
    """They count here alone."""
    nodes = PLAIN.replace('"nvidia.com/gpu" 64', '"nvidia.com/gpu" from nodes where pool = "x"')
    assert notes(nodes) == ["flavor f: from nodes: is left out: in Volcano a pod runs on whatever nodes it selects itself"]
    placed = PLAIN.replace('{ "nvidia.com/gpu" 64 }', '{\n  "nvidia.com/gpu" from nodes where pool = "x"\n  placed on nodes\n}')
    assert notes(placed) == [*notes(nodes), "flavor f: placed: is left out: in Volcano a pod runs on whatever nodes it selects itself"]
    worth = PLAIN.replace('{ "nvidia.com/gpu" 64 }', '{\n  "nvidia.com/gpu" 64\n  worth 2\n}')
    assert notes(worth) == ["flavor f: worth: is left out: Volcano counts all machines alike in shares"]


def test_choices_about_places_are_noted() -> None:
    """Where pods stand is for Volcano's scheduler to say."""
    text = PLAIN.replace("{ use gpol.reclaim }", "{\n  use gpol.reclaim\n  place pods packed\n  when a node is lost evict\n}")
    why = "is left out: where pods stand is for the plugins of Volcano's scheduler"
    assert notes(text) == [f"policy p: place pods: {why}", f"policy p: when a node is lost: {why}"]


KEEPS = (
    "keeps workloads from eviction, which no object of Volcano does; remove it, and "
    "annotate the pods: volcano.sh/preemptable=false, or volcano.sh/cooldown-time with the plugin cdp"
)
GOES_BY = "goes by what a workload says, and Volcano has no such rule; remove it, and let an admission policy of Kubernetes"
REFUSED = {
    "protect warm-up { where victim.running < 10m }": f"protect rule warm-up: {KEEPS}",
    "priority top 9 { never evicted }": f"priority top: never evicted: {KEEPS}",
    'deny big { where workload.pods > 8 } because "x"': f"deny rule big: {GOES_BY}",
    'deny all for a because "x"': "deny rule all: has no place in a Queue; remove it, and let an admission policy of Kubernetes",
    'hold big { where workload.pods > 8 } because "x"': f"hold rule big: {GOES_BY}",
    'hold all for a because "x"': "hold rule all: has no place in a Queue; say `stopped` in the queues instead, and close the Queues",
}


@pytest.mark.parametrize("rule", REFUSED)
def test_rules_that_volcano_has_not_are_refused(rule: str) -> None:
    """With what to do instead."""
    [told] = problems(f"{PLAIN}\n{rule}\n")
    assert told.startswith(f"p.gpol:9: {REFUSED[rule]}")


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("order queues by share asc", "order queues: orders queues by share asc, and Volcano's order is fixed; leave it to the profile"),
        (
            "order workloads by pods asc",
            "order workloads: orders workloads by pods asc, and Volcano's order is fixed; leave it to the profile",
        ),
    ],
)
def test_orders_are_fixed(choice: str, told: str) -> None:
    """Only those of the profiles, which are the nearest."""
    [found] = problems(PLAIN.replace("{ use gpol.reclaim }", f"{{\n  use gpol.reclaim\n  {choice}\n}}"))
    assert found.startswith(f"p.gpol:1: policy p: {told}")


def test_a_policy_in_cycles_is_refused() -> None:
    """By itself: what else there is to say would be about another way of deciding."""
    text = PLAIN.replace("gpol.reclaim", "kueue.fair").replace('gpu" 64', 'gpu" as owned')
    [told] = problems(text)
    assert told.startswith("p.gpol:1: policy p: decide in cycles: decides in cycles, in which each queue says whom it may evict")


def test_what_is_ignored_needs_no_word() -> None:
    """A resource that no Queue names is not limited in Volcano either."""
    assert notes(PLAIN.replace("{ use gpol.reclaim }", "{\n  use gpol.reclaim\n  ignore cpu, memory\n}")) == []
