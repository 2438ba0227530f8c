"""Why workloads wait is asked of the reading process; whatever it answers, gpol goes on to decide."""

import asyncio
from typing import Any

import pytest
from gpol.console.answers import UnansweredError
from gpol.console.reading.reader import Answered
from gpol.console.work.kueue_work import _ask_why


class FakeReader:
    """A reader that answers as it is told."""

    def __init__(self, answer: Answered | Exception) -> None:
        self.answer = answer

    async def ask(self, name: str, **more: Any) -> Answered:
        """Answer, or fail."""
        assert name == "why"
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answered(200, b'{"ns/a": "waits"}'), {"ns/a": "waits"}),
        (Answered(200, b'{"ns/a": "wai'), {}),
        (Answered(503, b'{"error": {}}'), {}),
        (UnansweredError(504, "TimedOut", "no answer", "try again"), {}),
        (OSError("too many open files"), {}),
    ],
)
def test_no_answer_stops_anything(answer: Answered | Exception, told: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    """An answer that is none is logged, and nothing is told."""
    reader: Any = FakeReader(answer)
    assert asyncio.run(_ask_why(reader, ["ns/a"])) == told
    assert ("cannot be told now" in caplog.text) is not bool(told)
