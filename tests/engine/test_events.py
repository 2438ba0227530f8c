"""Events read exactly, refuse what has no meaning, and are written as the same bytes again."""

import json

import pytest
from gpol.engine.errors import describe_error
from gpol.engine.event_parts import Part, PodSet, as_json
from gpol.engine.events import EVENT
from gpol.engine.facts import FACT, WorkloadSubmitted
from gpol.engine.units import INT64_MAX
from pydantic import ValidationError, field_serializer
from pydantic_core import PydanticSerializationError

SUBMITTED = {"kind": "WorkloadSubmitted", "time": 0, "workload": "w", "pod_sets": [{"requests": {"gpu": "1"}}]}
NODE = {"kind": "NodeAdded", "time": 0, "node": "n", "capacity": {"gpu": 1}}


def test_a_policy_has_one_text_of_each_profile() -> None:
    """Of two, one would be ignored."""
    profiles = [{"name": "gpol.fair", "text": text} for text in ("one", "other")]
    policy = {"kind": "PolicyActivated", "time": 0, "file": "p.gpol", "text": "", "digest": f"sha256:{'0' * 64}", "profiles": profiles}
    assert FACT.validate_python({**policy, "profiles": profiles[:1]}).kind == "PolicyActivated"
    with pytest.raises(ValidationError) as caught:
        FACT.validate_python(policy)
    assert "two profiles have the same name" in describe_error(caught.value)


