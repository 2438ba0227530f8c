"""The search for victims against its definition: judge every running workload anew before each pick, and take the best."""

from dataclasses import dataclass, field

from generators import Case, activation, cases, fact_of
from gpol.engine.graph import PreemptRule
from gpol.engine.reference import Core
from gpol.engine.reference.flavors import Mode, plan
from gpol.engine.reference.guards import Bench, is_timeless
from gpol.engine.reference.order import victim_field
from gpol.engine.reference.quota import Request
from gpol.engine.reference.scope import Scope
from gpol.engine.reference.state import State
from gpol.engine.reference.victims import Search
from gpol.engine.reference.workload import Workload
from hypothesis import event, given


@dataclass
class PlainHunt:
    """The definition, word by word, and as slow as that is."""

    state: State
    workload: Workload
    cause: int
    out: list[tuple[Workload, PreemptRule]] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert self.state.active is not None
        self.policy = self.state.active
        self.tree = self.policy.tree
        self.bench = Bench(self.policy.graph, self.tree, self.policy.shares, self.state.time, self.workload)

    def victims(self, request: Request) -> list[tuple[str, str]]:
        """The names of the victims and of their rules, in order; none where they would not be enough."""
        short = [slot for slot, amount in request if not self.tree.fits(self.workload.queue, ((slot, amount),))]
        self.tree.add(self.workload.queue, request)
        scope = Scope(self.policy, self.workload.queue, short)
        enough = any(self.taken_under(rule, scope, request) for rule in self.policy.graph.preempt)
        if enough:
            self.spare(request)
        for victim, _ in self.out:
            self.tree.add(victim.queue, victim.usage)
        self.tree.remove(self.workload.queue, request)
        return [(victim.name, rule.name) for victim, rule in self.out] if enough else []

    def taken_under(self, rule: PreemptRule, scope: Scope, request: Request) -> bool:
        """Take victims under a rule until the request fits, or nobody is left."""
        scope.changed()
        while candidates := self.candidates(rule, scope):
            victim = min(candidates, key=lambda candidate: self.rank(rule, candidate))
            self.out.append((victim, rule))
            self.tree.remove(victim.queue, victim.usage)
            scope.changed()
            if self.fits(request):
                return True
        return False

    def candidates(self, rule: PreemptRule, scope: Scope) -> list[Workload]:
        """Everybody who may be evicted under a rule as things stand."""
        nodes = scope.queues(rule)
        return [
            victim
            for victim in self.state.workloads.values()
            if victim.admitted is not None
            and victim.queue in nodes
            and all(victim is not taken for taken, _ in self.out)
            and not victim.pinned
            and any(slot in scope.short for slot, _ in victim.usage)
            and victim.started_by != self.cause
            and victim.name not in (self.state.superiors(self.workload.name) if is_timeless(rule.guard) else ())
            and self.allowed(rule, victim)
        ]

    def allowed(self, rule: PreemptRule, victim: Workload) -> bool:
        """Whether the rule's guard holds and no protection does."""
        self.bench.victim = victim
        protects = [
            rule for rule in self.policy.graph.protect if rule.nodes is None or set(rule.nodes) & set(self.tree.paths[victim.queue])
        ]
        return self.bench.holds(rule.guard) and not any(self.bench.holds(protect.guard) for protect in protects)

    def rank(self, rule: PreemptRule, victim: Workload) -> tuple[object, ...]:
        """The rule's order; then the later submission."""
        self.bench.victim = victim
        keys: list[object] = []
        for key in rule.order:
            value = self.bench.value(victim_field(key))
            numbers = value if isinstance(value, tuple) else (value,)
            keys.append(tuple(-number if key.descending else number for number in numbers))  # type: ignore[operator]
        return (*keys, -victim.number)

    def fits(self, request: Request) -> bool:
        """Whether the request, which is charged already, has room."""
        self.tree.remove(self.workload.queue, request)
        fits = self.tree.fits(self.workload.queue, request)
        self.tree.add(self.workload.queue, request)
        return fits

    def spare(self, request: Request) -> None:
        """Put back, last to first but for the last, who is not needed."""
        for victim, rule in self.out[-2::-1]:
            self.tree.add(victim.queue, victim.usage)
            if self.fits(request):
                self.out.remove((victim, rule))
            else:
                self.tree.remove(victim.queue, victim.usage)


@given(cases())
def test_victims_are_those_of_the_definition(case: Case) -> None:
    """For every waiting workload and flavor, after every fact: the same victims, in the same order, under the same rules."""
    core = Core()
    core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        core.step(fact_of(core, case, number, step))
        assert core.state.active is not None
        for workload in sorted(core.state.workloads.values(), key=lambda workload: workload.number):
            if workload.admitted is not None:
                continue
            for cause in (0, core.seq):
                compare(core.state, workload, cause)


def compare(state: State, workload: Workload, cause: int) -> None:
    """Both ways for each flavor that the workload may use."""

    def search(request: Request) -> Mode:
        assert state.active is not None
        trial = Search(state.active, workload, request, state.time, cause, state.superiors(workload.name))
        found = [(victim.workload.name, victim.rule.name) for victim in trial.out] if trial.run() else []
        assert found == PlainHunt(state, workload, cause).victims(request)
        event(f"{min(len(found), 2)} victims")
        return Mode.SHORT

    assert state.active is not None
    plan(state.active, workload, search)
