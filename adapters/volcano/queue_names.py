"""The names of queues and cohorts in an imported policy: Volcano's own names, with a prefix where one has the name of gpol's root.

The prefix ends with a slash, which no name in Volcano contains, so an export can remove it.
"""

from ...engine.policy_graph import ROOT

ROOT_QUEUE = "root"
"""The Queue above all others. Each cluster with Volcano has it."""

DEFAULT_QUEUE = "default"
"""The Queue of a PodGroup that names none. Each cluster with Volcano has it."""

_PREFIX = "queue/"


def policy_name(queue: str) -> str:
    """The queue or cohort of a Queue."""
    return _PREFIX + queue if queue == ROOT else queue


def volcano_name(name: str) -> str:
    """The Queue of a queue or cohort of a policy."""
    return name.removeprefix(_PREFIX)
