"""Parts of an object as the API server sends it, where whoever wrote it may have put something of another form there."""

from typing import Any

from .api import Plain


def part_of(plain: Plain, name: str) -> Plain:
    """An object in an object; empty where there is none."""
    value = plain.get(name)
    return value if isinstance(value, dict) else {}


def rows_of(plain: Plain, name: str) -> list[dict[str, Any]]:
    """The objects in a list of an object; none where there is no list."""
    value = plain.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
