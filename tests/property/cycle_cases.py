"""Generators of small clusters that decide in cycles, and of histories for them in which workloads compete."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpol.dsl import compile_policy
from gpol.dsl.analysis.profiles import shipped
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.events import AnyEvent
from gpol.engine.facts import FACT, Fact, PolicyActivated, TimeAdvanced
from gpol.engine.policy_graph import PolicyGraph
from hypothesis import strategies as st

SECOND = 1_000_000
PROFILES = {name: shipped(name) or "" for name in ("kueue.classical", "kueue.fair")}
AT_REST = 40
"""So many cycles at the end of a history: enough for nearly all of them to come to rest."""

Scale = Callable[[int], int]
Step = tuple[int, tuple[object, ...]]
"""How many microseconds later something happens, and what."""


@dataclass(frozen=True)
class Case:
    """Two policies over the same queues and flavors, as texts, and steps to play; some of them change from one policy to the other."""

    texts: tuple[str, str]
    steps: tuple[Step, ...]

    def graph(self, index: int, scale: int = 1) -> PolicyGraph:
        """One of the policies; with a scale all its amounts are that many times greater."""
        return compile_policy(scaled(self.texts[index], scale), "cycles.gpol", PROFILES)


def scaled(text: str, scale: int) -> str:
    """A policy's text with all its amounts multiplied; in texts made here each amount is a word of its own before its resource."""
    words = [line.split(" ") for line in text.splitlines()]
    for line in words:
        for index, word in enumerate(line[:-1]):
            if word.isdigit() and line[index + 1] in ("gpu", "cpu"):
                line[index] = str(int(word) * scale)
    return "\n".join(" ".join(line) for line in words) + "\n"


# --- policies -------------------------------------------------------------------------------------------------------


@st.composite
def _quotas(draw: st.DrawFn, cohort: bool, below: bool) -> list[str]:
    """What a queue or cohort owns, borrows and lends; what stands alone has no limits."""
    lines = []
    for slot in ("gpu on a", "gpu on b", "cpu on c"):
        owned = draw(st.sampled_from([0, 0, 2, 3]) if cohort else st.sampled_from([0, 0, 1, 2, 4, 6]))
        if owned:
            lines.append(f"owns {owned} {slot}")
        if below and draw(st.integers(0, 5)) == 0:
            lines.append(f"borrows up to {draw(st.integers(0, 5))} {slot}")
        if below and owned and draw(st.integers(0, 4)) == 0:
            lines.append(f"lends up to {draw(st.integers(0, owned))} {slot}")
    if draw(st.integers(0, 3)) == 0:
        lines.append(f"weight {draw(st.sampled_from(['2', '1/2', '0']))}")
    return lines


@st.composite
def _ways(draw: st.DrawFn) -> list[str]:
    """How a queue chooses flavors and whom it evicts."""
    lines = [f"serves gpu from {', '.join(draw(st.permutations(['a', 'b'])))}", "serves cpu from c"]
    lines += draw(st.sampled_from([["evicts its own of lower priority"], ["evicts its own of lower priority or newer"], []]))
    lines += draw(st.sampled_from([["reclaims from anyone"], ["reclaims from anyone"], ["reclaims from lower priority"], []]))
    lines += draw(st.sampled_from([[], [], ["borrows by evicting lower priority"], ["borrows by evicting lower priority up to 1"]]))
    lines += draw(st.sampled_from([[], [], ["rather evict than borrow"]]))
    lines += draw(st.sampled_from([[], ["when borrowing try next flavor"]]))
    lines += draw(st.sampled_from([[], ["when evicting take flavor"]]))
    lines += draw(st.sampled_from([[], [], ["queueing strict fifo"]]))
    return lines + draw(st.sampled_from([[]] * 12 + [["stopped"], ["stopped and drained"]]))


