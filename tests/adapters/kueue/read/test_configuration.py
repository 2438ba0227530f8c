"""The manager's Configuration."""

from fractions import Fraction
from typing import Any

import pytest
from gpol.adapters.kueue.read.objects import Configuration, UsageConfig

from ..conftest import Maker

SECOND = 1_000_000


def read(kueue: Maker, version: str = "v1beta2", **said: Any) -> Configuration:
    """A Configuration."""
    made = kueue.load({"apiVersion": f"config.kueue.x-k8s.io/{version}", "kind": "Configuration", **said}).objects.configuration
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("version", "said", "fair"),
    [
        ("v1beta2", {}, False),
        ("v1beta2", {"fairSharing": {}}, True),
        ("v1beta1", {"fairSharing": {}}, False),
        ("v1beta1", {"fairSharing": {"enable": False}}, False),
        ("v1beta1", {"fairSharing": {"enable": True}}, True),
    ],
)
def test_when_sharing_is_fair(version: str, said: dict[str, Any], fair: bool, kueue: Maker) -> None:
    """v1beta2 turns it on by saying anything of it, v1beta1 by `enable`."""
    assert read(kueue, version, **said).fair is fair


def test_the_profile_follows_the_configuration(kueue: Maker) -> None:
    """Where the caller names none; strategies other than Kueue's default ones are written."""
    said = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    assert "use kueue.classical" in kueue.text(kueue.queue(), kueue.flavor(), profile=None)
    strategies = {"fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]}}
    text = kueue.text(kueue.queue(), kueue.flavor(), said | strategies, profile=None)
    assert "use kueue.fair\n  preempt fairly by initial share\n" in text
    both = {"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}}
    assert "preempt" not in kueue.text(kueue.queue(), kueue.flavor(), said | both, profile=None)


@pytest.mark.parametrize(
    ("written", "micros"),
    [
        ("10s", 10 * SECOND),
        ("1h30m0s", 5400 * SECOND),
        ("168h", 604_800 * SECOND),
        ("1.5h", 5400 * SECOND),
        ("250ms", SECOND // 4),
        ("0", 0),
    ],
)
def test_durations_are_gos(written: str, micros: int, kueue: Maker) -> None:
    """Every form that Go writes has its microseconds."""
    assert read(kueue, admissionFairSharing={"usageHalfLifeTime": written}).usage == UsageConfig(micros, 300 * SECOND, ())


def test_usage_is_weighed(kueue: Maker) -> None:
    """Weights are exact numbers; usage goes to the header, for resources that there are."""
    usage = {"usageHalfLifeTime": "10s", "usageSamplingInterval": "1s", "resourceWeights": {"memory": 0.1, "cpu": 2, "odd": 1}}
    said = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "admissionFairSharing": usage}
    made = kueue.load(said).objects.configuration
    assert made is not None
    assert made.usage == UsageConfig(10 * SECOND, SECOND, (("cpu", Fraction(2)), ("memory", Fraction(1, 10)), ("odd", Fraction(1))))
    queue = kueue.queue(admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})
    text = kueue.text(queue, kueue.flavor(), said)
    assert "  usage halves every 10s, sampled every 1s\n  usage weighs cpu 2\n" in text
    assert "  admits by usage\n" in text
    assert [note for note in kueue.notes(queue, kueue.flavor(), said) if "weighs" in note] == [
        f"Configuration: admissionFairSharing.resourceWeights.{resource}: weighs what nobody has a quota of: it is left out"
        for resource in ("memory", "odd")
    ]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"fairSharing": {"preemptionStrategies": ["Luck"]}}, "names `Luck`; write LessThanOrEqualToFinalShare or LessThanInitialShare"),
        ({"resources": {"transformations": [{"input": "x"}]}}, "resources.transformations: change what workloads ask for"),
        ({"resources": {"quotaCheckStrategy": "IgnoreUndeclared"}}, "resources.quotaCheckStrategy: is IgnoreUndeclared, which is not"),
        ({"resources": {"quotaCheckStrategy": "Maybe"}}, "is `Maybe`; write one of BlockUndeclared, IgnoreUndeclared"),
        ({"resources": {"excludeResourcePrefixes": [""]}}, "resources.excludeResourcePrefixes: names ``; write how names begin"),
        ({"waitForPodsReady": {"blockAdmission": True}}, "waitForPodsReady.blockAdmission: is on, which is not imported"),
        ({"waitForPodsReady": {"requeuingStrategy": {"timestamp": "Now"}}}, "is `Now`; write one of Eviction, Creation"),
        ({"admissionFairSharing": {"usageHalfLifeTime": "a week"}}, "`a week` is no duration"),
        ({"admissionFairSharing": {"usageHalfLifeTime": "99999999999h"}}, "is no whole number of microseconds of 64 bits"),
        ({"admissionFairSharing": {"resourceWeights": {"cpu": -1}}}, "resourceWeights.cpu: is below 0"),
        ({"admissionFairSharing": {"resourceWeights": {"cpu": 2**63}}}, "resourceWeights.cpu: is no number of 64 bits"),
        ({"admissionFairSharing": {"resourceWeights": {"cpu": "x"}}}, 'resourceWeights.cpu: "x" is no quantity'),
        ({"featureGates": {"PriorityBoost": 1}}, "featureGates.PriorityBoost: is the number 1, not true or false"),
    ],
)
def test_what_would_change_decisions_is_refused(said: dict[str, Any], why: str, kueue: Maker) -> None:
    """What decisions depend on and cannot be imported is no note but a problem."""
    problems = kueue.problems({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **said})
    assert any(why in problem for problem in problems), problems


