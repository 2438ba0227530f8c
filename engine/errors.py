"""What the core refuses, and how errors are told."""

from typing import Any


class FactError(ValueError):
    """A fact that cannot have happened in this state, such as the end of a workload that does not run.

    The message says what is wrong and what to do, in a form to show to a user. Nothing of the fact was applied.
    """


def describe_error(error: Any) -> str:
    """Turn pydantic's ValidationError into one line: `field: what is wrong; field: ...`, without a Python class name."""
    parts = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        place = ".".join(str(step) for step in item["loc"][1:] if not isinstance(step, str) or "[" not in step)
        message = item["msg"].removeprefix("Value error, ")
        parts.append(f"{place}: {message}" if place else message)
    return "; ".join(parts)
