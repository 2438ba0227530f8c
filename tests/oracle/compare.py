"""Today's core against that of an older commit: the same policies and facts, and every decision has to be the same.

    python tests/oracle/compare.py COMMIT [--policies 1000] [--facts 300] [--seed 1]

COMMIT is read from the repository's own history. Policies and facts are generated, both ways of deciding in turn; what was changed on
purpose since then (CHANGELOG.md lists it) is left out of what is generated, or of what is compared (`ON_PURPOSE`). Today's core may wake
earlier, as it tries every moment and looks for room for parts; the output says how often. It must not wake later, and at each moment both
have to decide the same. What was mended where policies decide in cycles is undone while today's core is compared (`as_it_was`). Only where
it finds room ahead by rules that earlier victims make apply, and one that does not know of them decides as the old core did, a difference
is no failure: that history ends there, and the output counts it.
"""

import argparse
import json
import random
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "property"))

from cycle_cases import PROFILES, cycle_policy  # noqa: E402
from generators import BARE, policies  # noqa: E402
from gpol.dsl import compile_policy  # noqa: E402
from gpol.dsl.print.formatter import print_tree  # noqa: E402
from gpol.engine.default_core import freeze, new_core, thaw  # noqa: E402
from gpol.engine.definition import core  # noqa: E402
from gpol.engine.definition.admission import cycle  # noqa: E402
from gpol.engine.definition.admission.nominate import SEARCHES  # noqa: E402
from gpol.engine.definition.preemption import lookahead  # noqa: E402
from gpol.engine.definition.preemption.rule_scope import RuleScope  # noqa: E402
from gpol.engine.definition.preemption.search import Found, Preemptor  # noqa: E402
from gpol.engine.definition.state.state import State  # noqa: E402
from gpol.engine.definition.state.trial import Trial  # noqa: E402
from gpol.engine.definition.transition import apply  # noqa: E402
from gpol.engine.errors import FactError  # noqa: E402
from gpol.engine.events import AnyDecision  # noqa: E402
from gpol.engine.facts import FACT, Fact, PolicyActivated, WorkloadAdopted, WorkloadUpdated  # noqa: E402
from gpol.engine.outcome.decision import Deferral, Outcome  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

ROOMS = ("engine", "dsl", "journal", "policies", "sim", "adapters", "cli")
SECOND = 1_000_000

ON_PURPOSE = ("outcome", "priority", "attempts", "victims", "passed_over", "replaces", "by", "operator", "borrowed")
"""Fields that are new, or that one of the two forms of events does not have; `borrowed` follows from usage."""


