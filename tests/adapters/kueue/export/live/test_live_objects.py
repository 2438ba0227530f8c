"""The live export: all that a cluster needs for gpol, and what cannot be honoured there is refused or noted by name."""

from typing import Any

import pytest
from gpol.adapters.kueue.export.export_policy import ExportRefused
from gpol.adapters.kueue.export.live.live_objects import LiveChoices, export_live
from gpol.dsl import compile_policy

Json = dict[str, Any]

AT_ONCE = """policy "p" {
  use gpol.fair
  ignore cpu, memory
}

flavor h100 {
  gpu 16
  label gpu = "h100"
}

priority prod 1000
"""
QUEUE = """
queue a {
  owns 8 gpu on h100
  for namespace "team-a"
  local queue "team-b/gpus"
}
"""
IN_CYCLES = """policy "p" {
  use kueue.classical
  ignore cpu, memory
}

resource "nvidia.com/gpu"

flavor h100 {
  "nvidia.com/gpu" as owned
  label gpu = "h100"
}
"""


def made(text: str, **choices: Any) -> list[Json]:
    """The objects of a policy."""
    return export_live(compile_policy(text, "p.gpol"), LiveChoices(**choices)).objects


def notes(text: str, **choices: Any) -> list[str]:
    """The notes of an export."""
    return [str(note) for note in export_live(compile_policy(text, "p.gpol"), LiveChoices(**choices)).notes]


def problems(text: str, **choices: Any) -> list[str]:
    """Why an export is refused."""
    with pytest.raises(ExportRefused) as caught:
        made(text, **choices)
    return [str(problem) for problem in caught.value.problems]


def test_all_objects() -> None:
    """What others need comes first; priorities and local queues are those of the policy, without what gpol itself decides."""
    objects = made(AT_ONCE + QUEUE)

    assert [item["kind"] for item in objects] == [
        *("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
        *("AdmissionCheck", "ResourceFlavor", "WorkloadPriorityClass", "ClusterQueue", "LocalQueue", "LocalQueue"),
    ]
    by_kind = {item["kind"]: item for item in objects}
    assert by_kind["AdmissionCheck"]["spec"] == {"controllerName": "gpol.dev/policy"}
    assert by_kind["ResourceFlavor"]["spec"] == {}
    assert by_kind["WorkloadPriorityClass"]["value"] == 1000
    locals_ = [(item["metadata"]["namespace"], item["metadata"]["name"], item["spec"]) for item in objects[-2:]]
    assert locals_ == [("team-a", "default", {"clusterQueue": "a"}), ("team-b", "gpus", {"clusterQueue": "a"})]
    assert notes(AT_ONCE + QUEUE) == []


def test_names_are_chosen() -> None:
    """The check and the namespace are called as one says, wherever they are named."""
    text = str(made(AT_ONCE + QUEUE, check="blue", namespace="elsewhere"))

    assert "gpol-system" not in text
    assert "'name': 'blue'" in text
    assert "'name': 'gpol:blue'" in text
    assert "'resourceNames': ['blue']" in text


def test_rules_that_kueue_does_not_have_are_honoured() -> None:
    """gpol decides: rules, protections and amounts of any kind are no reason to refuse, nor to note."""
    rules = """
protect warm-up {
  where victim.running < 10m
}

deny big {
  where workload.gpu > 8
} because "too big"

hold later for a {
  where workload.label "tier" = "free"
} because "not now"
"""
    assert notes(AT_ONCE + QUEUE.replace("owns 8", "priority at most prod\n  owns 7500m") + rules) == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('deny them {\n  where workload.user = "bob"\n} because "x"\n', "p.gpol:18: deny rule them: where: goes by workload.user"),
        ('protect them {\n  where victim.group = "ops"\n}\n', "p.gpol:18: protect rule them: where: goes by victim.group"),
        ("priority top 2000 { never evicted }\n", "priority top: never evicted: keeps workloads of this class from eviction"),
    ],
)
def test_what_a_workload_does_not_say(rule: str, said: str) -> None:
    """Who submitted it, and which class it has: a rule about that would never hold, and is refused."""
    assert any(said in problem for problem in problems(AT_ONCE + QUEUE + rule))


