"""What a path and its query ask for, and the discovery documents that say which paths there are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fake_errors import bad_request, invalid_options, no_such_resource, not_found
from fake_kinds import Json, Kind
from fake_selectors import Selection

_ALWAYS = frozenset({"pretty", "timeout"})
_WRITE = _ALWAYS | {"dryRun", "fieldManager", "fieldValidation"}
_LIST = _ALWAYS | {
    "labelSelector",
    "fieldSelector",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "watch",
}
PARAMETERS: dict[str, frozenset[str]] = {
    "get": _ALWAYS | {"resourceVersion"},
    "list": _LIST | {"allowWatchBookmarks", "sendInitialEvents"},
    "watch": _LIST | {"allowWatchBookmarks", "sendInitialEvents"},
    "create": _WRITE,
    "update": _WRITE,
    "patch": _WRITE | {"force"},
    "delete": _ALWAYS | {"dryRun", "gracePeriodSeconds", "propagationPolicy"},
}
"""The query parameters that each verb takes. A real server passes over what it does not know; here a misspelt one is refused."""

OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions", "delete": "DeleteOptions"}
_UNSUPPORTED = "FieldValueNotSupported"

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass(frozen=True)
class Target:
    """The object, or the collection of objects, that a path names."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    """Empty for a collection."""
    subresource: str = ""

    def verb(self, method: str, query: Mapping[str, str]) -> str:
        """The verb of a request, as RBAC names it; empty for a method that the path does not have."""
        whole_cluster = self.kind.namespaced and not self.namespace
        if method == "GET":
            return "get" if self.name else "watch" if flag(query, "watch") else "list"
        if method == "POST":
            return "" if self.name or whole_cluster else "create"
        return VERBS.get(method, "") if self.name and not (method == "DELETE" and self.subresource) else ""

    def selection(self, query: Mapping[str, str]) -> Selection:
        """Which objects of a collection are meant."""
        everywhere = self.kind.namespaced and not self.namespace
        return Selection(None if everywhere else self.namespace, query.get("labelSelector", ""), query.get("fieldSelector", ""))


def target_of(kinds: Iterable[Kind], path: str) -> Target | None:
    """What a path means; nothing if it is not served. Raises ApiError (404) in the groups that say so in a Status: the built-in ones."""
    parts = path.strip("/").split("/")
    length = {"api": 2, "apis": 3}.get(parts[0], len(parts) + 1)
    if len(parts) <= length:
        return None
    group, version, rest = "/".join(parts[1 : length - 1]), parts[length - 1], parts[length:]
    served = {kind.plural: kind for kind in kinds if (kind.group, kind.version) == (group, version)}
    if not served or "" in rest:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] in served:
        namespace, rest = rest[1], rest[2:]
    kind = served.get(rest[0])
    if kind is None or len(rest) > 3 or bool(namespace) > kind.namespaced or (len(rest) > 1 and kind.namespaced and not namespace):
        if any(other.built_in for other in served.values()):
            raise no_such_resource()
        return None
    if len(rest) == 3 and not (rest[2] == "status" and kind.has_status):
        raise no_such_resource() if kind.built_in else not_found(kind, rest[1])
    return Target(kind, namespace, *rest[1:])


def check_query(verb: str, query: Mapping[str, str]) -> None:
    """Raises ApiError for a query parameter that the verb does not take, or a value that it cannot have."""
    for name in sorted(set(query) - PARAMETERS[verb]):
        raise bad_request(f"the query parameter {name} is not known for {verb}; known are {', '.join(sorted(PARAMETERS[verb]))}")
    options = OPTIONS.get(verb, "ListOptions")
    if query.get("dryRun", "All") != "All":
        raise invalid_options(options, "dryRun", f'Unsupported value: ["{query["dryRun"]}"]: supported values: "All"', _UNSUPPORTED)
    if query.get("propagationPolicy", "Background") != "Background":
        raise bad_request("this server of the tests has no garbage collector: propagationPolicy can only be Background")
    if query.get("fieldValidation", "") not in ("", "Ignore", "Strict", "Warn"):
        why = f'Unsupported value: "{query["fieldValidation"]}": supported values: "", "Ignore", "Strict", "Warn"'
        raise invalid_options(options, "fieldValidation", why, _UNSUPPORTED)
    if verb in ("list", "watch"):
        _check_versions(verb == "watch", query)
    number(query, "limit")
    number(query, "timeoutSeconds")


def _check_versions(watches: bool, query: Mapping[str, str]) -> None:
    """Raises ApiError unless the parameters about versions go together."""
    match, version = query.get("resourceVersionMatch", ""), query.get("resourceVersion", "")
    initial = "sendInitialEvents" in query
    fields = {
        "resourceVersionMatch is forbidden unless resourceVersion is provided": match and not version and not watches,
        "resourceVersionMatch is forbidden when continue is provided": match and query.get("continue"),
        'resourceVersionMatch "exact" is forbidden for resourceVersion "0"': match == "Exact" and version == "0",
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan": watches and initial and match != "NotOlderThan",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided": watches and match and not initial,
    }
    for why, holds in fields.items():
        if holds:
            raise invalid_options("ListOptions", "resourceVersionMatch", f"Forbidden: {why}")
    if match not in ("", "Exact", "NotOlderThan"):
        why = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
        raise invalid_options("ListOptions", "resourceVersionMatch", why, _UNSUPPORTED)
    if initial and not watches:
        raise invalid_options("ListOptions", "sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list")


def flag(query: Mapping[str, str], name: str) -> bool:
    """Whether a parameter is set to true. Raises ApiError."""
    said = query.get(name, "false").lower()
    if said not in ("true", "1", "false", "0", ""):
        raise bad_request(f'{name} is true or false, not "{said}"')
    return said in ("true", "1")


def number(query: Mapping[str, str], name: str) -> int:
    """A parameter that is a number; 0 if it is not there. Raises ApiError."""
    said = query.get(name) or "0"
    if not (said.isascii() and said.isdecimal()):
        raise bad_request(f'{name} is a number, not "{said}"')
    return int(said)


# --- discovery ------------------------------------------------------------------------------------------------------


def discovery(kinds: Iterable[Kind], path: str) -> Json | None:
    """The document at a path above the resources: /api, /apis, /apis/GROUP, /api/v1, /apis/GROUP/VERSION; nothing if there is none."""
    groups: dict[str, dict[str, list[Kind]]] = {}
    for kind in kinds:
        groups.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
    parts = path.strip("/").split("/")
    core = groups.pop("", {})
    match parts:
        case ["api"]:
            return {"kind": "APIVersions", "versions": list(core), "serverAddressByClientCIDRs": []}
        case ["apis"]:
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(group, list(groups[group])) for group in groups]}
        case ["apis", group] if group in groups:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, list(groups[group]))}
        case ["api", version] if version in core:
            return _resources(version, core[version])
        case ["apis", group, version] if version in groups.get(group, {}):
            return _resources(f"{group}/{version}", groups[group][version])
    return None


def _group(group: str, versions: list[str]) -> Json:
    said = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": said, "preferredVersion": said[0]}


def _resources(group_version: str, kinds: list[Kind]) -> Json:
    found: list[Json] = []
    for kind in kinds:
        common: Json = {"singularName": kind.name.lower(), "namespaced": kind.namespaced, "kind": kind.name}
        verbs = ["create"] if kind.plural.endswith("reviews") else ["create", "delete", "get", "list", "patch", "update", "watch"]
        found.append({"name": kind.plural, **common, "verbs": verbs})
        if kind.has_status:
            found.append({"name": f"{kind.plural}/status", **common, "singularName": "", "verbs": ["get", "patch", "update"]})
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": found}
