"""A policy with the profile it uses: choices and rules, the policy's own in place of the profile's."""

from dataclasses import dataclass, field
from typing import TypeVar

from . import tree
from .parser import Parsed

Rule = tree.Preempt | tree.Protect | tree.Admission
R = TypeVar("R", tree.Preempt, tree.Protect, tree.Admission, tree.Priority)


@dataclass(slots=True)
class Merged:
    """Everything a policy says. `origin` tells where an item comes from, by identity."""

    header: tree.Header | None = None
    choices: dict[str, tree.Choice] = field(default_factory=dict)
    resources: list[tree.Resource] = field(default_factory=list)
    flavors: list[tree.Flavor] = field(default_factory=list)
    priorities: list[tree.Priority] = field(default_factory=list)
    cohorts: list[tree.Cohort] = field(default_factory=list)
    queues: list[tree.Queue] = field(default_factory=list)
    preempt: list[tree.Preempt] = field(default_factory=list)
    protect: list[tree.Protect] = field(default_factory=list)
    admission: list[tree.Admission] = field(default_factory=list)
    tests: list[tree.PolicyTest] = field(default_factory=list)
    headers: list[tree.Header] = field(default_factory=list)
    origin: dict[int, Parsed] = field(default_factory=dict)


def choice_key(choice: tree.Choice) -> str:
    """What a choice is about: two with one key cannot both hold."""
    match choice:
        case tree.Order(subject):
            return f"order {subject}"
        case tree.FlavorChoice(occasion):
            return f"when {occasion}"
        case _:
            return type(choice).__name__


def merge(policy: Parsed, profile: Parsed | None) -> Merged:
    """Put a policy on top of its profile. Doubles within one file are the checker's to find; the first one counts here."""
    merged = Merged()
    if profile is not None:
        _add(merged, profile, own=False)
    _add(merged, policy, own=True)
    return merged


def _add(merged: Merged, parsed: Parsed, own: bool) -> None:
    seen: set[str] = set()
    for item in parsed.tree.items:
        merged.origin[id(item)] = parsed
        match item:
            case tree.Header():
                merged.headers.append(item)
                if own and merged.header is None:
                    merged.header = item
                for choice in item.choices:
                    if choice_key(choice) not in seen:
                        seen.add(choice_key(choice))
                        merged.choices[choice_key(choice)] = choice
                        merged.origin[id(choice)] = parsed
            case tree.Resource():
                merged.resources.append(item)
            case tree.Flavor():
                merged.flavors.append(item)
            case tree.Priority():
                _replace(merged.priorities, item, merged, parsed)
            case tree.Cohort():
                merged.cohorts.append(item)
            case tree.Queue():
                merged.queues.append(item)
            case tree.Preempt():
                _replace(merged.preempt, item, merged, parsed)
            case tree.Protect():
                _replace(merged.protect, item, merged, parsed)
            case tree.Admission():
                _replace(merged.admission, item, merged, parsed)
            case tree.PolicyTest():
                merged.tests.append(item)


def _replace(items: list[R], item: R, merged: Merged, parsed: Parsed) -> None:
    """Add an item, in place of one of the same name from another file."""
    items[:] = [other for other in items if other.name != item.name or merged.origin[id(other)] is parsed]
    items.append(item)
