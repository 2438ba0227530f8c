"""What is read of a file at most, and the error for a file that cannot be read."""

MOST_BYTES = 64 * 2**20
MOST_DEPTH = 64
MOST_OBJECTS = 200_000


class UnreadableError(ValueError):
    """A file that is not a dump: where the error is, its cause, and its remedy."""

    def __init__(self, place: str, cause: str, remedy: str) -> None:
        super().__init__(f"{place}: {cause}; {remedy}" if place else f"{cause}; {remedy}")
        self.place, self.cause, self.remedy = place, cause, remedy


def too_deep(place: str = "") -> UnreadableError:
    """The error for what is nested deeper than `MOST_DEPTH`."""
    return UnreadableError(place, f"is nested more than {MOST_DEPTH} deep", f"nest at most {MOST_DEPTH} deep")
