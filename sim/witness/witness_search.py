"""The search for witnesses: small scenarios in which two policies decide differently, found by playing them through the core."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from string import ascii_lowercase

from ...dsl.diff.differences import Change
from ...dsl.print.formatter import print_tree
from ...dsl.syntax import tree
from ...engine.errors import FactError
from ..drive.player import EndlessError
from ..drive.policy import Policy
from ..drive.policy_tests import TestPlay, run_test
from ..drive.workload_outcome import WorkloadOutcome, outcome_of
from .boundary_values import BoundaryValues
from .scenarios import PROBE, Scenario, scenarios
from .single_change import with_change

MOST_AFTER_FIRST = 60
"""How many more scenarios are tried, once one shows a change, for one that shows it better."""


MOST_TITLE = 200
"""How many characters the name of a test has; the language allows some more."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A scenario as a test of each policy, the workload about which they differ, and what happens to it under each.

    A test is None where it names a queue that the policy does not have.
    """

    workload: str
    old: WorkloadOutcome
    new: WorkloadOutcome
    old_test: str | None
    new_test: str | None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search: the witness, if one was found, and how many scenarios were tried."""

    witness: Witness | None
    tried: int


Outcomes = dict[str, WorkloadOutcome]
"""What becomes of each workload of a scenario."""


@dataclass(frozen=True, slots=True)
class _Grade:
    """The workload about which a scenario shows a change, and how badly: only together with others, only in how something happens, and
    for a queue's change of what it may have by a workload of another queue."""

    workload: str
    rank: tuple[bool, bool, bool]


_BEST = (False, False, False)

_Grading = Callable[[Scenario], _Grade | None]


@dataclass(slots=True)
class WitnessSearch:
    """A search for witnesses between two policies. Scenarios that several changes have in common are played once."""

    old: Policy
    new: Policy
    constants: BoundaryValues
    _played: dict[tuple[bool, Scenario], Outcomes | None] = field(default_factory=dict)
    _stages: tuple["Stage", "Stage"] = field(init=False)

    def __post_init__(self) -> None:
        self._stages = Stage(self.old), Stage(self.new)

    def find(self, change: Change, most: int) -> SearchResult:
        """The scenario that shows a change best, the first of those: by itself, in what happens to a workload rather than in how, and to
        one of the queue that the change is about."""
        if most == 0:
            return SearchResult(None, 0)
        grade = self._grading(change)
        best: tuple[_Grade, Scenario] | None = None
        tried = 0
        for scenario in islice(scenarios(self.constants, change), most):
            if tried == most:
                break
            tried += 1
            found = grade(scenario)
            if found is None or (best is not None and best[0].rank <= found.rank):
                continue
            if best is None:
                most = min(most, tried + MOST_AFTER_FIRST)
            best = found, scenario
            if found.rank == _BEST:
                break
        return SearchResult(None if best is None else self._witness(change, best[1], best[0], grade), tried)

    def _grading(self, change: Change) -> "_Grading":
        """How well scenarios show a change; None where they do not.

        The old policy with the change alone decides as the new one, or else the new one without it as the old. Where the change cannot be
        taken by itself (a queue that is new) every difference in a scenario about it shows it.
        """
        alone = with_change(self.old, self.new, change), with_change(self.new, self.old, change)
        with_it, without_it = (None if policy is None else Stage(policy) for policy in alone)

        def grade(scenario: Scenario) -> _Grade | None:
            found = self._differing(scenario)
            if found is None:
                return None
            workload, strong = found
            how = not strong, _is_foreign(change, scenario, workload)
            if with_it is None and without_it is None:
                return _Grade(workload, (False, *how))
            if with_it is not None and _are_alike(with_it.played(scenario), self._outcomes(True, scenario), workload):
                return _Grade(workload, (False, *how))
            if without_it is not None and _are_alike(without_it.played(scenario), self._outcomes(False, scenario), workload):
                return _Grade(workload, (True, *how))
            return None

        return grade

    # --- playing ------------------------------------------------------------------------------------------------

    def _both(self, scenario: Scenario) -> tuple[Outcomes, Outcomes] | None:
        old, new = self._outcomes(False, scenario), self._outcomes(True, scenario)
        return None if old is None or new is None else (old, new)

    def _outcomes(self, new: bool, scenario: Scenario) -> Outcomes | None:
        key = new, scenario
        if key not in self._played:
            self._played[key] = self._stages[new].played(scenario)
        return self._played[key]

    def _differing(self, scenario: Scenario) -> tuple[str, bool] | None:
        """The workload about which the policies differ, and whether in what happens to it; the last one submitted first."""
        both = self._both(scenario)
        if both is None:
            return None
        old, new = both
        differing = [name for name in reversed(list(old)) if name in new and old[name].expect != new[name].expect]
        strong = next((name for name in differing if old[name].expect.state != new[name].expect.state), None)
        return (strong, True) if strong is not None else (differing[0], False) if differing else None

    # --- what is shown ------------------------------------------------------------------------------------------

    def _witness(self, change: Change, scenario: Scenario, found: "_Grade", grade: "_Grading") -> Witness:
        smallest, workload = _without_needless(scenario, lambda shorter: grade(shorter) == found), found.workload
        named = _with_plain_names(smallest, workload)
        if grade(named) == replace(found, workload=PROBE):  # so it is, unless names decide
            smallest, workload = named, PROBE
        old, new = self._outcomes(False, smallest), self._outcomes(True, smallest)
        assert old is not None
        assert new is not None
        title = f"{change.subject}: {change.about or change.direction}"[:MOST_TITLE].rstrip()
        texts = [self._test(policy, title, smallest, made[workload]) for policy, made in ((self.old, old), (self.new, new))]
        return Witness(workload, old[workload], new[workload], *texts)

    def _test(self, policy: Policy, title: str, scenario: Scenario, end: WorkloadOutcome) -> str | None:
        """The scenario as a test of a policy, which passes there; None where it names a queue that is not there."""
        known = {node.name for node in policy.graph.nodes if node.is_queue}
        named = [step.action.queue for step in scenario if isinstance(step.action, tree.Submit) and step.action.queue is not None]
        if any(queue.text not in known for queue in named):
            return None
        test = tree.PolicyTest(tree.Text(title), (*scenario, end.expect))
        failures = run_test(policy, test).failures
        assert failures == (), failures  # INVARIANT: the tests of a witness pass
        return print_tree(tree.File((test,)))


