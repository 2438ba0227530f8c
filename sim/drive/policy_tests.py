"""Plays the `test` blocks of a policy. For each expectation that is not met, the result says what happened instead."""

from dataclasses import dataclass, field

from ...dsl.diagnostics import LineIndex
from ...dsl.syntax import tree
from ...engine.errors import FactError
from ...engine.events import (
    AnyDecision,
    WorkloadAdmitted,
    WorkloadEvicted,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadResized,
)
from ...engine.explain.pending import standing as standing_of
from ...engine.explain.standing import Standing
from ...engine.facts import NodeAdded, NodeRemoved
from ...engine.policy_graph import AdmissionRule, PreemptRule, ProtectRule
from ...engine.units import parse_duration
from .player import EndlessError, Player
from .policy import Policy
from .step_facts import fact_of


@dataclass(frozen=True, slots=True)
class UnmetExpectation:
    """An expectation that was not met, or a step that could not be played: its line, what was expected and what happened."""

    line: int
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of one test; it passed where there are no failures."""

    __test__ = False  # not a test of pytest's

    name: str
    line: int
    failures: tuple[UnmetExpectation, ...]


@dataclass(slots=True)
class TestPlay:
    """A test being played: the last admission and eviction of each workload, rejections, and the nodes that are there.

    An admission has the places where the pods of the workload stand now.
    """

    __test__ = False  # not a test of pytest's

    player: Player = field(default_factory=Player)
    admitted: dict[str, WorkloadAdmitted] = field(default_factory=dict)
    evicted: dict[str, WorkloadEvicted] = field(default_factory=dict)
    rejected: dict[str, WorkloadRejected] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, policy: Policy) -> "TestPlay":
        """The play of a test under a policy: an empty cluster at time 0."""
        play = cls()
        play.player.step(policy.activation(0), policy.graph)
        return play

    def again(self) -> "TestPlay":
        """A play that begins where this one stands, before anything was submitted; this one stays as it is."""
        return TestPlay(Player(self.player.core.copy()), nodes={*self.nodes})

    def at(self, step: tree.At) -> None:
        """Play a step, after the wakes before it. Raises FactError, EndlessError."""
        time = parse_duration(step.time.text)
        fact = None if step.action is None else fact_of(step.action, time, self.nodes)
        for _, decisions in self.player.advance(time) if fact is None else self.player.play(fact):
            self._note(decisions)
        match fact:
            case NodeAdded(node=node):
                self.nodes.add(node)
            case NodeRemoved(node=node):
                self.nodes.discard(node)

    def rest(self, before: int | None = None) -> None:
        """If the policy decides in cycles, run the cycles that are due, or those before a given time. Raises EndlessError."""
        for _, decisions in self.player.come_to_rest(*([] if before is None else [before])):
            self._note(decisions)

    def _note(self, decisions: list[AnyDecision]) -> None:
        for decision in decisions:
            match decision:
                case WorkloadAdmitted():
                    self.admitted[decision.workload] = decision
                case WorkloadPlaced() | WorkloadMoved():
                    before = self.admitted[decision.workload]
                    self.admitted[decision.workload] = before.model_copy(update={"assignments": decision.assignments})
                case WorkloadResized():
                    before = self.admitted[decision.workload]
                    borrowed = (*before.borrowed, *decision.borrowed)
                    now = {"assignments": decision.assignments, "usage": decision.usage, "borrowed": borrowed}
                    self.admitted[decision.workload] = before.model_copy(update=now)
                case WorkloadEvicted():
                    self.evicted[decision.workload] = decision
                case WorkloadRejected():
                    self.rejected[decision.workload] = decision


def run_test(policy: Policy, test: tree.PolicyTest) -> TestResult:
    """Play one test under its policy, from an empty cluster at time 0."""
    index = LineIndex(policy.text)
    play = TestPlay.of(policy)
    failures: list[UnmetExpectation] = []
    times = [parse_duration(step.time.text) for step in test.steps if isinstance(step, tree.At)]
    for step in test.steps:
        line = index.line(step.span.start)
        try:
            if isinstance(step, tree.At):
                play.at(step)
                times.pop(0)
            else:
                play.rest(*times[:1])
                if (found := _expect(play, step)) is not None:
                    failures.append(UnmetExpectation(line, *found))
        except FactError as error:
            failures.append(UnmetExpectation(line, "the step can be played", str(error)))
        except EndlessError as error:
            failures.append(UnmetExpectation(line, "the decisions come to rest", str(error)))
            break
    return TestResult(test.name.text, index.line(test.span.start), tuple(failures))


def _expect(play: TestPlay, step: tree.Expect) -> tuple[str, str] | None:
    """What was expected and what happened; None if the expectation is met."""
    name = step.workload.text
    expected = f"{name} {step.state}"
    standing = standing_of(play.player.core, name, briefly=True)
    now = standing.state if standing is not None else "rejected" if name in play.rejected else "over"
    told = f"{name} is {now}" + (f" because {standing.reason}" if standing is not None and now == "pending" else "")
    match step.state:
        case "admitted":
            return _expect_admitted(play, step, expected, now, told)
        case "pending":
            rule = keeping_rule(play, standing) or "no rule"
            if now != "pending":
                return expected, told
            if step.reason is not None and standing is not None and step.reason.text != standing.reason:
                return f"{expected} because {step.reason.text}", told
            if step.rule is not None and step.rule.text != rule:
                return f"{expected} by {step.rule.text}", f"it is held by {rule}"
        case "evicted":
            if name not in play.evicted:
                return expected, f"{told}, and was never evicted"
            return _by(expected, step, play.evicted[name])
        case "rejected":
            if name not in play.rejected:
                return expected, told
            return _by(expected, step, play.rejected[name])
    return None


def keeping_rule(play: TestPlay, standing: Standing | None) -> str | None:
    """The rule that keeps a workload pending; None if its place in the queue or a limit does, which are not rules."""
    graph = play.player.core.graph
    if standing is None or standing.rule is None or graph is None:
        return None
    rules: tuple[PreemptRule | ProtectRule | AdmissionRule, ...] = (*graph.preempt, *graph.protect, *graph.admission)
    places = [(rule.name, rule.source.file, rule.source.line) for rule in rules]
    return standing.rule.name if (standing.rule.name, standing.rule.file, standing.rule.line) in places else None


def _expect_admitted(play: TestPlay, step: tree.Expect, expected: str, now: str, told: str) -> tuple[str, str] | None:
    if now != "running":
        return expected, told
    decision = play.admitted[step.workload.text]
    if step.borrowing and not decision.borrowed:
        return f"{expected} borrowing", f"{step.workload.text} runs on what its queue owns"
    flavors = sorted({charge.flavor for charge in decision.usage})
    if step.flavor is not None and flavors != [step.flavor.text]:
        return f"{expected} on {step.flavor.text}", f"{step.workload.text} runs on {', '.join(flavors)}"
    running = sum(assignment.count for assignment in decision.assignments)
    if step.pods is not None and step.pods.number.text != str(running):
        return f"{expected} with {step.pods.number.text} pods", f"{step.workload.text} runs with {running}"
    return _expect_nodes(step, expected, decision)


def _expect_nodes(step: tree.Expect, expected: str, decision: WorkloadAdmitted) -> tuple[str, str] | None:
    """The nodes of all pods together; where the lowest level is above nodes, its domains."""
    if not step.nodes:
        return None
    wanted = sorted(node.text for node in step.nodes)
    found = sorted({placed.domain[-1] for assignment in decision.assignments for placed in assignment.places})
    if found == wanted:
        return None
    return f"{expected} on nodes {', '.join(wanted)}", f"{step.workload.text} runs on {', '.join(found) or 'no known nodes'}"


def _by(expected: str, step: tree.Expect, decision: WorkloadEvicted | WorkloadRejected) -> tuple[str, str] | None:
    rule = decision.why.rule.name if decision.why.rule is not None else None
    if step.rule is not None and step.rule.text != rule:
        told = f"rule {rule}" if rule is not None else decision.reason
        return f"{expected} by {step.rule.text}", f"{step.workload.text} was {step.state} by {told}"
    return None
