"""The facts of a closed loop as the bytes of a journal, without an object for each of them."""

from pydantic import TypeAdapter

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
        self._facts, self._alike = rows.facts, rows.alike().tolist()
        self._submissions: dict[int, bytes] = {}

    def payload(self, kind: int, time: int, job: int, name: bytes) -> bytes:
        """A fact of a kind at a moment, about a job whose name is that one, as JSON."""
        if kind == c.FINISHING:
            return b'{"kind":"WorkloadFinished","v":1,"time":%d,"workload":%b}' % (time, name)
        if kind == c.ADVANCING:
            return b'{"kind":"TimeAdvanced","v":1,"time":%d}' % time
        alike = self._alike[job]
        if alike == c.NONE:
            return self._facts[job].payload()
        begin, rest = b'{"kind":"WorkloadSubmitted","v":1,"time":%d,"workload":%b' % (time, name), self._submissions.get(alike)
        if rest is None:
            rest = self._submissions[alike] = self._facts[job].payload().removeprefix(begin)
        return begin + rest