PLACED = IN_CYCLES.replace("as owned\n", "as owned\n  placed on nodes\n") + 'queue a { local queue "ns/lq" }\n'
PLACED_AT_ONCE = """policy "p" {
  use gpol.fair
  ignore cpu, memory
  when a node is lost evict
}

topology fabric {
  level rack from label "rack"
  level host from node
}

flavor h100 {
  gpu from nodes where model = "h100"
  placed in fabric
}

flavor a100 {
  gpu from nodes where model = "a100"
  placed in fabric
}

queue a {
  owns 8 gpu on h100
  local queue "ns/lq"
}
"""


@pytest.mark.parametrize("policy", [PLACED, PLACED_AT_ONCE, PLACED_AT_ONCE.replace("lost evict", "lost wait")])
def test_where_pods_stand(policy: str) -> None:
    """gpol sends pods to their places, for which it follows nodes."""
    [role] = [item for item in made(policy) if item["kind"] == "ClusterRole"]
    assert any("nodes" in rule["resources"] and rule["verbs"] == ["list", "watch"] for rule in role["rules"])
    assert notes(policy, way="guard") == []


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            PLACED_AT_ONCE.replace('"a100"\n  placed in fabric', '"a100"'),
            "p.gpol:17: flavor a100: placed: gives no places and others do; a workload here asks for a place before its flavor is known; "
            "let it be placed as well, or leave `placed` out everywhere",
        ),
        (
            PLACED_AT_ONCE.replace('"a100"\n  placed in fabric', '"a100"\n  placed on nodes'),
            "p.gpol:12: flavor h100: placed: places pods by `host` and another flavor by `node`, and a workload here asks for one of them; "
            "give the lowest levels of their topologies one name; that of `placed on nodes` is `node`",
        ),
        (
            PLACED_AT_ONCE.replace("lost evict", "lost replace pods"),
            "p.gpol:1: policy p: when a node is lost: gives pods other places while their workload runs, and what Kueue was told of its "
            "pods stays as it is; write `when a node is lost evict`, or `when a node is lost wait`",
        ),
        (
            PLACED_AT_ONCE.replace("  when a node is lost evict\n", ""),
            "p.gpol:1: policy p: when a node is lost: gives pods other places while their workload runs, and what Kueue was told of its "
            "pods stays as it is; write `when a node is lost evict`, or `when a node is lost wait`",
        ),
        (
            PLACED.replace("queue a { local queue", "queue a {\n  needs check prov for nodes\n  local queue").replace(" }", "\n}"),
            "p.gpol:13: queue a: needs check: `prov` makes nodes after the pods were let run, and then it is too late to say where they "
            "stand; leave `for nodes` out, or let Kueue decide by itself",
        ),
        (
            PLACED_AT_ONCE.replace('label "rack"', 'label "a rack"'),
            "p.gpol:7: topology fabric: level: `a rack` is no label that Kubernetes allows; use letters, digits, `-`, `_` and `.`, at most "
            "63 of them",
        ),
    ],
)
def test_places_that_cannot_be_carried_out(policy: str, said: str) -> None:
    """Kueue takes one selector a pod set, before its pods start, and for good."""
    assert problems(policy) == [said]


def test_a_label_called_user_is_no_user() -> None:
    """Labels are said by a workload."""
    assert notes(AT_ONCE + QUEUE + 'deny them {\n  where workload.label "user" = "bob"\n} because "x"\n') == []


