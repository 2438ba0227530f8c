"""The state of a core, for laws that hold of the state itself, which no question to a core can tell."""

from dataclasses import fields
from random import Random

from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.state.state import State


def state_of(core: Core) -> State:
    """The state of a core, to be read and disturbed."""
    assert isinstance(core, DefinitionCore)
    return core.state


def shuffle(core: Core, random: Random) -> None:
    """Fill every dict of a core's state anew, in another order."""
    state = state_of(core)
    for each in fields(state):
        known = getattr(state, each.name)
        if isinstance(known, dict):
            names = sorted(known)
            random.shuffle(names)
            setattr(state, each.name, {name: known[name] for name in names})
