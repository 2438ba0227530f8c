"""Dumps: the objects in the bytes of a file, JSON or YAML, one document or many, single or in Lists.

JSON is read by the standard library, YAML from its events, so that a document can name nothing but plain data: no anchors, no tags.
Numbers with a point or an exponent stay exact decimals.
"""

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from .kinds import CONFIG_KEY, Raw
from .problems import Findings

MOST_BYTES = 64 * 2**20
MOST_DEPTH = 64
MOST_OBJECTS = 200_000

_MOST_DIGITS = 40


class UnreadableError(ValueError):
    """Bytes that are no dump: where, why, and what to do."""

    def __init__(self, place: str, cause: str, remedy: str) -> None:
        super().__init__(f"{place}: {cause}; {remedy}" if place else f"{cause}; {remedy}")
        self.place, self.cause, self.remedy = place, cause, remedy


def read(data: bytes, file: str, found: Findings) -> list[Raw]:
    """The objects of a file, Lists opened; a file that cannot be read is a problem, and has none."""
    found.begin("", "", file)
    try:
        return [Raw(item, file) for item in _objects(data)]
    except UnreadableError as error:
        found.problem(error.place, error.cause, error.remedy)
        return []


def _objects(data: bytes) -> list[dict[str, Any]]:
    if len(data) > MOST_BYTES:
        raise UnreadableError("", f"has {len(data):,} bytes", f"give at most {MOST_BYTES:,} at once")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"byte {error.start + 1}", "is not UTF-8", "save the file as UTF-8") from None
    documents = _json(text) if text.lstrip()[:1] in ("{", "[") else _yaml(text)
    found = [item for document in documents for item in _opened(document, 0)]
    if not any(document is not None for document in documents):
        raise UnreadableError("", "has no objects", "give what `kubectl get -o yaml` writes")
    if len(found) > MOST_OBJECTS:
        raise UnreadableError("", f"has {len(found):,} objects", f"give at most {MOST_OBJECTS:,} at once")
    return found


def _opened(document: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The objects of a document: itself, those of a List, or the Configuration in a ConfigMap of Kueue's manager.

    A List that says that it is not whole is there itself as well, without its items.
    """
    if document is None:
        return
    if isinstance(document, list):
        items = document
    elif isinstance(document, dict) and str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
        items = document["items"]
        if _cut_off(document):
            yield {name: document[name] for name in document if name != "items"}
    elif isinstance(document, dict) and (inner := _configuration(document)):
        yield from _within(inner, depth)
        return
    elif isinstance(document, dict):
        yield document
        return
    else:
        raise UnreadableError("", "holds something that is no object", "give what `kubectl get -o yaml` writes")
    if depth > 1:
        raise UnreadableError("", "has Lists in Lists in Lists", "give the objects themselves")
    for item in items:
        yield from _opened(item, depth + 1)


def _within(text: str, depth: int) -> list[dict[str, Any]]:
    """The objects of the text in a ConfigMap; what is wrong with it is told as a place in that text."""
    try:
        return list(_opened(_yaml(text), depth))
    except UnreadableError as error:
        raise UnreadableError(": ".join(filter(None, (CONFIG_KEY, error.place))), error.cause, error.remedy) from None


def _cut_off(document: dict[str, Any]) -> bool:
    """Whether a List says that there are more objects, as a part of a long answer of Kubernetes does."""
    metadata = document.get("metadata")
    return isinstance(metadata, dict) and any(metadata.get(name) for name in ("continue", "remainingItemCount"))


def _configuration(document: dict[str, Any]) -> str:
    """The text in a ConfigMap of Kueue's manager; empty in anything else."""
    data = document.get("data")
    text = data.get(CONFIG_KEY) if document.get("kind") == "ConfigMap" and isinstance(data, dict) else None
    return text if isinstance(text, str) else ""


# --- JSON


def read_line(data: bytes) -> Any:
    """The one document of JSON in a line, with exact decimals. Raises UnreadableError."""
    try:
        documents = _json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"byte {error.start + 1}", "is not UTF-8", "save the file as UTF-8") from None
    if len(documents) != 1:
        raise UnreadableError("", f"has {len(documents)} values of JSON", "write one object a line")
    return documents[0]


def _json(text: str) -> list[Any]:
    """The documents of a text of JSON, one after the other."""
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
        raise _too_deep() from None
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
    """An exact number with a point or an exponent. Raises UnreadableError for one that is beyond any quantity."""
    if len(text) > _MOST_DIGITS:
        raise UnreadableError("", f"has a number of {len(text)} digits", "no quantity needs that many")
    try:
        return Decimal(text)
    except InvalidOperation:
        raise UnreadableError("", f"has the number {text}", "no quantity is that far from 1") from None


def _constant(text: str) -> Any:
    raise UnreadableError("", f"has the number {text}", "write a number that there is")


def _too_deep() -> UnreadableError:
    return UnreadableError("", f"is nested more than {MOST_DEPTH} deep", "no object of Kueue is")


def _check_depth(document: Any) -> None:
    """Raise where lists and objects are nested too deep."""
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(MOST_DEPTH):
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item) if isinstance(child, dict | list)]
        if not level:
            return
    raise _too_deep()


# --- YAML


def _yaml(text: str) -> list[Any]:
    from .yaml_events import documents

    return documents(text)
