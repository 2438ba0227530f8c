"""The one form: found out by what was read before exactly where an event, read and written again, gives the same bytes."""

from typing import Any, get_args

import pytest
from gpol.engine.events import EVENT, AnyDecision
from gpol.journal.audit.forms import Form, form_of
from gpol.journal.decode import FORM, compares
from gpol.journal.records import stream_of
from hypothesis import given
from hypothesis import strategies as st
from payload_edits import PAYLOADS, payloads
from pydantic import TypeAdapter, ValidationError


def _quick(payload: bytes) -> Form | None:
    """The form of a payload that is cut into its parts, as the walk over a page does it."""
    try:
        match = FORM.fullmatch(payload.decode())
    except UnicodeDecodeError:
        return None
    if match is None or int(match[2]) >= 2**63:  # which the walk looks at apart
        return None
    kind, _, cause, workload, tail = match.groups("")
    return form_of((kind, cause != "", workload != "", tail), payload)


def _slow(payload: bytes) -> Form | None:
    try:
        event = EVENT.validate_json(payload)
    except ValidationError:
        return None
    match = FORM.fullmatch(event.payload().decode())
    if event.payload() != payload or match is None:
        return None
    return Form(event.is_decision, None if match[4] else stream_of(event), compares(event))


@given(st.lists(payloads(), min_size=1, max_size=6))
def test_as_when_each_is_read(some: list[bytes]) -> None:
    """One after the other, each with what the ones before left to be remembered."""
    for payload in [*PAYLOADS, *some]:
        assert _quick(payload) == _slow(payload)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_one_form_is_cut(payload: bytes) -> None:
    """What gpol writes is cut into its parts, whatever its kind."""
    match = FORM.fullmatch(payload.decode())

    assert match is not None
    assert payload.startswith(b'{"kind":"%s"' % match[1].encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"value":"3/4"', b'"value":'),
        (b'"value":"3/4"', b'"value":7'),
        (b'"value":"3/4"', b'"value":"\x01"'),
        (b'"amount":8000', b'"amount":'),
        (b'"amount":8000', b'"amount":"8000"'),
        (b'"amount":8000', b'"amount":08000'),
        (b'"amount":8000', b'"amount":8000.0'),
        (b'"asked":8000', b'"asked":0'),
        (b'"cpu":"h100","memory":"h100"', b'"cpu":"h100","cpu":"h100"'),
        (b'"time":1767323045000000', b'"time":1767323045000000,"time":1'),
    ],
)
def test_texts_and_numbers_that_may_be_any(old: bytes, new: bytes) -> None:
    """Another text or number is known to be right without being read; what is none, or may not stand there, is not."""
    payload = next(payload for payload in PAYLOADS if payload.startswith(b'{"kind":"WorkloadAdmitted"'))
    assert _quick(payload) == Form(True, None)
    altered = payload.replace(old, new, 1)

    assert altered != payload
    assert _quick(altered) is None


@pytest.mark.parametrize("decision", get_args(AnyDecision))
def test_decisions_bound_no_number_and_no_text(decision: type) -> None:
    """What `forms.py` takes for granted: any whole number, and any text, will do in a decision wherever one does."""
    schema = TypeAdapter(decision).json_schema()
    bounds = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format"}

    assert not bounds & _keys({**schema, "properties": {**schema["properties"], "time": {}}})


def _keys(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        return {*schema, *(key for value in schema.values() for key in _keys(value))}
    return {key for value in schema for key in _keys(value)} if isinstance(schema, list) else set()
