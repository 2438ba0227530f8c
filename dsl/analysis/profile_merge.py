"""A policy with the profile it uses: choices and rules, the policy's own in place of the profile's."""

from dataclasses import dataclass, field

from ..syntax import tree
from ..syntax.parser import Parsed


@dataclass(slots=True)
class Merged:
    """Everything a policy says. `origin` tells where an item comes from, by identity."""

    header: tree.Header | None = None
    choices: dict[str, tree.Choice] = field(default_factory=dict)
    resources: list[tree.ResourceItem] = field(default_factory=list)
    topologies: list[tree.TopologyItem] = field(default_factory=list)
    flavors: list[tree.FlavorItem] = field(default_factory=list)
    priorities: list[tree.PriorityItem] = field(default_factory=list)
    cohorts: list[tree.CohortItem] = field(default_factory=list)
    queues: list[tree.QueueItem] = field(default_factory=list)
    preempt: list[tree.PreemptItem] = field(default_factory=list)
    protect: list[tree.ProtectItem] = field(default_factory=list)
    admission: list[tree.AdmissionItem] = field(default_factory=list)
    tests: list[tree.PolicyTest] = field(default_factory=list)
    headers: list[tree.Header] = field(default_factory=list)
    origin: dict[int, Parsed] = field(default_factory=dict)


def choice_key(choice: tree.Choice) -> str:
    """What a choice is about: two with one key cannot both hold."""
    match choice:
        case tree.Order(subject):
            return "order workloads" if subject == "workloads" else "order queues"
        case tree.PreemptBy() | tree.PreemptWay():
            return "preempt by"
        case tree.FlavorChoice(occasion):
            return f"when {occasion}"
        case tree.ShareChoice():
            return "share"
        case tree.PlacePods() | tree.PlaceBy():
            return "PlacePods"
        case tree.WithinChoice(occasion):
            return f"{occasion} within"
        case _:
            return type(choice).__name__


def merge(policy: Parsed, profile: Parsed | None) -> Merged:
    """Merge a policy over its profile. Of duplicates within one file the first one counts here; the checker reports them."""
    merged = Merged()
    own = {key for item in policy.tree.items if (key := _replaces(item)) is not None}
    if profile is not None:
        for item in profile.tree.items:
            if _replaces(item) not in own:
                _add(merged, item, profile)
    for item in policy.tree.items:
        _add(merged, item, policy)
    merged.header = next((item for item in policy.tree.items if isinstance(item, tree.Header)), None)
    return merged


def _replaces(item: tree.Item) -> tuple[str, str] | None:
    """Kind and name of an item that a policy may say instead of its profile; None for what is not replaced by name."""
    match item:
        case tree.PriorityItem(name):
            return "priority", name.text
        case tree.PreemptItem(name):
            return "preempt", name.text
        case tree.ProtectItem(name):
            return "protect", name.text
        case tree.AdmissionItem(action, name):
            return action, name.text
        case _:
            return None


def _add(merged: Merged, item: tree.Item, parsed: Parsed) -> None:
    merged.origin[id(item)] = parsed
    match item:
        case tree.Header():
            merged.headers.append(item)
            _choose(merged, item, parsed)
        case tree.ResourceItem():
            merged.resources.append(item)
        case tree.TopologyItem():
            merged.topologies.append(item)
        case tree.FlavorItem():
            merged.flavors.append(item)
        case tree.PriorityItem():
            merged.priorities.append(item)
        case tree.CohortItem():
            merged.cohorts.append(item)
        case tree.QueueItem():
            merged.queues.append(item)
        case tree.PreemptItem():
            merged.preempt.append(item)
        case tree.ProtectItem():
            merged.protect.append(item)
        case tree.AdmissionItem():
            merged.admission.append(item)
        case tree.PolicyTest():
            merged.tests.append(item)


def _choose(merged: Merged, header: tree.Header, parsed: Parsed) -> None:
    """Add the choices of a header: the first of each kind in a file, which replaces that of the file before."""
    for choice in header.choices:
        key = choice_key(choice)
        before = merged.choices.get(key)
        if before is None or merged.origin[id(before)] is not parsed:
            merged.choices[key] = choice
            merged.origin[id(choice)] = parsed