def test_the_default_priority_is_noted() -> None:
    """Kueue writes 0 where no class is named."""
    [note] = notes(AT_ONCE + QUEUE.replace("owns 8", "default priority prod\n  owns 8"))
    assert note.startswith("queue a: default priority: is 1000 here; Kueue writes 0")


def test_flavors_that_pods_cannot_be_sent_to_are_noted() -> None:
    """One of several flavors without a label: its pods may start anywhere. A single flavor needs none."""
    other = "\nflavor a100 {\n  gpu 8\n}\n"
    [note] = notes(AT_ONCE + other + QUEUE)
    assert note.startswith("flavor a100: label: has no label")
    assert notes(AT_ONCE.replace('  label gpu = "h100"\n', "") + QUEUE) == []


def test_resources_that_nobody_covers_are_noted() -> None:
    """Almost every pod asks for cpu and memory: without a quota Kueue never asks gpol about it. An option covers them."""
    text = AT_ONCE.replace("  ignore cpu, memory\n", "") + QUEUE
    assert [note.partition(": has no quota")[0] for note in notes(text)] == ["resource cpu", "resource memory"]
    assert notes(text, cover=("cpu", "memory")) == []


def test_other_checks() -> None:
    """Kueue waits for a check that the policy demands, and for gpol's own once; one on some flavors only is refused."""
    queue = 'queue a {\n  owns 8 "nvidia.com/gpu" on h100\n  local queue "t/q"\n  needs check "prov"\n  needs check "gpol"\n}\n'
    [cluster_queue] = [item for item in made(IN_CYCLES + queue) if item["kind"] == "ClusterQueue"]
    checks = cluster_queue["spec"]["admissionChecksStrategy"]["admissionChecks"]

    assert checks == [{"name": "gpol"}, {"name": "prov"}]
    assert notes(IN_CYCLES + queue) == ["queue a: needs check: prov has to be there as an AdmissionCheck: Kueue waits for it beside gpol"]
    [problem] = problems(IN_CYCLES + queue.replace('"prov"', '"prov" on h100'))
    assert "queue a: needs check: asks for prov on some flavors only" in problem


def test_names_that_kubernetes_does_not_allow() -> None:
    """Queues become objects, so their names count; cohorts and flavors do not."""
    text = AT_ONCE + 'cohort "All Of Them" {\n  queue a {\n    owns 8 gpu on h100\n    local queue "t/q"\n  }\n}\n'
    assert notes(text) == []
    assert "queue Team A: is no name that Kubernetes allows" in problems(text.replace("queue a", 'queue "Team A"'))[0]


def test_options_that_are_no_names() -> None:
    """Each is refused with its option."""
    found = problems(AT_ONCE + QUEUE, check="Gpol", namespace="a.b", cover=("no resource",))
    assert [problem.split(":")[0] for problem in found] == ["--check", "--namespace", "--cover"]


def test_too_many_resources() -> None:
    """Kueue takes 64 for one flavor."""
    cover = tuple(f"example.com/device-{number}" for number in range(60))
    assert made(AT_ONCE + QUEUE, cover=cover)
    [problem] = problems(AT_ONCE + QUEUE, cover=(*cover, "example.com/one-more"))
    assert "would have 65 resources in one ClusterQueue" in problem


def test_where_gpol_guards_only_rights_are_exported() -> None:
    """It applies the objects of the policy itself, and a policy that decides otherwise than live ones is no matter here."""
    kinds = [item["kind"] for item in made(AT_ONCE + QUEUE, way="guard")]
    assert kinds == ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]


def test_passes_are_refused() -> None:
    """Passes give each pod a node by itself, and a Workload takes one selector for a pod set."""
    text = 'policy "p" { use kai.default }\nflavor f {\n  gpu from nodes where pool = "a"\n  placed on nodes\n}\nqueue q { owns 8 gpu }\n'
    with pytest.raises(ExportRefused, match="decides by passes, which give each pod a node by itself"):
        export_live(compile_policy(text, "p.gpol"), LiveChoices())
