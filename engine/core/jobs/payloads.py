"""What a loop played as the bytes of a journal, without an object for each event.

Most events differ from earlier ones in few places. Such a *form* is learned from an event that was told in full, with marks in these
places, and filled in for the next; whatever has no form is told in full. Nothing but time depends on it: the bytes are those of `tell`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import count

import numpy as np
from pydantic import TypeAdapter

from ...cores import EncodedEvent
from ...explain.decisions import tell
from ...explain.wording import slot_amount
from ...outcome.decision import Admission
from ...policy_graph import PolicyGraph
from .. import columns as c
from .job_rows import JobRows
from .story import Story

_Form = tuple[bytes, ...]
"""The bytes between the places that are filled in."""

_Admitted = tuple[bytes, bytes, tuple[int, ...]]
"""What admissions of one form have in common: the head of their block, the flavors, the charges but for what was used and is borrowed."""

_text_as_json = TypeAdapter(str).dump_json
"""A text as it stands in an event."""

MOST_FORMS = 4_096
"""How many forms are kept; then all are forgotten, and it begins anew."""

_MARK = 4_611_686_018_427_387_000
"""A number that stands in a form where another one is filled in: no amount comes near it."""


def plain_facts(story: Story) -> list[bool]:
    """Of each event, whether all that its fact caused are admissions that nobody had to make room for."""
    kinds, blocks = story.columns[:, c.E_KIND], story.columns[:, c.E_BLOCK]
    facts = np.cumsum(kinds <= c.ADVANCING) - 1
    admitting = np.flatnonzero(kinds == c.ADMITTING)
    has_form = kinds <= c.ADVANCING
    has_form[admitting] = (story.tape[blocks[admitting] + c.B_EVICTED] == 0) & (story.tape[blocks[admitting] + c.B_REPLACED] == c.NONE)
    told_in_full = np.zeros(len(kinds), bool)
    told_in_full[facts[~has_form]] = True
    plain: list[bool] = (~told_in_full[facts]).tolist()
    return plain


class Payloads:
    """Encodes chunks of one loop."""

    def __init__(self, graph: PolicyGraph, rows: JobRows) -> None:
        self.graph, self.rows = graph, rows
        self._submissions: dict[int, bytes] = {}
        self._admissions: dict[_Admitted, _Form] = {}
        self._amounts: dict[tuple[int, int], bytes] = {}

    @cached_property
    def _names(self) -> list[bytes]:
        """The names of the jobs, as JSON."""
        return [_text_as_json(fact.workload) for fact in self.rows.facts]

    def encoded(self, story: Story) -> Iterator[EncodedEvent]:
        """The events of a chunk."""
        numbers, content, facts = story.tape.data, story.tape.tobytes(), self.rows.facts
        cause = 0
        for at, (event, plain) in enumerate(zip(story.events, plain_facts(story), strict=True)):
            if event[c.E_KIND] <= c.ADVANCING:
                cause = story.first + at
                if plain:
                    yield self._fact(event[c.E_KIND], event[c.E_TIME], event[c.E_JOB])
                    continue
                fact, decisions = story.batch(at)
                for each in (fact, *decisions):
                    yield EncodedEvent(each.kind, getattr(each, "workload", None), each.payload())
            elif plain:
                payload = self._admission(event, numbers, content, cause, story.reader.admission)
                yield EncodedEvent("WorkloadAdmitted", facts[event[c.E_JOB]].workload, payload)

    # --- facts ------------------------------------------------------------------------------------------------------------

    def _fact(self, kind: int, time: int, job: int) -> EncodedEvent:
        if kind == c.ADVANCING:
            return EncodedEvent("TimeAdvanced", None, b'{"kind":"TimeAdvanced","v":1,"time":%d}' % time)
        fact, name = self.rows.facts[job], self._names[job]
        if kind == c.FINISHING:
            payload = b'{"kind":"WorkloadFinished","v":1,"time":%d,"workload":%b}' % (time, name)
            return EncodedEvent("WorkloadFinished", fact.workload, payload)
        if fact.created is not None or fact.uid:
            return EncodedEvent("WorkloadSubmitted", fact.workload, fact.payload())
        begin, alike = b'{"kind":"WorkloadSubmitted","v":1,"time":%d,"workload":%b' % (time, name), self.rows.kind(job)
        rest = self._submissions.get(alike)
        if rest is None:
            rest = self._submissions[alike] = fact.payload().removeprefix(begin)
        return EncodedEvent("WorkloadSubmitted", fact.workload, begin + rest)

    # --- admissions -------------------------------------------------------------------------------------------------------

    def _admission(self, event: list[int], numbers: memoryview, content: bytes, cause: int, outcome: Callable[[int], Admission]) -> bytes:
        """The bytes of an admission; `numbers` and `content` are the tape, `outcome` reads the admission that begins at a place of it."""
        _, time, job, _, charges_at, charged, block = event
        head = content[8 * (block + c.B_QUEUE) : 8 * (block + c.B_MODE + 1)]
        flavors = content[8 * (block + c.FLAVORS_AT) : 8 * numbers[block + c.B_VICTIMS]]
        fixed, borrowed, used = [], [], []
        for at in range(charges_at, charges_at + c.CHARGE_WIDTH * charged, c.CHARGE_WIDTH):
            slot, amount, before, owned, beyond = numbers[at : at + c.CHARGE_WIDTH].tolist()
            fixed += [slot, amount, owned, beyond > 0]
            used.append(self._amounts.get((slot, before)) or self._amount(slot, before))
            if beyond > 0:
                borrowed.append(b"%d" % beyond)
        key = (head, flavors, tuple(fixed))
        form = self._admissions.get(key)
        if form is None:
            admission = outcome(block)
            if any(attempt.obstacles for pods in admission.flavors.pod_sets for attempt in pods.attempts):
                return tell(self.graph, [admission], time, cause)[0].payload()  # flavors that were passed over, with numbers of their own
            form = self._learn(key, admission)
        parts = [b"%d" % time, b"%d" % cause, self._names[job], *borrowed, *used]
        return b"".join([part for pair in zip(form, parts, strict=False) for part in pair]) + form[-1]

    def _amount(self, slot: int, amount: int) -> bytes:
        if len(self._amounts) >= MOST_FORMS:
            self._amounts.clear()
        known = self._amounts[slot, amount] = _text_as_json(slot_amount(self.graph, slot, amount))
        return known

    def _learn(self, key: _Admitted, admission: Admission) -> _Form:
        """The form of an admission that tells of no flavor that was passed over."""
        marks, name = count(_MARK), f"<{_MARK}>"
        time, cause = next(marks), next(marks)
        borrowed = tuple((slot, next(marks)) for slot, _ in admission.borrowed)
        used = tuple((slot, next(marks)) for slot, _ in admission.request)
        outcome = replace(admission, workload=name, borrowed=borrowed, used=tuple(amount for _, amount in used))
        rest, parts = tell(self.graph, [outcome], time, cause)[0].payload(), list[bytes]()
        texts = [(b'"time":', b"%d" % time), (b'"cause":', b"%d" % cause), (b'"workload":', _text_as_json(name))]
        texts += [(b'"amount":', b"%d" % amount) for _, amount in borrowed]
        texts += [(b'"value":', _text_as_json(slot_amount(self.graph, slot, amount))) for slot, amount in used]
        for label, text in texts:  # a label with its quotes stands in no text, where quotes are escaped
            before, found, rest = rest.partition(label + text)
            assert found, "an admission is not told as it was"
            parts.append(before + label)
        form = (*parts, rest)
        if len(self._admissions) >= MOST_FORMS:
            self._admissions.clear()
        self._admissions[key] = form
        return form
