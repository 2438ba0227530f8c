"""What an import or export finds: problems, which refuse it whole, and notes, which say what was not taken over."""

from dataclasses import dataclass, field

MOST_PROBLEMS = 20
"""Problems that are told of a dump; more would not be read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that cannot be taken over: in which file and object, at which field, why, and what to do."""

    file: str
    subject: str
    field: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        """One line: place, cause, remedy."""
        place = ": ".join(part for part in (self.file, self.subject, self.field) if part)
        return f"{place}: {self.cause}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was left out or taken to mean something, once for all the objects that it is about (in order of name)."""

    kind: str
    names: tuple[str, ...]
    field: str
    text: str

    def __str__(self) -> str:
        """One line: objects, field, what was made of it."""
        shown = ", ".join(self.names[:3]) + (f" and {len(self.names) - 3} more" if len(self.names) > 3 else "")
        place = ": ".join(part for part in (f"{self.kind} {shown}".strip(), self.field) if part)
        return f"{place}: {self.text}"


class Refused(ValueError):  # noqa: N818 - it is no failure of the program, but an answer
    """Something that cannot be taken over, and nothing of it was. `problems` are at most 20, `more` counts those beyond."""

    def __init__(self, problems: tuple[Problem, ...], more: int = 0) -> None:
        rest = f"\nand {more} more" if more else ""
        super().__init__("\n".join(str(problem) for problem in problems) + rest)
        self.problems, self.more = problems, more


class ImportRefused(Refused):
    """A dump that cannot be imported."""


class ExportRefused(Refused):
    """A policy that cannot be exported."""


@dataclass(slots=True)
class Findings:
    """Problems and notes found so far; `begin` says which object the next ones are about."""

    file: str = ""
    kind: str = ""
    name: str = ""
    problems: list[Problem] = field(default_factory=list)
    more: int = 0
    told: set[Problem] = field(default_factory=set)
    noted: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)

    def begin(self, kind: str, name: str, file: str) -> None:
        """What is found from now on is about this object."""
        self.kind, self.name, self.file = kind, name, file

    def problem(self, place: str, cause: str, remedy: str) -> None:
        """Refuse everything for a field of the present object; what was said already is not said again."""
        problem = Problem(self.file, f"{self.kind} {self.name}".strip(), place, cause, remedy)
        if problem in self.told:
            return
        self.told.add(problem)
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more += 1

    def note(self, place: str, text: str) -> None:
        """Say what was made of a field of the present object."""
        names = self.noted.setdefault((self.kind, place, text), [])
        if self.name not in names[-1:]:
            names.append(self.name)

    def notes(self) -> list[Note]:
        """All notes, in order of kind and field."""
        return [Note(*key[:1], tuple(sorted(set(names))), *key[1:]) for key, names in sorted(self.noted.items())]

    def check(self, refusal: type[Refused] = ImportRefused) -> None:
        """Raise the refusal if there is a problem."""
        if self.problems:
            raise refusal(tuple(self.problems), self.more)
