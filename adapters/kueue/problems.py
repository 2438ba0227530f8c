"""The findings of an import or export: problems, which refuse all of it, and notes, which say what was left out or changed."""

from dataclasses import dataclass, field

MOST_PROBLEMS = 20
"""How many problems of a dump are reported; nobody reads more."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that cannot be imported or exported: the file, the object, the field, the cause and the remedy."""

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
class ConversionNote:
    """Something that was left out or interpreted. One note covers all objects that it applies to, in order of name."""

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
    """A refused import or export; nothing was converted. `problems` has at most 20 entries, `more` counts the others."""

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
        """Set the object that the next findings are about."""
        self.kind, self.name, self.file = kind, name, file

    def problem(self, place: str, cause: str, remedy: str) -> None:
        """Add a problem with a field of the current object. The same problem is added only once."""
        problem = Problem(self.file, f"{self.kind} {self.name}".strip(), place, cause, remedy)
        if problem in self.told:
            return
        self.told.add(problem)
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more += 1

    def note(self, place: str, text: str) -> None:
        """Add a note about a field of the current object."""
        names = self.noted.setdefault((self.kind, place, text), [])
        if self.name not in names[-1:]:
            names.append(self.name)

    def notes(self) -> list[ConversionNote]:
        """All notes, in order of kind and field."""
        return [ConversionNote(*key[:1], tuple(sorted(set(names))), *key[1:]) for key, names in sorted(self.noted.items())]

    def check(self, refusal: type[Refused] = ImportRefused) -> None:
        """Raise the refusal if there is a problem."""
        if self.problems:
            raise refusal(tuple(self.problems), self.more)
