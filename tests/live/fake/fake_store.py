"""The objects of a cluster as an API server keeps them, without any HTTP: versions, owners of fields, conflicts, events, paging, backups.

Everything is synchronous and repeatable: the clock is given, uids and generated names are counted. A real server's schemas, defaults,
webhooks and garbage collector are not here; `validate` adds rules of one's own. What is returned is a copy, which the caller may change.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fake_apply import Owner, apply, record_update, with_managed_fields
from fake_errors import (
    ApiError,
    already_exists,
    bad_request,
    conflict,
    details_of,
    forbidden,
    invalid,
    not_found,
    other_uid,
    unexpected,
)
from fake_fields import BadItemError, fields_of, without_empty_metadata, without_nulls
from fake_history import StoredObjects, key_of
from fake_kinds import KINDS, Json, Kind, copied
from fake_objects import checked_name, is_unchanged, merge_patched, settled, typed

Rule = Callable[[Json | None, Json, str, str], str | None]
"""Called with the old object (None when it is created), the new one, the subresource and the manager; returns why the write is refused."""


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """The time."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let some time pass."""
        self._now += timedelta(seconds=seconds)


class FakeStore(StoredObjects):
    """The objects of some kinds, with the writes that an API server takes.

    `history` bounds the number of changes that watches can read; None keeps all. Namespaces are there from the start if they are served.
    """

    def __init__(
        self,
        kinds: Iterable[Kind] = KINDS,
        *,
        now: Callable[[], datetime] | None = None,
        history: int | None = None,
        namespaces: Iterable[str] = ("default",),
    ) -> None:
        super().__init__(kinds, history)
        self.now = now or Clock()
        self._namespaces = next((kind for kind in self.kinds if kind.plural == "namespaces" and not kind.group), None)
        self._rules: list[tuple[Kind, Rule, int]] = []
        self._born = 0
        self._names = 0
        if self._namespaces is not None:
            for name in namespaces:
                self.create(self._namespaces, {"metadata": {"name": name}})

    # --- writing ----------------------------------------------------------------------------------------------------

    def create(self, kind: Kind, obj: Json, *, namespace: str = "", manager: str = "tests", dry_run: bool = False) -> Json:
        """A new object. Raises ApiError: 409 when it is there already, 404 or 403 for its namespace, 422 when it is not valid."""
        new = without_empty_metadata(typed(kind, without_nulls(obj), namespace))
        self._check_lists(kind, new)
        metadata = new["metadata"]
        if metadata.get("resourceVersion"):
            raise unexpected("resourceVersion should not be set on objects to be created")
        if not metadata.get("name") and metadata.get("generateName"):
            self._names += 1
            metadata["name"] = f"{metadata['generateName']}{self._names:05d}"
        entries = record_update(kind, None, new, Owner("Update", manager), self._time())
        return self._create(kind, with_managed_fields(new, entries), manager, dry_run)

    def replace(
        self,
        kind: Kind,
        obj: Json,
        *,
        name: str = "",
        namespace: str = "",
        subresource: str = "",
        manager: str = "tests",
        dry_run: bool = False,
    ) -> Json:
        """The object, or only its status, as it is sent (PUT). Raises ApiError: 404; 409 for another version or uid; 422."""
        self._check_subresource(kind, name, subresource)
        new = typed(kind, without_nulls(obj), namespace)
        name = checked_name(kind, new, name or None)
        namespace = str(new["metadata"].get("namespace", ""))
        live = self._live(kind, name, namespace)
        uid = new["metadata"].get("uid")
        if uid and uid != live["metadata"]["uid"]:
            raise other_uid(kind, name, namespace, uid, live["metadata"]["uid"])
        return self._replace(kind, live, new, name, Owner("Update", manager, subresource), dry_run)

    def merge_patch(
        self,
        kind: Kind,
        name: str,
        patch: Json,
        *,
        namespace: str = "",
        subresource: str = "",
        manager: str = "tests",
        dry_run: bool = False,
    ) -> Json:
        """The object with a JSON merge patch (RFC 7396). Raises ApiError: 404; 409 for another version; 422, also for another uid."""
        self._check_subresource(kind, name, subresource)
        live = self._live(kind, name, namespace)
        new = typed(kind, without_nulls(merge_patched(live, patch)), namespace)
        return self._replace(kind, live, new, name, Owner("Update", manager, subresource), dry_run)

    def apply(
        self,
        kind: Kind,
        name: str,
        config: Json,
        *,
        manager: str,
        namespace: str = "",
        subresource: str = "",
        force: bool = False,
        dry_run: bool = False,
    ) -> Json:
        """The object with the fields that a manager applies (server-side apply). The object is created if it is not there.

        Raises ApiError: 409 for another resourceVersion, and for fields of other owners unless `force`; 404 for the status of an object
        that is not there. A uid keeps an apply from creating the object again (409). Another uid is 422, but for the status it is passed
        over, as in a real server: only the resourceVersion tells whether an object is still the one that was meant.
        """
        self._check_subresource(kind, name, subresource)
        if (config.get("apiVersion"), config.get("kind")) != (kind.api_version, kind.name):
            raise bad_request(f"invalid object type: {config.get('apiVersion')}, Kind={config.get('kind')}")
        config = typed(kind, copied(config), namespace)
        if config["metadata"].get("managedFields") is not None:
            raise bad_request("metadata.managedFields must be nil")
        owner = Owner("Apply", manager, subresource)
        live = self._objects[kind].get(key_of(name, namespace))
        if live is None and subresource:
            raise not_found(kind, name)
        if live is None and config["metadata"].get("uid"):
            uid = config["metadata"]["uid"]
            raise conflict(kind, name, f"uid mismatch: the provided object specified uid {uid}, and no existing object was found")
        new = copied(apply(kind, live, config, owner, self._time(), force))
        checked_name(kind, new, name)
        if live is None:
            return self._create(kind, new, manager, dry_run)
        return self._update(kind, live, settled(kind, live, new, subresource), owner, dry_run)

    def delete(self, kind: Kind, name: str, *, namespace: str = "", uid: str = "", version: str = "", dry_run: bool = False) -> Json:
        """Delete an object, or mark it as being deleted while it has finalizers. Returns a Status, or the marked object.

        A namespace takes with it what is in it. Raises ApiError: 404; 409 when it has another uid or version than the given one.
        """
        live = self._live(kind, name, namespace)
        self._check_preconditions(kind, live, uid, version)
        if live["metadata"].get("deletionTimestamp"):
            return copied(live)
        if not self._may_go(kind, live):
            marked = self._commit(kind, live, self._marked(live), dry_run)
            if kind is self._namespaces and not dry_run:
                for other, key in list(self._contents(name)):
                    self.delete(other, key.partition("/")[2], namespace=name)
            return marked
        self._commit(kind, live, None, dry_run)
        details = details_of(kind, name, uid=live["metadata"]["uid"])
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}

    def validate(self, kind: Kind, rule: Rule, code: int = 403) -> None:
        """Refuse writes (not deletions) of which a rule says why: with 403 as a webhook does, or with 422 as a schema does."""
        self._rules.append((kind, rule, code))

    # --- steps ------------------------------------------------------------------------------------------------------

    def _create(self, kind: Kind, new: Json, manager: str, dry_run: bool) -> Json:
        metadata = new["metadata"]
        name, namespace = checked_name(kind, new), str(metadata.get("namespace", ""))
        if kind.namespaced:
            self._check_namespace(kind, name, namespace)
        earlier = self._objects[kind].get(key_of(name, namespace))
        if earlier is not None:
            raise already_exists(kind, name, bool(earlier["metadata"].get("deletionTimestamp")))
        for field in ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"):
            metadata.pop(field, None)
        self._born += 1
        metadata |= {"uid": f"00000000-0000-4000-8000-{self._born:012d}", "creationTimestamp": self._time()}
        if kind.counts_generation:
            metadata["generation"] = 1
        if kind.has_status:
            new.pop("status", None)
        if kind is self._namespaces:
            new["status"] = {"phase": "Active"}
        self._check(kind, None, new, "", manager)
        return self._commit(kind, None, new, dry_run)

    def _replace(self, kind: Kind, live: Json, new: Json, name: str, owner: Owner, dry_run: bool) -> Json:
        checked_name(kind, new, name)
        new = settled(kind, live, without_empty_metadata(new), owner.subresource)
        self._check_lists(kind, new)
        entries = record_update(kind, live, new, owner, self._time())
        return self._update(kind, live, with_managed_fields(new, entries), owner, dry_run)

    def _update(self, kind: Kind, live: Json, new: Json, owner: Owner, dry_run: bool) -> Json:
        if is_unchanged(live, new):
            new = live
        self._check(kind, live, new, owner.subresource, owner.manager)
        if new["metadata"].get("deletionTimestamp") and self._may_go(kind, new):
            self._commit(kind, live, None, dry_run)
            return copied(new)
        return copied(live) if new is live else self._commit(kind, live, new, dry_run)

    def _check(self, kind: Kind, live: Json | None, new: Json, subresource: str, manager: str) -> None:
        for which, rule, code in self._rules:
            if which is kind and (why := rule(copied(live), copied(new), subresource, manager)):
                name = new["metadata"]["name"]
                if code == 422:
                    details = {**details_of(kind, name), "kind": kind.name}
                    raise ApiError(422, f'{kind.qualified_name} "{name}" is invalid: {why}', details=details)
                raise ApiError(code, f'admission webhook "{getattr(rule, "__name__", "rule")}" denied the request: {why}')

    def _check_lists(self, kind: Kind, new: Json) -> None:
        try:
            fields_of(new, kind.shape)
        except BadItemError as error:
            raise invalid(kind, new["metadata"].get("name", ""), *error.said_by_schema) from None

    def _check_namespace(self, kind: Kind, name: str, namespace: str) -> None:
        if self._namespaces is not None:
            found = self._live(self._namespaces, namespace, "")
            if found["metadata"].get("deletionTimestamp"):
                cause = {
                    "reason": "NamespaceTerminating",
                    "message": f"namespace {namespace} is being terminated",
                    "field": "metadata.namespace",
                }
                why = f"unable to create new content in namespace {namespace} because it is being terminated"
                raise forbidden(kind, name, why, causes=[cause])

    def _check_subresource(self, kind: Kind, name: str, subresource: str) -> None:
        if subresource and not (subresource == "status" and kind.has_status):
            raise not_found(kind, name)

    def _check_preconditions(self, kind: Kind, live: Json, uid: str, version: str) -> None:
        name, metadata = live["metadata"]["name"], live["metadata"]
        kind = replace(kind, plural=kind.name)  # here a real server says the kind where it says the resource elsewhere
        if uid and uid != metadata["uid"]:
            reply = f"the UID in the precondition ({uid}) does not match the UID in record ({metadata['uid']}). "
            raise conflict(kind, name, reply + "The object might have been deleted and then recreated")
        if version and version != metadata["resourceVersion"]:
            reply = f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record "
            raise conflict(kind, name, f"{reply}({metadata['resourceVersion']}). The object might have been modified")

    def _may_go(self, kind: Kind, obj: Json) -> bool:
        """Whether nothing keeps an object that is deleted: no finalizer, and in a namespace no object."""
        metadata = obj["metadata"]
        return not metadata.get("finalizers") and (kind is not self._namespaces or not any(self._contents(metadata["name"])))

    def _contents(self, namespace: str) -> Iterable[tuple[Kind, str]]:
        """The objects in a namespace."""
        return ((kind, key) for kind in self.kinds if kind.namespaced for key in self._objects[kind] if key.startswith(namespace + "/"))

    def _marked(self, live: Json) -> Json:
        """An object that is being deleted."""
        metadata = {**live["metadata"], "deletionTimestamp": self._time(), "deletionGracePeriodSeconds": 0}
        if metadata.get("generation"):
            metadata["generation"] += 1
        return {**live, "metadata": metadata}

    def _commit(self, kind: Kind, before: Json | None, after: Json | None, dry_run: bool) -> Json:
        """Make a change, and return a copy of the object. A dry run makes none."""
        obj = after or before or {}
        if dry_run:
            return copied(obj)
        namespace = str(obj["metadata"].get("namespace", ""))
        stored = self._put((kind, key_of(obj["metadata"]["name"], namespace)), before, after)
        if stored is None and kind.namespaced:
            self._end_namespace(namespace)
        return copied(stored or obj)

    def _end_namespace(self, name: str) -> None:
        """A namespace that is being deleted goes with the last object in it."""
        kind = self._namespaces
        found = self._objects[kind].get(name) if kind is not None else None
        if kind is not None and found is not None and found["metadata"].get("deletionTimestamp") and self._may_go(kind, found):
            self._commit(kind, found, None, False)

    def _time(self) -> str:
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
