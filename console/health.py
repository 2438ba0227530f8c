"""Whether the service does what it is there for, and if not, why: by part, as each part says of itself."""

from collections.abc import Callable


class Health:
    """What keeps the service from its work, by the part that is concerned. A part that says nothing is well."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {"service": "it is starting"}
        self._asked: dict[str, Callable[[], str]] = {}

    def say(self, part: str, problem: str) -> None:
        """Let a part say what its problem is; an empty text says that there is none."""
        if problem:
            self._said[part] = problem
        else:
            self._said.pop(part, None)

    def ask(self, part: str, problem: Callable[[], str] | None) -> None:
        """Let a part be asked for its problem whenever somebody wants to know; None: no longer."""
        if problem is None:
            self._asked.pop(part, None)
        else:
            self._asked[part] = problem

    def problems(self) -> dict[str, str]:
        """All problems, by part, in order of name."""
        found = {**self._said, **{part: said for part, ask in self._asked.items() if (said := ask())}}
        return {part: found[part] for part in sorted(found)}
