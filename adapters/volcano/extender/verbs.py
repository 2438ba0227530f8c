"""The verbs that gpol answers: from the body of a request to the body of its answer, without any effect.

What a request does not say, and what gpol does not know, gets the safe answer: not enqueued, overused, no victims.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from pydantic_core import to_json

from .requests import AboutEviction, AboutJob, AboutQueue, read_body, sent_evictees
from .verdicts import ExtenderVerdict, Reason, VolcanoAnswers

MOST_VICTIMS = 10 * 2**20 - 4096
"""The most bytes of all victims of an answer: Volcano reads 10 MiB."""

_NOT_SAID = ExtenderVerdict(False, Reason.NOT_SAID)


class Vote(IntEnum):
    """A vote among Volcano's plugins. With `ABSTAIN`, which gpol never says, the other plugins decide alone."""

    REJECT = -1
    ABSTAIN = 0
    PERMIT = 1


class Answer(NamedTuple):
    """The body of an answer, how often each reason counted, and for each reason a PodGroup or queue of which it was true."""

    body: bytes
    reasons: Mapping[Reason, int]
    examples: Mapping[Reason, str]


def job_enqueueable(answers: VolcanoAnswers, body: bytes) -> Answer:
    """Whether pods may be created for a PodGroup: once gpol has admitted it. Raises BadBodyError."""
    job = read_body(AboutJob, body).job
    key = job.key if job is not None else ""
    verdict = answers.enqueueable(key, job.object_uid) if job is not None and key else _NOT_SAID
    return _single({"status": Vote.PERMIT if verdict.yes else Vote.REJECT}, verdict.reason, key)


def queue_overused(answers: VolcanoAnswers, body: bytes) -> Answer:
    """Whether nothing more may be allocated in a queue. Raises BadBodyError."""
    queue = read_body(AboutQueue, body).queue
    name = queue.name if queue is not None else ""
    verdict = answers.overused(name) if name else ExtenderVerdict(True, Reason.NOT_SAID)
    return _single({"overused": verdict.yes}, verdict.reason, name)


def reclaimable(answers: VolcanoAnswers, body: bytes) -> Answer:
    """Which pods may be evicted for a pod of another queue: those of PodGroups that gpol has evicted. Raises BadBodyError."""
    return _victims(answers, body, in_one_queue=False)


def preemptable(answers: VolcanoAnswers, body: bytes) -> Answer:
    """Which pods may be evicted for a pod of the same queue: those of PodGroups there that gpol has evicted. Raises BadBodyError."""
    return _victims(answers, body, in_one_queue=True)


VERBS: Mapping[str, Callable[[VolcanoAnswers, bytes], Answer]] = {
    "jobEnqueueable": job_enqueueable,
    "queueOverused": queue_overused,
    "reclaimable": reclaimable,
    "preemptable": preemptable,
}
"""The verbs, by the last part of the path."""


def _single(said: dict[str, int | bool], reason: Reason, subject: str) -> Answer:
    return Answer(to_json(said), {reason: 1}, {reason: subject})


def _victims(answers: VolcanoAnswers, body: bytes, in_one_queue: bool) -> Answer:
    """The victims among the evictees, as they were sent.

    With all their fields: Volcano may take them as they are, and evicts pods by them, where no other plugin has named the same.
    """
    asked = read_body(AboutEviction, body)
    reasons: Counter[Reason] = Counter()
    examples: dict[Reason, str] = {}
    places = []
    evictees = asked.evictees or ()
    for place, task in enumerate(evictees):
        is_said = task is not None and asked.evictor is not None and task.uid and task.job and asked.evictor.job
        evictor, evictee = asked.evictor.job if asked.evictor is not None else "", task.job if task is not None else ""
        verdict = answers.evictable(evictor, evictee, in_one_queue) if is_said else _NOT_SAID
        reasons[verdict.reason] += 1
        examples.setdefault(verdict.reason, evictor if verdict.reason is Reason.EVICTOR_NOT_ADMITTED else evictee)
        if verdict.yes:
            places.append(place)
    victims = list(_within_limit(sent_evictees(body, evictees, places))) if places else []
    if len(victims) < len(places):
        reasons[Reason.TOO_LONG] += len(places) - len(victims)
        examples[Reason.TOO_LONG] = asked.evictor.job if asked.evictor is not None else ""
    vote = Vote.PERMIT if victims else Vote.REJECT
    return Answer(b'{"status":%d,"victims":[%s]}' % (vote, b",".join(victims)), reasons, examples)


def _within_limit(victims: Iterable[bytes]) -> Iterator[bytes]:
    """The first victims that fit into an answer."""
    length = 0
    for victim in victims:
        length += len(victim) + 1
        if length > MOST_VICTIMS:
            return
        yield victim
