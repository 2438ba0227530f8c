"""The manager's Configuration: the settings that decisions depend on. Those that cannot be imported are refused."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import cast

from ....engine.units import INT64_MAX
from . import known_fields as known
from .fields import Fields, shortened
from .objects import Configuration, PreemptionStrategy, UsageConfig
from .quantity import QuantityError, parse

STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")

_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:h|ms|m|us|µs|ns|s))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|m|us|µs|ns|s)")
_UNITS = {"h": Fraction(3_600_000_000), "m": Fraction(60_000_000), "s": Fraction(1_000_000), "ms": Fraction(1000), "us": Fraction(1)}
_DEFAULT_SAMPLING = 300_000_000
_QUOTA_CHECKS = ("BlockUndeclared", "IgnoreUndeclared")
_LONGEST = 253


def configuration(whole: Fields) -> Configuration:
    """The Configuration of `config.kueue.x-k8s.io`, v1beta1 or v1beta2."""
    whole.known(known.CONFIGURATION | known.CONFIGURATION_BESIDE)
    return Configuration(
        fair=_is_fair(whole),
        strategies=_strategies(whole.sub("fairSharing")),
        usage=usage_config(whole.sub("admissionFairSharing")) if whole.has("admissionFairSharing") else None,
        excluded=_excluded(whole.sub("resources")),
        boost=_gates(whole.sub("featureGates")),
        requeue_by_creation=_by_creation(whole),
    )


def _is_old(whole: Fields) -> bool:
    return whole.text("apiVersion").endswith("/v1beta1")


def _excluded(said: Fields) -> tuple[str, ...]:
    """How the names of resources begin that are not counted, in order; what else changes the requests of workloads is refused."""
    said.known(known.CONFIGURED_RESOURCES)
    if said.rows("transformations"):
        cause = "change what workloads ask for, and are not imported"
        said.wrong("transformations", cause, "remove them if no workload of the dump needs them")
    if said.one_of("quotaCheckStrategy", _QUOTA_CHECKS, _QUOTA_CHECKS[0]) != _QUOTA_CHECKS[0]:
        cause = "is IgnoreUndeclared, which is not imported, and changes who is admitted"
        said.wrong("quotaCheckStrategy", cause, "remove it if the ClusterQueues cover all that is asked for")
    if said.rows("deviceClassMappings"):
        said.found.note(said.at("deviceClassMappings"), "is not imported: claimed devices count for what Kueue has counted already")
    prefixes = said.texts("excludeResourcePrefixes")
    for prefix in prefixes:
        if not prefix or prefix != prefix.strip() or len(prefix) > _LONGEST:
            remedy = f"write how names begin, with 1 to {_LONGEST} characters and no space at an end"
            said.wrong("excludeResourcePrefixes", f"names `{shortened(prefix)}`", remedy)
    return tuple(sorted(prefixes))


def _is_fair(whole: Fields) -> bool:
    """Whether fair sharing is on: v1beta1 says so by `enable`, v1beta2 by being there."""
    said = whole.sub("fairSharing").known(known.CONFIGURED_SHARING)
    return whole.has("fairSharing") and said.flag("enable", not _is_old(whole))


def _strategies(said: Fields) -> tuple[PreemptionStrategy, ...]:
    """The preemption strategies in order; none where Kueue's default list counts."""
    strategies = said.texts("preemptionStrategies")
    for strategy in strategies:
        if strategy not in STRATEGIES:
            said.wrong("preemptionStrategies", f"names `{strategy[:60]}`", f"write {' or '.join(STRATEGIES)}")
    return cast(tuple[PreemptionStrategy, ...], tuple(strategy for strategy in strategies if strategy in STRATEGIES))


def usage_config(said: Fields) -> UsageConfig:
    """Admission fair sharing."""
    said.known(known.CONFIGURED_USAGE)
    weights = said.sub("resourceWeights")
    found = [(resource, _weight(weights, resource)) for resource in sorted(weights.data)]
    half_life, sampling = _duration(said, "usageHalfLifeTime", 0), _duration(said, "usageSamplingInterval", _DEFAULT_SAMPLING)
    return UsageConfig(half_life, sampling or _DEFAULT_SAMPLING, tuple(found))


def _weight(weights: Fields, resource: str) -> Fraction:
    value = weights.data[resource]
    try:
        weight = parse(Decimal(repr(value)) if isinstance(value, float) else value)
    except QuantityError as error:
        weights.wrong(resource, str(error), "write a number such as 1 or 0.5")
        return Fraction(1)
    if weight < 0 or max(weight.numerator, weight.denominator) > INT64_MAX:
        weights.wrong(resource, "is below 0" if weight < 0 else "is no number of 64 bits", "write 0 or more, with few digits")
        return Fraction(1)
    return weight


def _duration(said: Fields, name: str, default: int) -> int:
    """A duration as Go writes it, in microseconds."""
    text = said.text(name)
    if text in ("", "0"):
        return 0 if text else default
    if len(text) > 64 or not _DURATION.fullmatch(text):
        said.wrong(name, f"`{text[:40]}` is no duration", "write it as 10s, 5m or 168h")
        return default
    total = sum((Fraction(number) * _UNITS.get(unit, _UNITS["us"]) for number, unit in _PART.findall(text) if unit != "ns"), Fraction(0))
    if total.denominator != 1 or total > INT64_MAX:
        said.wrong(name, f"`{text}` is no whole number of microseconds of 64 bits", "round it")
        return default
    return int(total)


def _gates(said: Fields) -> bool:
    """Whether the priority boost is on; every other gate is reported, as gpol decides by their defaults."""
    for gate in sorted(said.data):
        if gate != "PriorityBoost":
            said.found.note(said.at(gate), "is not imported: gpol decides by Kueue's default feature gates")
    return said.flag("PriorityBoost", False)


def _by_creation(whole: Fields) -> bool:
    """Whether what was evicted because its pods were not ready in time counts as waiting since its creation."""
    ready = whole.sub("waitForPodsReady").known(known.CONFIGURED_READINESS)
    waits = ready.flag("enable", not _is_old(whole)) and whole.has("waitForPodsReady")
    if ready.flag("blockAdmission", waits and _is_old(whole)) and waits:
        cause = "is on, which is not imported, and changes who is admitted"
        ready.wrong("blockAdmission", cause, "turn it off to import the rest (v1beta1 has it on where it says nothing)")
    if waits:
        ready.found.note("waitForPodsReady", "is not imported: nobody is evicted because of pods that are not ready")
    requeuing = ready.sub("requeuingStrategy").known(known.CONFIGURED_REQUEUING)
    return requeuing.one_of("timestamp", ("Eviction", "Creation"), "Eviction") == "Creation" and waits
