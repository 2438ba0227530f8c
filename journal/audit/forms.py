"""Whether payloads are events in gpol's one form, found out without reading each of them.

As in `decode.py`, what pydantic has read once is remembered by its frame; of decisions also by what is left of the frame without
the texts and numbers in it that may be any.
"""

import re
from typing import NamedTuple

from pydantic import ValidationError

from ...engine.events import EVENT
from ..decode import Frame, compares, remember
from ..records import stream_of


class Form(NamedTuple):
    """What all payloads of a frame have in common. `stream` is that of their events; None: that of the workload. With `compares`
    another time or name could make them wrong, so each is looked at by itself."""

    is_decision: bool
    stream: str | None
    compares: bool = False


_forms: dict[Frame, Form] = {}

_general_forms: dict[Frame, Form] = {}
"""The same of decisions, by what is left of their frames without texts and numbers that may be any."""

_TEXT = re.compile(r'":(?:(?<="value":)|(?<="beneficiary":))"[^"\\\x00-\x1f]*"')
_NUMBER = re.compile(r'":(?<=[a-z]":)-?[1-9][0-9]{0,17}(?=[],}])')
"""What may be any text or any number in a decision; a 0 may have to be left out. In their place comes what no frame holds."""


def form_of(frame: Frame, payload: bytes) -> Form | None:
    """The form of a payload; None: it is no event, or not in the one form."""
    return _forms.get(frame) or _form_of_new(frame, payload)


def _form_of_new(frame: Frame, payload: bytes) -> Form | None:
    kind, is_decision, has_workload, tail = frame
    general = (kind, is_decision, has_workload, _NUMBER.sub('":\n', _TEXT.sub('":"\n"', tail))) if is_decision else frame
    form = _general_forms.get(general)
    if form is None:
        try:
            event = EVENT.validate_json(payload)
        except ValidationError:
            return None
        if event.payload() != payload:
            return None
        form = Form(event.is_decision, None if has_workload else stream_of(event), compares(event))
        if form.compares:
            return form
        remember(_general_forms, general, form)
    remember(_forms, frame, form)
    return form
