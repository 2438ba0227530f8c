"""Drift: what a cluster shows otherwise than the policy says, who has written it, and why it stays where it does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...kubernetes.api import Plain
from ...kubernetes.resource_kinds import FIELD_MANAGER
from .differences import FieldDifference, differences, said_fields
from .guarded_system import GUARD_LABEL, FieldForms, GuardedObject
from .managed_fields import Steps, applied_by, field_managers, has_written, shown_steps, value_of
from .value_texts import NOTHING, as_text

_LABEL_STEPS: Steps = ("f:metadata", "f:labels", f"f:{GUARD_LABEL}")

THERE, NOT_THERE = "there", "not there"
"""How drift says whether an object is to be, or is."""


@dataclass(frozen=True, slots=True, order=True)
class Drift:
    """A field of an object that is not as the policy says. `field` is empty where the object itself should be there, or should not.

    `by` are the managers that have written what was found; `kept` is why it is not repaired, empty where it is to be.
    """

    kind: str
    name: str
    field: str
    wanted: str
    found: str
    by: tuple[str, ...] = ()
    kept: str = ""

    def __str__(self) -> str:
        """One line."""
        return f"{self.kind} {self.name}: {self.told}" + (f"; {self.kept}" if self.kept else "")

    @property
    def told(self) -> str:
        """What differs, for somebody who looks at the object."""
        if not self.field:
            says = "has it" if self.wanted == THERE else "does not have it"
            return f"it is {self.found}, and the policy {says}"
        return f"{self.field} is {self.found}{self._written}, and the policy says {self.wanted}"

    @property
    def mended(self) -> str:
        """What was repaired, for somebody who looks at the object."""
        if not self.field:
            return f"it was {self.found}, and the policy has it"
        return f"{self.field} is {self.wanted} as the policy says, and was {self.found}{self._written}"

    @property
    def is_news(self) -> bool:
        """Whether nobody but gpol has a part in it: the object is new, or the policy is."""
        return not self.field or self.by == (FIELD_MANAGER,)

    @property
    def _written(self) -> str:
        return f" (written by {', '.join(self.by)})" if self.by else ""


@dataclass(frozen=True, slots=True)
class Judged:
    """An object beside the policy: its drift, the body to apply (None: nothing is to be), and the extra fields that can be taken away."""

    drift: tuple[Drift, ...] = ()
    body: Plain | None = None
    extra: tuple[FieldDifference, ...] = ()


@dataclass(slots=True)
class ObjectJudge:
    """Judges objects for a guard of some name. `overrides`: fields that others apply are taken over as well."""

    guard: str
    forms: FieldForms
    overrides: bool = False

    def judge(self, wanted: GuardedObject, found: Plain | None) -> Judged:
        """An object of the policy, as it is found."""
        kind, name = wanted.kind.kind, wanted.key.partition(" ")[2]
        if found is None:
            return Judged((Drift(kind, name, "", THERE, NOT_THERE),), wanted.body)
        if (found.get("metadata") or {}).get("deletionTimestamp"):
            kept = "it is made anew once it is gone: finalizers keep it until then"
            return Judged((Drift(kind, name, "", THERE, "being deleted", kept=kept),))
        differing = differences(wanted, found, self.forms)
        other = other_guard(found, self.guard)
        if other:
            kept = f"guard `{other}` keeps this object: take its label {GUARD_LABEL} away to hand it over"
            return Judged(tuple(_drift(kind, name, each, found, kept) for each in differing))
        said = list(said_fields(wanted.body, self.forms))
        stale = _stale_fields(said, found)
        written = [steps for steps, value in said if value_of(found, steps) != value]  # also the same number, written in another way
        contested = {steps: names for steps in (*written, *(each.steps for each in differing)) if (names := self._appliers(found, steps))}
        drift = [_drift(kind, name, each, found, _contested(contested.get(each.steps, ()))) for each in differing]
        drift += [
            Drift(kind, name, shown_steps(steps), NOTHING, as_text(value_of(found, steps)), (FIELD_MANAGER,))
            for steps in stale
            if all(each.steps != steps for each in differing)
        ]
        extra = tuple(each for each in differing if each.is_extra and each.steps not in contested)
        ours = [steps for steps, _ in said if steps not in contested]
        is_open = bool(stale) or any(not each.is_extra and each.steps in ours for each in differing)
        is_open = is_open or any(not has_written(found, FIELD_MANAGER, steps) for steps in ours)
        return Judged(tuple(drift), _without(wanted.body, contested) if is_open else None, extra)

    def _appliers(self, found: Plain, steps: Steps) -> tuple[str, ...]:
        """Who else applies a field that is not to be taken from them."""
        if self.overrides or not all(step.startswith("f:") for step in steps):
            return ()
        return tuple(each.name for each in field_managers(found, steps) if each.is_applier and each.name != FIELD_MANAGER)


def other_guard(found: Plain, guard: str) -> str:
    """The name of the other guard that keeps an object; empty where none does. A label that a person has changed names no guard."""
    label = value_of(found, _LABEL_STEPS)
    if not isinstance(label, str) or label == guard:
        return ""
    is_own = any(each.name == FIELD_MANAGER and each.is_applier for each in field_managers(found, _LABEL_STEPS))
    return label if is_own else ""


def is_left_over(found: Plain, guard: str) -> bool:
    """Whether an object was applied by this guard; one without its label may be another's."""
    return bool(applied_by(found, FIELD_MANAGER)) and not other_guard(found, guard)


def has_label(found: Plain, guard: str) -> bool:
    """Whether an object says that this guard keeps it."""
    return bool(value_of(found, _LABEL_STEPS) == guard)


def _contested(appliers: Sequence[str]) -> str:
    if not appliers:
        return ""
    names = ", ".join(appliers)
    return f"{names} applies this field: let it leave the field out, or let gpol override what others apply"


def _drift(kind: str, name: str, each: FieldDifference, found: Plain, kept: str) -> Drift:
    return Drift(kind, name, each.field, each.wanted, each.found, _writers(found, each.steps), kept)


def _writers(found: Plain, steps: Steps) -> tuple[str, ...]:
    """Who has written a field: others, or gpol itself for an earlier policy."""
    names = list(dict.fromkeys(each.name for each in field_managers(found, steps)))
    return tuple(name for name in names if name != FIELD_MANAGER or len(names) == 1)


def _stale_fields(said: Sequence[tuple[Steps, Any]], found: Plain) -> list[Steps]:
    """The fields that gpol applied for an earlier policy, and that this one does not say."""
    return [
        steps
        for steps in applied_by(found, FIELD_MANAGER)
        if not any(steps[: len(each)] == each[: len(steps)] for each, _ in said)
        and steps != ("f:spec",)
        and value_of(found, steps) is not None
    ]


def _without(body: Plain, contested: Iterable[Steps]) -> Plain:
    """A body without some of its fields, and without the objects of which nothing is left by that."""
    made = body
    for steps in contested:
        made = _cut(made, steps)
    return made


def _cut(plain: Plain, steps: Steps) -> Plain:
    name = steps[0][2:]
    if name not in plain:
        return plain
    if len(steps) == 1:
        return {key: value for key, value in plain.items() if key != name}
    inner = plain[name]
    cut = _cut(inner, steps[1:])
    return {**plain, name: cut} if cut else {key: value for key, value in plain.items() if key != name}
