"""Trials: what would follow is what follows when it is done, and nothing is changed by asking."""

import asyncio
from pathlib import Path
from time import time_ns
from typing import Any

import pytest
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.stamps import Stamps
from gpol.compiled import core_to_ask
from gpol.console.answers import InvalidPolicyError, TryAnswer, TryRequest, UnansweredError
from gpol.console.reading import trial_run
from gpol.console.reading.journal_follower import JournalFollower
from gpol.console.reading.trial_run import trial_of
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import freeze, thaw
from gpol.engine.facts import WorkloadSubmitted
from gpol.journal.journal import Journal
from gpol.sim.drive import player
from gpol.sim.drive.policy import Policy
from hypothesis import given
from hypothesis import strategies as st

BIGGER = "flavor a100 { gpu 24 }"
NOW = 1_900_000_000_000_000
"""A moment of the tests, in microseconds."""

TAKE_TURNS = """policy "turns" { preempt by turn, reclaim-owned, fair-share, make-room }

flavor a100 { gpu 8 }

queue q { owns 8 gpu }

preempt turn {
  evict from the same queue
  where victim.running >= 1m
}
"""


def tried(place: Path, now: int = NOW, **request: Any) -> TryAnswer:
    """What a trial at a moment says."""
    return trial_of(JournalFollower(str(place)).catch_up(), TryRequest.model_validate(request), lambda: now * 1000)


def done(place: Path, now: int, policy: str | None, workload: dict[str, Any] | None) -> list[Any]:
    """What follows when it is done at that moment as `gpol serve` does it: facts with their decisions."""
    batches: list[Any] = []
    with LiveDecider.open(str(place), lambda frozen: thaw(*frozen), lambda last: Stamps(last, lambda: now * 1000)) as decider:
        decider.begin(lambda events: None)
        decider.commit(lambda events: None)
        if policy is not None:
            decider.activate(Policy.of(check(policy, trial_run.FILE)))
        decider.begin(lambda events: None)
        if workload is not None:
            decider.play(WorkloadSubmitted.model_validate({**workload, "time": decider.moment}))
        for _, event in decider.commit(lambda events: None):
            if event.is_decision:
                batches[-1][1].append(event)
            else:
                batches.append((event, []))
    return batches


def as_done(answer: TryAnswer) -> list[Any]:
    """The batches of an answer."""
    return [(batch.fact, list(batch.decisions)) for batch in answer.batches]


def without_causes(batches: list[Any]) -> list[Any]:
    """Batches without the numbers of facts: wakes before them count as well."""
    return [(fact.model_dump(), [{**each.model_dump(), "cause": 0} for each in decisions]) for fact, decisions in batches]


@pytest.mark.parametrize("queue", ["owner", "guest"])
@pytest.mark.parametrize("policy", ["", "bigger", "in cycles"])
def test_what_would_follow_is_what_follows(place: Path, tools: Any, queue: str, policy: str) -> None:
    """The batches of a trial are those that come when the same is done at that moment; the journal is as it was before."""
    text = {"": None, "bigger": tools.POLICY.replace("flavor a100 { gpu 8 }", BIGGER), "in cycles": tools.IN_CYCLES}[policy]
    workload = tools.submitted("new", queue, 4)
    before = place.read_bytes()
    answer = tried(place, policy=text, workload=workload)
    assert place.read_bytes() == before
    assert without_causes(as_done(answer)) == without_causes(done(place, NOW, text, workload))
    assert "WorkloadSubmitted" in [batch.fact.kind for batch in answer.batches]


@given(
    gpus=st.lists(st.integers(1, 9), max_size=5),
    queues=st.lists(st.sampled_from(["owner", "guest"]), min_size=6, max_size=6),
    wait=st.integers(0, 900),
)
def test_trials_of_any_workload(
    gpus: list[int], queues: list[str], wait: int, tmp_path_factory: pytest.TempPathFactory, tools: Any
) -> None:
    """Whatever runs and waits, a trial says what follows then."""
    place = tmp_path_factory.mktemp("trial") / "lab.db"
    start = NOW - 1000 * 1_000_000
    facts = [
        WorkloadSubmitted.model_validate({**tools.submitted(f"w{number}", queues[number], each), "time": start + number})
        for number, each in enumerate(gpus)
    ]
    tools.append(place, facts or [WorkloadSubmitted.model_validate({**tools.submitted("w", "owner", 1), "time": start})], tools.POLICY)
    workload, now = tools.submitted("new", queues[-1], 4), start + wait * 1_000_000
    assert without_causes(as_done(tried(place, now, workload=workload))) == without_causes(done(place, now, None, workload))


