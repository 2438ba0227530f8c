"""Payloads: the exact bytes of every kind of event, which old journals hold and every later version must read and write the same."""

from pathlib import Path
from typing import get_args

import pytest
from gpol.engine.events import AnyEvent
from gpol.engine.facts import WorkloadFinished
from gpol.journal.errors import DamagedError
from gpol.journal.records import Recorded, parse, stream_of

GOLDEN = Path(__file__).parent / "golden"


def _kind(event_class: type) -> str:
    return event_class.model_fields["kind"].default


@pytest.mark.parametrize("event_class", get_args(AnyEvent), ids=_kind)
def test_golden_bytes(event_class: type, samples: list[AnyEvent]) -> None:
    """The golden payload is what the kind is written as today, parses to the same event, and is written the same again."""
    golden = (GOLDEN / f"{_kind(event_class)}_v1.json").read_bytes()
    (sample,) = [sample for sample in samples if type(sample) is event_class]

    assert sample.payload() == golden
    assert parse(1, golden) == sample
    assert parse(1, golden).payload() == golden


def test_no_golden_without_kind() -> None:
    """No golden file is ever dropped with its kind: each belongs to a kind that still parses."""
    assert sorted(file.name for file in GOLDEN.iterdir()) == sorted(f"{_kind(kind)}_v1.json" for kind in get_args(AnyEvent))


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[]", "cannot be read"),
        (b'{"kind":"Surprise","v":1,"time":0}', "cannot be read"),
        (b'{"kind":"TimeAdvanced","v":1,"time":0,"more":1}', "cannot be read: more"),
        (b'{"kind":"TimeAdvanced","v":1}', "cannot be read: time"),
        (b'{"kind":"TimeAdvanced","v":2,"time":0}', "a TimeAdvanced of version 2, unknown to this program"),
        (b"[" * 100_000, "cannot be read"),
    ],
)
def test_payloads_that_are_no_events(payload: bytes, words: str) -> None:
    """What is no event is refused with its seq and what is wrong, a later version by its number."""
    with pytest.raises(DamagedError, match=f"event 7 (is )?{words}") as caught:
        parse(7, payload)

    assert caught.value.seq == 7


def test_streams_do_not_clash(samples: list[AnyEvent]) -> None:
    """Every kind has its stream, and no workload's name can be mistaken for another stream."""
    assert [stream_of(sample) for sample in samples[:5]] == ["policy", "capacity", "capacity", "capacity", "capacity"]
    streams = {sample.kind: stream_of(sample) for sample in samples}
    assert (streams["WorkloadSubmitted"], streams["TimeAdvanced"], streams["UsageReported"]) == ("workload/bert-7", "time", "usage")
    finished = next(sample for sample in samples if isinstance(sample, WorkloadFinished))
    assert stream_of(finished.model_copy(update={"workload": "policy"})) == "workload/policy"


def test_recorded_is_parsed_on_demand() -> None:
    """Bytes that are no event are no trouble until the event is asked for; then each time."""
    recorded = Recorded(3, b"{}", bytes(32))

    for _ in range(2):
        with pytest.raises(DamagedError, match="event 3"):
            _ = recorded.event
