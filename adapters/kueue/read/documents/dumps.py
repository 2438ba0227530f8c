"""Dumps: the objects in a file of JSON or YAML, with one document or many, alone or in Lists."""

from collections.abc import Iterator
from typing import Any

from ...problems import Findings
from ..kinds import CONFIG_KEY, Raw
from .json_documents import json_documents
from .limits import MOST_BYTES, MOST_OBJECTS, UnreadableError


def read(data: bytes, file: str, found: Findings) -> list[Raw]:
    """The objects of a file, with those in Lists. A file that cannot be read is reported as a problem, and gives no objects."""
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
    documents = json_documents(text) if text.lstrip()[:1] in ("{", "[") else _yaml_documents(text)
    found = [item for document in documents for item in _opened(document, 0)]
    if not any(document is not None for document in documents):
        raise UnreadableError("", "has no objects", "give what `kubectl get -o yaml` writes")
    if len(found) > MOST_OBJECTS:
        raise UnreadableError("", f"has {len(found):,} objects", f"give at most {MOST_OBJECTS:,} at once")
    return found


def _opened(document: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The objects of a document: the document itself, the items of a List, or the Configuration in a ConfigMap of Kueue's manager.

    A List that says that it is incomplete comes first, without its items, so that this can be reported.
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
    """The objects of the text in a ConfigMap; an error names its place in that text."""
    try:
        return list(_opened(_yaml_documents(text), depth))
    except UnreadableError as error:
        raise UnreadableError(": ".join(filter(None, (CONFIG_KEY, error.place))), error.cause, error.remedy) from None


def _cut_off(document: dict[str, Any]) -> bool:
    """Whether a List says that more objects follow, as one page of a long answer of Kubernetes does."""
    metadata = document.get("metadata")
    return isinstance(metadata, dict) and any(metadata.get(name) for name in ("continue", "remainingItemCount"))


def _configuration(document: dict[str, Any]) -> str:
    """The Configuration text in a ConfigMap of Kueue's manager; empty for any other object."""
    data = document.get("data")
    text = data.get(CONFIG_KEY) if document.get("kind") == "ConfigMap" and isinstance(data, dict) else None
    return text if isinstance(text, str) else ""


def _yaml_documents(text: str) -> list[Any]:
    from .yaml_documents import yaml_documents  # loads PyYAML, which a dump in JSON does not need

    return yaml_documents(text)
