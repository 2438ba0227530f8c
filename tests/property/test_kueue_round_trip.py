"""Laws of export and import: what one writes, the other reads back as the same cluster, and it decides the same."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cycle_policies import cycle_policies
from gpol.adapters.kueue.export.export_policy import ExportRefused, export, json_list, yaml_documents
from gpol.adapters.kueue.import_.load import Imported, load, read_files
from gpol.adapters.kueue.read.configuration import STRATEGIES
from gpol.dsl import check, print_tree
from gpol.dsl.syntax import tree
from gpol.engine.default_core import new_core
from gpol.engine.eligibility import groups_of
from gpol.engine.event_parts import PodSet, Toleration
from gpol.engine.events import AnyDecision
from gpol.engine.facts import Fact, PolicyActivated, TimeAdvanced, WorkloadSubmitted
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import SECOND, scale_of
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kueue_clusters import clusters
from kueue_normal_form import BOTH, normal_form

Json = dict[str, Any]

NOW = 1_767_409_445_000_000
"""2026-01-03T03:04:05Z."""

CYCLES = 10
KINDS = {"flavors": "ResourceFlavor", "clusterQueues": "ClusterQueue", "cohorts": "Cohort", "localQueues": "LocalQueue"}

patient = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def imported(text: str, profile: str | None = None) -> tuple[Imported, PolicyGraph]:
    """What comes of a dump, and the graph of its policy by way of the policy's text."""
    made = load(read_files([("dump", text.encode())]), NOW, profile)
    checked = check(print_tree(made.tree), "kueue.gpol")
    assert checked.graph is not None, checked.errors
    return made, checked.graph


def decisions(graph: PolicyGraph, facts: list[Fact]) -> Iterator[AnyDecision]:
    """What a core decides when facts are played, and in ten cycles after them."""
    core = new_core()
    core.step(PolicyActivated(time=NOW, file="x.gpol", text="x", digest=graph.digest), graph)
    for fact in facts:
        yield from core.step(fact)
    for _ in range(CYCLES):
        yield from core.step(TimeAdvanced(time=core.time + SECOND))


def without_lines(decision: AnyDecision) -> bytes:
    """All that a decision says, but for the lines of the policy, which depend on the order in which things are listed."""
    return re.sub(rb'"line":\d+', b'"line":0', decision.payload())


def active_checks(*names: str) -> list[Json]:
    """Admission checks that their controllers have made active."""
    status = {"conditions": [{"type": "Active", "status": "True"}]}
    return [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": name}, "status": status} for name in names
    ]


@patient
@given(clusters())
def test_objects_come_back_up_to_defaults(cluster: tuple[list[Json], list[Json]]) -> None:
    """export(import(objects)) are the objects in their normal form."""
    written, others = cluster
    _, graph = imported(json_list([*written, *others]))
    assert normal_form(export(graph).objects) == normal_form(written)


@patient
@given(clusters(), st.booleans())
def test_clusters_decide_the_same_after_a_round_trip(cluster: tuple[list[Json], list[Json]], as_yaml: bool) -> None:
    """Objects that were imported and exported again make the same policy, facts and decisions, by way of YAML and of JSON."""
    written, others = cluster
    before, first = imported(json_list([*written, *others]))
    text = (yaml_documents if as_yaml else json_list)([*export(first).objects, *others])
    after, second = imported(text)
    assert second.digest == first.digest
    assert after.facts == before.facts
    assert list(map(without_lines, decisions(second, after.facts))) == list(map(without_lines, decisions(first, before.facts)))


@patient
@given(clusters())
def test_policies_at_once_come_back(cluster: tuple[list[Json], list[Json]]) -> None:
    """A cluster that is imported to decide at once, by gpol's own profile, is the same policy after an export and an import.

    Its admission checks are all there: such a policy cannot say that a queue needs one.
    """
    written, given = cluster
    others = [*(item for item in given if item["kind"] != "AdmissionCheck"), *active_checks("prov", "budget")]
    before, first = imported(json_list([*written, *others]), "gpol.fair")
    after, second = imported(json_list([*export(first).objects, *others]), "gpol.fair")
    assert second.digest == first.digest
    assert after.facts == before.facts


