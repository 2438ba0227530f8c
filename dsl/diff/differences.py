"""What differs between the meanings of two policies: per subject and thing, what became larger or smaller, is new or gone.

Graphs are compared, never texts: layout, comments, the order of declarations and another way of writing the same make no difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, get_args

from ...engine.policy_graph import Level, Node, PolicyGraph, Source
from . import queue_statements as places
from . import rule_statements as rules
from . import statements_of_passes as passes
from .statements import Entry, Subject, SubjectKind, Table, Thing, flavor, policy, priority, spoken, topology

Direction = Literal["larger", "smaller", "new", "gone", "renamed", "changed"]
"""From old to new. `changed`: there is no order between the two, or none that is certain."""

_MIRRORED: dict[Direction, Direction] = {"larger": "smaller", "smaller": "larger", "new": "gone", "gone": "new"}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: of which subject, in what, and how. `old` and `new` are texts; empty where the subject is not there.

    `thing` is None where the subject itself is new, gone or renamed. `fields` are those of the graph that say it, `slot` is the flavor and
    resource it is about, `of` the part of which the thing is said (see `Statement`). `note` is what may be but is not certain.
    """

    subject: Subject
    thing: Thing | None
    direction: Direction
    old: str
    new: str
    old_source: Source | None
    new_source: Source | None
    fields: tuple[str, ...] = ()
    slot: tuple[str, str] | None = None
    of: str = ""
    note: str = ""

    @property
    def about(self) -> str:
        """The thing in words, as `Statement` has it; empty where the subject itself is new, gone or renamed."""
        return f"{self.thing or ''} {self.of}".strip()

    @property
    def names(self) -> tuple[str, ...]:
        """The subject's name and, where it is renamed, its former one."""
        return (self.subject.name, self.old) if self.direction == "renamed" else (self.subject.name,)


def mirrored(direction: Direction) -> Direction:
    """The direction of the same difference from new to old."""
    return _MIRRORED.get(direction, direction)


def differences(old: PolicyGraph, new: PolicyGraph) -> tuple[Change, ...]:
    """All differences in order of subject and thing; none for policies of the same meaning."""
    names = _renamed(old, new)
    known = _with_names(old, names)
    before, after = table(known), table(new)
    found = [_rename(pair, old, new) for pair in sorted(names.items())]
    for subject in sorted({*before, *after}, key=_place):
        if subject not in after:
            found.append(_whole(subject, "gone", before[subject]))
        elif subject not in before:
            found.append(_whole(subject, "new", after[subject]))
        else:
            found += _compared(subject, before[subject], after[subject])
    return tuple(sorted(_maybe_renamed(found, known, new), key=lambda change: (*_place(change.subject), change.about)))


# --- what a graph says ----------------------------------------------------------------------------------------------


def table(graph: PolicyGraph) -> Table:
    """Everything that a graph says, by subject."""
    place = graph.nodes[0].source
    by_passes = passes.header(graph.settings, graph.settings.passes, place) if graph.settings.passes is not None else iter(())
    said: Table = {Subject("policy", ""): Entry(spoken(chain(policy(graph), by_passes)), place)}
    for levels in graph.topologies:
        if (levels.name, levels.levels) != (
            "nodes",
            (Level("node", None),),
        ):  # nobody declares it: it is there where a flavor is placed on nodes
            said[Subject("topology", levels.name)] = Entry(spoken(topology(levels)), levels.source)
    for each in graph.flavors:
        said[Subject("flavor", each.name)] = Entry(spoken(flavor(graph, each)), each.source)
    for grade in graph.priorities:
        said[Subject("priority", grade.name)] = Entry(spoken(chain(priority(grade), passes.priority(grade))), grade.source)
    for node in graph.nodes:
        own = places.queue(graph, graph.queues[node.queue]) if node.is_queue else iter(())
        said[_subject(node)] = Entry(spoken(chain(places.node(graph, node), passes.node(graph, node), own)), node.source)
    for queue in graph.queues:
        for local in queue.local_queues:
            leads_to = graph.nodes[queue.node].name
            said[Subject("local queue", local.name)] = Entry(spoken(places.local_queue(leads_to, local)), local.source)
    return said | _rules(graph)


def _rules(graph: PolicyGraph) -> Table:
    said: Table = {}
    for rule in graph.preempt:
        said[Subject("preempt rule", rule.name)] = Entry(spoken(chain(rules.preempt(rule), passes.rule(rule))), rule.source)
    for protect in graph.protect:
        said[Subject("protect rule", protect.name)] = Entry(spoken(rules.protect(graph, protect)), protect.source)
    for admission in graph.admission:
        kind: SubjectKind = "deny rule" if admission.action == "deny" else "hold rule"
        said[Subject(kind, admission.name)] = Entry(spoken(rules.admission(graph, admission)), admission.source)
    return said


