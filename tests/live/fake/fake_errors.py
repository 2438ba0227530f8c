"""The errors of a Kubernetes API server: each with the `Status` body that a client reads."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from fake_kinds import Json, Kind

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Gone",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""The reason that goes with a code when nothing more special is said."""

STALE = "the object has been modified; please apply your changes to the latest version and try again"


class ApiError(Exception):
    """A request was refused. `status` is the body of the answer. Without a reason, that which goes with the code is taken; None is none."""

    def __init__(self, code: int, message: str, reason: str | None = "", details: Json | None = None, continue_: str = "") -> None:
        super().__init__(message)
        self.code = code
        metadata = {"continue": continue_} if continue_ else {}
        body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure", "message": message}
        if reason is not None:
            body["reason"] = reason or REASONS.get(code, HTTPStatus(code).phrase.replace(" ", ""))
        if details is not None:
            body["details"] = details
        body["code"] = code
        self.status = body

    @property
    def reason(self) -> str:
        """The reason in one word, such as `Conflict`; empty where the server has none."""
        return str(self.status.get("reason", ""))


def details_of(kind: Kind, name: str = "", **more: Any) -> Json:
    """Which object an answer is about. The field `kind` holds the plural, as in a real server."""
    parts = {"name": name, "group": kind.group, "kind": kind.plural, **more}
    return {field: value for field, value in parts.items() if value}


def not_found(kind: Kind, name: str) -> ApiError:
    """There is no object of that name."""
    return ApiError(404, f'{kind.resource} "{name}" not found', details=details_of(kind, name))


def no_such_resource() -> ApiError:
    """The path names something that is not served in a group that is."""
    return ApiError(404, "the server could not find the requested resource", details={})


def already_exists(kind: Kind, name: str, being_deleted: bool = False) -> ApiError:
    """An object of that name is there already."""
    prefix = "object is being deleted: " if being_deleted else ""
    return ApiError(409, f'{prefix}{kind.resource} "{name}" already exists', "AlreadyExists", details_of(kind, name))


def conflict(kind: Kind, name: str, why: str = STALE) -> ApiError:
    """The write was made for another state of the object."""
    return ApiError(409, f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}', details=details_of(kind, name))


def other_uid(kind: Kind, name: str, namespace: str, asked: str, found: str) -> ApiError:
    """The object that an update was made for was deleted, and another one has its name now."""
    key = "/".join(part for part in ("/registry", kind.group, kind.plural, namespace, name) if part)
    failed = f"Precondition failed: UID in precondition: {asked}, UID in object meta: {found}"
    return conflict(kind, name, f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {failed}")


def apply_conflict(conflicts: Iterable[tuple[str, str]]) -> ApiError:
    """Fields that were applied have other owners: pairs of an owner's description and a field."""
    found = sorted(conflicts)
    causes = [{"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": place} for owner, place in found]
    if len(found) == 1:
        message = f"Apply failed with 1 conflict: conflict with {found[0][0]}: {found[0][1]}"
    else:
        lines: list[str] = []
        for owner in dict.fromkeys(owner for owner, _ in found):
            lines.append(f"conflicts with {owner}:")
            lines += [f"- {place}" for other, place in found if other == owner]
        message = f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)
    return ApiError(409, message, details={"causes": causes})


def expired(message: str, continue_: str = "") -> ApiError:
    """What was asked for is no longer kept; list again."""
    return ApiError(410, message, "Expired", continue_=continue_)


def too_large_version(asked: int, current: int) -> ApiError:
    """A list was asked for at a version that the server has not reached."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    details = {"causes": [cause], "retryAfterSeconds": 1}
    return ApiError(504, f"Timeout: Too large resource version: {asked}, current: {current}", details=details)


def invalid(kind: Kind, name: str, field: str, why: str, reason: str = "FieldValueInvalid") -> ApiError:
    """The object is not valid: which field, and why."""
    details = details_of(kind, name, causes=[{"reason": reason, "message": why, "field": field}])
    return ApiError(422, f'{kind.qualified_name} "{name}" is invalid: {field}: {why}', details={**details, "kind": kind.name})


def unexpected(message: str) -> ApiError:
    """The server did not foresee the error, and so it has a code but no reason."""
    return ApiError(500, message, reason=None)


def invalid_options(options: str, field: str, why: str, reason: str = "FieldValueForbidden") -> ApiError:
    """A query parameter is not valid."""
    causes = [{"reason": reason, "message": why, "field": field}]
    details = {"group": "meta.k8s.io", "kind": options, "causes": causes}
    return ApiError(422, f'{options}.meta.k8s.io "" is invalid: {field}: {why}', details=details)


def bad_request(message: str) -> ApiError:
    """The request cannot be understood."""
    return ApiError(400, message)


def forbidden(kind: Kind, name: str, why: str, **more: Any) -> ApiError:
    """The user may not do that."""
    subject = f'{kind.resource} "{name}"' if name else kind.resource
    return ApiError(403, f"{subject} is forbidden: {why}", details=details_of(kind, name, **more))


def unauthorized() -> ApiError:
    """Nobody knows who asks."""
    return ApiError(401, "Unauthorized")


def method_not_allowed(kind: Kind, verb: str) -> ApiError:
    """The path is there, but not for this method."""
    return ApiError(405, f'{verb} is not supported on resources of kind "{kind.resource}"', details=details_of(kind))


def unsupported_media_type(accepted: Iterable[str]) -> ApiError:
    """The body has a form that is not read here."""
    return ApiError(415, f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}")
