"""The policy around the tree: header, flavors, priorities, inactive queues."""

import pytest
from gpol.adapters.kueue.policy_names import kueue_name

from ..conftest import Maker


def test_a_small_cluster_reads_like_this(kueue: Maker) -> None:
    """The whole text of a policy, as a person gets to see it."""
    text = kueue.text(
        kueue.queue(
            "nlp", [kueue.group("cpu nvidia.com/gpu", h100={"nominalQuota": "8"}, spot={"nominalQuota": "0"})], cohortName="research"
        ),
        kueue.flavor("h100", nodeLabels={"gpu": "h100"}),
        kueue.flavor("spot", nodeTaints=[{"key": "spot", "effect": "NoSchedule"}], tolerations=[{"key": "spot", "operator": "Exists"}]),
        kueue.obj("WorkloadPriorityClass", "high", value=100),
        kueue.local("jobs", "nlp"),
        profile="kueue.fair",
        name="acme",
    )
    assert text == (
        'policy "acme" {\n  use kueue.fair\n}\n\n'
        'resource "nvidia.com/gpu"\n\n'
        'flavor h100 {\n  cpu, "nvidia.com/gpu" as owned\n  label gpu = "h100"\n}\n\n'
        'flavor spot {\n  cpu, "nvidia.com/gpu" as owned\n  taint spot NoSchedule\n  tolerates spot\n}\n\n'
        "priority high 100\n\n"
        "cohort research {\n"
        "  queue nlp {\n"
        '    serves cpu, "nvidia.com/gpu" from h100, spot\n'
        "    owns 8 cpu on h100\n"
        '    owns 8 "nvidia.com/gpu" on h100\n'
        "    owns 0 cpu on spot\n"
        '    owns 0 "nvidia.com/gpu" on spot\n'
        '    local queue "ns/jobs"\n'
        "  }\n"
        "}\n"
    )


def test_the_order_of_a_dump_means_nothing(kueue: Maker) -> None:
    """Objects in another order are the same policy."""
    objects = [
        kueue.queue("b"),
        kueue.queue("a", cohortName="c"),
        kueue.flavor(),
        kueue.flavor("x"),
        kueue.obj("Cohort", "c"),
        kueue.local(),
    ]
    assert kueue.text(*objects) == kueue.text(*reversed(objects))


def test_flavors_that_nobody_uses_or_defines(kueue: Maker) -> None:
    """One without quotas is still there, with nothing owned; one that is only named is missing, and its queue admits nothing."""
    unused, named = kueue.flavor("unused", nodeLabels={"a": "1"}), kueue.queue(groups=[kueue.group(gone={"nominalQuota": "1"})])
    text = kueue.text(unused, named)
    assert 'flavor unused {\n  cpu as owned\n  label a = "1"\n}' in text
    assert "flavor gone {\n  cpu as owned\n  missing\n}" in text
    told = "ResourceFlavor gone: is not there: the ClusterQueues that name it admit nothing"
    assert kueue.notes(unused, named) == [told]
    at_once = kueue.text(unused, named, profile="gpol.fair")
    assert "missing" not in at_once
    assert 'hold inactive-1 for a because "inactive: flavor gone is not there"' in at_once


def test_what_runs_on_a_flavor_without_quota_can_be_charged(kueue: Maker) -> None:
    """A workload that was admitted before a quota went away still has its resource in the policy."""
    work = kueue.work(status=kueue.admitted(flavor="old", usage={"memory": "1"}))
    assert "flavor old {\n  memory as owned\n  missing\n}" in kueue.text(kueue.queue(), kueue.flavor(), work)


def test_tolerations_of_every_form(kueue: Maker) -> None:
    """With and without key, value and effect."""
    tolerations = [
        {"operator": "Exists"},
        {"operator": "Exists", "effect": "NoExecute"},
        {"key": "a", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "a", "value": "1"},
        {"key": "a"},
    ]
    text = kueue.text(kueue.queue(), kueue.flavor(tolerations=tolerations))
    lines = [line.strip() for line in text.splitlines() if "tolerates" in line]
    assert lines == [
        "tolerates anything",
        "tolerates anything NoExecute",
        "tolerates a NoSchedule",
        'tolerates a = "1"',
        'tolerates a = ""',
    ]


