"""The schema of a scenario: the fields of a scenario and of its steps, with their types. Unknown fields are refused by name."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, cast

from ....engine.units import SECOND
from ..import_.load import KINDS_BY_KEY, ImportRefused, Problem
from ..problems import Findings
from ..read.configuration import STRATEGIES
from ..read.fields import Fields, kind_of
from ..read.objects import Configuration, PreemptionStrategy

ScenarioData = Mapping[str, Any]
"""A scenario, or one of its steps."""

_BOTH = ("name", "fair", "strategies", *KINDS_BY_KEY)
_SINGLE = (*_BOTH, "mode", "now", "incoming", "targetCQ")
_TIMELINE = (*_BOTH, "steps")
_STEP = ("at", "submit", "finish")
_LINE = ("in", "kueue")
"""The fields of a line of the corpora: a scenario, and Kueue's answer beside it."""


def refused(field: str, cause: str, remedy: str) -> ImportRefused:
    """The refusal of a scenario for one of its fields, to be raised."""
    return ImportRefused((Problem("", "scenario", field, cause, remedy),))


def opened(line: object) -> ScenarioData:
    """The scenario of a line, its own fields checked: `steps` or `incoming` says which of the two it is. Raises ImportRefused."""
    scenario = line
    if isinstance(line, dict) and "in" in line:
        _check_keys(line, _LINE, "")
        scenario = line["in"]
    if not isinstance(scenario, dict):
        raise refused("", f"is {kind_of(scenario)}", "write one object with named fields a line")
    if "steps" in scenario and "incoming" in scenario:
        raise refused("", "has both `incoming` and `steps`", "write one or the other")
    if "steps" not in scenario and "incoming" not in scenario:
        raise refused("", "has neither `incoming` nor `steps`", "write one or the other")
    _check_keys(scenario, _TIMELINE if "steps" in scenario else _SINGLE, "")
    name_of(scenario)
    if scenario.get("mode") not in (None, "preempt"):
        raise refused("mode", "is not `preempt`, the only one that there is", "leave it out")
    for key in KINDS_BY_KEY:
        listed(scenario, key)
    return scenario


def _check_keys(given: ScenarioData, known: tuple[str, ...], place: str) -> None:
    for key in sorted(set(given) - set(known)):
        close = get_close_matches(key, known, 1)
        remedy = f"did you mean `{close[0]}`?" if close else f"it has {', '.join(known)}"
        raise refused(place, f"has a field `{key[:60]}`, which counts for nothing", remedy)


def name_of(scenario: ScenarioData) -> str | None:
    """What a scenario is called; None where it has no name."""
    name = scenario.get("name")
    if name is not None and not isinstance(name, str):
        raise refused("name", f"is {kind_of(name)}", "write a text")
    return name


def listed(scenario: ScenarioData, key: str) -> list[Any]:
    """A list, which is empty where it is null or absent."""
    value = scenario.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise refused(key, f"is {kind_of(value)}", "write a list")
    return value


def texts(scenario: ScenarioData, key: str) -> list[str]:
    """A list of texts."""
    for value in listed(scenario, key):
        if not isinstance(value, str):
            raise refused(key, f"holds {kind_of(value)}", "write texts")
    return listed(scenario, key)


def text(scenario: ScenarioData, key: str) -> str:
    """A text that has to be there."""
    value = scenario.get(key)
    if not isinstance(value, str) or not value:
        raise refused(key, "is missing" if value in (None, "") else f"is {kind_of(value)}", "write a name")
    return value


def settings(scenario: ScenarioData) -> Configuration:
    """What `fair` and `strategies` say of the manager's configuration."""
    fair = scenario.get("fair")
    if fair is not None and not isinstance(fair, bool):
        raise refused("fair", f"is {kind_of(fair)}", "write true or false")
    named = texts(scenario, "strategies")
    for name in named:
        if name not in STRATEGIES:
            raise refused("strategies", f"names `{name[:60]}`", f"write {' or '.join(STRATEGIES)}")
    if named and not fair:
        raise refused("strategies", "counts for nothing without fair sharing", "write `fair: true`, or leave them out")
    return Configuration(fair=bool(fair), strategies=cast(tuple[PreemptionStrategy, ...], tuple(named)))


def steps_of(scenario: ScenarioData) -> list[ScenarioData]:
    """The steps of a history, their fields checked."""
    if scenario["steps"] is None:
        raise refused("steps", "is null", "write a list")
    steps = listed(scenario, "steps")
    for number, step in enumerate(steps):
        place = f"steps[{number}]"
        if not isinstance(step, dict):
            raise refused(place, f"is {kind_of(step)}", "write an object with `at`, `submit` and `finish`")
        _check_keys(step, _STEP, place)
    return steps


def times_of(steps: list[ScenarioData]) -> list[int]:
    """When each step is; none is before the one before it."""
    times = [moment(step, "at", f"steps[{number}].") for number, step in enumerate(steps)]
    for number, (before, after) in enumerate(pairwise(times), start=1):
        if after < before:
            raise refused(f"steps[{number}].at", "is before the step before it", "write steps in order of time")
    return times


def moment(scenario: ScenarioData, key: str, place: str = "") -> int:
    """A time that has to be there, in microseconds since the epoch. `place` is what stands before its name in what is told of it."""
    found = Findings(kind="scenario")
    said = Fields(dict(scenario), place.rstrip("."), found).time(key)
    found.check()
    if said is None:
        raise refused(f"{place}{key}", "is missing", "write it as 2026-01-02T03:04:05Z")
    return said


def lead(workloads: Iterable[tuple[int, Any]]) -> int:
    """How far the core's clock must be ahead of the scenario's, so that no workload arrives before its creation time; whole seconds.

    Kueue compares times of creation with each other, and never with its clock. `workloads` are when each comes, and its object.
    """
    late = max((created - at for at, raw in workloads for created in _created(raw)), default=0)
    return max(0, -(-late // SECOND) * SECOND)


def _created(raw: Any) -> Iterator[int]:
    """When an object was created, if that can be read. Errors are reported later, when the object is imported."""
    metadata = raw.get("metadata") if isinstance(raw, dict) else None
    said = Fields(metadata, "", Findings()).time("creationTimestamp") if isinstance(metadata, dict) else None
    if said is not None:
        yield said