class OldCore:
    """The core of a commit, in a process of its own."""

    def __init__(self, commit: str, folder: Path) -> None:
        archive = subprocess.run(["git", "archive", commit, *ROOMS], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as tree:
            tree.extractall(folder / "tree", filter="data")
        (folder / "path" / "gpol").mkdir(parents=True)
        for room in ROOMS:
            (folder / "path" / "gpol" / room).symlink_to(folder / "tree" / room)
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(Path(__file__).with_name("old_core.py"))],
            env={"PYTHONPATH": f"{folder / 'path'}:{site_packages()}", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the old core ended by itself")
        answer: dict[str, Any] = json.loads(line)
        return answer


def site_packages() -> str:
    """Where the libraries are that both cores use."""
    import pydantic

    return str(Path(pydantic.__file__).parents[1])


def said(decision: AnyDecision) -> dict[str, Any]:
    """What a decision decides, in the form of `old_core.py`."""
    fields = json.loads(decision.payload())
    rule = fields.pop("why")["rule"]
    for name in ("v", "cause"):
        fields.pop(name)
    return {**fields, "rule": None if rule is None else [rule["name"], rule["line"]]}


def compared(decision: dict[str, Any]) -> dict[str, Any]:
    """A decision without what differs on purpose: fields, and the line about borrowing where not all that was asked for is borrowed."""
    left_out = (*ON_PURPOSE, "rule") if decision.get("reason") == "FitsBorrowing" and len(decision["usage"]) > 1 else ON_PURPOSE
    return {name: value for name, value in decision.items() if name not in left_out}


class DifferenceError(AssertionError):
    """The two cores decided differently."""


class FurtherRulesError(Exception):
    """Today's core waits for room by a rule that an earlier victim makes apply; the old one did not know of that room."""


@contextmanager
def as_it_was() -> Iterator[None]:
    """Today's core without what CHANGELOG.md lists as mended where policies decide in cycles."""
    update, adopt, at_once = apply._update, apply._adopt, core._at_once

    def forgets_the_head(state: State, fact: WorkloadUpdated) -> None:
        workload = state.workloads[fact.workload]
        was_head = state.queues[workload.queue].preemptor is workload
        update(state, fact)
        if was_head:
            state.queues[workload.queue].preemptor = None

    def keeps_the_deferral(state: State, fact: WorkloadAdopted) -> None:
        workload = state.workloads[fact.workload]
        deferred, scan = workload.deferred, workload.scan
        adopt(state, fact)
        workload.deferred, workload.scan = deferred, scan

    def says_less(state: State, deferral: Deferral) -> bool:
        before, now = state.workloads[deferral.workload].deferred, deferral.last
        if before is None or now.parked or now.tried or before.tried:
            return True
        return (before.reason, before.preempting) != (now.reason, now.preempting)

    def drains_who_stops_already(state: State, fact: Fact) -> list[Outcome]:
        if isinstance(fact, WorkloadAdopted) and fact.evicting:
            return []
        stopping = [workload for workload in state.in_order() if workload.evicting] if isinstance(fact, PolicyActivated) else []
        for workload in stopping:
            workload.evicting = False
        decided = at_once(state, fact)
        for workload in stopping:
            workload.evicting = True
        return decided

    with (
        patch.multiple(apply, _update=forgets_the_head, _adopt=keeps_the_deferral),
        patch.object(cycle, "_says_something", says_less),
        patch.object(core, "_at_once", drains_who_stops_already),
    ):
        yield


@contextmanager
def rules_that_apply_at_once() -> Iterator[None]:
    """Looking ahead as the old core did: only by rules that apply before anybody has gone."""

    def search(trial: Trial, preemptor: Preemptor) -> Found:
        found = lookahead.search(trial, preemptor)
        if found.until is None:
            return found
        with patch.object(RuleScope, "reach", lambda scope: [(rule, scope.queues(rule)) for rule in scope.graph.preempt]):
            return lookahead.search(trial, preemptor)

    with patch.dict(SEARCHES, rules=search):
        yield


class Play:
    """Both cores side by side, under policies of one kind."""

    def __init__(self, old: OldCore, texts: list[str], profiles: dict[str, str]) -> None:
        self.old, self.texts, self.profiles, self.core = old, texts, profiles, new_core()
        self.graphs = [compile_policy(text, "p.gpol", profiles) for text in texts]
        self.active, self.facts, self.earlier, self.kinds, self.log = 0, 0, 0, Counter[str](), list[str]()
        self.played: list[tuple[Any, Any]] = []
        self.activate(0, 0, new=True)

    def activate(self, index: int, time: int, new: bool = False) -> None:
        """Let a policy decide."""
        graph = self.graphs[index]
        question = {"policy": self.texts[index], "profiles": self.profiles, "time": time, "new": new}
        fact = PolicyActivated(time=time, file="p.gpol", text="", digest=graph.digest)
        if self._both(question, fact, graph):
            self.active = index

    def step(self, plain: dict[str, Any]) -> None:
        """Play a fact."""
        older = {("operator" if name == "by" else name): value for name, value in plain.items()}
        self._both({"fact": older}, FACT.validate_python(plain), None)

    def _both(self, question: dict[str, Any], fact: Any, graph: Any) -> bool:
        self.facts += 1
        self.log.append(json.dumps(question.get("fact") or {"policy": self.texts.index(question["policy"])}))
        theirs = self.old.ask(question)
        try:
            with as_it_was():
                decisions = self.core.step(fact, graph)
        except FactError as error:
            if "refused" not in theirs:
                raise DifferenceError(f"today's core refuses: {error}") from None
            return False
        if "refused" in theirs:
            raise DifferenceError(f"the old core refuses: {theirs['refused']}")
        self.kinds.update(f"{decision.kind} {decision.reason}" for decision in decisions)
        mine = [compared(said(decision)) for decision in decisions]
        other = [compared(decision) for decision in theirs["decisions"]]
        if mine != other and other == [compared(said(decision)) for decision in self._by_rules_that_apply_at_once(fact, graph)]:
            raise FurtherRulesError
        if mine != other:
            raise DifferenceError(f"today {json.dumps(mine)}\nold   {json.dumps(other)}")
        self.played.append((fact, graph))
        wake = self.core.next_wake()
        if wake is not None and (theirs["wake"] is None or wake < theirs["wake"]):
            self.earlier += 1
        elif wake != theirs["wake"]:
            raise DifferenceError(f"the next wake is {wake}, was {theirs['wake']}")
        return True

    def _by_rules_that_apply_at_once(self, fact: Any, graph: Any) -> list[AnyDecision]:
        """What today's core would have decided about a fact, did it look ahead as the old one."""
        before = new_core()
        with as_it_was():
            for each in self.played:
                before.step(*each)
        again = thaw(freeze(before), before.graph)  # without nominations that it remembers
        with as_it_was(), rules_that_apply_at_once():
            return again.step(fact, graph)


def history(play: Play, dice: random.Random, facts: int, in_cycles: bool) -> None:
    """Play so many facts: mostly submissions while few live, and whatever time decides in between."""
    number = wakes = 0
    while play.facts < facts:
        time = play.core.time + dice.choice([0, 0, 1, SECOND, 2 * SECOND, 5 * SECOND, 6 * SECOND, 20 * SECOND])
        wake = play.core.next_wake()
        if wake is not None and (wake < time or (not in_cycles and wake == time)) and wakes < 30:
            wakes += 1
            play.step({"kind": "TimeAdvanced", "time": wake})
            continue
        wakes, number = 0, number + 1
        deed = dice.choice(["submit"] * (12 if len(play.core.view.names()) < 25 else 2) + OTHERS + (IN_CYCLES if in_cycles else AT_ONCE))
        fact = fact_of(play, dice, deed, f"w{number:03}", in_cycles)
        if deed == "policy":
            play.activate(dice.randrange(len(play.graphs)), time)
        elif fact is not None:
            play.step({"time": time, **fact})


OTHERS = ["finish"] * 6 + ["cancel", "evict", "hold", "release", "priority", "priority"]
IN_CYCLES = ["done", "check", "adopt", "stop", "grow", "policy", "time"]
AT_ONCE = ["capacity", "capacity", "time", "done", "policy"]


def fact_of(play: Play, dice: random.Random, deed: str, name: str, in_cycles: bool) -> dict[str, Any] | None:
    """A fact that makes sense now, or None."""
    graph = play.graphs[play.active]
    if deed == "submit":
        return submission(graph, dice, name, in_cycles)
    if deed == "time":
        return {"kind": "TimeAdvanced"}
    if deed == "capacity":
        return {"kind": "CapacityChanged", "flavor": dice.choice(["a100", "h100"]), "capacity": {"gpu": dice.randrange(17) * 1000}}
    live = play.core.view.workloads()
    if not live or deed == "policy":
        return None
    workload = dice.choice(live)
    runs, about = workload.admitted is not None, {"workload": workload.name}
    asked, left = workload.fact.pod_sets[0].count, workload.remaining[0]
    match deed:
        case "finish" if runs:
            return {"kind": "WorkloadFinished", **about}
        case "cancel":
            return {"kind": "WorkloadCancelled", **about}
        case "evict" | "hold" | "release" if deed == "release" or runs == (deed == "evict"):
            return {"kind": "OperatorAction", "by": "op", "action": deed, **about}
        case "priority":
            return {"kind": "WorkloadUpdated", "priority": dice.choice([0, 1, 2] if in_cycles else ["low", "normal", "high"]), **about}
        case "done" if left > 1:
            return {"kind": "WorkloadUpdated", "reclaimable": {"main": asked - left + 1}, **about}
        case "check":
            return {"kind": "WorkloadUpdated", "checks": {"provisioning": dice.choice(["Ready", "Retry"])}, **about}
        case "adopt" if not runs and workload.queue >= 0:
            usage = {"gpu": left * workload.fact.pod_sets[0].requests["gpu"]}
            placement = {"pod_set": "main", "count": left, "flavors": {"gpu": dice.choice("ab")}, "usage": usage}
            queue, evicting = graph.nodes[workload.queue].name, dice.random() < 0.5
            since = {"queue": queue, "since": play.core.time, "evicting": evicting}
            return {"kind": "WorkloadAdopted", **since, "placements": [placement], **about}
        case "stop" if workload.evicting:
            return {"kind": "WorkloadUpdated", "requeued": play.core.time, **about}
        case "grow" if runs:
            pods = {**json.loads(workload.fact.pod_sets[0].model_dump_json()), "count": asked + 1}
            queue = graph.nodes[workload.queue].name
            return {"kind": "WorkloadSubmitted", "workload": name, "queue": queue, "pod_sets": [pods], "replaces": workload.name}
        case _:
            return None


def submission(graph: Any, dice: random.Random, name: str, in_cycles: bool) -> dict[str, Any]:
    """A workload for some queue."""
    queue = graph.nodes[dice.choice(graph.queues).node].name
    requests = {"gpu": dice.choice([1, 1, 1, 2, 3, 4]) * 1000}
    pods: dict[str, Any] = {"count": dice.choice([1, 2]), "requests": requests}
    if in_cycles:
        requests |= {"cpu": dice.choice([1, 2]) * 1000} if dice.random() < 0.4 else {}
        pods["flavors"] = dice.choice([[], [], [], ["a", "c"], ["b", "c"]])
        pods |= {"min_count": 1} if dice.random() < 0.25 else {}
        priority: int | str | None = dice.choice([0, 0, 0, 1, 2])
    else:
        pods["flavors"] = dice.choice([[], [], [], ["a100"], ["h100"]])
        priority = dice.choice([None, "low", "normal", "high"])
    fact = {"kind": "WorkloadSubmitted", "workload": name, "queue": queue, "priority": priority, "pod_sets": [pods]}
    if dice.random() < 0.1:
        fact["pod_sets"].append({**pods, "name": "second", "count": 1})
    return fact


def main() -> None:
    """Compare, and end with 1 at the first difference, with the policy and the facts that lead to it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--policies", type=int, default=1000)
    parser.add_argument("--facts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        old = OldCore(asked.commit, Path(folder))
        kinds, facts, earlier, ended = Counter[str](), 0, 0, 0

        def one(texts: list[str], profiles: dict[str, str], number: int, in_cycles: bool) -> None:
            nonlocal facts, earlier, ended
            play = Play(old, texts, profiles)
            try:
                history(play, random.Random(number), asked.facts, in_cycles)
            except DifferenceError as difference:
                print(*texts, *play.log, f"--- fact {play.facts}", difference, sep="\n")
                raise SystemExit(1) from None
            except FurtherRulesError:
                ended += 1
            facts, earlier = facts + play.facts, earlier + play.earlier
            kinds.update(play.kinds)

        chosen = settings(
            max_examples=asked.policies // 2, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        seed(asked.seed)(
            chosen(
                given(st.lists(policies(), min_size=1, max_size=1), st.integers(0, 2**32))(
                    lambda files, number: one([at_once(print_tree(file)) for file in files], {"test.bare": BARE}, number, False)
                )
            )
        )()
        profile = st.sampled_from(["kueue.classical", "kueue.fair"])
        pairs = profile.flatmap(lambda name: st.lists(cycle_policy(name), min_size=2, max_size=2))
        seed(asked.seed)(chosen(given(pairs, st.integers(0, 2**32))(lambda texts, number: one(texts, PROFILES, number, True))))()
    print(f"{facts:,} facts, the same decisions; the next wake is earlier than it was after {earlier:,} of them, and never later")
    print(f"{ended} histories ended where the old core did not know of room by rules that earlier victims make apply")
    for kind, count in sorted(kinds.items()):
        print(f"{count:8,} {kind}")


def at_once(text: str) -> str:
    """A policy in which the two choices of flavors do not meet that were decided in another way before (CHANGELOG.md)."""
    if "when evicting take flavor" in text:
        return text.replace("when borrowing try next flavor", "when borrowing take flavor")
    return text


if __name__ == "__main__":
    main()