def test_names_that_gpol_needs_or_that_clash(kueue: Maker) -> None:
    """A cohort called as a ClusterQueue, or as the root, gets a prefix that no name of Kueue has; the way back is shown."""
    objects = [kueue.queue("x", cohortName="x"), kueue.queue("cluster", cohortName="cluster"), kueue.flavor()]
    text = kueue.text(*objects)
    assert 'cohort "cohort/x" {\n  queue "x" {' in text
    assert 'cohort "cohort/cluster" {\n  queue "queue/cluster" {' in text
    assert [kueue_name(name) for name in ("cohort/x", "x", "queue/cluster", "cohort/cluster")] == ["x", "x", "cluster", "cluster"]


@pytest.mark.parametrize(
    ("checks", "reason"),
    [
        ([], "inactive: admission check prov is not there"),
        (["False"], "inactive: admission check prov is not active"),
        (["True"], None),
    ],
)
def test_queues_whose_check_is_not_there_are_held(checks: list[str], reason: str | None, kueue: Maker) -> None:
    """A check that is missing or not active makes its ClusterQueues inactive: a hold rule says so."""
    given = [kueue.obj("AdmissionCheck", "prov", status={"conditions": [kueue.true("Active", status=said)]}) for said in checks]
    objects = [kueue.queue(admissionChecks=["prov"]), kueue.queue("b", admissionChecks=["prov"]), kueue.flavor(), *given]
    text = kueue.text(*objects)
    assert kueue.notes(*objects) == ([] if reason is None else [f"ClusterQueue a, b: is held, as in Kueue: {reason}"])
    assert (f'hold inactive-1 for a, b because "{reason}"' in text) is (reason is not None)
    assert text.count("hold ") == (reason is not None)


def test_queues_that_kueue_itself_calls_inactive(kueue: Maker) -> None:
    """For a reason that no other object tells, its word is taken; for one that others tell, they are asked."""
    told = kueue.queue("a")
    told["status"] = {"conditions": [{"type": "Active", "status": "False", "reason": "MultipleMultiKueueAdmissionChecks"}]}
    derived = kueue.queue("b")
    derived["status"] = {"conditions": [{"type": "Active", "status": "False", "reason": "FlavorNotFound"}]}
    going = kueue.queue("c")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    holds = [line for line in kueue.text(told, derived, going, kueue.flavor()).splitlines() if line.startswith("hold")]
    assert holds == [
        'hold inactive-1 for a because "inactive: Kueue says MultipleMultiKueueAdmissionChecks"',
        'hold inactive-2 for c because "inactive: it is being deleted"',
    ]


def test_a_queue_that_serves_nothing_is_held(kueue: Maker) -> None:
    """Without resource groups it admits nothing, whatever others have."""
    text = kueue.text(kueue.queue("empty", []), kueue.queue(), kueue.flavor())
    assert "queue empty { serves nothing }" in text


def test_a_resource_called_gpu_keeps_its_amount(kueue: Maker) -> None:
    """gpol's own `gpu` needs no declaration; Kueue's whole ones stay whole."""
    text = kueue.text(kueue.queue(groups=[kueue.group("gpu", base={"nominalQuota": "5"})]), kueue.flavor())
    assert "owns 5 gpu on base" in text
    assert "resource" not in text


def test_usage_cannot_be_said_at_once(kueue: Maker) -> None:
    """Admission fair sharing is left out of a policy that decides at once, and named."""
    said = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "admissionFairSharing": {"usageHalfLifeTime": "1h"}}
    assert "usage" not in kueue.text(kueue.queue(), kueue.flavor(), said, profile="gpol.fair")
    notes = kueue.notes(kueue.queue(), kueue.flavor(), said, profile="gpol.fair")
    assert notes == ["Configuration: admissionFairSharing: cannot be said in a policy that decides at once: it is left out"]
