"""What an object has to be, and what a write can change of it: its type, its name, its metadata, the parts that belong to the server."""

import re
from dataclasses import replace
from typing import Any

from fake_errors import bad_request, conflict, invalid
from fake_fields import same
from fake_kinds import Json, Kind

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    f"alphanumeric character (e.g. 'example.com', regex used for validation is '{_NAME.pattern}')"
)
_OF_THE_SERVER = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion")


def typed(kind: Kind, obj: Any, namespace: str) -> Json:
    """An object of the kind and in the namespace that the request names. Built-in kinds may leave out their type. Raises ApiError (400)."""
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata", {}), dict):
        raise bad_request("the body of the request is not an object with metadata")
    said = (obj.get("apiVersion"), obj.get("kind"))
    if kind.built_in:
        said = (said[0] or kind.api_version, said[1] or kind.name)
    if not said[1]:
        raise bad_request("Object 'Kind' is missing in the body of the request")
    if said[0] == kind.api_version and said[1] != kind.name and not kind.built_in:
        raise invalid(replace(kind, name=str(said[1])), _name_of(obj), "kind", f'Invalid value: "{said[1]}": must be {kind.name}')
    if said != (kind.api_version, kind.name):
        raise bad_request(
            f"the API version in the data ({said[0]}, Kind={said[1]}) does not match the expected API version "
            f"({kind.api_version}, Kind={kind.name})"
        )
    metadata = obj.setdefault("metadata", {})
    if not kind.namespaced:
        namespace = ""
        metadata.pop("namespace", None)
    if kind.namespaced:
        if namespace and metadata.get("namespace", namespace) != namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        metadata["namespace"] = metadata.get("namespace") or namespace
        if not metadata["namespace"]:
            raise bad_request("an object of this kind needs a namespace")
    return {"apiVersion": said[0], "kind": said[1], **obj, "metadata": metadata}


def _name_of(obj: Json) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")


def checked_name(kind: Kind, obj: Json, name: str | None = None) -> str:
    """The name of an object, which is that of the request if one is given. Raises ApiError."""
    said = _name_of(obj)
    if name is not None and said != name:
        raise bad_request(f"the name of the object ({said}) does not match the name on the URL ({name})")
    if not said:
        raise invalid(kind, "", "metadata.name", "Required value: name or generateName is required", "FieldValueRequired")
    if not _NAME.fullmatch(said) or len(said) > 253:
        raise invalid(kind, said, "metadata.name", f'Invalid value: "{said}": {_SUBDOMAIN}')
    return said


def settled(kind: Kind, live: Json, new: Json, subresource: str) -> Json:
    """What is left of a write when all that it cannot change is as it was. managedFields stay as they are sent.

    A write to the status changes only the status, and a write to the object does not change it. Raises ApiError: 409 when the write was
    made for another state of the object, 422 when it does not say for which, changes the uid, or adds a finalizer too late. A write to the
    status passes over the uid that it says, as in a real server.
    """
    name, old, sent = live["metadata"]["name"], live["metadata"], new["metadata"]
    if not sent.get("resourceVersion") and not kind.unconditional:
        # Here a real server says the resource where it says the kind elsewhere.
        where = replace(kind, name=kind.plural)
        raise invalid(where, name, "metadata.resourceVersion", "Invalid value: 0: must be specified for an update")
    if sent.get("resourceVersion") and sent["resourceVersion"] != old["resourceVersion"]:
        raise conflict(kind, name)
    if subresource:
        metadata = {field: value for field, value in old.items() if field != "managedFields"}
        if "managedFields" in sent:
            metadata["managedFields"] = sent["managedFields"]
        rest = {field: value for field, value in live.items() if field != "status"}
        return {**rest, "metadata": metadata, **({"status": new["status"]} if "status" in new else {})}
    if sent.get("uid", old["uid"]) != old["uid"]:
        raise invalid(kind, name, "metadata.uid", f'Invalid value: "{sent["uid"]}": field is immutable')
    kept = {field: old[field] for field in _OF_THE_SERVER if field in old}
    new = {**new, "metadata": {**{field: value for field, value in sent.items() if field not in _OF_THE_SERVER}, **kept}}
    if kind.has_status:
        new.pop("status", None)
        if "status" in live:
            new["status"] = live["status"]
    extra = sorted(set(sent.get("finalizers") or []) - set(old.get("finalizers") or []))
    if old.get("deletionTimestamp") and extra:
        named = ", ".join(f'"{name}"' for name in extra)
        why = f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{{{named}}}"
        raise invalid(kind, name, "metadata.finalizers", why, "FieldValueForbidden")
    if kind.counts_generation and not same(_content(kind, live), _content(kind, new)):
        new["metadata"]["generation"] = old.get("generation", 0) + 1
    return new


def _content(kind: Kind, obj: Json) -> Json:
    """What a generation counts the changes of."""
    return {field: value for field, value in obj.items() if field != "metadata" and not (field == "status" and kind.has_status)}


def is_unchanged(live: Json, new: Json) -> bool:
    """Whether a write changes nothing, but perhaps the times at which the owners wrote: such a write is not made."""
    return same(_timeless(live), _timeless(new))


def _timeless(obj: Json) -> Json:
    entries = obj["metadata"].get("managedFields") or []
    without = [{field: value for field, value in entry.items() if field != "time"} for entry in entries]
    return {**obj, "metadata": {**obj["metadata"], "managedFields": without}}


def merge_patched(value: Any, patch: Any) -> Any:
    """A value with a JSON merge patch: objects are merged, a null removes a field, and anything else replaces what was there."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for field, part in patch.items():
        if part is None:
            result.pop(field, None)
        else:
            result[field] = merge_patched(result.get(field), part)
    return result