@dataclass(slots=True)
class Stage:
    """A policy on which scenarios are played, each from an empty cluster. The policy is activated once, for the first of them."""

    policy: Policy
    _opened: TestPlay | None = None

    def played(self, scenario: Scenario) -> Outcomes | None:
        """What becomes of each workload of a scenario, in order of submission; None where the policy cannot play it to its end."""
        if self._opened is None:
            self._opened = TestPlay.of(self.policy)
        play = self._opened.again()
        try:
            for step in scenario:
                play.at(step)
            play.rest()
        except (FactError, EndlessError):
            return None
        names = [step.action.workload.text for step in scenario if isinstance(step.action, tree.Submit)]
        return {name: found for name in names if (found := outcome_of(play, name)) is not None}


def _is_foreign(change: Change, scenario: Scenario, workload: str) -> bool:
    """Whether the workload is of another queue than the changed one; if the change is about lending, that is expected."""
    if change.subject.kind != "queue" or change.thing == "lends":
        return False
    queues = {step.action.workload.text: step.action.queue for step in scenario if isinstance(step.action, tree.Submit)}
    queue = queues[workload]
    return queue is not None and queue.text not in change.names


def _are_alike(one: Outcomes | None, other: Outcomes | None, workload: str) -> bool:
    """Whether the same happens to a workload."""
    return (
        one is not None and other is not None and workload in one and workload in other and one[workload].expect == other[workload].expect
    )


def _without_needless(scenario: Scenario, shows: Callable[[Scenario], bool]) -> Scenario:
    """The scenario without the steps that are not needed to show the difference; steps are tried from the first on."""
    for shorter in _shorter(scenario):
        if shows(shorter):
            return _without_needless(shorter, shows)
    return scenario


def _with_plain_names(scenario: Scenario, workload: str) -> Scenario:
    """The scenario with the workload that it is about called as such, and the others by letters."""
    submitted = [step.action.workload.text for step in scenario if isinstance(step.action, tree.Submit)]
    others = [name for name in submitted if name != workload]
    names = {workload: PROBE, **dict(zip(others, ascii_lowercase, strict=False))}
    return tuple(
        replace(step, action=replace(step.action, workload=tree.Name(names[step.action.workload.text])))
        if isinstance(step.action, tree.Submit | tree.Act)
        else step
        for step in scenario
    )


def _shorter(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario without one submission and what is done to it, or without one other step."""
    for index, step in enumerate(scenario):
        rest = scenario[:index] + scenario[index + 1 :]
        if isinstance(step.action, tree.Submit):
            name = step.action.workload
            rest = tuple(other for other in rest if not (isinstance(other.action, tree.Act) and other.action.workload == name))
        if rest:
            yield rest
