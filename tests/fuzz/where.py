"""Which construct of the language is decided where: `python tests/fuzz/where.py` writes docs/constructs.md.

Policies are drawn until each construct has occurred in some. A construct runs over tables if a policy that has it does, and jobs under it
are played in one go if the core over arrays has a closed loop for such a policy.
"""

import sys
from collections import Counter
from pathlib import Path

from constructs import constructs
from draws import Dice
from gpol.engine.core.core import ArrayCore
from gpol.sim.drive.policy import Policy
from policy_draws import compiled, policy
from worlds import world

PAGE = Path(__file__).parents[2] / "docs" / "constructs.md"

HEAD = """# Where each construct is decided

`python tests/fuzz/where.py` writes this page from generated policies; do not edit it.

- *Tables*: the core over arrays decides, by kernels over tables ([architecture](architecture.md)). Else the definition does.
- *In one go*: `gpol simulate` lets the kernels play all jobs by themselves, at least under some policies with the construct.
  Where local queues are admitted by usage they are played fact by fact, by the same kernels.

Both decide the same, byte for byte. A policy is decided over tables unless one of its numbers is too large for them; then that is said.

| construct | tables | in one go |
|---|---|---|
"""

POLICIES = 400

MERGED = "header: profile "
"""Profiles become part of a policy before anything is decided."""


def drawn() -> dict[str, tuple[bool, bool]]:
    """Policies by their texts: whether each is decided over tables, and whether it has a closed loop."""
    found = {}
    for number in range(POLICIES):
        draw = Dice(f"where/{number}")
        text = policy(draw, world(draw, number % 2 == 1), Counter())
        core, active = ArrayCore(), Policy(compiled(text), "p.gpol", text, ())
        core.step(active.activation(0), active.graph)
        found[text] = core._store is not None, core.closed_loop([], [], False) is not None
    return found


def page() -> str:
    """The page."""
    policies = drawn()
    ways = [{text: int(way[place]) for text, way in policies.items()} for place in (0, 1)]
    tables, in_one_go = (constructs(way) for way in ways)
    names = [name for name in tables if not name.startswith(MERGED)]
    missing = [name for name in names if tables[name][0] == 0]
    assert not missing, f"never drawn: {missing}"
    rows = (f"| {_code(name)} | {_yes(tables[name][1])} | {_yes(in_one_go[name][1])} |\n" for name in names)
    return HEAD + "".join(rows)


def _code(name: str) -> str:
    return "`" + name.replace("|", "\\|") + "`"


def _yes(count: int) -> str:
    return "yes" if count else "no"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
