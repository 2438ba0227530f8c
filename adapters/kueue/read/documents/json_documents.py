"""JSON as plain data: numbers with a point or an exponent stay exact decimals, and no key may occur twice in one object."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from .limits import MOST_DEPTH, UnreadableError, too_deep

_MOST_DIGITS = 40


def read_line(data: bytes) -> Any:
    """The only JSON value of a line, with exact decimals. Raises UnreadableError."""
    try:
        documents = json_documents(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"byte {error.start + 1}", "is not UTF-8", "save the file as UTF-8") from None
    if len(documents) != 1:
        raise UnreadableError("", f"has {len(documents)} values of JSON", "write one object a line")
    return documents[0]


def json_documents(text: str) -> list[Any]:
    """The JSON values of a text, one after the other. Raises UnreadableError with the line."""
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_float=decimal, parse_int=_integer, parse_constant=_constant)
    documents, at = [], _after_space(text, 0)
    try:
        while at < len(text):
            document, at = decoder.raw_decode(text, at)
            _check_depth(document)
            documents.append(document)
            at = _after_space(text, at)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"line {error.lineno}, column {error.colno}", f"is no JSON: {error.msg}", "check what wrote it") from None
    except RecursionError:
        raise too_deep() from None
    return documents


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise UnreadableError("", f"has key `{next(name for name in names if names.count(name) > 1)[:60]}` twice in one object", "keep one")
    return made


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise UnreadableError("", f"has a number of {len(text)} digits", "no quantity needs that many")
    return int(text)


def decimal(text: str) -> Decimal:
    """An exact number with a point or an exponent. Raises UnreadableError if it is far outside the range of any quantity."""
    if len(text) > _MOST_DIGITS:
        raise UnreadableError("", f"has a number of {len(text)} digits", "no quantity needs that many")
    try:
        return Decimal(text)
    except InvalidOperation:
        raise UnreadableError("", f"has the number {text}", "no quantity is that far from 1") from None


def _constant(text: str) -> Any:
    raise UnreadableError("", f"has the number {text}", "write a number that there is")


def _check_depth(document: Any) -> None:
    """Raise UnreadableError if lists and objects are nested too deep."""
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(MOST_DEPTH):
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item) if isinstance(child, dict | list)]
        if not level:
            return
    raise too_deep()
