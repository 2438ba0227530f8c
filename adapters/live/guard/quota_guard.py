"""Keeps the quotas of a cluster as a policy says: a system decides by them, and goes on with the last ones while gpol is down.

    a look at an object    what the policy says --> what differs, and who wrote it --> an apply, where a setting says so

Every kind is followed by a watch, and an object is looked at whenever it or the policy has changed. A look starts from the object as it
is, and applying the same twice changes nothing. So nothing depends on how often, in which order or through which restart looks come about.

What people or programs have written once is written over. What another program applies again and again is not, unless a setting says so:
two programs that each put a field back would never come to rest. Whatever it is that is done to an object again and again, what gpol writes
to that object comes more and more slowly.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import time_ns
from typing import Literal

from ....engine.policy_graph import PolicyGraph
from ...kubernetes.api import Api, ApiError, Plain
from ...kubernetes.object_events import ObjectEvent
from ...kubernetes.reflector import ObjectChange, Reflector
from ...kubernetes.resource_kinds import FIELD_MANAGER, Kind
from ..work_queue import WorkQueue
from .drift import NOT_THERE, THERE, Drift, Judged, ObjectJudge, has_label, is_left_over
from .guarded_system import GuardedObject, GuardedSystem, key_in
from .object_writes import REFUSED_SECONDS, RepairPace, delete_object, delete_refused, without_extra

DriftStep = Literal["seen", "repaired", "gone"]
"""What became of drift: it was seen first, gpol has repaired it, or it is gone by what somebody else did."""

_NOT_KEPT = "gpol has applied it, and the server does not keep it: look at what {}'s release and its webhooks take"

GuardMode = Literal["repair", "report"]
"""Whether drift is repaired, or only told."""


@dataclass(slots=True)
class QuotaGuard:
    """Keeps the objects of a policy in a cluster, or tells where they differ. `system` says whose objects they are.

    `gpu` is what the policy's resource `gpu` is called in the cluster. `name` tells this guard from others in the cluster. `overrides`:
    fields that another program applies are taken over as well. `deletes`: what this guard applied and the policy no longer has is deleted.
    `tell` is told what becomes of drift, and `add_event` is given Kubernetes Events about it; `clock` gives nanoseconds since the epoch.
    Raises ExportRefused for a policy that the system's objects cannot say.

    `notes` is what these objects do not say of the policy. `applied`, `repaired` and `deleted` count objects that were written. `failures`
    says by object why it could not be written.
    """

    api: Api
    system: GuardedSystem
    graph: PolicyGraph
    gpu: str = "nvidia.com/gpu"
    name: str = "gpol"
    mode: GuardMode = "repair"
    overrides: bool = False
    deletes: bool = False
    tell: Callable[[DriftStep, Drift], None] = lambda step, drift: None
    add_event: Callable[[ObjectEvent], None] = lambda event: None
    clock: Callable[[], int] = time_ns
    pace: RepairPace = field(default_factory=RepairPace)
    looks: WorkQueue = field(default_factory=WorkQueue)
    notes: list[str] = field(init=False)
    applied: int = 0
    repaired: int = 0
    deleted: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    followed: dict[Kind, Reflector[Plain]] = field(init=False)
    _wanted: dict[str, GuardedObject] = field(init=False)
    _judge: ObjectJudge = field(init=False)
    _drift: dict[str, tuple[Drift, ...]] = field(default_factory=dict)
    _unseen: set[str] = field(default_factory=set)
    _in_vain: dict[str, Plain] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._judge = ObjectJudge(self.name, self.system.forms, self.overrides)
        self.followed = {kind: Reflector(self.api, kind, kept_of, partial(self._see, kind)) for kind in self.system.kinds}
        self._wanted, self.notes = self.system.objects(self.graph, self.gpu, self.name)
        self._unseen = set(self._wanted)

    @property
    def drift(self) -> list[Drift]:
        """All drift that there is now, by object."""
        return [each for key in sorted(self._drift) for each in self._drift[key]]

    @property
    def problem(self) -> str:
        """Why the cluster is not as the policy says, or why that is not known; empty where it is."""
        lost = next((reflector.problem for reflector in self.followed.values() if reflector.problem), "")
        if lost:
            return lost
        if self.failures:
            key = min(self.failures)
            return f"{self.failures[key]}{_and_more(len(self.failures))}"
        if self._unseen:
            return f"{min(self._unseen)}{_and_more(len(self._unseen))}: not looked at yet"
        drift = self.drift
        return f"{drift[0]}{_and_more(len(drift))}" if drift else ""

    def keep(self, graph: PolicyGraph) -> None:
        """Let another policy count from now on. Raises ExportRefused, with nothing changed, for one that these objects cannot say."""
        wanted, notes = self.system.objects(graph, self.gpu, self.name)
        before, self._wanted, self.notes, self.graph = self._wanted, wanted, notes, graph
        self._in_vain.clear()
        self._unseen = set(wanted)
        for key in {**wanted, **before}:
            self.looks.add(key)

    async def run(self) -> None:
        """Keep the objects until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for reflector in self.followed.values():
                tasks.create_task(reflector.run())
            for reflector in self.followed.values():
                await reflector.synced()
            for key in {**self._wanted, **{key_in(kind, name): None for kind in self.system.kinds for name in self.followed[kind].known}}:
                self.looks.add(key)
            tasks.create_task(self.looks.work(self.look))

    def _see(self, kind: Kind, changes: Sequence[ObjectChange[Plain]]) -> None:
        """Name what has changed in what is followed of it, which is not its status."""
        for change in changes:
            if change.is_other:
                self.looks.add(key_in(kind, change.key))

    # --- a look -----------------------------------------------------------------------------------------------------

    async def look(self, key: str) -> float | None:
        """Look at an object and write what is to be written. Returns None, or after how many seconds to look again."""
        kind, namespace, name = self.system.parted(key)
        seen = self.followed[kind].known.get(f"{namespace}/{name}" if namespace else name)
        wanted, found = self._wanted.get(key), seen.value if seen is not None else None
        try:
            if wanted is None:
                return await self._look_at_left_over(key, found)
            judged = self._judge.judge(wanted, found)
            self._note(key, judged.drift, found)
            return await self._repair(wanted, judged, found)
        except ApiError as error:
            return self._on_error(key, error)

    async def _repair(self, wanted: GuardedObject, judged: Judged, found: Plain | None) -> float | None:
        """Write what can be written of an object, unless that was done already and this is what came of it."""
        key = wanted.key
        if self.mode == "report" or (judged.body is None and not judged.extra):
            self.failures.pop(key, None)
            return None
        if found is not None and self._in_vain.get(key) == found:
            return None
        wait = self.pace.seconds_to_wait(key)  # also without drift, where only the owner of a field is another one
        if wait:
            return wait
        written = await self._write(wanted, judged, found)
        if written is None:
            return 0.0
        self.failures.pop(key, None)
        for refused in self.failures:  # a webhook may take now what was too much before: quotas move from one queue to another
            self.looks.add(refused)
        self.applied += 1
        return self._note_written(wanted, judged.drift, *written)

    async def _write(self, wanted: GuardedObject, judged: Judged, found: Plain | None) -> tuple[Judged, Plain] | None:
        """Apply the object, and take extra fields away. What was written, and the object as it is then; None: look at it once more."""
        try:
            if judged.body is not None:
                body = judged.body if found is None else _at(judged.body, found, "uid")  # what is gone meanwhile is not made anew in part
                answer = await self.api.apply(wanted.path, body, FIELD_MANAGER, force=False)
                self.pace.written(wanted.key)
                return judged, await self._take_away(wanted, answer)
        except ApiError as error:
            if error.status != 409:
                raise
        try:  # who owns the fields is looked at once more, in what is then written over and in nothing else
            now = await self.api.get(wanted.path)
            judged = self._judge.judge(wanted, kept_of(now))
            if judged.body is not None:
                now = await self.api.apply(wanted.path, _at(judged.body, now, "uid", "resourceVersion"), FIELD_MANAGER, force=True)
                self.pace.written(wanted.key)
            return judged, await self._take_away(wanted, now)
        except ApiError as error:
            if error.status in (404, 409):
                return None
            raise

    async def _take_away(self, wanted: GuardedObject, now: Plain) -> Plain:
        """Take away what is extra in an object, and return the object as it is then."""
        for each in self._judge.judge(wanted, kept_of(now)).extra:
            now = await self.api.merge(wanted.path, without_extra(now, each.steps))
            self.pace.written(wanted.key)
        return now

    def _note_written(self, wanted: GuardedObject, before: Sequence[Drift], done: Judged, written: Plain) -> float | None:
        """Tell what a write has repaired, and keep in mind what it has not. Returns as `look`."""
        key, found = wanted.key, kept_of(written)
        judged = self._judge.judge(wanted, found)
        is_open = judged.body is not None or bool(judged.extra)
        is_in_vain = is_open and (judged.body is None or judged.body == done.body)
        if is_in_vain:
            self._in_vain[key] = found
        else:
            self._in_vain.pop(key, None)
        self._change(key, self._as_it_stays(key, judged.drift, found), "repaired")
        self.followed[wanted.kind].written(written)
        left = {(each.field, each.wanted) for each in judged.drift}
        mended = [each for each in before if (each.field, each.wanted) not in left]
        if mended:
            self.repaired += 1
            is_news = all(each.is_news for each in mended)
            note = "; ".join(each.mended for each in mended)
            self._add_event(
                wanted.kind, found, "QuotaApplied" if is_news else "QuotaRepaired", "Apply", note, "Normal" if is_news else "Warning"
            )
        return 0.0 if is_open and not is_in_vain else None

    # --- what the policy no longer has ------------------------------------------------------------------------------

    async def _look_at_left_over(self, key: str, found: Plain | None) -> float | None:
        """Look at an object that the policy does not have: told, and deleted, if this guard has applied it."""
        kind, namespace, name = self.system.parted(key)
        self._unseen.discard(key)
        if found is None or not is_left_over(found, self.name):
            self.failures.pop(key, None)
            self._change(key, (), "repaired" if found is None and self.deletes else "gone")
            return None
        may_go = self.deletes and self.mode == "repair"
        kept = delete_refused(found, may_go and has_label(found, self.name), may_go)
        full = key.partition(" ")[2]
        self._note(key, (Drift(kind.kind, full, "", NOT_THERE, THERE, (FIELD_MANAGER,), kept),), found)
        if not kept:
            return self.pace.seconds_to_wait(key) or await self._delete(key, kind.path(namespace, name))
        self.failures.pop(key, None)
        return None

    async def _delete(self, key: str, path: str) -> float | None:
        """Ask for the deletion of an object, if it is still this guard's when it is read once more."""
        try:
            now = await self.api.get(path)
            if has_label(now, self.name) and is_left_over(now, self.name):
                await delete_object(self.api, path, now)
                self.deleted += 1
                self.pace.written(key)
        except ApiError as error:
            if error.status not in (404, 409):
                raise
            return 0.0 if error.status == 409 else None
        return None

    # --- telling ----------------------------------------------------------------------------------------------------

    def _note(self, key: str, drift: tuple[Drift, ...], found: Plain | None) -> None:
        """Keep what differs. What stays as it is gets an Event now; what is repaired gets one then."""
        drift = self._as_it_stays(key, drift, found)
        self._unseen.discard(key)
        new = self._change(key, drift, "gone")
        stays = [each for each in new if each.kept or self.mode == "report"]
        if stays and found is not None:
            told = [each.told for each in stays] + list(dict.fromkeys(each.kept for each in stays if each.kept))
            self._add_event(self.system.parted(key)[0], found, "QuotaDrift", "Compare", "; ".join(told), "Warning")

    def _as_it_stays(self, key: str, drift: tuple[Drift, ...], found: Plain | None) -> tuple[Drift, ...]:
        """Drift with the reason why it stays although it was written, where the server or a webhook puts it back."""
        if found is None or self._in_vain.get(key) != found:
            return drift
        return tuple(each if each.kept else replace(each, kept=_NOT_KEPT.format(self.system.name)) for each in drift)

    def _add_event(self, kind: Kind, about: Plain, reason: str, action: str, note: str, severity: Literal["Normal", "Warning"]) -> None:
        metadata, time = about["metadata"], self.clock() // 1000
        namespace, uid = str(metadata.get("namespace", "")), str(metadata.get("uid", ""))
        self.add_event(ObjectEvent(kind, namespace, str(metadata["name"]), uid, f"{time:x}", time, action, reason, note, severity))

    def _change(self, key: str, drift: tuple[Drift, ...], end: DriftStep) -> list[Drift]:
        """Take in the drift of an object as it is now, and return what is new of it. `end` is by what the rest has come to an end."""
        before = self._drift.get(key, ())
        new = [each for each in drift if each not in before]
        fields = {each.field for each in drift}
        if drift:
            self._drift[key] = drift
        else:
            self._drift.pop(key, None)
        for each in before:
            if each.field not in fields:
                self.tell(end, each)
        for each in new:
            self.tell("seen", each)
        return new

    def _on_error(self, key: str, error: ApiError) -> float:
        kind, _, _ = self.system.parted(key)
        remedy = "; delete it by hand, so that gpol makes it anew" if error.status == 422 and kind in self.system.fixed else ""
        self.failures[key] = f"{key} could not be written: {error}{remedy}"
        if error.retry_after is not None:
            return error.retry_after
        return REFUSED_SECONDS if 400 <= error.status < 500 and error.status != 429 else 0.0


def kept_of(plain: Plain) -> Plain:
    """What is followed of an object: all but its status, its version, and who writes its status."""
    metadata = plain.get("metadata") or {}
    kept = {name: metadata[name] for name in ("name", "namespace", "uid", "labels", "deletionTimestamp") if name in metadata}
    kept["managedFields"] = [each for each in metadata.get("managedFields") or [] if not each.get("subresource")]
    return {"metadata": kept, **{name: plain[name] for name in plain if name not in ("apiVersion", "kind", "metadata", "status")}}


def _at(body: Plain, now: Plain, *names: str) -> Plain:
    """A body that is taken only by this object (`uid`), or only while it is at this version as well (`resourceVersion`)."""
    return {**body, "metadata": {**body["metadata"], **{name: now["metadata"][name] for name in names}}}


def _and_more(number: int) -> str:
    return f" (and {number - 1} more)" if number > 1 else ""
