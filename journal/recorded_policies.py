"""Policies out of a journal: the texts that an event carries, compiled again, and nothing else."""

from collections.abc import Callable

from ..engine.events import PolicyActivated
from ..engine.graph import PolicyGraph

Compile = Callable[[PolicyActivated], PolicyGraph]
"""Makes the graph of a recorded policy. Raises PolicyRefusedError."""


class PolicyRefusedError(Exception):
    """A recorded policy that this program's compiler refuses; the message is its diagnostics."""


def compile_recorded(event: PolicyActivated) -> PolicyGraph:
    """Compile a policy from its own text and the texts of the profiles recorded with it, so not from files that may have changed."""
    from ..dsl import PolicyError, compile_policy

    try:
        return compile_policy(event.text, event.file, {profile.name: profile.text for profile in event.profiles})
    except PolicyError as error:
        raise PolicyRefusedError(str(error)) from None
