"""YAML as plain data, with the meaning that JSON would give it, built from the events of PyYAML's parser.

Anchors, aliases and tags are refused, and no key may occur twice in one object. An unquoted word is null, true, false or a number only if
it would be one in JSON; anything else is a text (`on`, `1:30`, `010`, a date).
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import yaml

from .limits import MOST_DEPTH, MOST_OBJECTS, UnreadableError, too_deep

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,39})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,19})?(?:[eE][+-]?[0-9]{1,2})?")
_NOT_FINITE = re.compile(r"[+-]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "True": True, "TRUE": True, "false": False}
_WORDS |= {"False": False, "FALSE": False}

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser written in C, where PyYAML was built with it."""

_TOO_DEEP = "exceeded maximum nesting depth"
"""What newer parsers say of a text that is nested a thousand times; they look ahead, and may see that before this module does."""


def yaml_documents(text: str) -> list[Any]:
    """The YAML documents of a text. Raises UnreadableError with the line."""
    made: list[Any] = []
    try:
        events = iter(yaml.parse(text, Loader=_LOADER))
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                made.append(_node(next(events), events, 0))
                if len(made) > MOST_OBJECTS:
                    raise UnreadableError("", f"has more than {MOST_OBJECTS:,} documents", "give fewer at once")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = _place(mark) if mark is not None else ""
        if error.problem == _TOO_DEEP:
            raise too_deep(place) from None
        raise UnreadableError(place, f"is no YAML: {error.problem}", "check its indentation and quotes") from None
    except yaml.YAMLError as error:
        raise UnreadableError("", f"is no YAML: {str(error).splitlines()[0]}", "save it as plain text in UTF-8") from None
    return made


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Any:
    """The value that begins with an event; consumes all events that belong to it."""
    if isinstance(event, yaml.AliasEvent):
        raise _refused(event, f"has the alias *{event.anchor}", "write the value itself")
    _check_plain(event)
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if depth >= MOST_DEPTH:
        raise too_deep(_place(event.start_mark))
    return _sequence(event, events, depth) if isinstance(event, yaml.SequenceStartEvent) else _mapping(events, depth)


def _check_plain(event: Any) -> None:
    if event.anchor is not None:
        raise _refused(event, f"has the anchor &{event.anchor}", "write the value where it is needed")
    if event.tag is not None:
        raise _refused(event, f"has the tag {event.tag[:60]}", "write plain data")


def _sequence(start: yaml.Event, events: Iterator[yaml.Event], depth: int) -> list[Any]:
    made = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        made.append(_node(event, events, depth + 1))
        if len(made) > MOST_OBJECTS:
            raise _refused(start, f"is a list of more than {MOST_OBJECTS:,} entries", "give fewer at once")
    return made


def _mapping(events: Iterator[yaml.Event], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        if not isinstance(event, yaml.ScalarEvent):
            raise _refused(event, "has a key that is no text", "write a word")
        _check_plain(event)
        if event.value in made:
            raise _refused(event, f"has key `{event.value[:60]}` twice in one object", "keep one")
        made[event.value] = _node(next(events), events, depth + 1)
    return made


def _scalar(event: yaml.ScalarEvent) -> Any:
    value = event.value
    if not event.implicit[0]:  # it stands in quotes, or is a block
        return value
    if value in _WORDS:
        return _WORDS[value]
    if _INTEGER.fullmatch(value):
        return int(value)
    if _NOT_FINITE.fullmatch(value):
        raise _refused(event, f"has the number {value}", "write a number that there is")
    return Decimal(value) if _NUMBER.fullmatch(value) else value


def _refused(event: Any, cause: str, remedy: str) -> UnreadableError:
    return UnreadableError(_place(event.start_mark), cause, remedy)


def _place(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}"
