"""The core of an older commit in a process of its own: reads policies and facts as JSON lines, answers each with what it decided.

Run with the older tree's rooms on the path, as `compare.py` does. It knows that tree's names, and nothing of today's.
"""

import json
import sys

from gpol.dsl import compile_policy
from gpol.engine.errors import FactError
from gpol.engine.events import FACT, PolicyActivated  # the older tree has both here
from gpol.engine.reference import Core


def said(decision) -> dict:
    """What a decision decides, with its reason and the rule that it names, and nothing of how it is told."""
    fields = json.loads(decision.payload())
    why = fields.pop("why")
    rule = why["rule"]
    for name in ("v", "cause"):
        fields.pop(name)
    return {**fields, "reason": why["reason"], "rule": None if rule is None else [rule["name"], rule["line"]]}


def main() -> None:
    """Answer line by line; a policy begins a new core unless it says that it goes on."""
    core, graphs = Core(), {}
    for line in sys.stdin:
        asked = json.loads(line)
        graph = None
        if "policy" in asked:
            if asked["new"]:
                core = Core()
            text = asked["policy"]
            if text not in graphs:
                graphs[text] = compile_policy(text, "p.gpol", asked["profiles"])
            graph = graphs[text]
            fact = PolicyActivated(time=asked["time"], file="p.gpol", text="", digest=graph.digest)
        else:
            fact = FACT.validate_python(asked["fact"])
        try:
            answer = {"decisions": [said(decision) for decision in core.step(fact, graph)], "wake": core.next_wake()}
        except FactError as error:
            answer = {"refused": str(error)}
        print(json.dumps(answer), flush=True)


main()