@pytest.mark.parametrize(
    ("time", "us"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        (7, 7),
    ],
)
def test_times_are_microseconds_utc(time: object, us: int) -> None:
    """RFC 3339 text with any zone, or microseconds as they are."""
    assert FACT.validate_python({"kind": "TimeAdvanced", "time": time}).time == us


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"time": "yesterday"}, "time: `yesterday` is no time such as 2026-01-02T03:04:05Z"),
        ({"time": "2026-01-01T00:00:00"}, "time: `2026-01-01T00:00:00` has no zone"),
        ({"time": -1}, "time: is before 1970-01-01T00:00:00Z, where time begins"),
        ({"time": 1.5}, "time: Input should be a valid integer"),
        ({"pod_sets": [{"requests": {"gpu": "1x"}}]}, "pod_sets.0.requests: gpu: unknown unit `x`"),
        ({"pod_sets": [{"requests": 7}]}, "pod_sets.0.requests: Input should be an object"),
        ({"pod_sets": [{"requests": {"gpu": 1.5}}]}, "pod_sets.0.requests.gpu: Input should be a valid integer"),
        ({"pod_sets": [{"requests": {}}, {"requests": {}}]}, "two pod sets have the same name"),
        ({"pod_sets": [{"count": 2, "requests": {"memory": INT64_MAX}}]}, f"2 x {INT64_MAX} memory is beyond 64 bits"),
        (
            {"pod_sets": [{"name": "a", "requests": {"memory": INT64_MAX}}, {"name": "b", "requests": {"memory": 1}}]},
            "the pod sets together ask for more memory than 64 bits hold",
        ),
        ({"pod_sets": [{"requests": {}, "min_count": 0}]}, "pod_sets.0.min_count: Input should be greater than or equal to 1"),
        ({"pod_sets": [{"requests": {}, "count": 2, "min_count": 3}]}, "pod_sets.0: min_count 3 is above the count, 2"),
        ({"labels": {"a[b": 5}}, "labels.a[b: Input should be a valid string"),
        ({"labels": {"x" * 254: "y"}}, f"labels: the name `{'x' * 60}`: String should have at most 253 characters"),
        ({"labels": {"": 5}}, "labels: the name ``: String should have at least 1 character; labels.: Input should be a valid string"),
        ({"pod_sets": [{"requests": {f"r{number}": 1 for number in range(65)}}]}, "pod_sets.0.requests: there are more than 64"),
        ({"labels": "x"}, "labels: Input should be an object"),
        ({"pod_sets": "x"}, "pod_sets: Input should be a valid array"),
        *(({"v": value}, "v: Input should be 1") for value in (True, 1.0, "1", 2)),
        *(({"hold": value}, "hold: Input should be a valid boolean") for value in (1, 0.0, "off", "yes", "true")),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"c" * 900_000: "red"}, f"{'c' * 60}: Extra inputs are not permitted"),
    ],
)
def test_facts_without_a_meaning_are_refused(fields: dict[str, object], problem: str) -> None:
    """The place and the problem are told in one line, without a word about Python."""
    with pytest.raises(ValidationError) as caught:
        FACT.validate_python({**SUBMITTED, **fields})

    assert problem in describe_error(caught.value)
    assert "Value error" not in describe_error(caught.value)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"pod_sets": [{"requests": {"gpu": "zz"}}]}, "pod_sets.0.requests: gpu: `zz` is not a number"),
        ({"pod_sets": []}, "pod_sets: there are 0, and at least 1 is needed"),
        ({"pod_sets": [3]}, "pod_sets.0: is no object with named fields"),
        ({"priority": 1.5}, "priority: Input should be a valid integer or Input should be a valid string"),
    ],
)
def test_each_problem_is_told_once(fields: dict[str, object], told: str) -> None:
    """A list in which something is wrong is not said to be empty, too; and what is wrong is told in plain words."""
    with pytest.raises(ValidationError) as caught:
        FACT.validate_python({**SUBMITTED, **fields})

    assert describe_error(caught.value) == told


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"kind": "Mystery", "time": 0}, "kind: `Mystery` is none of PolicyActivated, CapacityChanged, "),
        ({"kind": "x" * 100, "time": 0}, f"kind: `{'x' * 60}` is none of PolicyActivated, "),
        (
            {"kind": "WorkloadRejected", "time": 0, "cause": 1, "workload": "w", "why": {"reason": "Denied"}},
            "kind: `WorkloadRejected` is none",
        ),
        *(({"kind": kind, "time": 0}, "kind: has to be one of PolicyActivated, ") for kind in (None, True, 5, ["TimeAdvanced"])),
        ({"time": 0}, "kind: is missing; it says what happened"),
        ([], "is no object with named fields"),
    ],
)
def test_only_known_kinds_are_read(payload: object, told: str) -> None:
    """A kind that is not in the closed list is refused, and a decision is no fact; the kinds that there are are named."""
    with pytest.raises(ValidationError) as caught:
        FACT.validate_python(payload)

    assert describe_error(caught.value).startswith(told)
    assert "tag" not in describe_error(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    """Two problems are joined in one line."""
    with pytest.raises(ValidationError) as caught:
        FACT.validate_python({"kind": "TimeAdvanced", "time": -1, "extra": 1})

    assert describe_error(caught.value).count("; ") == 1


def test_equal_facts_have_equal_bytes() -> None:
    """The order of keys and the way an amount is written leave no trace."""
    one = FACT.validate_python({**NODE, "labels": {"b": "1", "a": "2"}, "capacity": {"gpu": "1", "cpu": "500m"}})
    two = FACT.validate_python({**NODE, "labels": {"a": "2", "b": "1"}, "capacity": {"cpu": 500, "gpu": 1000}})

    assert one.payload() == two.payload()
    assert json.loads(one.payload())["capacity"] == {"cpu": 500, "gpu": 1000}


def test_payloads_read_back() -> None:
    """What is written is read as the same event, in the same bytes."""
    fact = FACT.validate_python(SUBMITTED)

    assert EVENT.validate_json(fact.payload()) == fact
    assert EVENT.validate_json(fact.payload()).payload() == fact.payload()


def test_the_greatest_demand_is_allowed() -> None:
    """A total of exactly 64 bits is fine."""
    pods = (PodSet(name="a", requests={"memory": INT64_MAX - 1}), PodSet(name="b", requests={"memory": 1}))

    assert WorkloadSubmitted(time=0, workload="w", pod_sets=pods).pod_sets == pods


def test_an_interruption_while_an_event_is_written_stays_one() -> None:
    """pydantic makes an error of Ctrl-C, and a stopped command would call it a defect; another error stays what it is."""

    class Stopped(Part):
        """Data that somebody interrupts."""

        error: type[BaseException]

        @field_serializer("error")
        def interrupted(self, error: type[BaseException]) -> str:
            """Do not get anywhere."""
            raise error

    with pytest.raises(KeyboardInterrupt):
        as_json(Stopped(error=KeyboardInterrupt))
    with pytest.raises(PydanticSerializationError):
        as_json(Stopped(error=OSError))
