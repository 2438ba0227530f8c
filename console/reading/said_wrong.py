"""What is wrong with a part of a request, in words."""

from typing import Any

from pydantic import ValidationError

from ...engine.errors import describe_error


class _Within:
    """A ValidationError of a part, with the places of its errors as those of the whole."""

    def __init__(self, error: ValidationError, part: tuple[str, ...]) -> None:
        self._error, self._part = error, part

    def errors(self, **options: Any) -> list[dict[str, Any]]:
        """See pydantic's ValidationError. `describe_error` leaves out the first step of each place."""
        return [{**item, "loc": ("request", *self._part, *item["loc"])} for item in self._error.errors(**options)]


def said_wrong(error: ValidationError, *part: str) -> str:
    """What an error says; `part` is the way to the part that it is about."""
    return describe_error(_Within(error, part))
