"""The core of an older commit in a process of its own: reads policies and facts as JSON lines, answers each with what it decided.

Run with the older tree's rooms on the path, as `compare.py` does.
"""

import json
import sys

from gpol.dsl import compile_policy
from gpol.engine.default_core import freeze, new_core
from gpol.engine.errors import FactError
from gpol.engine.facts import FACT, PolicyActivated


def main() -> None:
    """Answer line by line; a policy begins a new core unless it says that it goes on."""
    core, graphs = new_core(), {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "freeze" in asked:
            print(json.dumps({"state": freeze(core).decode()}), flush=True)
            continue
        graph = None
        if "policy" in asked:
            if asked["new"]:
                core = new_core()
            text = asked["policy"]
            if text not in graphs:
                graphs[text] = compile_policy(text, "p.gpol", asked["profiles"])
            graph = graphs[text]
            fact = PolicyActivated(time=asked["time"], file="p.gpol", text="", digest=graph.digest)
        else:
            fact = FACT.validate_python(asked["fact"])
        try:
            answer = {"decisions": [decision.payload().decode() for decision in core.step(fact, graph)], "wake": core.next_wake()}
        except FactError as error:
            answer = {"refused": str(error)}
        print(json.dumps(answer), flush=True)


main()