def test_the_rest_is_noted_or_beside_the_point(kueue: Maker) -> None:
    """Gates and unknown fields are named; ports and webhooks are nobody's business here."""
    ready = {"enable": True, "blockAdmission": False, "new": 1}
    resources = {"deviceClassMappings": [{"name": "x"}], "quotaCheckStrategy": "BlockUndeclared"}
    said = {
        "featureGates": {"PriorityBoost": True, "Odd": False},
        "waitForPodsReady": ready,
        "novelty": 1,
        "health": {},
        "resources": resources,
    }
    made = kueue.load({"apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration", **said})
    assert made.objects.configuration is not None
    assert made.objects.configuration.boost
    assert [note.field for note in made.notes] == [
        "featureGates.Odd",
        "novelty",
        "resources.deviceClassMappings",
        "waitForPodsReady",
        "waitForPodsReady.new",
    ]


@pytest.mark.parametrize(
    ("version", "said", "creation"),
    [
        ("v1beta2", {}, True),
        ("v1beta1", {"enable": True, "blockAdmission": False}, True),
        ("v1beta1", {"blockAdmission": True}, False),
        ("v1beta1", {"enable": False}, False),
    ],
)
def test_when_pods_are_waited_for(version: str, said: dict[str, Any], creation: bool, kueue: Maker) -> None:
    """v1beta2 does so where it says anything of it, v1beta1 where it says `enable`; else nothing of it counts."""
    ready = {"requeuingStrategy": {"timestamp": "Creation"}, **said}
    assert read(kueue, version, waitForPodsReady=ready).requeue_by_creation is creation


def test_v1beta1_blocks_admission_where_it_says_nothing(kueue: Maker) -> None:
    """Its default is the other way round than that of v1beta2."""
    said = {"apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration", "waitForPodsReady": {"enable": True}}
    assert kueue.problems(said)[0].startswith("Configuration: waitForPodsReady.blockAdmission: is on, which is not imported")


def test_there_is_one_configuration(kueue: Maker) -> None:
    """Two of them cannot both count."""
    said = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    assert kueue.problems(said, said) == ["Configuration: is there twice; keep one"]
