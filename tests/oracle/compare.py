"""Today's core against that of an older commit: the same policies and facts, and every decision has to be the same.

    python tests/oracle/compare.py COMMIT [--policies 1000] [--facts 300] [--seed 1]

COMMIT is read from the repository's own history; it has to have today's facts, events and `gpol.engine.default_core`. Policies and facts
are generated, both ways of deciding in turn. After every fact the decisions have to be the same, byte for byte, and so do refusals and the
next wake; at the end of a history the states, too.
"""

import argparse
import json
import random
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "property"))

from cycle_cases import PROFILES, cycle_policy  # noqa: E402
from generators import BARE, policies  # noqa: E402
from gpol.dsl import compile_policy  # noqa: E402
from gpol.dsl.print.formatter import print_tree  # noqa: E402
from gpol.engine.default_core import freeze, new_core  # noqa: E402
from gpol.engine.errors import FactError  # noqa: E402
from gpol.engine.facts import FACT, PolicyActivated  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

ROOMS = ("engine", "compiled", "dsl", "journal", "policies", "sim", "adapters", "cli")
SECOND = 1_000_000


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


class DifferenceError(AssertionError):
    """The two cores decided differently."""


class Play:
    """Both cores side by side, under policies of one kind."""

    def __init__(self, old: OldCore, texts: list[str], profiles: dict[str, str]) -> None:
        self.old, self.texts, self.profiles, self.core = old, texts, profiles, new_core()
        self.graphs = [compile_policy(text, "p.gpol", profiles) for text in texts]
        self.active, self.facts, self.kinds, self.log = 0, 0, Counter[str](), list[str]()
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
        self._both({"fact": plain}, FACT.validate_python(plain), None)

    def end(self) -> None:
        """Compare the states that both came to."""
        if self.old.ask({"freeze": True})["state"] != freeze(self.core).decode():
            raise DifferenceError("the states differ")

    def _both(self, question: dict[str, Any], fact: Any, graph: Any) -> bool:
        self.facts += 1
        self.log.append(json.dumps(question.get("fact") or {"policy": self.texts.index(question["policy"])}))
        theirs = self.old.ask(question)
        try:
            decisions = self.core.step(fact, graph)
        except FactError as error:
            if theirs != {"refused": str(error)}:
                raise DifferenceError(f"today's core refuses: {error}") from None
            return False
        mine = {"decisions": [decision.payload().decode() for decision in decisions], "wake": self.core.next_wake()}
        if mine != theirs:
            raise DifferenceError(f"today {json.dumps(mine)}\nold   {json.dumps(theirs)}")
        self.kinds.update(f"{decision.kind} {decision.reason}" for decision in decisions)
        return True


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
        kinds, facts = Counter[str](), 0

        def one(texts: list[str], profiles: dict[str, str], number: int, in_cycles: bool) -> None:
            nonlocal facts
            play = Play(old, texts, profiles)
            try:
                history(play, random.Random(number), asked.facts, in_cycles)
                play.end()
            except DifferenceError as difference:
                print(*texts, *play.log, f"--- fact {play.facts}", difference, sep="\n")
                raise SystemExit(1) from None
            facts += play.facts
            kinds.update(play.kinds)

        chosen = settings(
            max_examples=asked.policies // 2, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        seed(asked.seed)(
            chosen(
                given(st.lists(policies(), min_size=1, max_size=1), st.integers(0, 2**32))(
                    lambda files, number: one([print_tree(file) for file in files], {"test.bare": BARE}, number, False)
                )
            )
        )()
        profile = st.sampled_from(["kueue.classical", "kueue.fair"])
        pairs = profile.flatmap(lambda name: st.lists(cycle_policy(name), min_size=2, max_size=2))
        seed(asked.seed)(chosen(given(pairs, st.integers(0, 2**32))(lambda texts, number: one(texts, PROFILES, number, True))))()
    print(f"{facts:,} facts, the same decisions")
    for kind, count in sorted(kinds.items()):
        print(f"{count:8,} {kind}")


if __name__ == "__main__":
    main()
