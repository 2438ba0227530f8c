"""The verbs: bodies as Volcano sends them, and any JSON in the place of any of their fields."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from gpol.adapters.volcano.extender import verbs
from gpol.adapters.volcano.extender.requests import BadBodyError
from gpol.adapters.volcano.extender.verbs import VERBS, Answer
from gpol.adapters.volcano.extender.verdicts import Reason
from hypothesis import given
from hypothesis import strategies as st

from .decided_cluster import lab
from .scheduler_bodies import eviction_body, job_body, queue_body, task

LAB = lab().answers

GOOD = {
    "jobEnqueueable": job_body("a", "owner", "uid-owner", pods=2),
    "queueOverused": queue_body("nlp"),
    "reclaimable": eviction_body("a/owner", "b/low", "b/guest", "b/asks"),
    "preemptable": eviction_body("b/low", "b/guest", "b/low"),
}
"""Of each verb a body that gets a yes."""


def said(answer: Answer) -> Any:
    """The body of an answer."""
    return json.loads(answer.body)


def victims(answer: Answer) -> list[str]:
    """The victims' PodGroups."""
    return [each["Job"] for each in said(answer)["victims"]]


def test_who_is_enqueued() -> None:
    """An admitted PodGroup gets 1, any other one -1; never 0, with which other plugins decide alone."""
    assert said(verbs.job_enqueueable(LAB, job_body("a", "owner", "uid-owner", pods=8))) == {"status": 1}
    assert said(verbs.job_enqueueable(LAB, job_body("a", "owner", "uid-owner", pods=0))) == {"status": 1}
    for group in ("guest", "asks", "held", "unknown"):
        assert said(verbs.job_enqueueable(LAB, job_body("b", group, f"uid-{group}"))) == {"status": -1}


def test_the_uid_of_an_older_release() -> None:
    """Where there is no PgUID, the PodGroup's metadata have the uid; where there is no name, the UID of the job is its key."""
    body = json.loads(GOOD["jobEnqueueable"])
    del body["job"]["PgUID"], body["job"]["Name"]
    assert said(verbs.job_enqueueable(LAB, json.dumps(body).encode())) == {"status": 1}
    del body["job"]["PodGroup"]
    assert said(verbs.job_enqueueable(LAB, json.dumps(body).encode())) == {"status": -1}


def test_which_queue_is_overused() -> None:
    """One in which nobody is admitted."""
    assert said(verbs.queue_overused(LAB, queue_body("nlp"))) == {"overused": False}
    assert said(verbs.queue_overused(LAB, queue_body("idle"))) == {"overused": True}
    assert said(verbs.queue_overused(LAB, queue_body("unknown"))) == {"overused": True}


def test_victims_come_back_as_they_were_sent() -> None:
    """With all their fields, since Volcano may evict by what comes back."""
    answer = verbs.reclaimable(LAB, GOOD["reclaimable"])
    assert said(answer) == {"status": 1, "victims": [json.loads(GOOD["reclaimable"])["evictees"][1]]}
    assert answer.reasons == {Reason.RUNS_ON: 1, Reason.EVICTED: 1, Reason.NEVER_ADMITTED: 1}
    assert answer.examples == {Reason.RUNS_ON: "b/low", Reason.EVICTED: "b/guest", Reason.NEVER_ADMITTED: "b/asks"}


def test_victims_come_back_byte_for_byte() -> None:
    """As Go has written them, numbers and escapes included."""
    body = eviction_body("a/owner", "b/guest", "b/low", "b/guest")
    victims = verbs.reclaimable(LAB, body).body.removeprefix(b'{"status":1,"victims":[').removesuffix(b"]}")
    first, last = victims.split(b'},{"UID":')
    assert first + b"}" in body
    assert b'{"UID":' + last + b"]}" in body


