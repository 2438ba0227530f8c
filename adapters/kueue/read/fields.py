"""Reads the fields of an object one by one, with their types. An absent field gets its default; a wrong one is reported."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ....engine.units import INT64_MAX, UnitError, parse_time
from ..problems import Findings
from .quantity import QuantityError, amount, parse

INT32 = 2**31
_NOTHING: Mapping[str, Any] = {}
_LONGEST = 4096
_LONGEST_KEY = 253
_NOT_IMPORTED = "is not imported"


class Fields:
    """The fields of one JSON object. A field that is null counts as absent, as in Kubernetes.

    Whatever is wrong goes to `found` with the path of the field, and the default is returned, so that reading goes on. Of what is no
    object, nothing is said to be missing as well: `broken` says so.
    """

    __slots__ = ("broken", "data", "found", "path")

    def __init__(self, data: object, path: str, found: Findings) -> None:
        self.path, self.found, self.broken = path, found, not isinstance(data, dict)
        if not isinstance(data, dict):
            found.problem(path, f"is {kind_of(data)}, not an object", "write its fields")
            data = {}
        self.data: Mapping[str, Any] = data

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def wrong(self, name: str, cause: str, remedy: str) -> None:
        """Report a problem with a field."""
        self.found.problem(self.at(name), cause, remedy)

    def known(self, names: frozenset[str]) -> "Fields":
        """Report every field that is not one of these as not imported."""
        for name in sorted(self.data.keys() - names):
            self.found.note(self.at(shortened(name)), _NOT_IMPORTED)
        return self

    def has(self, name: str) -> bool:
        """Whether a field is there and not null."""
        return self.data.get(name) is not None

    def lacks(self, name: str) -> bool:
        """Whether a text is missing or empty; what is there and no text is wrong otherwise, and told by who reads it."""
        return not self.broken and self.data.get(name) in (None, "")

    # --- one value ------------------------------------------------------------------------------------------------------

    def text(self, name: str, default: str = "") -> str:
        """A text without control characters."""
        value = self.data.get(name)
        if value is None:
            return default
        return value if self._is_text(name, value) else default

    def _is_text(self, name: str, value: object) -> bool:
        if not isinstance(value, str):
            self.wrong(name, f"is {kind_of(value)}, not a text", "write a text in quotes")
            return False
        if not value.isprintable():
            self.wrong(name, "has an invisible character", "write it with visible characters")
            return False
        if len(value) > _LONGEST:
            self.wrong(name, f"has {len(value)} characters", f"write at most {_LONGEST}")
            return False
        return True

    def name(self, name: str, longest: int = 253) -> str:
        """A text that names something: not empty, at most `longest` characters, no space at an end."""
        if self.lacks(name):
            self.wrong(name, "is missing", "write a name")
        value = self.text(name)
        if value != value.strip():
            self.wrong(name, "starts or ends with a space", "write a name")
        elif len(value) > longest:
            self.wrong(name, f"has {len(value)} characters", f"a name has at most {longest}")
        return value[:longest]

    def optional_name(self, name: str) -> str:
        """A name that may be absent: an empty text then, which says the same."""
        return self.name(name) if self.data.get(name) not in (None, "") else ""

    def one_of(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """One of some words; an empty text counts as absent."""
        value = self.text(name) or default
        if value not in choices and value != default:
            self.wrong(name, f"is `{value[:60]}`", f"write one of {', '.join(choices)}")
            return default
        return value

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self.data.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(name, f"is {kind_of(value)}, not true or false", "write true or false")
            return default
        return value

    def whole(self, name: str, default: int, lowest: int = -INT32, highest: int = INT32 - 1) -> int:
        """A whole number within bounds, 32 bits where they are not said."""
        value = self.data.get(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            self.wrong(name, f"is {kind_of(value)}, not a whole number", "write a whole number")
            return default
        if not lowest <= value <= highest:
            self.wrong(name, f"is {shortened(value)}", f"write a whole number from {lowest} to {highest}")
            return default
        return value

    def time(self, name: str) -> int | None:
        """A moment in microseconds since the epoch."""
        value = self.text(name)
        if not value:
            return None
        try:
            moment = parse_time(value)
        except UnitError as error:
            self.wrong(name, str(error), "write it as 2026-01-02T03:04:05Z")
            return None
        if moment < 0:
            self.wrong(name, f"`{value}` is before 1970", "correct the time")
            return None
        return moment

    def number(self, name: str, default: Fraction) -> Fraction:
        """An exact number that is not below 0, written as a quantity."""
        if not self.has(name):
            return default
        value = self._quantity(name)
        if value is None:
            return default
        if value < 0 or max(value.numerator, value.denominator) > INT64_MAX:
            self.wrong(name, "is below 0" if value < 0 else "is no number of 64 bits", "write 0 or more, with few digits")
            return default
        return value

    def quota(self, name: str, resource: str) -> int | None:
        """An amount of a resource in gpol's smallest unit; None where it is absent. It cannot be below 0."""
        if not self.has(name):
            return None
        value = self._quantity(name)
        if value is not None and value < 0:
            self.wrong(name, f"is {shortened(self.data[name])}, below 0", "write 0 or more")
        return None if value is None or value < 0 else amount(value, resource)

    def _quantity(self, name: str) -> Fraction | None:
        try:
            return parse(self.data[name])
        except QuantityError as error:
            self.wrong(name, str(error), "write it as 8, 500m or 80Gi")
            return None

    # --- several values -------------------------------------------------------------------------------------------------

    def sub(self, name: str) -> "Fields":
        """An object; an empty one where it is absent."""
        value = self.data.get(name)
        return Fields(_NOTHING if value is None else value, self.at(name), self.found)

    def rows(self, name: str, most: int | None = None) -> list[Any]:
        """A list; an empty one where it is absent."""
        value = self.data.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong(name, f"is {kind_of(value)}, not a list", "write a list")
            return []
        if most is not None and len(value) > most:
            self.wrong(name, f"has {len(value)} entries", f"Kueue allows at most {most}")
            return []
        return value

    def subs(self, name: str, most: int | None = None) -> "Iterator[Fields]":
        """The objects of a list."""
        for number, item in enumerate(self.rows(name, most)):
            yield Fields(item, f"{self.at(name)}[{number}]", self.found)

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a list, each once, in order."""
        found: dict[str, None] = {}
        for number, item in enumerate(self.rows(name)):
            if self._is_text(f"{name}[{number}]", item):
                found[item] = None
        return tuple(found)

    def all_texts(self, name: str) -> list[str]:
        """The texts of a list as they stand, also those that are there twice; a wrong one is reported, and counts as empty."""
        return [item if self._is_text(f"{name}[{number}]", item) else "" for number, item in enumerate(self.rows(name))]

    def text_map(self, name: str) -> dict[str, str]:
        """Texts by key, such as labels, in order of key."""
        fields = self.sub(name)
        return {key: value for key in fields._keys() if fields._is_text(key, value := fields.data[key])}

    def name_map(self, name: str) -> dict[str, str]:
        """Names by name, such as flavors by resource, in order of key; entries without a value are left out."""
        fields = self.sub(name)
        return {key: value for key in fields._keys() if (value := fields.optional_name(key))}

    def requests(self, name: str) -> dict[str, Fraction]:
        """Quantities by resource, in order of name."""
        if not self.data.get(name):
            return {}
        fields = self.sub(name)
        found = {}
        for resource in fields._keys():
            value = fields._quantity(resource)
            if value is not None:
                found[resource] = value
        return found

    def _keys(self) -> list[str]:
        """The names of all fields, in order; one that names nothing is reported."""
        good = []
        for key in sorted(self.data):
            if key.isprintable() and key == key.strip() and 0 < len(key) <= _LONGEST_KEY:
                good.append(key)
            else:
                self.found.problem(self.path, f"has the key `{shortened(key)}`", f"a key is a name of 1 to {_LONGEST_KEY} characters")
        return good


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | Decimal():
            return f"the number {shortened(value)}"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


def shortened(value: object) -> str:
    """A value for a message, its end left out where it is long."""
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
