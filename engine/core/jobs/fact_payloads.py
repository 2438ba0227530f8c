"""The facts of a closed loop as the bytes of a journal, without an object for each of them."""

from pydantic import TypeAdapter

from ...cores import EncodedEvent
from .. import columns as c
from .job_rows import JobRows

_dump_json = TypeAdapter(str).dump_json


def text_as_json(text: str) -> bytes:
    """A text as it stands in an event."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return b'"%b"' % text.encode()
    return _dump_json(text)


class FactPayloads:
    """Encodes the facts of one loop."""

    def __init__(self, rows: JobRows) -> None:
        self.rows = rows
        self._submissions: dict[int, bytes] = {}

    def encoded(self, kind: int, time: int, job: int, name: bytes) -> EncodedEvent:
        """A fact of a kind at a moment, about a job whose name is that one, as JSON."""
        if kind == c.ADVANCING:
            return EncodedEvent("TimeAdvanced", None, b'{"kind":"TimeAdvanced","v":1,"time":%d}' % time)
        fact = self.rows.facts[job]
        if kind == c.FINISHING:
            payload = b'{"kind":"WorkloadFinished","v":1,"time":%d,"workload":%b}' % (time, name)
            return EncodedEvent("WorkloadFinished", fact.workload, payload)
        if fact.created is not None or fact.uid:
            return EncodedEvent("WorkloadSubmitted", fact.workload, fact.payload())
        begin, alike = b'{"kind":"WorkloadSubmitted","v":1,"time":%d,"workload":%b' % (time, name), self.rows.kind(job)
        rest = self._submissions.get(alike)
        if rest is None:
            rest = self._submissions[alike] = fact.payload().removeprefix(begin)
        return EncodedEvent("WorkloadSubmitted", fact.workload, begin + rest)
