"""Counts what was answered and refused, and tells in the log what somebody may have to look at.

The scheduler asks the same again every second. So a reason is told for a verb when it comes for the first time, and then when its count has
doubled.
"""

import logging
from collections import Counter
from collections.abc import Mapping

from .verdicts import ODD, Reason

LOG = logging.getLogger("gpol.volcano")

_LONGEST = 1000
"""Characters of what a request says that go into a line of the log."""


class ExtenderTally:
    """`answers` counts by verb and reason; `refusals` by verb and the code of the error, with `other` for verbs that are not answered."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, Reason]] = Counter()
        self.refusals: Counter[tuple[str, str]] = Counter()

    def answered(self, verb: str, reasons: Mapping[Reason, int], examples: Mapping[Reason, str]) -> None:
        """Count an answer."""
        for reason, times in reasons.items():
            before = self.answers[verb, reason]
            self.answers[verb, reason] = now = before + times
            if reason in ODD and now.bit_length() > before.bit_length():
                subject = examples.get(reason) or "nothing that has a name"
                LOG.warning("%s of %s: %s (%s; %d times so far)", verb, _shown(subject), ODD[reason], reason.value, now)

    def refused(self, verb: str, code: str, told: str) -> None:
        """Count a request that was refused."""
        before = self.refusals[verb, code]
        self.refusals[verb, code] = now = before + 1
        if now.bit_length() > before.bit_length():
            LOG.warning("a request to the extender was refused: %s (%s; %d times so far)", _shown(told), code, now)


def _shown(text: str) -> str:
    """A text in one line, without characters that a terminal obeys."""
    return "".join(each if each.isprintable() else "?" for each in text[:_LONGEST])
