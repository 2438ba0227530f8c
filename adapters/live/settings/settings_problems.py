"""What is wrong with settings, in plain words: the place, the cause, and what to do."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from ....dsl.syntax.names import closest, shortened

MOST_PROBLEMS = 10
"""The most problems that are told one by one."""

DOCUMENTED = "docs/live.md lists all settings"

_SHORTEN = "has more than {max_length} characters; shorten it"
_NO_NUMBER = "is no number; write one such as 2.5"
_NO_WHOLE = "is no whole number; write one such as 8080"
_NO_PART = "is no part with settings; write `name: value` lines below it"
_NO_TEXT = "is no text; write one, in quotes"
_NO_FLAG = "is neither true nor false; write one of them"

_WORDS = {
    "bool_parsing": _NO_FLAG,
    "bool_type": _NO_FLAG,
    "finite_number": _NO_NUMBER,
    "float_parsing": _NO_NUMBER,
    "float_type": _NO_NUMBER,
    "greater_than": "is not above {gt:g}; write more",
    "greater_than_equal": "is below {ge:g}; write at least that",
    "int_from_float": _NO_WHOLE,
    "int_parsing": _NO_WHOLE,
    "int_parsing_size": _NO_WHOLE,
    "int_type": _NO_WHOLE,
    "ip_any_address": "is no IP address; write one such as 127.0.0.1",
    "less_than_equal": "is above {le:g}; write at most that",
    "literal_error": "is not one of the words that count; write {expected}",
    "model_type": _NO_PART,
    "path_type": _NO_TEXT,
    "string_too_long": _SHORTEN,
    "string_too_short": "is empty; write a name, or leave it out",
    "string_type": _NO_TEXT,
}
"""What pydantic's types of errors mean. A `value_error` brings its own words."""


class WrongSetting(NamedTuple):
    """Where it stands, which setting it is, as far as `where` does not say that, and what is wrong with it."""

    where: str
    setting: str
    told: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.where}: {self.setting}{': ' if self.setting else ''}{self.told}"


class ServeSettingsError(ValueError):
    """Settings that cannot be used: some problems, and how many more there are."""

    def __init__(self, problems: Sequence[WrongSetting], more: int = 0) -> None:
        self.problems = tuple(problems)
        self.lines = tuple(map(str, problems)) + ((f"... and {more:,} more",) if more else ())
        super().__init__("\n".join(self.lines))


def settings_error(error: ValidationError, where: Callable[[str], str], known: Iterable[str]) -> ServeSettingsError:
    """What pydantic says, in plain words. `where` tells where a setting stands, `known` are all settings and parts."""
    errors: Sequence[Any] = error.errors(include_url=False)
    names = list(known)
    problems = [_problem(each, where, names) for each in errors[:MOST_PROBLEMS]]
    return ServeSettingsError(problems, len(errors) - len(problems))


def unknown(name: str, known: Iterable[str], spelled: Callable[[str], str] = str) -> str:
    """That a name is no setting, with the one that was most likely meant, as it is spelled."""
    meant = closest(shortened(name), known)
    return f"is no setting; did you mean `{spelled(meant)}`?" if meant else f"is no setting; {DOCUMENTED}"


def _problem(error: Any, where: Callable[[str], str], known: Sequence[str]) -> WrongSetting:
    setting = ".".join(map(str, error["loc"]))
    place = where(setting)
    named = "" if place.startswith("GPOL_") else shortened(setting)
    if error["type"] == "value_error":
        return WrongSetting(place, named, str(error["ctx"]["error"]))
    if error["type"] == "extra_forbidden":
        return WrongSetting(place, named, unknown(setting, known))
    if error["input"] is None:
        return WrongSetting(place, named, "is empty; write what belongs there, or leave it out")
    return WrongSetting(place, named, _WORDS[error["type"]].format(**error.get("ctx", {})) if error["type"] in _WORDS else error["msg"])
