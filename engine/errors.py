"""What the core refuses, and how errors are told."""

from itertools import groupby
from operator import itemgetter
from typing import Any

_MOST_SHOWN = 60
"""How many characters of a wrong word are shown."""

_KEY = "[key]"
"""What pydantic adds to a place where the name of an entry is wrong, and not its value."""

_UNION = "priority"
"""The field that is a number or a name: pydantic tells what is wrong with it as each."""


class FactError(ValueError):
    """A fact that cannot have happened in this state, such as the end of a workload that does not run.

    The message says what is wrong and what to do, in a form to show to a user. Nothing of the fact was applied.
    """


def describe_error(error: Any) -> str:
    """Turn pydantic's ValidationError into one line: `field: what is wrong; field: ...`, without a Python class name."""
    items = error.errors(include_url=False)
    found = list[tuple[str, str]]()
    for item in items:
        if item["type"] == "too_short" and any(_lies_in(other["loc"], item["loc"]) for other in items):
            continue  # it counts only the items in which nothing is wrong
        found.append(_placed(item))
    parts = []
    for place, told in groupby(found, key=itemgetter(0)):
        said = (" or " if place == _UNION else "; ").join(message for _, message in told)
        parts.append(f"{place}: {said}" if place else said)
    return "; ".join(parts)


def _placed(item: Any) -> tuple[str, str]:
    """The place of an error, as in `pod_sets.0.requests`, and what is wrong there."""
    steps, said = [str(step)[:_MOST_SHOWN] for step in item["loc"][1:]], _plain(item)
    if steps[-1:] == [_KEY]:
        return ".".join(steps[:-2]), f"the name `{steps[-2]}`: {said}"
    return (_UNION if steps[:1] == [_UNION] else ".".join(steps)), said


def _lies_in(inner: tuple[Any, ...], outer: tuple[Any, ...]) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def _plain(item: Any) -> str:
    """What is wrong, without the words of the library that found it."""
    said = item.get("ctx", {})
    match item["type"]:
        case "too_short":
            return f"there are {said['actual_length']}, and at least {said['min_length']} is needed"
        case "too_long":
            return f"there are more than {said['max_length']}"
        case "union_tag_invalid":
            known = said["expected_tags"].replace("'", "")
            if not isinstance(item["input"]["kind"], str):
                return f"kind: has to be one of {known}"
            return f"kind: `{said['tag'][:_MOST_SHOWN]}` is none of {known}"
        case "union_tag_not_found":
            return "kind: is missing; it says what happened"
        case "greater_than_equal" if item["loc"][-1] == "time":
            return "is before 1970-01-01T00:00:00Z, where time begins"
        case "model_attributes_type" | "model_type":
            return "is no object with named fields"
        case "tuple_type":
            return "Input should be a valid array"  # JSON has no tuples and dictionaries
        case "dict_type":
            return "Input should be an object"
        case _:
            return str(item["msg"]).removeprefix("Value error, ")
