"""A job of a simulation: a submission, and how long it runs once it is admitted; and the file that jobs come from."""

from dataclasses import dataclass
from typing import NamedTuple

from ...engine.facts import WorkloadSubmitted


@dataclass(frozen=True, slots=True)
class Job:
    """`duration` is in microseconds, at least 1; the time of submission is the fact's. Their sum is at most LAST_MOMENT."""

    fact: WorkloadSubmitted
    duration: int


class JobSource(NamedTuple):
    """The file that jobs come from: its name without folders, and `sha256:` with the SHA-256 of its bytes."""

    name: str
    digest: str


class InputError(ValueError):
    """An input file that cannot be used: file, line, what is wrong there and what to do."""

    def __init__(self, file: str, line: int, problem: str, remedy: str = "") -> None:
        super().__init__(f"{file}:{line}: {problem}" + (f"; {remedy}" if remedy else ""))
        self.file, self.line, self.problem, self.remedy = file, line, problem, remedy
