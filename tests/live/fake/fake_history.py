"""The objects of a store at every version: what changed in which order, watches that read it, and lists as of then.

A watch reads from a position of its own: everything after a version. It is pulled, never pushed, so a test decides when an event arrives.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fake_errors import bad_request, expired, not_found, too_large_version
from fake_kinds import Json, Kind, copied
from fake_selectors import Continuation, Selection

Key = tuple[Kind, str]
"""An object of the store: its kind, and its name, after its namespace and a slash if it has one."""

INCONSISTENT = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results."
)


@dataclass(frozen=True)
class Change:
    """One write: what an object was before and is now. Neither is ever changed. Nothing before: created. Nothing after: deleted."""

    version: int
    key: Key
    before: Json | None
    after: Json | None


class History:
    """The last changes, and the version up to which everything was forgotten."""

    def __init__(self, floor: int, longest: int | None = None) -> None:
        self.floor = floor
        """Changes after this version are all kept."""
        self.longest = longest
        """How many changes are kept at most; None for all."""
        self._changes: list[Change] = []

    def add(self, change: Change) -> None:
        """Remember one more change, and forget the oldest if there are too many."""
        self._changes.append(change)
        if self.longest is not None and len(self._changes) > self.longest:
            self.forget(self._changes[len(self._changes) - self.longest - 1].version)

    def forget(self, version: int) -> None:
        """Forget every change up to a version."""
        self.floor = max(self.floor, version)
        del self._changes[: self._place(version)]

    def since(self, version: int) -> list[Change]:
        """The changes after a version. Raises ApiError (410) when some of them are forgotten."""
        if version < self.floor:
            raise expired(f"too old resource version: {version} ({self.floor})")
        return self._changes[self._place(version) :]

    def copy(self) -> "History":
        """The same history, which goes on by itself."""
        other = History(self.floor, self.longest)
        other._changes = list(self._changes)
        return other

    def _place(self, version: int) -> int:
        return bisect_right(self._changes, version, key=lambda change: change.version)


@dataclass(frozen=True)
class Backup:
    """The state of a store at one moment."""

    version: int
    objects: dict[Kind, dict[str, Json]]
    history: History


class StoredObjects:
    """The objects of some kinds, which can be read and watched as of any version that is not forgotten."""

    def __init__(self, kinds: Iterable[Kind], history: int | None) -> None:
        self.kinds = tuple(kinds)
        self.version = 1
        """The version of the last change. Each change has the next one, whatever its kind."""
        self.history = History(self.version, history)
        self._objects: dict[Kind, dict[str, Json]] = {kind: {} for kind in self.kinds}
        self._listeners: list[Callable[[], None]] = []

    # --- reading ----------------------------------------------------------------------------------------------------

    def get(self, kind: Kind, name: str, namespace: str = "", version: str = "") -> Json:
        """One object, at a version or a later one. Raises ApiError: 404, and 504 for a version that is not there yet."""
        if version_number(version) > self.version:
            raise too_large_version(version_number(version), self.version)
        return copied(self._live(kind, name, namespace))

    def list(
        self, kind: Kind, selection: Selection | None = None, *, version: str = "", match: str = "", limit: int = 0, continue_: str = ""
    ) -> Json:
        """The objects of a kind as a list object, in the order of their keys.

        Raises ApiError: 410 for a version or a continuation that is forgotten, 504 for a version that is not there yet.
        """
        selection = selection or Selection()
        belongs = selection.test()
        at, after = self._list_version(version, match, limit, continue_)
        found = self._at(kind, at)
        keys = [key for key in sorted(found) if key > after and belongs(found[key])]
        page = keys[:limit] if limit else keys
        metadata: Json = {"resourceVersion": str(at)} | ({} if kind.built_in else {"continue": ""})
        if len(page) < len(keys):
            metadata["continue"] = Continuation(at, page[-1]).token()
            if not selection.is_narrowed:
                metadata["remainingItemCount"] = len(keys) - len(page)
        items = [copied(found[key]) for key in page]
        if kind.built_in:
            items = [{name: value for name, value in item.items() if name not in ("apiVersion", "kind")} for item in items]
        return {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "metadata": metadata, "items": items}

    def watch(
        self, kind: Kind, selection: Selection | None = None, version: str = "", initial: bool | None = None, bookmarks: bool = True
    ) -> "Watch":
        """The events after a version; without one (or with 0) all that is there now comes first, each as ADDED.

        `initial` says otherwise: True brings what is there and then a bookmark, False brings nothing that is there. `bookmarks` says
        whether the watch takes bookmarks.
        Raises ApiError: 410 for a version that is forgotten, 504 for a version that is not there yet and `initial`.
        """
        selection = selection or Selection()
        after = version_number(version)
        if initial and after > self.version:
            raise too_large_version(after, self.version)
        if after and not initial:
            if after <= self.version:
                self.history.since(after)
            return Watch(self, kind, selection, after, [], bookmarks)
        belongs = selection.test()
        first = [obj for _, obj in sorted(self._objects[kind].items()) if belongs(obj)]
        events = [] if initial is False else [_event("ADDED", obj) for obj in first]
        if initial and bookmarks:
            events.append(_bookmark(kind, self.version, {"k8s.io/initial-events-end": "true"}))
        return Watch(self, kind, selection, self.version, events, bookmarks)

    def _list_version(self, version: str, match: str, limit: int, continue_: str) -> tuple[int, str]:
        """The version that a list shows, and the key after which it begins."""
        if continue_:
            if version not in ("", "0"):
                raise bad_request("specifying resource version is not allowed when using continue")
            said = Continuation.of(continue_)
            if said.version >= 0 and not self.history.floor <= said.version <= self.version:
                raise expired(INCONSISTENT, Continuation(-1, said.after).token())
            return (said.version if said.version >= 0 else self.version), said.after
        asked = version_number(version)
        if asked > self.version:
            raise too_large_version(asked, self.version)
        if asked and (match == "Exact" or (limit and not match)):
            if asked < self.history.floor:
                raise expired("The resourceVersion for the provided list is too old.")
            return asked, ""
        return self.version, ""

    def _at(self, kind: Kind, version: int) -> dict[str, Json]:
        """The objects of a kind as they were at a version: those of now, without the changes since then."""
        if version == self.version:
            return self._objects[kind]
        found = dict(self._objects[kind])
        for change in reversed(self.history.since(version)):
            if change.key[0] is kind:
                found.pop(change.key[1], None)
                if change.before is not None:
                    found[change.key[1]] = change.before
        return found

    def _live(self, kind: Kind, name: str, namespace: str) -> Json:
        found = self._objects[kind].get(key_of(name, namespace))
        if found is None:
            raise not_found(kind, name)
        return found

    # --- the whole store --------------------------------------------------------------------------------------------

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each change. Returns the function that ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def compact(self, version: int | None = None) -> None:
        """Forget the changes up to a version, or all that were."""
        self.history.forget(self.version if version is None else min(version, self.version))
        self._tell()

    def backup(self) -> Backup:
        """The state of now, for `restore`."""
        return Backup(self.version, {kind: dict(objects) for kind, objects in self._objects.items()}, self.history.copy())

    def restore(self, backup: Backup) -> None:
        """Go back to an earlier state, as after restoring a backup of etcd: the versions go back, too. New uids stay new."""
        self.version = backup.version
        self._objects = {kind: dict(objects) for kind, objects in backup.objects.items()}
        self.history = backup.history.copy()
        self._tell()

    def _put(self, key: Key, before: Json | None, after: Json | None) -> Json | None:
        """Make a change: the object has the next version. Returns what is stored."""
        self.version += 1
        if after is None:
            del self._objects[key[0]][key[1]]
        else:
            after = {**after, "metadata": {**after["metadata"], "resourceVersion": str(self.version)}}
            self._objects[key[0]][key[1]] = after
        self.history.add(Change(self.version, key, before, after))
        self._tell()
        return after

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()


class Watch:
    """The events of one kind after a version.

    From a version that the store has not reached comes nothing until the store has passed it, as with etcd.
    """

    def __init__(self, store: StoredObjects, kind: Kind, selection: Selection, version: int, first: list[Json], bookmarks: bool) -> None:
        self._store = store
        self._kind = kind
        self._belongs = selection.test()
        self._first = first
        self._bookmarks = bookmarks
        self.position = version
        """The version up to which everything was taken."""

    def take(self) -> list[Json]:
        """The events that were not taken yet. Raises ApiError (410) when some of them are forgotten."""
        found, self._first = self._first, []
        if self._store.version >= self.position:
            for change in self._store.history.since(self.position):
                found += self._events(change)
            self.position = self._store.version
        return found

    def bookmark(self) -> Json | None:
        """A bookmark for the current version; none while there is something to take, or the store is behind, or if none are taken."""
        if not self._bookmarks or self._first or self.position != self._store.version:
            return None
        return _bookmark(self._kind, self.position, {})

    def _events(self, change: Change) -> Iterator[Json]:
        """A change as this watch sees it: an object that begins or ceases to belong looks as if it were created or deleted."""
        if change.key[0] is not self._kind:
            return
        before = change.before is not None and self._belongs(change.before)
        after = change.after is not None and self._belongs(change.after)
        if after and change.after is not None:
            yield _event("MODIFIED" if before else "ADDED", change.after)
        elif before and change.before is not None:
            metadata = {**change.before["metadata"], "resourceVersion": str(change.version)}
            yield _event("DELETED", {**change.before, "metadata": metadata})


def _event(what: str, obj: Json) -> Json:
    return {"type": what, "object": copied(obj)}


def _bookmark(kind: Kind, version: int, annotations: dict[str, str]) -> Json:
    metadata: Json = {"resourceVersion": str(version)}
    if annotations:
        metadata["annotations"] = annotations
    return _event("BOOKMARK", {"kind": kind.name, "apiVersion": kind.api_version, "metadata": metadata})


def key_of(name: str, namespace: str) -> str:
    """The name of an object within its kind."""
    return f"{namespace}/{name}" if namespace else name


def version_number(version: str) -> int:
    """A resourceVersion as a number; 0 for none. Raises ApiError (400)."""
    if version and not (version.isascii() and version.isdecimal()):
        why = f'resourceVersion: Invalid value: "{version}": strconv.ParseUint: parsing "{version}": invalid syntax'
        raise bad_request(f"invalid resource version: {why}")
    return int(version or 0)
