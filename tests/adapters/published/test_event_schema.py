"""The published schema of events is what the code says, and says what journals hold."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from gpol.adapters.published.event_schema import event_schema
from gpol.cli.main import run_command
from gpol.engine.events import AnyEvent
from gpol.journal.journal import Journal

GOLDEN = Path(__file__).parents[2] / "journal" / "golden"
KINDS = [kind.__name__ for kind in get_args(AnyEvent)]

OF_PART = {"PodSet": "pod_sets", "Placement": "placements", "Charge": "usage", "Why": "why", "FlavorAttempt": "attempts"}
"""Parts of events, and the fields in which golden events hold them."""


def golden(kind: str) -> dict[str, Any]:
    """The stored payload of a kind that every version has to read."""
    return json.loads((GOLDEN / f"{kind}_v1.json").read_text())


@pytest.fixture(scope="module")
def published(root: Path) -> dict[str, Any]:
    """The schema in the documentation."""
    return json.loads((root / "docs" / "schema" / "events.json").read_text())


@pytest.fixture(scope="module")
def validator(published: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """A validator that knows nothing of gpol."""
    jsonschema.Draft202012Validator.check_schema(published)
    return jsonschema.Draft202012Validator(published)


def test_the_published_schema_is_the_one_of_the_code(root: Path, published: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """The file in docs is what `gpol schema events` prints; with json it is the same on one line."""
    assert published == event_schema()
    assert run_command(["schema", "events"]) == 0
    assert capsys.readouterr().out == (root / "docs" / "schema" / "events.json").read_text()
    assert run_command(["schema", "events", "--format", "json"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line) == published


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_event_is_valid(validator: jsonschema.Draft202012Validator, kind: str) -> None:
    """Every kind's golden payload fits, and fits its own kind alone."""
    payload = golden(kind)

    assert list(validator.iter_errors(payload)) == []
    assert not validator.is_valid({**payload, "kind": next(other for other in KINDS if other != kind)})


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_stored_event_is_not(validator: jsonschema.Draft202012Validator, published: dict[str, Any], kind: str) -> None:
    """Without a field that is always stored, with one that no event has, or of another version a payload is none."""
    payload = golden(kind)
    for field in published["$defs"][kind]["required"]:
        assert not validator.is_valid({key: value for key, value in payload.items() if key != field}), field
    assert not validator.is_valid({**payload, "more": 1})
    assert not validator.is_valid({**payload, "v": 2})
    assert not validator.is_valid({**payload, "time": -1})
    assert not validator.is_valid({**payload, "time": "2026-01-02T03:04:05Z"})  # people may write it so, no journal does


@pytest.mark.parametrize("kind", KINDS)
def test_fields_stand_in_the_order_of_the_schema(published: dict[str, Any], kind: str) -> None:
    """The schema names the fields in the order in which they are stored, the golden payload has all that are always stored."""
    stored, said = list(golden(kind)), published["$defs"][kind]

    assert stored == [name for name in said["properties"] if name in stored]
    assert set(said["required"]) <= set(stored) <= set(said["properties"])


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("WorkloadSubmitted", {"labels": {f"l{number}": "" for number in range(257)}}),
        ("WorkloadSubmitted", {"pod_sets": []}),
        ("WorkloadSubmitted", {"workload": ""}),
        ("WorkloadSubmitted", {"user": 254 * "x"}),
        ("CapacityChanged", {"capacity": {f"r{number}": 1 for number in range(65)}}),
        ("CapacityChanged", {"capacity": {"gpu": -1}}),
        ("CapacityChanged", {"capacity": {"gpu": 2**63}}),
        ("CapacityChanged", {"capacity": {"gpu": "8"}}),
        ("PolicyActivated", {"digest": "sha256:0"}),
        ("SimulationStarted", {"on_evict": "stop"}),
        ("WorkloadAdmitted", {"reason": "Fits"}),
        ("WorkloadDeferred", {"victims": [1]}),
    ],
)
def test_limits_are_said(validator: jsonschema.Draft202012Validator, kind: str, change: dict[str, Any]) -> None:
    """What the program refuses for its size, its sign or its word is invalid under the schema, too."""
    assert not validator.is_valid({**golden(kind), **change})


@pytest.mark.parametrize("part", OF_PART)
def test_parts_are_closed(validator: jsonschema.Draft202012Validator, part: str) -> None:
    """A part of an event has no field that the schema does not name."""
    field = OF_PART[part]
    payload = next(made for made in map(golden, KINDS) if made.get(field))
    held = payload[field]
    changed = [{**held[0], "more": 1}, *held[1:]] if isinstance(held, list) else {**held, "more": 1}

    assert not validator.is_valid({**payload, field: changed})


def test_a_whole_history_is_valid(root: Path, tmp_path: Path, validator: jsonschema.Draft202012Validator) -> None:
    """Every event of the lab's simulation fits."""
    lab = root / "examples" / "lab"
    place = str(tmp_path / "lab.db")
    assert run_command(["simulate", str(lab / "lab.gpol"), str(lab / "workloads.csv"), "--journal", place, "--by", "grace"]) == 0
    with Journal.open(place) as journal:
        wrong = [(recorded.seq, error.message) for recorded in journal.events() for error in _errors(validator, recorded.payload)]
        assert journal.head.seq > 40

    assert wrong == []


def _errors(validator: jsonschema.Draft202012Validator, payload: bytes) -> Iterator[jsonschema.ValidationError]:
    return validator.iter_errors(json.loads(payload))
