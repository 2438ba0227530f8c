"""What would follow at once, were a policy activated or a workload submitted now: tried on a core that is of no other use afterwards."""

import json
from collections.abc import Callable, Iterator, Mapping
from time import time_ns
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from ...compiled.core_to_ask import resting
from ...dsl.analysis.checker import Checked, check
from ...dsl.diagnostics import Diagnostic, PolicyError
from ...dsl.rendering import render
from ...dsl.syntax.items import decode
from ...engine.cores import PlayedBatch
from ...engine.errors import FactError
from ...engine.explain.pending import standing
from ...engine.facts import WorkloadSubmitted
from ...engine.intake.check import refuse_wishes_without_effect
from ...sim.drive.player import EndlessError, Player
from ...sim.drive.policy import Policy
from ..answers import (
    DiagnosticData,
    InvalidPolicyError,
    SubmittedFields,
    TriedBatch,
    TriedPolicy,
    TryAnswer,
    TryRequest,
    UnansweredError,
)
from .journal_follower import Followed
from .said_wrong import said_wrong

FILE = "tried.gpol"
"""What a policy that is tried is called."""

MOST_DECISIONS = 1000
"""How many decisions are listed."""

_DESCRIBED = "/v1/openapi.json describes the body"


def read_request(body: bytes) -> TryRequest:
    """What a body asks for. Raises UnansweredError for one that is no such request."""
    try:
        said = from_json(body, allow_inf_nan=False)  # stops at a depth of 200, and at numbers of thousands of digits
        json.loads(body, object_pairs_hook=_each_once)
    except ValueError as error:
        message = f"the body cannot be read as JSON: {error}"
        raise UnansweredError(400, "BadRequest", message, "send one JSON object in UTF-8") from None
    try:
        return TryRequest.model_validate(said)
    except ValidationError as error:
        raise _invalid(error) from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has two fields `{double[:60]}`")
    return found


def trial_of(followed: Followed, request: TryRequest, clock: Callable[[], int] = time_ns) -> TryAnswer:
    """What would follow at once. Raises UnansweredError for a policy or a workload that cannot be. `clock` gives nanoseconds.

    It is tried on the core that is given, which tells of no journal any more then.
    """
    core = followed.core
    now = max(core.time, clock() // 1000)
    checked = _checked(request.policy) if request.policy is not None else None
    fact = _submission(request.workload, now) if request.workload is not None else None
    player, livelock = Player(core), ""
    try:
        for _ in player.advance(now - 1 if core.decides_in_cycles else now):
            pass  # what time alone decides would come anyway
    except EndlessError as error:
        livelock = str(error)
    batches: list[PlayedBatch] = []
    active = followed.core.graph
    changes = checked is not None and (active is None or active.digest != Policy.of(checked).graph.digest)
    try:
        if checked is not None and changes:
            policy = Policy.of(checked)
            batches.append(player.step(policy.activation(now), policy.graph))
        if fact is not None:
            batches.append(player.step(fact))
    except FactError as error:
        remedy = "nothing was tried; mend that, and try again"
        raise UnansweredError(409, "ImpossibleNow", f"as things stand this cannot happen: {error}", remedy) from None
    try:
        if not livelock:
            batches.extend(player.advance(now))  # keeps what was played, also where that does not end
    except EndlessError as error:
        livelock = str(error)
    listed = tuple(_listed(batches))
    return TryAnswer(
        seq=followed.head.seq,
        time=now,
        policy=_tried_policy(checked, changes) if checked is not None else None,
        batches=listed,
        left_out=sum(len(decisions) for _, decisions in batches) - sum(len(each.decisions) for each in listed),
        standing=standing(resting(core), fact.workload) if fact is not None else None,
        next_wake=None if livelock else player.next_wake(),
        livelock=livelock,
    )


def _listed(batches: list[PlayedBatch]) -> Iterator[TriedBatch]:
    left = MOST_DECISIONS
    for fact, decisions in batches:
        if left:
            yield TriedBatch(fact=fact, decisions=tuple(decisions[:left]))
            left -= len(decisions[:left])


# --- what is tried --------------------------------------------------------------------------------------------------


def _submission(fields: SubmittedFields, now: int) -> WorkloadSubmitted:
    try:
        fact = WorkloadSubmitted.model_validate({**fields.model_dump(exclude_unset=True), "time": now})
        refuse_wishes_without_effect(fact)
    except ValidationError as error:
        raise _invalid(error, "workload") from None
    except FactError as error:
        raise UnansweredError(422, "InvalidBody", f"the body is no such request: workload: {error}", _DESCRIBED) from None
    return fact


def _checked(text: str) -> Checked:
    try:
        checked = check(decode(text.encode(), FILE), FILE)
    except PolicyError as error:
        raise _refused(error.diagnostics, {FILE: error.text}) from None
    if checked.errors:
        raise _refused(checked.diagnostics, checked.texts)
    if checked.graph is None:
        message = "the text is a profile, and no policy"
        raise InvalidPolicyError(message, "give a policy that uses it", ())
    return checked


def _refused(diagnostics: tuple[Diagnostic, ...], texts: Mapping[str, str]) -> InvalidPolicyError:
    told = _told(diagnostics, texts)
    errors = sum(each.severity == "error" for each in told)
    message = f"the policy has {errors} error{'s' * (errors != 1)}"
    return InvalidPolicyError(message, "`diagnostics` says for each what to write instead", told)


def _told(diagnostics: tuple[Diagnostic, ...], texts: Mapping[str, str]) -> tuple[DiagnosticData, ...]:
    return tuple(DiagnosticData.model_validate_json(render(each, texts.get(each.file, ""), "json")) for each in diagnostics)


def _tried_policy(checked: Checked, changes: bool) -> TriedPolicy:
    return TriedPolicy(digest=Policy.of(checked).graph.digest, changes=changes, warnings=_told(checked.diagnostics, checked.texts))


def _invalid(error: ValidationError, *part: str) -> UnansweredError:
    return UnansweredError(422, "InvalidBody", f"the body is no such request: {said_wrong(error, *part)}", _DESCRIBED)
