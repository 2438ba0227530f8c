"""`gpol volcano decide`: what Volcano's scheduler would decide for a scenario, session by session.

A scenario is a cluster's objects and a configuration. Each session runs its actions once; the next one starts from the objects as they are
once pods that were bound run and pods that were evicted are gone. Nothing else is remembered.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from ....engine.definition.volcano.model.volcano_settings import VolcanoSettings
from ....engine.definition.volcano.passes.volcano_passes import run_cycle
from ...kueue.read.fields import kind_of
from .object_parts import PodState, ScenarioPod
from .plugin_settings import Unlisted, volcano_settings
from .scenario_parts import ScenarioCase, VolcanoScenario
from .scenario_problems import refusal_of, refused
from .session_answers import SessionAnswer, session_answer
from .session_objects import cycle_of, group_key_of, key_of
from .volcano_parts import ScenarioPodGroup

STANDS_IN = "volcano.sh/job-allocated-hypernode"
"""The annotation of a PodGroup that says in which HyperNode its pods stand."""

_LINE = ("in", "volcano")
"""The fields of a line of recorded decisions: a scenario, and Volcano's answer beside it."""


def decide(line: object) -> dict[str, Any]:
    """The answer to a line: a scenario by itself, or as `in` beside a recorded answer. Raises ImportRefused."""
    scenario = opened(line)
    return {"name": scenario.name, "sessions": sessions(scenario)}


def opened(line: object) -> VolcanoScenario:
    """The scenario of a line, checked. Raises ImportRefused."""
    given = line
    if isinstance(line, dict) and "in" in line:
        unknown = sorted(set(line) - set(_LINE))
        if unknown:
            raise refused("", f"has `{str(unknown[0])[:60]}` beside `in`, which counts for nothing", "leave it out")
        given = line["in"]
    if not isinstance(given, dict):
        raise refused("", f"is {kind_of(given)}", "write one object with named fields a line")
    try:
        scenario = VolcanoScenario.model_validate(given)
    except ValidationError as error:
        raise refusal_of(error) from None
    if scenario.recreate and len(scenario.at or []) < len(scenario.then or []):
        raise refused("at", "has fewer moments than `then` has sessions", "write one for each, or leave `recreate` out")
    return scenario


def sessions(scenario: VolcanoScenario, unlisted: Unlisted = "on") -> list[SessionAnswer]:
    """The answers of all sessions of a scenario. Raises ImportRefused."""
    settings = volcano_settings(scenario, unlisted)
    case = scenario.case
    now = scenario.now
    answers = [one_session(case, settings, now)]
    for number, follows in enumerate(scenario.then or []):
        moments = scenario.at or []
        now = moments[number] if number < len(moments) else now
        at = moments[number] if scenario.recreate else None
        case = _next_case(case, answers[-1], follows.delete or [], at, number)
        answers.append(one_session(case, settings, now))
    return answers


def one_session(case: ScenarioCase, settings: VolcanoSettings, now: datetime | None) -> SessionAnswer:
    """Run the actions once on the objects of a cluster. Raises ImportRefused."""
    cycle = cycle_of(case, settings, now)
    run_cycle(cycle)
    return session_answer(cycle, {key_of(group): group.metadata.annotation(STANDS_IN) for group in case.pod_groups or []})


# --- from one session to the next -------------------------------------------------------------------------------------


def _next_case(case: ScenarioCase, answer: SessionAnswer, deleted: list[str], at: datetime | None, number: int) -> ScenarioCase:
    """The objects with which the session after `number` starts. `at`: when evicted pods are created again, None: they are not."""
    groups = {key_of(group) for group in case.pod_groups or []}
    for place, key in enumerate(deleted):
        if key not in groups:
            raise refused(f"then[{number}].delete[{place}]", f"no PodGroup {key[:200]!r} is there", "delete a PodGroup once")
    gone = set(deleted)
    left = [group for group in case.pod_groups or [] if key_of(group) not in gone]
    pods: list[ScenarioPod] = []
    for pod in case.pods or []:
        follower = None if group_key_of(pod) in gone else _next_pod(pod, answer, at, number)
        pods += [] if follower is None else [follower]
    return case.model_copy(update={"pods": pods, "pod_groups": [_next_group(group, answer) for group in left]})


def _next_pod(pod: ScenarioPod, answer: SessionAnswer, at: datetime | None, number: int) -> ScenarioPod | None:
    key = key_of(pod)
    state, *where = answer["pods"][key]
    if state == "bound":
        return _with(pod, {"node_name": where[0]}, PodState(phase="Running"))
    if state == "evicted":
        if at is None:
            return None
        fresh = {"uid": f"{pod.metadata.uid}-{number + 2}", "creation_timestamp": at}
        return _with(pod, {"node_name": ""}, PodState(phase="Pending")).model_copy(
            update={"metadata": pod.metadata.model_copy(update=fresh)}
        )
    if state in ("pending", "pipelined", "reserved"):
        nominated: Mapping[str, str] = answer.get("nominated", {})
        return _with(pod, {}, _waiting(nominated.get(key, "")))
    return pod


def _waiting(nominated: str) -> PodState:
    return PodState.model_validate({"phase": "Pending", "nominatedNodeName": nominated})


def _with(pod: ScenarioPod, spec: Mapping[str, Any], status: PodState) -> ScenarioPod:
    return pod.model_copy(update={"spec": pod.spec.model_copy(update=dict(spec)), "status": status})


def _next_group(group: ScenarioPodGroup, answer: SessionAnswer) -> ScenarioPodGroup:
    key = key_of(group)
    status = group.status.model_copy(update={"phase": answer["podGroups"][key]})
    stands_in = answer.get("allocatedHyperNode", {}).get(key)
    annotations = {**(group.metadata.annotations or {}), **({STANDS_IN: stands_in} if stands_in else {})}
    metadata = group.metadata.model_copy(update={"annotations": annotations or None})
    return group.model_copy(update={"status": status, "metadata": metadata})