@st.composite
def cycle_policy(draw: st.DrawFn, profile: str) -> str:
    """A policy over the queues q0 to q4: two in a cohort, two in one below it, one alone."""
    lines = [
        f'policy "generated" {{ use {profile} }}',
        "flavor a { gpu as owned }",
        "flavor b { gpu as owned }",
        "flavor c { cpu as owned }",
    ]

    def queue(name: str, below: bool = True) -> list[str]:
        return [f"queue {name} {{", *draw(_ways()), *draw(_quotas(cohort=False, below=below)), "}"]

    lines += ["cohort c0 {", *draw(_quotas(cohort=True, below=False)), *queue("q0"), *queue("q1")]
    lines += ["cohort c1 {", *draw(_quotas(cohort=True, below=True)), *queue("q2"), *queue("q3"), "}", "}"]
    lines += queue("q4", below=False)
    depth, indented = 0, []
    for line in lines:
        depth -= line == "}"
        indented.append("  " * depth + line)
        depth += line.endswith("{")
    return "\n".join(indented) + "\n"


# Queue, pods, gpu and cpu of each, priority, flavors that will do (none: any), fewest pods.
_submissions = st.tuples(
    st.just("submit"),
    st.sampled_from(["q0", "q1", "q2", "q3", "q0", "q1", "q2", "q3", "q4"]),
    st.integers(1, 2),
    st.sampled_from([1, 1, 2, 3, 4]),
    st.sampled_from([0, 0, 1, 2]),
    st.sampled_from([0, 0, 0, 1, 2]),
    st.sampled_from([(), (), (), ("a", "c"), ("b", "c")]),
    st.sampled_from([None, None, None, 1]),
)
_others = st.one_of(
    st.tuples(st.sampled_from(["finish", "finish", "finish", "cancel", "evict", "hold", "release"]), st.integers(0, 30)),
    st.tuples(st.just("priority"), st.integers(0, 30), st.integers(0, 2)),
    st.tuples(st.just("done"), st.integers(0, 30), st.integers(0, 3)),
    st.tuples(st.just("check"), st.integers(0, 30), st.sampled_from(["Ready", "Retry"])),
    st.tuples(st.just("adopt"), st.integers(0, 30), st.sampled_from(["a", "b"]), st.booleans()),
    st.tuples(st.just("stop"), st.integers(0, 30)),
    st.tuples(st.just("grow"), st.integers(0, 30), st.integers(0, 2)),
    st.tuples(st.just("policy")),
    st.tuples(st.just("time")),
)
_moments = st.sampled_from([0, 0, SECOND, 2 * SECOND, 6 * SECOND])


@st.composite
def cycle_cases(draw: st.DrawFn) -> Case:
    """Two policies of one profile, and a history: mostly submissions, so that workloads compete."""
    profile = draw(st.sampled_from(["kueue.classical", "kueue.fair"]))
    steps = st.sampled_from([True, True, True, False]).flatmap(lambda submits: _submissions if submits else _others)
    texts = (draw(cycle_policy(profile)), draw(cycle_policy(profile)))
    return Case(texts, tuple(draw(st.lists(st.tuples(_moments, steps), min_size=12, max_size=28))))


# --- histories ------------------------------------------------------------------------------------------------------


def activation(graph: PolicyGraph, time: int) -> PolicyActivated:
    """The fact that activates a policy; the core needs nothing but its digest."""
    return PolicyActivated(time=time, file="cycles.gpol", text="", digest=graph.digest)


def history(case: Case, scale: int = 1, graphs: tuple[PolicyGraph, PolicyGraph] | None = None) -> Iterator[tuple[Core, Fact, PolicyGraph]]:
    """A new core and the facts of a case one after the other, each with the policy it may activate; the caller steps each before the next.

    Between two facts come the cycles that are due, and at the end those that are due until nothing is, within a bound.
    """
    core, known, active = new_core(), graphs or (case.graph(0, scale), case.graph(1, scale)), 0
    yield core, activation(known[0], 0), known[0]
    for number, (later, step) in enumerate(case.steps):
        time = core.time + later
        while (wake := core.next_wake()) is not None and wake < time:
            yield core, TimeAdvanced(time=wake), known[active]
        if step == ("policy",):
            active = 1 - active
            yield core, activation(known[active], time), known[active]
        else:
            yield core, _fact(core, number, time, step, scale), known[active]
    for _ in range(AT_REST):
        if (wake := core.next_wake()) is not None:
            yield core, TimeAdvanced(time=wake), known[active]


