"""Which objects a list or a watch is about: label selectors, field selectors, and the token that continues a list."""

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from fake_errors import ApiError, bad_request
from fake_kinds import Json

Test = Callable[[Json], bool]

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_REQUIREMENT = re.compile(
    rf"\s*(?:(?P<absent>!)\s*(?P<key>{_KEY})|(?P<name>{_KEY})(?:\s*(?P<sign>==?|!=)\s*(?P<value>[-A-Za-z0-9_.]*)"
    r"|\s+(?P<word>in|notin)\s*\((?P<values>[-A-Za-z0-9_.,\s]*)\))?)\s*"
)
_FIELD = re.compile(r"\s*(?P<name>[A-Za-z.]+)\s*(?P<sign>==?|!=)\s*(?P<value>[^,=!]*?)\s*")
FIELDS = ("metadata.name", "metadata.namespace")
"""The fields that a field selector may name here. A real server has some more for built-in kinds."""


@dataclass(frozen=True)
class Selection:
    """Which objects of one kind: those of a namespace or of all, with certain labels and a certain name."""

    namespace: str | None = None
    """None for all namespaces. Objects without a namespace have the empty one."""
    labels: str = ""
    fields: str = ""

    def test(self) -> Test:
        """A function that says whether an object belongs. Raises ApiError for a selector that cannot be read."""
        tests = [*_label_tests(self.labels), *_field_tests(self.fields)]
        if self.namespace is not None:
            tests.append(lambda obj: obj["metadata"].get("namespace", "") == self.namespace)
        return lambda obj: all(test(obj) for test in tests)

    @property
    def is_narrowed(self) -> bool:
        """Whether a selector is given. The number of objects that remain is not told then."""
        return bool(self.labels or self.fields)


def _label_tests(selector: str) -> list[Test]:
    tests: list[Test] = []
    place = 0
    while selector.strip() and place <= len(selector):
        found = _REQUIREMENT.match(selector, place)
        if found is None or (found.end() < len(selector) and selector[found.end()] != ","):
            raise bad_request(f'unable to parse requirement: cannot read the label selector "{selector}" at "{selector[place:]}"')
        tests.append(_label_test(found))
        place = found.end() + 1
    return tests


def _label_test(found: re.Match[str]) -> Test:
    if found["absent"]:
        return lambda obj: found["key"] not in _labels(obj)
    name = found["name"]
    if found["word"]:
        values = {value.strip() for value in found["values"].split(",")}
        wanted = found["word"] == "in"
        return lambda obj: (_labels(obj).get(name) in values) == wanted
    if found["sign"]:
        return lambda obj: (_labels(obj).get(name) == found["value"]) != (found["sign"] == "!=")
    return lambda obj: name in _labels(obj)


def _labels(obj: Json) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def _field_tests(selector: str) -> list[Test]:
    return [_field_test(part) for part in selector.split(",") if part.strip()]


def _field_test(part: str) -> Test:
    found = _FIELD.fullmatch(part)
    if found is None:
        raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
    name = found["name"]
    if name not in FIELDS:
        raise bad_request(f"field label not supported: {name} (this server of the tests knows {', '.join(FIELDS)})")
    return lambda obj: (obj["metadata"].get(name.partition(".")[2], "") == found["value"]) != (found["sign"] == "!=")


# --- the rest of a list ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Continuation:
    """Where the next part of a list begins, and of which version the list is. Version -1 stands for the current one."""

    version: int
    after: str

    def token(self) -> str:
        """The text that a client sends back."""
        text = json.dumps({"v": "meta.k8s.io/v1", "rv": self.version, "start": self.after + "\0"}, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def of(cls, token: str) -> "Continuation":
        """The continuation that a token stands for. Raises ApiError."""
        try:
            said = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            return cls(int(said["rv"]), str(said["start"]).removesuffix("\0"))
        except (binascii.Error, ValueError, KeyError, TypeError):
            raise ApiError(400, "continue key is not valid: a token is given back as it was received") from None