# --- policies in cycles

ALLOWED = {"team/a": "team-a", "any pool": "any-pool", "a b": "a-b", "a/b": "a-b", "in cycles": "policy"}
"""Names of the generated policies that Kubernetes does not allow, and what stands for them."""


def allowed(part: Any) -> Any:
    """A tree with names that Kubernetes allows, no order or way of preemption but its profile's, and no missing flavors."""
    if isinstance(part, str):
        return ALLOWED.get(part, part)
    if isinstance(part, tuple):
        return tuple(allowed(item) for item in part)
    if isinstance(part, tree.Header):
        kept = tuple(choice for choice in part.choices if not isinstance(choice, tree.Order | tree.PreemptWay))
        part = replace(part, choices=kept)
    if isinstance(part, tree.FlavorItem):
        part = replace(part, body=tuple(said for said in part.body if not isinstance(said, tree.Missing)))
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{each.name: allowed(getattr(part, each.name)) for each in fields(part) if each.name != "span"})
    return part


@st.composite
def submissions(draw: st.DrawFn, graph: PolicyGraph) -> list[Fact]:
    """Workloads for the queues of a policy, of resources that these serve, a second apart; gpu and cpu count in thousandths."""
    served = {
        graph.nodes[queue.node].name: [resource for group in groups_of(graph, queue) for resource in group.resources]
        for queue in graph.queues
    }
    usable = sorted(queue for queue in served if served[queue])
    made: list[Fact] = []
    for number in range(draw(st.integers(4, 12)) if usable else 0):
        queue = draw(st.sampled_from(usable))
        resources = draw(st.lists(st.sampled_from(served[queue]), unique=True, min_size=1))
        fact = WorkloadSubmitted(
            time=NOW + number * SECOND,
            workload=f"w{number}",
            queue=queue,
            namespace_labels=draw(st.sampled_from([{"dep": "eng", "a-b": ""}] * 3 + [{"x/y": "z"}])),
            priority=draw(st.sampled_from([0, 0, 10])),
            pod_sets=(
                PodSet(
                    name="main",
                    count=1,
                    requests={name: draw(st.integers(1, 4)) * scale_of(name) for name in sorted(resources)},
                    tolerations=draw(st.sampled_from([(), (FORGIVING,), (FORGIVING,)])),
                ),
            ),
            created=NOW - draw(st.integers(0, 5)) * SECOND,
            uid=f"u{number}",
        )
        made.append(fact)
    return made


FORGIVING = Toleration(key="", operator="Exists")


def outcome(decision: AnyDecision) -> tuple[object, ...]:
    """What a decision does, without the lines of the policy that it cites."""
    shown = decision.model_dump(exclude={"why"})
    return decision.kind, sorted(shown.items(), key=str), decision.reason


@patient
@given(cycle_policies().map(allowed), st.data())
def test_policies_in_cycles_decide_the_same_after_a_round_trip(policy: tree.File, data: st.DataObject) -> None:
    """import(export(p)) decides as p does, for every policy that can be exported."""
    checked = check(print_tree(policy), "p.gpol")
    assert checked.graph is not None, checked.errors
    try:
        made = export(checked.graph, gpu="gpu")
    except ExportRefused:
        assume(False)
    _, back = imported(json_list([*made.objects, *active_checks("prov", "a-b", "check")]))
    facts = data.draw(submissions(checked.graph))
    assert [outcome(made) for made in decisions(back, facts)] == [outcome(made) for made in decisions(checked.graph, facts)]


# --- policies at once

Statements = list[tree.Spanned]