def _subject(node: Node) -> Subject:
    return Subject("queue" if node.is_queue else "cohort", node.name)


_KINDS: tuple[SubjectKind, ...] = get_args(SubjectKind)


def _place(subject: Subject) -> tuple[int, str]:
    return _KINDS.index(subject.kind), subject.name


# --- subjects that are on both sides, or on one ---------------------------------------------------------------------


def _compared(subject: Subject, before: Entry, after: Entry) -> Iterator[Change]:
    old, new = ({each.about: each for each in entry.statements} for entry in (before, after))
    for about in sorted({*old, *new}):
        was, now = old.get(about), new.get(about)
        some = was or now
        assert some is not None
        old_said, new_said = (each.said if each is not None else some.unsaid for each in (was, now))
        assert old_said is not None
        assert new_said is not None
        if old_said.value == new_said.value:
            continue
        old_source = was.source if was is not None else before.source
        new_source = now.source if now is not None else after.source
        direction = _direction(old_said.extent, new_said.extent)
        texts = old_said.text, new_said.text
        yield Change(subject, some.thing, direction, *texts, old_source, new_source, some.fields, some.slot, some.of)


def _direction(old: object, new: object) -> Direction:
    if old is None or new is None:
        return "changed"
    return "larger" if old < new else "smaller" if new < old else "changed"  # type: ignore[operator]  # extents of one thing are of one kind


def _whole(subject: Subject, direction: Literal["new", "gone"], entry: Entry) -> Change:
    """A subject that one side alone has, with all that it says."""
    told = "; ".join(f"{each.about} {each.said.text}" for each in entry.statements)
    if direction == "new":
        return Change(subject, None, "new", "", told, None, entry.source)
    return Change(subject, None, "gone", told, "", entry.source, None)


# --- other names ----------------------------------------------------------------------------------------------------


def _renamed(old: PolicyGraph, new: PolicyGraph) -> dict[str, str]:
    """Cohorts and queues that certainly have another name now: one is gone and one is new that say the same in all else."""
    cohorts = _pairs(old, new, "cohort")
    return cohorts | _pairs(_with_names(old, cohorts), new, "queue")


def _pairs(old: PolicyGraph, new: PolicyGraph, kind: SubjectKind) -> dict[str, str]:
    gone, added = (_alike(one, other, kind) for one, other in ((old, new), (new, old)))
    both = [key for key in gone if len(gone[key]) == 1 and len(added.get(key, ())) == 1]
    return {gone[key][0]: added[key][0] for key in both}


def _alike(one: PolicyGraph, other: PolicyGraph, kind: SubjectKind) -> dict[object, list[str]]:
    """The names of the cohorts or queues that one policy has and the other has not, by all else that they say."""
    known = {_subject(node) for node in other.nodes}
    alone = [node for node in one.nodes if _subject(node).kind == kind and _subject(node) not in known]
    said = table(one) if alone else {}
    found: dict[object, list[str]] = {}
    for node in alone:
        statements = tuple((each.about, each.said.value) for each in said[_subject(node)].statements)
        below = tuple(one.nodes[child].name for child in node.children)
        entries = tuple((each.name, each.weight, each.stopped) for each in one.queues[node.queue].local_queues) if node.is_queue else ()
        found.setdefault((statements, below, entries), []).append(node.name)
    return found


def _with_names(graph: PolicyGraph, names: dict[str, str]) -> PolicyGraph:
    """The graph with other names for some of its nodes."""
    return replace(graph, nodes=tuple(replace(node, name=names.get(node.name, node.name)) for node in graph.nodes)) if names else graph


def _rename(pair: tuple[str, str], old: PolicyGraph, new: PolicyGraph) -> Change:
    was, now = (next(node for node in graph.nodes if node.name == name) for graph, name in zip((old, new), pair, strict=True))
    return Change(_subject(now), None, "renamed", was.name, now.name, was.source, now.source)


def _maybe_renamed(found: list[Change], old: PolicyGraph, new: PolicyGraph) -> list[Change]:
    """The changes, with a note where one queue is gone and one is new in the same cohort, and no other is either."""
    gone = [change for change in found if change.subject.kind == "queue" and change.direction == "gone"]
    added = [change for change in found if change.subject.kind == "queue" and change.direction == "new"]
    if len(gone) != 1 or len(added) != 1 or _above(old, gone[0].subject) != _above(new, added[0].subject):
        return found
    notes = {gone[0]: f"maybe renamed to {added[0].subject.name}", added[0]: f"maybe renamed from {gone[0].subject.name}"}
    return [replace(change, note=notes.get(change, "")) for change in found]


def _above(graph: PolicyGraph, subject: Subject) -> str:
    node = next(node for node in graph.nodes if _subject(node) == subject)
    return graph.nodes[node.parent].name
