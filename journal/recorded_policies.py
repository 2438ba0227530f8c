"""Policies out of a journal: the texts that an event carries, compiled again, and nothing else."""

from collections.abc import Callable

from ..engine.facts import PolicyActivated
from ..engine.policy_graph import PolicyGraph
from .journal import Journal
from .records import Recorded

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


def last_activation(journal: Journal, upto: int) -> Recorded | None:
    """The event that activated the policy which decides after event `upto`; None: there was none yet."""
    return next(journal.backwards(upto=upto, stream="policy"), None)