def _fact(core: Core, number: int, time: int, step: tuple[object, ...], scale: int) -> Fact:
    """The fact of a step in the state of a core; steps that make no sense there are mere passing of time."""
    said = _said(core, number, step, scale)
    return TimeAdvanced(time=time) if said is None else FACT.validate_python({"time": time, **said})


def _said(core: Core, number: int, step: tuple[object, ...], scale: int) -> dict[str, object] | None:
    live = sorted(core.view.workloads(), key=lambda workload: workload.number)
    if step[0] == "submit":
        _, queue, count, gpu, cpu, priority, flavors, fewest = step
        requests = {"gpu": f"{int(str(gpu)) * scale}", **({"cpu": f"{int(str(cpu)) * scale}"} if cpu else {})}
        pods = {"count": count, "requests": requests, "flavors": flavors, **({"min_count": fewest} if fewest else {})}
        return {"kind": "WorkloadSubmitted", "workload": f"w{number:02}", "queue": queue, "priority": priority, "pod_sets": [pods]}
    if len(step) < 2 or not live:
        return None
    workload = live[int(str(step[1])) % len(live)]
    runs, name = workload.admitted is not None, workload.name
    pods_asked, left = workload.fact.pod_sets[0].count, workload.remaining[0]
    match step:
        case ("finish", _) if runs:
            return {"kind": "WorkloadFinished", "workload": name}
        case ("cancel", _):
            return {"kind": "WorkloadCancelled", "workload": name}
        case ("evict" | "hold" | "release" as action, _) if runs == (action == "evict") or action == "release":
            return {"kind": "OperatorAction", "by": "op", "action": action, "workload": name}
        case ("priority", _, value):
            return {"kind": "WorkloadUpdated", "workload": name, "priority": value}
        case ("done", _, int(done)) if pods_asked - left <= done < pods_asked:
            return {"kind": "WorkloadUpdated", "workload": name, "reclaimable": {"main": done}}
        case ("check", _, state):
            return {"kind": "WorkloadUpdated", "workload": name, "checks": {"provisioning": state}}
        case ("adopt", _, flavor, evicting) if not runs:
            usage = {"gpu": left * workload.fact.pod_sets[0].requests["gpu"]}
            placement = {"pod_set": "main", "count": left, "flavors": {"gpu": flavor}, "usage": usage}
            queue = core.graph.nodes[workload.queue].name if core.graph is not None else ""
            return {
                "kind": "WorkloadAdopted",
                "workload": name,
                "queue": queue,
                "since": core.time,
                "evicting": evicting,
                "placements": [placement],
            }
        case ("grow", _, priority) if runs and core.graph is not None:
            grown = {**workload.fact.pod_sets[0].model_dump(), "count": pods_asked + 1}
            queue = core.graph.nodes[workload.queue].name
            submitted = {"kind": "WorkloadSubmitted", "workload": f"w{number:02}", "queue": queue, "priority": priority}
            return {**submitted, "pod_sets": [grown], "replaces": name}
        case ("stop", _) if workload.evicting:
            return {"kind": "WorkloadUpdated", "workload": name, "requeued": core.time}
    return None


def played(case: Case, scale: int = 1, graphs: tuple[PolicyGraph, PolicyGraph] | None = None) -> tuple[Core, list[list[AnyEvent]]]:
    """A whole history: the core afterwards, and the batches."""
    batches: list[list[AnyEvent]] = []
    core = new_core()
    for core, fact, graph in history(case, scale, graphs):
        batches.append([fact, *core.step(fact, graph)])
    return core, batches
