"""What verification finds, in a form to show to an auditor."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong first, what was expected, what was found, and what it means.

    It is at event `seq`; or, where the evidence does not tell which, at one of the events `within` (first and last); with neither, the
    events up to there are good, and something else is wrong: the file, or a piece of evidence. `kind` says of what sort the fault is,
    `events` how many it is about.
    """

    seq: int | None
    problem: str
    expected: str
    found: str
    meaning: str
    within: tuple[int, int] | None = None
    kind: str = "evidence"
    events: int = 1


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The outcome: all is good up to event `seq`, whose chain value (hexadecimal) is `chain`. A fault ends the search.

    `signed` is the last event that a checkpoint vouches for, it and all before it; 0: none was given.
    """

    seq: int
    chain: str
    fault: Fault | None = None
    signed: int = 0

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return self.fault is None

    @property
    def bad_seq(self) -> int | None:
        """The first event that is wrong; None: none is, or the evidence does not tell which."""
        return None if self.fault is None else self.fault.seq

    @property
    def problem(self) -> str:
        """What is wrong; nothing: an empty text."""
        return "" if self.fault is None else self.fault.problem
