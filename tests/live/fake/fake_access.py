"""Who asks, and what that user may do: tokens, grants as in RBAC, and the reviews by which a client asks about both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fake_errors import forbidden, unauthorized
from fake_kinds import Json, Kind

TOKEN_REVIEW = Kind("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", namespaced=False, built_in=True)
SELF_ACCESS_REVIEW = Kind(
    "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False, built_in=True
)
REVIEWS = (TOKEN_REVIEW, SELF_ACCESS_REVIEW)
"""Kinds that are answered and not stored."""


@dataclass(frozen=True)
class Asked:
    """What somebody wants to do, in the words of RBAC. Without a namespace it is about the cluster, or about all namespaces."""

    verb: str
    group: str
    resource: str
    """The plural, with the subresource after a slash."""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True)
class Grant:
    """Verbs on resources of one group, in the cluster or in one namespace. `*` stands for all verbs, groups or resources."""

    verbs: tuple[str, ...]
    resources: tuple[str, ...]
    group: str = ""
    namespace: str | None = None
    """None for the whole cluster, as a ClusterRoleBinding gives it."""

    def allows(self, asked: Asked) -> bool:
        """Whether this grant allows what is asked for."""
        return (
            bool({"*", asked.verb}.intersection(self.verbs))
            and bool({"*", asked.resource}.intersection(self.resources))
            and self.group in ("*", asked.group)
            and self.namespace in (None, asked.namespace)
        )


EVERYTHING = Grant(("*",), ("*",), "*")


@dataclass(frozen=True)
class User:
    """Who asks, and what that user may do."""

    name: str
    grants: tuple[Grant, ...] = (EVERYTHING,)
    uid: str = ""
    groups: tuple[str, ...] = ("system:authenticated",)

    def may(self, asked: Asked) -> bool:
        """Whether one of the user's grants allows what is asked for. Everybody may ask what one may do."""
        return asked.resource == SELF_ACCESS_REVIEW.plural or any(grant.allows(asked) for grant in self.grants)


class Access:
    """The table of tokens. It may be changed while a server uses it: a token is withdrawn by deleting it.

    Without a table everybody may do everything. With one, who has no token of it gets 401.
    """

    def __init__(self, tokens: Mapping[str, User] | None = None) -> None:
        self.tokens = dict(tokens or {})
        self._anonymous = User("system:anonymous", groups=("system:unauthenticated",)) if tokens is None else None

    def user(self, authorization: str) -> User:
        """Who sends a header `Authorization`. Raises ApiError (401)."""
        scheme, _, token = authorization.partition(" ")
        found = self.tokens.get(token.strip()) if scheme.lower() == "bearer" else None
        if found is None and (authorization or self._anonymous is None):
            raise unauthorized()
        return found or self._anonymous or User("nobody", ())

    def check(self, user: User, kind: Kind, asked: Asked) -> None:
        """Raises ApiError (403) unless the user may do what is asked for."""
        if not user.may(asked):
            scope = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
            what = f'cannot {asked.verb} resource "{asked.resource}" in API group "{asked.group}" {scope}'
            raise forbidden(kind, asked.name, f'User "{user.name}" {what}')

    def review(self, kind: Kind, user: User, body: Json) -> Json:
        """The answer to a review: the body with its status."""
        status = self._whose_token(body) if kind is TOKEN_REVIEW else self._may(user, body)
        return {"kind": kind.name, "apiVersion": kind.api_version, "metadata": {}, "spec": body.get("spec", {}), "status": status}

    def _whose_token(self, body: Json) -> Json:
        found = self.tokens.get(str(body.get("spec", {}).get("token", "")))
        if found is None:
            return {"user": {}, "error": "invalid bearer token"}
        user = {"username": found.name, "uid": found.uid, "groups": list(found.groups)}
        return {"authenticated": True, "user": {field: value for field, value in user.items() if value}}

    def _may(self, user: User, body: Json) -> Json:
        said = body.get("spec", {}).get("resourceAttributes") or {}
        resource = "/".join(_given(said.get(field) for field in ("resource", "subresource")))
        asked = Asked(said.get("verb", ""), said.get("group", ""), resource, said.get("namespace", ""), said.get("name", ""))
        return {"allowed": True} if user.may(asked) else {"allowed": False, "reason": "no grant allows it"}


def _given(parts: Iterable[str | None]) -> list[str]:
    return [part for part in parts if part]