def test_both_cores_say_the_same(place: Path, tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever core decides a trial, the answer is the same."""
    request: Any = {"policy": tools.POLICY.replace("flavor a100 { gpu 8 }", BIGGER), "workload": tools.submitted("new", "guest", 8)}
    by_definition = tried(place, **request)
    monkeypatch.setattr(core_to_ask, "FEW", 0)
    assert tried(place, **request) == by_definition


def test_the_standing_of_a_workload_that_waits(place: Path, tools: Any) -> None:
    """Of a workload that would wait the trial says why, and of one that would run that it runs."""
    waits = tried(place, policy=None, workload=tools.submitted("new", "guest", 8))
    assert waits.standing is not None
    assert (waits.standing.state, waits.standing.reason) == ("pending", "WaitingForQuota")
    runs = tried(place, policy=tools.POLICY.replace("flavor a100 { gpu 8 }", BIGGER), workload=tools.submitted("new", "guest", 8))
    assert runs.standing is not None
    assert runs.standing.state == "running"


def test_a_policy_that_means_the_same(place: Path, tools: Any) -> None:
    """The policy that decides already changes nothing; another layout of it neither."""
    answer = tried(place, policy=tools.POLICY.replace("\n\n", "\n\n\n"))
    assert answer.policy is not None
    assert (answer.policy.changes, answer.batches) == (False, ())


def test_a_policy_that_cannot_be_used(place: Path, tools: Any) -> None:
    """All that is wrong with a policy is told as data, with its places."""
    with pytest.raises(InvalidPolicyError) as refused:
        tried(place, policy=tools.POLICY.replace("owns 8 gpu", "owns 9 gpu"))
    said = refused.value.answer.model_dump()
    assert [(each["code"], each["file"], each["span"]["line"]) for each in said["diagnostics"]] == [("GP026", "tried.gpol", 8)]
    with pytest.raises(InvalidPolicyError) as profile:
        tried(place, policy='profile "p" {\n}\n')
    assert "profile" in profile.value.answer.error.message


LED = [{"name": "m", "group": "g", "requests": {}, "near": "rack"}, {"name": "n", "group": "g", "count": 2, "requests": {}}]
"""A leader that asks for other places than its workers."""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"workload": "team/guest"}, "team/guest"),
        ({"created": NOW + 10**12}, "created after"),
        ({"replaces": "new"}, "replaces itself"),
        ({"pod_sets": LED}, "`m` leads `n`"),
    ],
)
def test_a_workload_that_cannot_be(place: Path, tools: Any, change: dict[str, Any], told: str) -> None:
    """A workload that cannot be submitted now is refused with the reason."""
    with pytest.raises(UnansweredError) as refused:
        tried(place, workload={**tools.submitted("new", "guest", 1), **change})
    assert refused.value.status in (409, 422)
    assert told in refused.value.detail.message


def test_a_policy_that_cannot_take_over(place: Path, tools: Any) -> None:
    """A policy without the queue of those who run is refused with the reason, as it would be."""
    with pytest.raises(UnansweredError, match="no queue `guest`, but `team/guest` runs there") as refused:
        tried(place, now=time_ns() // 1000, policy=tools.POLICY.replace("  queue guest { owns nothing }\n", ""))
    assert (refused.value.status, refused.value.detail.code) == (409, "ImpossibleNow")


def test_workloads_that_take_turns(tmp_path: Path, tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where workloads evict one another in turns without end, the answer names them, and no next moment."""
    monkeypatch.setattr(player, "MOST_TURNS", 20)
    place = tmp_path / "turns.db"
    start = NOW - 3_600 * 1_000_000
    facts = [WorkloadSubmitted.model_validate({**tools.submitted(name, "q", 4), "time": start + at}) for at, name in enumerate("abc")]
    tools.append(place, facts, TAKE_TURNS)
    answer = tried(place, workload=tools.submitted("d", "q", 1))
    assert "by turn" in answer.livelock
    assert answer.next_wake is None
    assert [batch.fact.kind for batch in answer.batches] == ["WorkloadSubmitted"]


def test_long_answers_are_cut(place: Path, tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more decisions than are listed it is told how many are left out."""
    request: Any = {"policy": tools.POLICY.replace("flavor a100 { gpu 8 }", BIGGER), "workload": tools.submitted("new", "guest", 8)}
    whole = tried(place, **request)
    count = sum(len(batch.decisions) for batch in whole.batches)
    assert (count > 1, whole.left_out) == (True, 0)
    monkeypatch.setattr(trial_run, "MOST_DECISIONS", 1)
    cut = tried(place, **request)
    assert (sum(len(batch.decisions) for batch in cut.batches), cut.left_out) == (1, count - 1)


def test_a_first_policy(tmp_path: Path, tools: Any) -> None:
    """In an empty journal a policy can be tried, with a workload."""
    place = tmp_path / "empty.db"
    Journal.create(place).close()
    answer = tried(place, policy=tools.POLICY, workload=tools.submitted("new", "owner", 8))
    assert [batch.fact.kind for batch in answer.batches] == ["PolicyActivated", "WorkloadSubmitted"]
    assert [each.kind for each in answer.batches[1].decisions] == ["WorkloadAdmitted"]


def test_trials_over_http(serve: Any, place: Path, tools: Any) -> None:
    """The same over HTTP: an answer, a policy with an error, and a workload that cannot be; the state is as it was before."""

    async def ask() -> None:
        async with serve() as client:
            before = (await client.get("/v1/state?workloads=true")).body
            said = await client.attempt({"workload": tools.submitted("new", "guest", 1)})
            assert (said.status, said.json["standing"]["state"]) == (200, "pending")
            assert said.json["batches"][0]["fact"]["workload"] == "new"
            refused = await client.attempt({"policy": "policy x"})
            assert (refused.status, refused.code) == (422, "InvalidPolicy")
            assert refused.json["diagnostics"][0]["code"] == "GP008"
            impossible = await client.attempt({"workload": tools.submitted("team/guest", "guest", 1)})
            assert (impossible.status, impossible.code) == (409, "ImpossibleNow")
            assert (await client.get("/v1/state?workloads=true")).body == before

    state = freeze(JournalFollower(str(place)).catch_up().core)
    asyncio.run(ask())
    assert freeze(JournalFollower(str(place)).catch_up().core) == state