@pytest.mark.parametrize(
    "evictee",
    [
        {"Job": "b/guest", "UID": "other-order"},
        {"UID": "inner", "Job": "b/guest", "Pod": [{"a": 1}, {"UID": "x", "Job": "b/guest"}]},
        {"UID": "text", "Job": "b/guest", "Text": '},{"UID":"x","Job":"b/guest"'},
        {"UID": "named", "Job": "b/guest", "Pod": {"evictees": [{"UID": "x", "Job": "b/guest"}]}},
        {"UID": "first", "UIDs": [], "Job": "b/guest"},
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_victims_are_whole_however_they_are_written(evictee: Any, separators: tuple[str, str]) -> None:
    """What stands in an evictee, and how the body is written, makes no difference."""
    evictees = [task("b", "guest"), evictee, task("b", "low"), evictee]
    body = json.dumps({"evictor": {**task("a", "owner"), "Pod": evictee}, "evictees": evictees}, separators=separators).encode()
    assert said(verbs.reclaimable(LAB, body))["victims"] == [task("b", "guest"), evictee, evictee]


def test_no_victims_is_a_rejection() -> None:
    """Without a victim the vote is -1: with 0 Volcano would evict whom the other plugins name."""
    assert said(verbs.reclaimable(LAB, eviction_body("a/owner", "b/low"))) == {"status": -1, "victims": []}
    assert said(verbs.reclaimable(LAB, eviction_body("a/owner"))) == {"status": -1, "victims": []}
    assert said(verbs.preemptable(LAB, GOOD["reclaimable"])) == {"status": -1, "victims": []}


def test_preemption_stays_in_its_queue() -> None:
    """`preemptable` names those who were evicted from the evictor's queue."""
    assert victims(verbs.preemptable(LAB, GOOD["preemptable"])) == ["b/guest"]


def test_victims_are_as_many_as_volcano_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that Volcano could not read whole has fewer victims, and the rest is counted."""
    body = eviction_body("a/owner", *["b/guest"] * 5)
    length = len(body) // 6
    monkeypatch.setattr(verbs, "MOST_VICTIMS", 3 * length)
    answer = verbs.reclaimable(LAB, body)
    assert 0 < len(victims(answer)) < 5
    assert answer.reasons[Reason.TOO_LONG] == 5 - len(victims(answer))


def test_a_field_that_is_there_twice() -> None:
    """The last one counts, for who is a victim and for what is sent back."""
    one, two = task("b", "low"), task("b", "guest")
    evictor = json.dumps(task("a", "owner"))
    for first, last, names in ((one, two, ["b/guest"]), (two, one, [])):
        body = f'{{"evictees":[{json.dumps(first)},null],"evictor":{evictor},"evictees":[{json.dumps(last)}]}}'.encode()
        assert victims(verbs.reclaimable(LAB, body)) == names


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("body", [b"{}", b'{"job":null,"queue":null,"evictor":null,"evictees":null}', b'{"evictees":[null,{}],"job":{}}'])
def test_what_is_missing_gets_the_safe_answer(verb: str, body: bytes) -> None:
    """Not enqueued, overused, no victims."""
    assert is_safe(said(VERBS[verb](LAB, body)))


def is_safe(answer: Any) -> bool:
    """Whether an answer lets nothing happen."""
    return answer in ({"status": -1}, {"overused": True}, {"status": -1, "victims": []})


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"null", b"[]", b"1", b'"job"', b"{", b'{"job":}', b"\xff\xfe", b"\x00", b'{"job":"\x00"}', b"1" * 5000, b"[" * 100_000),
        *(b'{"a":' * 300, b'{"a":NaN}{', b'{"job":1,"queue":1,"evictor":1,"evictees":1}', b'{"job":"\\ud800","queue":"\\ud800"}'),
        *(b'{"job":{"Name":1},"queue":{"Name":1e999},"evictor":{"Job":{}}}', b'{"job":[],"queue":[],"evictees":[[]]}'),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_what_cannot_be_read_is_refused(verb: str, body: bytes) -> None:
    """No JSON, too deep, too great a number, or a wrong type where something is read: refused, with a place and a cause."""
    with pytest.raises(BadBodyError) as refused:
        VERBS[verb](LAB, body)
    assert refused.value.place
    assert refused.value.message


def test_numbers_beyond_all_bounds_come_back_as_json() -> None:
    """What Go could not have written is no number any more when it comes back, and what comes back can be read."""
    evictee = {"Job": "b/guest", "UID": "u", "Big": 10**40, "Text": "\x00<"}
    body = json.dumps({"evictor": {"Job": "a/owner"}, "evictees": [evictee]}).encode().replace(b'"Big"', b'"Far":1e999,"Big"')
    assert said(verbs.reclaimable(LAB, body))["victims"] == [{**evictee, "Far": None}]


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def places(whole: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a JSON value."""
    yield path
    items = whole.items() if isinstance(whole, dict) else enumerate(whole) if isinstance(whole, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def put(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A JSON value with another one at a path."""
    if not path:
        return value
    changed = dict(whole) if isinstance(whole, dict) else list(whole)
    changed[path[0]] = put(whole[path[0]], path[1:], value)
    return changed


PLACES = {verb: sorted(places(json.loads(body)), key=repr) for verb, body in GOOD.items()}
EVICTIONS = [("evictor", "Job"), *(("evictees", place, name) for place in range(3) for name in ("UID", "Job"))]
READ = {
    "jobEnqueueable": [("job", "PodGroup", "metadata", "uid"), *(("job", name) for name in ("UID", "PgUID", "Name", "Namespace"))],
    "queueOverused": [("queue", "Name")],
    "reclaimable": EVICTIONS,
    "preemptable": EVICTIONS[:-2],
}
"""What an answer depends on."""


def holds_what_is_read(verb: str, path: tuple[Any, ...]) -> bool:
    """Whether a value at a path is read, or holds something that is."""
    return any(read[: len(path)] == path for read in READ[verb])


@given(data=st.data())
@pytest.mark.parametrize("verb", VERBS)
def test_any_json_in_the_place_of_any_field(verb: str, data: st.DataObject) -> None:
    """What is read may be refused, or leads to an answer in Volcano's form that lets nothing more happen; all else changes nothing."""
    path = data.draw(st.sampled_from([path for path in PLACES[verb] if holds_what_is_read(verb, path)]) | st.sampled_from(PLACES[verb]))
    body = json.dumps(put(json.loads(GOOD[verb]), path, data.draw(ANY_JSON))).encode()
    good = said(VERBS[verb](LAB, GOOD[verb]))
    try:
        answer = said(VERBS[verb](LAB, body))
    except BadBodyError:
        assert holds_what_is_read(verb, path)
        return
    if verb in ("reclaimable", "preemptable"):
        assert answer.keys() == good.keys()
        assert answer["status"] == (1 if answer["victims"] else -1)
        evictees = json.loads(body).get("evictees") or []
        assert all(victim in evictees and victim["UID"] and victim["Job"] == "b/guest" for victim in answer["victims"])
        answer, good = len(answer["victims"]), len(good["victims"])
    assert answer == good or holds_what_is_read(verb, path)
    assert answer == good or answer == 0 or is_safe(answer)
