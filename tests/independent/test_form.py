"""The form of events that the checker takes from the tables of the page is the one that the schema gives."""

import json
from pathlib import Path
from typing import Any

import pytest
from form import DECISIONS, FACTS, PARTS, WORDS, FormError, event_fields, parsed

NAMES = {"Profile": "ProfileText", "Place": "Tried", "Attempt": "FlavorAttempt", "Obstacle": "FlavorObstacle", "Source": "RuleRef"}
NAMES |= {"Placed": "PlacedPods", "KeptOff": "KeptOffPlaces"}
"""What the schema calls a part, where the checker calls it otherwise."""


@pytest.fixture(scope="module")
def schema(root: Path) -> dict[str, Any]:
    """The definitions of the schema of events."""
    return dict(json.loads((root / "docs" / "schema" / "events.json").read_text())["$defs"])


@pytest.mark.parametrize("kind", [*FACTS, *DECISIONS, *PARTS])
def test_the_fields_are_those_of_the_schema(schema: dict[str, Any], kind: str) -> None:
    """The same fields in the same order, the same of them may be left out, and the same words stand in them."""
    fields = [field.partition(":") for field in (PARTS[kind] if kind in PARTS else event_fields(kind)).split()]
    said = schema[NAMES.get(kind, kind)]
    assert list(said["properties"]) == [name.rstrip("?") for name, _, _ in fields]
    assert set(said["required"]) == {name for name, _, _ in fields if not name.endswith("?")}
    for name, _, types in fields:
        words = said["properties"][name.rstrip("?")].get("enum")
        assert words is None or set(words) == set(WORDS.get(types, types.split("|"))), name


@pytest.mark.parametrize(
    "payload",
    [
        b'{"kind":"TimeAdvanced","v":1, "time":5}',
        b'{"kind":"TimeAdvanced","v":1,"time":5,"time":6}',
        b'{"kind":"TimeAdvanced","v":1,"time":-5}',
        b'{"kind":"TimeAdvanced","v":1,"time":true}',
        b'{"kind":"NodeRemoved","v":1,"time":5,"node":"\\u0061"}',
        b'{"kind":"NodeRemoved","v":1,"time":5,"node":7}',
        b'{"kind":"NodeRemoved","v":1,"time":5}',
        b'{"kind":"CapacityChanged","v":1,"time":5,"flavor":"f","capacity":{"gpu":1,"cpu":1}}',
        b'{"kind":"OperatorAction","v":1,"time":5,"by":"ann","action":"stop","workload":"w","note":""}',
        b'{"v":1,"kind":"TimeAdvanced","time":5}',
        b"[]",
        b"\xff",
    ],
)
def test_another_form_is_refused(payload: bytes) -> None:
    """Spaces, repeated fields, needless escapes, other types and words, keys out of order."""
    with pytest.raises(FormError):
        parsed(payload)