@st.composite
def quotas_at_once(draw: st.DrawFn, is_queue: bool) -> Statements:
    """What a node has of 8 gpu each of two flavors, and how it shares that."""
    made: Statements = []
    for flavor in ("a100", "h100"):
        owned = draw(st.integers(0, 2))
        parts: list[tuple[str, str, int]] = [("owns", "amount", owned)] if owned else []
        if draw(st.booleans()):
            parts.append(("borrows", "up-to", draw(st.integers(0, 4))))
        if is_queue and owned and draw(st.booleans()):
            parts.append(("guarantees", "amount", draw(st.integers(0, owned))))
        for verb, limit, amount in parts:
            said = tree.Amount(tree.Number(str(amount)), tree.Name("gpu"))
            made.append(tree.QuotaStatement(verb, limit, said, tree.Name(flavor)))  # type: ignore[arg-type]
    if draw(st.booleans()):
        made.append(tree.Weight(tree.Number(draw(st.sampled_from(["2", "1/2", "0"])))))
    return made


@st.composite
def policies_at_once(draw: st.DrawFn) -> tree.File:
    """A policy by gpol.fair of four queues, two of them in a cohort."""

    def queue(name: str) -> tree.QueueItem:
        order = tree.FlavorList("prefer", (tree.Name(draw(st.sampled_from(["a100", "h100"]))),))
        return tree.QueueItem(tree.Name(name), (order, *draw(quotas_at_once(is_queue=True))))  # type: ignore[arg-type]

    flavors = [
        tree.FlavorItem(tree.Name(name), (tree.CapacityStatement(tree.Name("gpu"), tree.Number("10")),)) for name in ("a100", "h100")
    ]
    cohort = tree.CohortItem(tree.Name("c"), (queue("w"), queue("x"), *draw(quotas_at_once(is_queue=False))))  # type: ignore[arg-type]
    return tree.File((tree.Header("policy", tree.Text("p"), (tree.Use("gpol.fair"),)), *flavors, cohort, queue("y"), queue("z")))


@patient
@given(policies_at_once(), st.data())
def test_policies_at_once_decide_the_same_after_a_round_trip(policy: tree.File, data: st.DataObject) -> None:
    """A policy by gpol.fair that is exported and imported to decide at once, its root a cohort now, decides as it did."""
    checked = check(print_tree(policy), "p.gpol")
    assert checked.graph is not None, checked.errors
    _, back = imported(json_list(export(checked.graph, gpu="gpu").objects), "gpol.fair")
    facts = [
        WorkloadSubmitted(
            time=NOW + number * SECOND,
            workload=f"w{number}",
            queue=data.draw(st.sampled_from("wxyz")),
            priority=data.draw(st.sampled_from([0, 0, 10])),
            pod_sets=(PodSet(name="main", count=data.draw(st.integers(1, 3)), requests={"gpu": 1000 * data.draw(st.integers(1, 4))}),),
        )
        for number in range(12)
    ]
    assert [outcome(made) for made in decisions(back, facts)] == [outcome(made) for made in decisions(checked.graph, facts)]


# --- recorded clusters


def recorded(folder: Path, name: str) -> Iterator[Json]:
    """The clusters of a corpus; skips where it is absent."""
    path = folder / "conformance" / "kueue" / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"needs Kueue's recorded decisions, {name}.jsonl.gz, in `shared` beside the repository")
    with gzip.open(path, "rt") as lines:
        for line in lines:
            yield json.loads(line)["in"]


def objects_of(scenario: Json) -> list[Json]:
    """The objects of a scenario that an export writes, with its choice of fair sharing as a Configuration."""
    made = [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, **item} for key, kind in KINDS.items() for item in scenario.get(key) or []
    ]
    if scenario["fair"]:
        strategies = {"preemptionStrategies": scenario["strategies"]} if scenario["strategies"] else {}
        made.append({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "fairSharing": strategies})
    return made


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["single", "timeline"])
def test_recorded_clusters_come_back_up_to_defaults(corpus: str, shared: Path) -> None:
    """Each cluster of Kueue's recorded decisions is, imported and exported, the same up to defaults."""
    assert list(STRATEGIES) == BOTH
    compared = 0
    for scenario in recorded(shared, corpus):
        written = objects_of(scenario)
        _, graph = imported(json_list(written))
        assert normal_form(export(graph).objects) == normal_form(written), scenario["name"]
        compared += 1
    assert compared > 100
