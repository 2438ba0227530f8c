"""Payloads and what may become of them: edits of bytes, as damage or a forger makes them, for tests that compare two ways of reading."""

from pathlib import Path

from gpol.engine.event_parts import PodSet
from gpol.engine.facts import TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from hypothesis import strategies as st

GOLDEN = [file.read_bytes() for file in sorted((Path(__file__).parents[1] / "journal" / "golden").iterdir())]

_POD_SETS = (PodSet(requests={"gpu": 1000}),)

PAYLOADS = [
    *GOLDEN,
    TimeAdvanced(time=0).payload(),
    WorkloadFinished(time=5, workload="a").payload(),
    WorkloadSubmitted(time=5, workload="a", pod_sets=_POD_SETS).payload(),
    WorkloadSubmitted(time=5, workload="a", pod_sets=_POD_SETS, created=4, uid="u", replaces="b").payload(),
    WorkloadSubmitted(time=5, workload="a", pod_sets=_POD_SETS, labels={"value": "1", "time": "2"}).payload(),
]
"""Every kind, and some forms of the most frequent ones."""

_TIMES = [
    b"0",
    b"4",
    b"5",
    b"007",
    b"-1",
    b"5.0",
    b"9223372036854775807",
    b"9223372036854775808",
    b"1767323045000001",
    b"1" * 30,
    b'"5"',
    b"null",
]
_NAMES = [
    b"a",
    b"b",
    b"bert-7",
    b"",
    b'a\\"b',
    b"\\u0061",
    b"x" * 253,
    b"y" * 254,
    "größe".encode(),
    b"\xff",
    b"\x7f",
    b"a\nb",
    b"\x01",
    b"\xed\xa0\x80",
]
_PIECES = [
    b'"',
    b"\\",
    b"\n",
    b"\r",
    b" ",
    b"{",
    b"}",
    b",",
    b":",
    b"0",
    b"-1",
    b"12345678901234567890",
    b"null",
    b"\xff",
    b"\xc3\xa9",
    b"\x00",
    b',"time":5',
    b',"cause":6',
    b',"workload":"a"',
    b'"value":"x"',
    b'"value":',
    b'"value":7',
    b'"beneficiary":null',
    b'"count":3',
    b'"count":0',
    b',"v":1',
    b'"kind":"TimeAdvanced"',
    b',"created":9',
    b',"replaces":"a"',
    b"1.5",
    b"true",
]


def _between(payload: bytes, start: bytes, end: bytes, value: bytes) -> bytes:
    """The payload with another value where one stands between two texts."""
    before, found, rest = payload.partition(start)
    cut = rest.find(end) if len(end) else -1
    return payload if not found or cut < 0 else before + start + value + rest[cut:]


@st.composite
def payloads(draw: st.DrawFn) -> bytes:
    """A payload, maybe with another time, cause, name or tail, and with some bytes changed."""
    payload = draw(st.sampled_from(PAYLOADS))
    for edit in draw(st.lists(st.sampled_from(["time", "cause", "name", "value", "tail", "piece", "cut", "number"]), max_size=3)):
        match edit:
            case "time":
                payload = _between(payload, b'"time":', draw(st.sampled_from([b",", b"}"])), draw(st.sampled_from(_TIMES)))
            case "cause":
                payload = _between(payload, b'"cause":', b",", draw(st.sampled_from(_TIMES)))
            case "name":
                payload = _between(payload, b'"workload":"', b'"', draw(st.sampled_from(_NAMES)))
            case "value":
                payload = _between(payload, draw(st.sampled_from([b'"value":"', b'"beneficiary":"'])), b'"', draw(st.sampled_from(_NAMES)))
            case "number":
                key = draw(st.sampled_from([b'"amount":', b'"count":', b'"asked":', b'"line":', b'"priority":']))
                payload = _between(payload, key, draw(st.sampled_from([b",", b"}"])), draw(st.sampled_from(_TIMES)))
            case "tail":
                other = draw(st.sampled_from(PAYLOADS))
                payload = payload[: draw(st.integers(0, len(payload)))] + other[draw(st.integers(0, len(other))) :]
            case "piece":
                start = draw(st.integers(0, len(payload)))
                payload = payload[:start] + draw(st.sampled_from(_PIECES)) + payload[start:]
            case "cut":
                start = draw(st.integers(0, len(payload)))
                payload = payload[:start] + payload[start + draw(st.integers(1, 12)) :]
    return payload
