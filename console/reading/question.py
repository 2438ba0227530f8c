"""A question as it is sent from the process that decides to the one that answers."""

from typing import NamedTuple

from pydantic import TypeAdapter


class Question(NamedTuple):
    """What is asked: the name of the question, of which workload, the query, and until when it is to be answered (`monotonic`)."""

    name: str
    workload: str
    query: dict[str, str]
    deadline: float


QUESTION: TypeAdapter[Question] = TypeAdapter(Question)
"""A question as bytes and back: one line, behind which the body of the request follows."""

NAMES: TypeAdapter[list[str]] = TypeAdapter(list[str])
"""The body of the question `why`: workloads by name."""

REASONS: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
"""Its answer: why each waits, by name."""
