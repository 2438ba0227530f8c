"""What a cluster with Volcano needs so that gpol works there: least rights, and PodGroups that say what they ask for."""

from typing import Any

import pytest
from commands import Gpol
from gpol.adapters.kueue.problems import ExportRefused
from gpol.adapters.volcano.export.live_for_volcano import VolcanoLiveChoices, export_live_for_volcano
from gpol.dsl import compile_policy

Json = dict[str, Any]
TEXT = (
    'policy "p" { use gpol.fair }\nflavor f { gpu 8 }\nflavor g { gpu 8 }\n'
    "queue nlp { owns 8 gpu on f }\nqueue default { owns 8 gpu on g }\n"
)


FROM_NODES = TEXT.replace("flavor f { gpu 8 }", 'flavor f { gpu from nodes where model = "f" }')


def made(text: str = TEXT, **choices: Any) -> dict[tuple[str, str], Json]:
    """The objects by kind and name."""
    exported = export_live_for_volcano(compile_policy(text, "p.gpol"), VolcanoLiveChoices(**choices))
    return {(item["kind"], item["metadata"]["name"]): item for item in exported.objects}


def verbs(objects: dict[tuple[str, str], Json], role: str) -> dict[str, list[str]]:
    """What a ClusterRole allows, by resource, with the one object that it is about."""
    rules = objects["ClusterRole", role]["rules"]
    return {"/".join([resource, *rule.get("resourceNames", ())]): rule["verbs"] for rule in rules for resource in rule["resources"]}


def test_the_rights_to_decide() -> None:
    """Everything is only read, but for Events and its own Lease; nodes are read only where the policy counts them."""
    found = verbs(made(), "gpol:volcano")
    read = {name: ["list", "watch"] for name in ("podgroups", "namespaces")}
    assert found == {**read, "namespaces/kube-system": ["get"], "events": ["create"]}
    assert verbs(made(FROM_NODES), "gpol:volcano") == {**found, "nodes": ["list", "watch"]}
    assert "tokenreviews" in verbs(made(reviews=True), "gpol:volcano")


def test_where_pods_stand() -> None:
    """Volcano places pods by itself: a flavor that gives places is refused where gpol decides."""
    placed = FROM_NODES.replace('"f" }', '"f"\n  placed on nodes\n}')
    with pytest.raises(ExportRefused) as caught:
        made(placed)
    assert [str(problem).partition(";")[0] for problem in caught.value.problems] == [
        "p.gpol:2: flavor f: placed: says where pods stand, and Volcano's scheduler finds a node for each pod by itself"
    ]


def test_the_rights_to_guard() -> None:
    """Queues and PriorityClasses are applied, and deleted only where that is wanted; no admission policy comes with it."""
    found = made(way="guard")
    assert verbs(found, "gpol:volcano-guard")["queues"] == ["get", "list", "watch", "create", "patch"]
    assert "delete" in verbs(made(way="guard", deletes=True), "gpol:volcano-guard")["priorityclasses"]
    assert all(not kind.startswith("Validating") for kind, _ in found)


def test_pod_groups_have_to_say_what_they_ask_for() -> None:
    """Those in the policy's queues, also the one that is taken where none is said; status writes to older ones go on."""
    found = made()
    policy = found["ValidatingAdmissionPolicy", "gpol-volcano-min-resources"]["spec"]
    assert policy["matchConditions"][0]["expression"].endswith("in ['default', 'nlp']")
    assert "object.spec.queue : 'default'" in policy["matchConditions"][0]["expression"]
    assert policy["matchConstraints"]["resourceRules"][0]["operations"] == ["CREATE", "UPDATE"]
    binding = found["ValidatingAdmissionPolicyBinding", "gpol-volcano-min-resources"]["spec"]
    assert binding == {"policyName": "gpol-volcano-min-resources", "validationActions": ["Deny"]}


@pytest.mark.parametrize("name", ["it's", "a\\\\b", "NLP", "queue/a b"])
def test_a_queue_that_no_pod_group_can_name(name: str) -> None:
    """It is refused with a name near to it: Kubernetes has no such Queue, and it would break the expressions of the admission policy."""
    graph = compile_policy(TEXT + f'queue "{name}" {{ owns nothing }}\n', "p.gpol")
    with pytest.raises(ExportRefused, match=r"is no name that Kubernetes allows.*call it `[a-z0-9-]+`, for instance"):
        export_live_for_volcano(graph, VolcanoLiveChoices())


def test_flavors_are_noted() -> None:
    """Volcano places pods wherever they fit."""
    exported = export_live_for_volcano(compile_policy(TEXT, "p.gpol"), VolcanoLiveChoices())
    [note] = map(str, exported.notes)
    assert note.startswith("flavor f, g: gpu: has this resource on several flavors")


def test_who_has_submitted_is_not_said() -> None:
    """A rule that goes by the user would never hold, so it is refused."""
    graph = compile_policy(TEXT + 'deny them { where workload.user = "x" } because "no"\n', "p.gpol")
    with pytest.raises(ExportRefused, match="does not say who has submitted it"):
        export_live_for_volcano(graph, VolcanoLiveChoices())
    assert export_live_for_volcano(graph, VolcanoLiveChoices(way="guard")).objects


def test_a_namespace_that_is_none() -> None:
    """It is refused."""
    with pytest.raises(ExportRefused, match="no name of a namespace"):
        made(namespace="A b")


def test_the_command(gpol: Gpol) -> None:
    """`gpol export volcano --live` prints the objects; options without effect are refused."""
    with open("p.gpol", "w", encoding="utf-8") as file:
        file.write(TEXT)
    assert "kind: ValidatingAdmissionPolicy" in gpol("export", "volcano", "p.gpol", "--live").out
    assert "gpol:volcano-guard" in gpol("export", "volcano", "p.gpol", "--live", "--way", "guard", "--may-delete").out
    for options in (["--way", "guard"], ["--live", "--gpu", "x"], ["--live", "--sum-flavors"], ["--live", "--may-delete"]):
        assert gpol("export", "volcano", "p.gpol", *options).code == 3
