"""Objects as YAML and JSON."""

import json

import pytest
import yaml
from gpol.adapters.kueue.export.yaml_text import json_list, yaml_documents


def test_yaml_repeats_values_without_anchors() -> None:
    """One value in two places is written twice, and keys keep their order."""
    part = {"b": "x", "a": ["w"]}
    assert yaml_documents([{"z": part, "m": part}]) == "---\nz:\n  b: x\n  a:\n  - w\nm:\n  b: x\n  a:\n  - w\n"


@pytest.mark.parametrize(
    "text",
    ["8", "1e3", "010", "yes", "on", "No", "null", "~", "1:30", "0x1f", "2026-01-03", "", "- a", "a: b", "#", "NaN", ".inf", "=", "-x"],
)
def test_texts_that_look_like_something_else_stand_in_quotes(text: str) -> None:
    """No reader of YAML, of version 1.1 or 1.2, takes a text for a number, a date or true."""
    written = yaml_documents([{"key": text}])
    assert written == f'---\nkey: "{text}"\n'
    assert yaml.safe_load(written) == {"key": text}


def test_plain_words_stand_without_quotes() -> None:
    """Names of resources and flavors are written as people write them."""
    assert yaml_documents([{"name": "nvidia.com/gpu"}, {"name": "on-demand"}]) == "---\nname: nvidia.com/gpu\n---\nname: on-demand\n"


def test_long_texts_stay_on_their_line() -> None:
    """A long text is not folded."""
    assert yaml_documents([{"text": "a b " * 100 + "c"}]).count("\n") == 2


def test_numbers_stay_numbers() -> None:
    """Whole numbers and decimals are written as such."""
    assert yaml_documents([{"value": -5, "weight": 2.5}]) == "---\nvalue: -5\nweight: 2.5\n"


def test_json_is_one_list() -> None:
    """JSON is a List that kubectl applies."""
    assert json.loads(json_list([{"kind": "Cohort"}])) == {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Cohort"}]}
