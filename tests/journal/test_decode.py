"""Decoding: whatever was read before, a payload is read as pydantic reads it, or refused in the same words."""

from typing import Any

import pytest
from gpol.engine.events import EVENT, AnyEvent
from gpol.journal import decode as decode_module
from gpol.journal.decode import MOST_FRAMES, decode
from hypothesis import given
from hypothesis import strategies as st
from payload_edits import PAYLOADS, payloads
from pydantic import ValidationError


def _outcome(read: Any, payload: bytes) -> object:
    """The event with all that pydantic knows of it, or what is wrong."""
    try:
        event: AnyEvent = read(payload)
    except ValidationError as error:
        return repr(error.errors())
    return type(event), event.payload(), repr(event), event.model_fields_set, hash(repr(event)), event


@given(st.lists(payloads(), min_size=1, max_size=6))
def test_decoded_as_the_adapter_does(some: list[bytes]) -> None:
    """One after the other, each with what the ones before left to be remembered."""
    for payload in [*PAYLOADS, *some]:
        assert _outcome(decode, payload) == _outcome(EVENT.validate_json, payload)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_another_time_and_name(payload: bytes) -> None:
    """Every kind again at another moment, of another cause and workload."""
    decode(payload)
    later = (
        payload.replace(b'"time":17', b'"time":18', 1)
        .replace(b'"cause":6', b'"cause":7', 1)
        .replace(b'"workload":"bert-7"', b'"workload":"b-8"')
    )

    assert _outcome(decode, later) == _outcome(EVENT.validate_json, later)


def test_events_are_apart() -> None:
    """Two events of one frame are two objects, and what is done to a copy of one is not seen in the other."""
    one = decode(b'{"kind":"WorkloadFinished","v":1,"time":1,"workload":"a"}')
    other = decode(b'{"kind":"WorkloadFinished","v":1,"time":2,"workload":"b"}')
    copy = other.model_copy(update={"time": 3})

    assert (one.time, other.time, copy.time) == (1, 2, 3)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many frames there are, no more than so many are remembered, and none that is long."""
    remembered: dict[Any, Any] = {}
    monkeypatch.setattr(decode_module, "_events", remembered)
    for number in range(MOST_FRAMES + 10):
        decode(b'{"kind":"NodeRemoved","v":1,"time":1,"node":"n%d"}' % number)
    assert len(remembered) == 10
    text = b"x" * 5_000
    decode(b'{"kind":"OperatorAction","v":1,"time":1,"by":"g","action":"hold","workload":"w","note":"%s"}' % text[:4_096])
    assert len(remembered) == 10
