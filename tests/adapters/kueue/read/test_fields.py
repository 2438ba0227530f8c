"""Fields one by one: what maps have as keys, and what is told of those that name nothing."""

import pytest
from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.fields import Fields


@pytest.mark.parametrize("key", ["", " a", "a\nb", "a\x00", "x" * 254])
@pytest.mark.parametrize("read", [Fields.text_map, Fields.name_map, Fields.requests])
def test_keys_are_names(read: object, key: str) -> None:
    """Of labels, of flavors and of requests alike; one that is none is told once, in few characters, and the others are read."""
    assert callable(read)
    found = Findings(kind="Cohort", name="c")
    fields = Fields({"map": {key: "1", "good": "1", "x" * 253: "1"}}, "spec", found)
    assert list(read(fields, "map")) == list(read(fields, "map")) == ["good", "x" * 253]
    assert [(problem.field, problem.remedy) for problem in found.problems] == [("spec.map", "a key is a name of 1 to 253 characters")]
    assert len(found.problems[0].cause) < 60


def test_a_field_of_an_endless_name_is_told_in_short() -> None:
    """What is not imported is named by its beginning."""
    found = Findings(kind="Cohort", name="c")
    Fields({"x" * 5000: 1}, "spec", found).known(frozenset())
    assert [note.field for note in found.notes()] == ["spec." + "x" * 37 + "..."]
