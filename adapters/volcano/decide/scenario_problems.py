"""What is wrong with a scenario, told with its place, the cause and a remedy."""

from typing import Any

from pydantic import ValidationError

from ...kueue.problems import MOST_PROBLEMS, ImportRefused, Problem
from ...kueue.read.fields import shortened


def refused(field: str, cause: str, remedy: str) -> ImportRefused:
    """The refusal of a scenario for one of its parts, to be raised."""
    return ImportRefused((Problem("", "scenario", field, cause, remedy),))


def refusal_of(error: ValidationError) -> ImportRefused:
    """The refusal of a scenario whose parts are not what they should be."""
    errors = error.errors(include_url=False)
    problems = tuple(dict.fromkeys(_problem(each) for each in errors))
    return ImportRefused(problems[:MOST_PROBLEMS], max(0, len(problems) - MOST_PROBLEMS))


def _problem(error: Any) -> Problem:
    """One of pydantic's errors in our words."""
    *above, last = error["loc"] or ("",)
    place = _place([*above, last])
    match error["type"]:
        case "extra_forbidden":
            return Problem("", "scenario", _place(above), f"has `{shortened(str(last))}`, which is not supported", "leave it out")
        case "missing":
            return Problem("", "scenario", place, "is missing", "write it")
        case "literal_error":
            return Problem("", "scenario", place, f"is {_shown(error['input'])}", f"write {error['ctx']['expected']}")
        case "too_long":
            most = error["ctx"]["max_length"]
            return Problem("", "scenario", place, f"has more than {most:,} entries", "make the scenario smaller")
        case "string_pattern_mismatch":
            return Problem("", "scenario", place, f"is {_shown(error['input'])}, which is no name", "use letters, digits, `-`, `_` and `.`")
        case "value_error":
            return Problem("", "scenario", place, str(error["ctx"]["error"]), "write it as Kubernetes does")
        case _:
            cause = str(error["msg"])
            return Problem(
                "", "scenario", place, f"is {_shown(error['input'])}: {cause[:1].lower()}{cause[1:]}", "write it as Kubernetes does"
            )


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return f"`{shortened(str(value))}`"


def _place(parts: list[Any]) -> str:
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part in _BRANCHES:
            continue
        else:
            text += f".{shortened(str(part))}" if text else shortened(str(part))
    return text


_BRANCHES = ("bool", "int", "decimal", "str")
"""What pydantic adds to a place where a value may be of several types."""
