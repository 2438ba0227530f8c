"""What the core refuses."""


class FactError(ValueError):
    """A fact that cannot have happened in this state, such as the end of a workload that does not run.

    The message says what is wrong and what to do, in a form to show to a user. Nothing of the fact was applied.
    """
