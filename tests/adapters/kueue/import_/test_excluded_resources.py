"""Resources that the Configuration excludes: ignored by the policy, whoever asks for them or holds them."""

from gpol.adapters.kueue.export.export_policy import export
from gpol.dsl import check

from ..conftest import Json, Maker
from ..exports import opened

NIC = "example.com/nic"


def excluding(*prefixes: str) -> Json:
    """A Configuration that leaves out resources whose names begin so."""
    said = {"excludeResourcePrefixes": list(prefixes)}
    return {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "resources": said}


def asking(kueue: Maker, *resources: str) -> Json:
    """A workload that asks for a cpu and these."""
    return kueue.work(sets=[kueue.pods(requests={"cpu": "1", **dict.fromkeys(resources, "1")})])


def test_what_workloads_ask_for_is_ignored_by_name(kueue: Maker) -> None:
    """Kueue goes by how names begin, a policy by whole names: those of the dump, and the beginning itself, are ignored."""
    text = kueue.text(kueue.queue(), kueue.flavor(), asking(kueue, NIC, "example.org/fpga"), excluding("example.com/"))
    assert '  ignore "example.com/", "example.com/nic"\n' in text
    assert 'resource "example.com/nic"\n' in text
    assert "fpga" not in text


def test_the_beginnings_come_back(kueue: Maker) -> None:
    """An export writes what was imported; a beginning within another one adds nothing."""
    objects = [kueue.queue(), kueue.flavor(), asking(kueue, NIC), excluding("memory", "example.com/n", "example.com/")]
    for profile in ("kueue.classical", "gpol.fair"):
        graph = check(kueue.text(*objects, profile=profile), "kueue.gpol").graph
        assert graph is not None
        made = opened(export(graph).objects[-1])
        assert made["resources"] == {"excludeResourcePrefixes": ["example.com/", "memory"]}


def test_what_is_ignored_is_told(kueue: Maker) -> None:
    """A policy does not ignore what comes later, unless it is named."""
    notes = kueue.notes(kueue.queue(), kueue.flavor(), excluding("example.com/"))
    assert notes == [
        "Configuration: resources.excludeResourcePrefixes: names `example.com/`: ignored is what this dump has that begins so; "
        "a policy has to name whatever else comes"
    ]


def test_a_quota_of_an_excluded_resource_is_refused(kueue: Maker) -> None:
    """It would count for nothing in Kueue, and count in gpol; a quota of pods counts all the same, as pods are counted after that."""
    groups = [kueue.group("cpu pods", base={"nominalQuota": "8"})]
    assert kueue.problems(kueue.queue(groups=groups), kueue.flavor(), excluding("c")) == [
        "Configuration: resources.excludeResourcePrefixes: leaves out cpu, of which there are quotas: "
        "in Kueue they would count for nothing; take the resource out of the quotas, or do not exclude it"
    ]
    assert "  ignore pod\n" in kueue.text(kueue.queue(groups=groups), kueue.flavor(), excluding("pod"))
    assert "ignore" not in kueue.text(kueue.queue(groups=groups), kueue.flavor(), excluding("pods"))


def test_what_is_held_of_an_excluded_resource_is_left_out(kueue: Maker) -> None:
    """A workload that was admitted before the resource was excluded is charged for the rest."""
    held = kueue.work(status=kueue.admitted(usage={"cpu": "1", NIC: "2"}))
    made = kueue.load(kueue.queue(), kueue.flavor(), held, excluding("example.com/"))
    admission = made.objects.workloads[0].admission
    assert admission is not None
    assert [(given.flavors, given.usage) for given in admission.assignments] == [({"cpu": "base"}, {"cpu": 1000})]
    told = "holds resources that the Configuration excludes: as nobody has a quota of them, they are left out"
    assert f"Workload ns/w: status.admission: {told}" in map(str, made.notes)
    kueue.text(kueue.queue(), kueue.flavor(), held, excluding("example.com/"))
