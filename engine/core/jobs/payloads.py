"""What a loop decided as the bytes of a journal, without an object for each decision.

Most decisions differ from earlier ones in few places. Such a *form* is learned from a decision that is told twice: as it is, and with marks
instead of the numbers on the tape that may be others the next time. Then it is filled in. A form that does not give the decision that it
was learned from is not kept, and what has no form is told in full: nothing but time depends on forms.
"""

from collections.abc import Iterator, Sequence
from operator import eq

import numpy as np

from ...explain.decisions import tell
from ...explain.wording import show, show_share, slot_amount
from ...guard import Field, Type
from ...outcome.decision import Eviction, Hold, Outcome
from .. import columns as c
from ..outcomes import Tape, value_of
from ..policy.policy_tables import fraction
from ..store import TableStore
from .fact_payloads import text_as_json
from .flavor_tape import flavors_at, obstacles_at
from .story import Story

MOST_FORMS = 4_096
"""How many forms, and how many of each sort of texts, are kept; then all are forgotten, and it begins anew."""

_MARK, _STEP, _MOST_MARKS = 4_611_686_018_427_387_000, 1_000_000_000_039, 1_000
"""Marks are numbers that no amount comes near; two of them differ by what no other two differ."""

_Key = tuple[object, ...]
_Parts = tuple[bytes, ...]
"""What is filled in, in the order in which it is told."""


class _Names(Sequence[str]):
    """Names by number; a mark is the number of a name that says so."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # no slices
        return f"<{number}>" if number >= _MARK else self.names[number]

    def __len__(self) -> int:
        return len(self.names)


class Payloads:
    """Encodes the decisions of a loop over tables, chunk by chunk."""

    def __init__(self, store: TableStore) -> None:
        self.store, self.graph = store, store.graph
        self._names: list[bytes] = []
        self._forms: dict[_Key, bytes | None] = {}
        self._flavors: dict[bytes, tuple[int, _Parts]] = {}
        self._flavor_keys: dict[tuple[int, ...], int] = {}
        self._compared = [rule.compared for rule in self.graph.preempt]
        self._ordered = [[key.of_victim for key in rule.order] for rule in self.graph.preempt]
        self._amounts: dict[tuple[int, int], bytes] = {}
        self._values: dict[tuple[int, ...], bytes] = {}

    def decisions(self, story: Story) -> list[bytes]:
        """The decisions of a chunk."""
        names, content = self.names, story.tape.tobytes()
        forms, flavors, amounts = self._forms, self._flavors, self._amounts
        found = list[bytes]()
        for at, fact, name, kind, time, begin, charged, block, ends, slot, amount, before, owned, beyond in _rows(story):
            key: _Key | None = None
            if kind == c.ADMITTING:
                looked_at = content[8 * (block + c.FLAVORS_AT) : 8 * ends]
                same, told = flavors.get(looked_at) or self._new_flavors(looked_at)
                who = content[8 * (block + c.B_QUEUE) : 8 * (block + c.B_MODE + 1)]
                if slot == c.NONE:
                    key, told = self._admission(story.numbers, block, begin, charged, (who, same), told)
                else:  # most admissions: one charge, nobody has to go
                    key = (who, same, slot, amount, owned, beyond > 0)
                    used = amounts.get((slot, before)) or self._amount(slot, before)
                    told = (b"%d" % beyond, *told, used) if beyond > 0 else (*told, used)
            elif kind == c.EVICTING_ONE:
                key, told = self._eviction(story.numbers, block, begin)
            elif kind == c.DEFERRING:
                key, told = self._deferral(story.numbers, block)
            form = None if key is None else forms.get(key)
            if form is None and key is not None and key not in forms:
                form = self._learn(key, story, at, fact)
            if form is None:
                found.append(story.decisions(fact)[at - fact - 1].payload())
            else:
                found.append(form % (time, story.first + fact, names[name], *told))
        return found

    @property
    def names(self) -> list[bytes]:
        """All names by their numbers, as JSON."""
        if len(self._names) < len(self.store.names):
            self._names += map(text_as_json, map(self.store.names.__getitem__, range(len(self._names), len(self.store.names))))
        return self._names

    # --- what decisions differ in -----------------------------------------------------------------------------------------

    def _admission(
        self, numbers: Sequence[int], block: int, begin: int, charged: int, same: _Key, passed_over: _Parts
    ) -> tuple[_Key, _Parts]:
        """What is the same in all admissions of a form, among it all that is in `same`, and what is filled in."""
        fixed, borrowed, used = list[object](), list[bytes](), list[bytes]()
        for at in range(begin, begin + c.CHARGE_WIDTH * charged, c.CHARGE_WIDTH):
            slot, amount, before, owned, beyond = numbers[at : at + c.CHARGE_WIDTH]
            fixed += (slot, amount, owned, beyond > 0)
            used.append(self._amounts.get((slot, before)) or self._amount(slot, before))
            if beyond > 0:
                borrowed.append(b"%d" % beyond)
        replaced = numbers[block + c.B_REPLACED]
        rule = numbers[numbers[block + c.B_VICTIMS] + 4] if numbers[block + c.B_EVICTED] else None
        key = (c.ADMITTING, *same, *fixed, rule, replaced != c.NONE)
        if replaced != c.NONE:
            borrowed.append(self._name(replaced))
        return key, (*borrowed, *passed_over, *used)

    def _eviction(self, numbers: list[int], block: int, at: int) -> tuple[_Key | None, _Parts]:
        """The same of an eviction, whose victim stands at a place of the tape; None: it is told in full."""
        _, queue, kind, priority, rule, _, compared = numbers[at : at + 7]
        values, following = at + 7, at + 7 + 3 * compared
        order, held = numbers[following + 1], numbers[following + 5]
        usage = range(following + 6, following + 6 + 2 * held, 2)
        parts = [self._name(numbers[block + c.B_NAME]), *(b"%d" % numbers[place + 1] for place in usage)]
        fields: Sequence[Field | None] = self._compared[rule] if rule >= 0 else (None,) * compared
        if any(field is not None and field.type is Type.TEXT for field in fields):
            return None, ()
        parts += [self._value(rule, field, k, numbers[values + 3 * k : values + 3 * k + 3]) for k, field in enumerate(fields)]
        has_next = rule >= 0 and numbers[following] != c.NONE
        if has_next:
            parts.append(self._name(numbers[following]))
            if order >= 0:
                of_next = self._ordered[rule][order]
                parts.append(self._value(rule, of_next, -1 - order, numbers[following + 2 : following + 5]))
        slots = [numbers[place] for place in usage]
        whom = (numbers[block + c.B_QUEUE], numbers[block + c.B_PRIORITY] if rule < 0 else 0)
        limit = self._limit(numbers, block)
        return (c.EVICTING_ONE, queue, kind, priority, rule, compared, has_next, order, *whom, *limit[0], *slots), (*parts, *limit[1])

    def _deferral(self, numbers: list[int], block: int) -> tuple[_Key | None, _Parts]:
        """The same of a workload that waits."""
        if numbers[block + c.B_ENDED] == c.ENDS_TURNED_AWAY:
            return None, ()
        flavors, limit = flavors_at(numbers, block), self._limit(numbers, block)
        victims = [self._name(numbers[at]) for at in self._victims_at(numbers, block)]
        key = (c.DEFERRING, *numbers[block + c.B_ENDED : block + c.B_ENDED + 1], *numbers[block + c.B_QUEUE : block + c.B_TRIED + 1])
        return (*key, flavors.key, *limit[0], len(victims)), (*flavors.attempts, *victims, *limit[1])

    def _victims_at(self, numbers: list[int], block: int) -> Iterator[int]:
        """Where the victims stand for whom a workload waits."""
        if numbers[block + c.B_ENDED] == c.ENDS_PREEMPTING:
            at = numbers[block + c.B_VICTIMS]
            for _ in range(numbers[block + c.B_EVICTED]):
                yield at
                at += 7 + 3 * numbers[at + 6]
                at += 6 + 2 * numbers[at + 5]

    def _limit(self, numbers: list[int], block: int) -> tuple[tuple[int, ...], _Parts]:
        node, kind, slot, asked, available = numbers[block + c.B_LIMIT : block + c.B_LIMIT + 5]
        if node == c.NONE:
            return (c.NONE,), ()
        return (node, kind, slot), (b"%d" % asked, b"%d" % available, b"%d" % (asked - available))

    # --- texts ------------------------------------------------------------------------------------------------------------

    def _name(self, number: int) -> bytes:
        return self._names[number] if number < _MARK else text_as_json(f"<{number}>")

    def _amount(self, slot: int, amount: int) -> bytes:
        if len(self._amounts) >= MOST_FORMS:
            self._amounts.clear()
        known = self._amounts[slot, amount] = text_as_json(slot_amount(self.graph, slot, amount))
        return known

    def _value(self, rule: int, field: Field | None, which: int, numbers: list[int]) -> bytes:
        """What was compared of a victim, the field of a rule or a share, by its number."""
        key = (rule, which, *numbers)
        known = self._values.get(key)
        if known is None:
            rounded = self.graph.settings.rounded
            if field is not None:
                text = show(field, value_of(field, numbers, rounded))
            else:
                text = show_share(fraction(numbers[0], numbers[1], numbers[2], rounded), rounded)
            if len(self._values) >= MOST_FORMS:
                self._values.clear()
            known = self._values[key] = text_as_json(text)
        return known

    def _new_flavors(self, content: bytes) -> tuple[int, _Parts]:
        """A number for all flavors that are told alike, and what is told of those that were not taken."""
        found = flavors_at([0] * c.FLAVORS_AT + memoryview(content).cast("q").tolist(), 0)
        if len(self._flavor_keys) >= MOST_FORMS:
            for known in (self._flavor_keys, self._flavors, self._forms):
                known.clear()
        if len(self._flavors) >= MOST_FORMS:
            self._flavors.clear()
        same = self._flavors[content] = self._flavor_keys.setdefault(found.key, len(self._flavor_keys)), found.passed_over
        return same

    # --- learning ---------------------------------------------------------------------------------------------------------

    def _learn(self, key: _Key, story: Story, at: int, fact: int) -> bytes | None:
        """The form of a decision; None where there is none."""
        if len(self._forms) >= MOST_FORMS:
            self._forms.clear()
        kind, time, _, _, begin, charged, block = story.events[at]
        self._forms[key] = None
        numbers, reader = story.numbers, Tape(self.graph, story.numbers, _Names(self.store.names), self.store.demands.at, _no_text)
        places = [(block + c.B_NAME, None), *self._places(numbers, kind, block, begin, charged)]
        if len(places) > _MOST_MARKS:
            return None
        real = [numbers[place] for place, _ in places]

        def told() -> tuple[Outcome, _Parts]:
            """The decision as the tape has it by now, and what is filled in."""
            if kind == c.ADMITTING:
                parts = self._admission(numbers, block, begin, charged, (), flavors_at(numbers, block).passed_over)[1]
                return reader.admission(block), parts
            if kind == c.EVICTING_ONE:
                name = reader.names[numbers[begin]]
                victim = next(each for each in reader.victims(block) if each.workload == name)
                whom = (numbers[block + c.B_QUEUE], numbers[block + c.B_PRIORITY])
                outcome = Eviction(victim, reader.names[numbers[block + c.B_NAME]], *whom, reader.limit(block))
                return outcome, self._eviction(numbers, block, begin)[1]
            return reader.deferral(block, _no_hold), self._deferral(numbers, block)[1]

        def payload(outcome: Outcome, moment: int, cause: int) -> bytes:
            return tell(self.graph, [outcome], moment, cause)[0].payload()

        cause = story.first + fact
        outcome, parts = told()
        as_it_is, who = payload(outcome, time, cause), self._names[story.named[at]]
        for number, (place, instead) in enumerate(places, 3):
            numbers[place] = _MARK + _STEP * number * number if instead is None else instead
        outcome, marked = told()
        name = text_as_json(reader.names[numbers[begin if kind == c.EVICTING_ONE else block + c.B_NAME]])
        with_marks = payload(outcome, _MARK + _STEP, _MARK + 4 * _STEP)
        for (place, _), number in zip(places, real, strict=True):
            numbers[place] = number
        form = _cut(with_marks, (b"%d" % (_MARK + _STEP), b"%d" % (_MARK + 4 * _STEP), name, *marked))
        if form is not None and form % (time, cause, who, *parts) == as_it_is and not any(map(eq, parts, marked)):
            self._forms[key] = form
        return self._forms[key]

    def _places(self, numbers: list[int], kind: int, block: int, begin: int, charged: int) -> Iterator[tuple[int, int | None]]:
        """Where on the tape stands what may be another number in a decision of the same form; and what is to stand there, if not a mark."""
        if kind == c.ADMITTING:
            for at in range(begin, begin + c.CHARGE_WIDTH * charged, c.CHARGE_WIDTH):
                yield at + c.CHARGE_USED, None
                if numbers[at + c.CHARGE_BORROWED] > 0:
                    yield at + c.CHARGE_BORROWED, None
            if numbers[block + c.B_REPLACED] != c.NONE:
                yield block + c.B_REPLACED, None
        elif numbers[block + c.B_LIMIT] != c.NONE:
            yield from ((block + c.B_LIMIT + 3, None), (block + c.B_LIMIT + 4, None))
        if kind == c.EVICTING_ONE:
            rule, following = numbers[begin + 4], begin + 7 + 3 * numbers[begin + 6]
            yield begin, None
            for k, at in enumerate(range(begin + 7, following, 3)):
                yield from self._marked_value(at, rule < 0 or self._compared[rule][k].type is Type.SHARE)
            if rule >= 0 and numbers[following] != c.NONE:
                yield following, None
                if numbers[following + 1] >= 0:
                    of_next = self._ordered[rule][numbers[following + 1]]
                    yield from self._marked_value(following + 2, of_next.type is Type.SHARE)
            yield from ((at, None) for at in range(following + 7, following + 7 + 2 * numbers[following + 5], 2))
        else:
            yield from ((at, None) for at in obstacles_at(numbers, block))
        if kind == c.DEFERRING:
            yield from ((at, None) for at in self._victims_at(numbers, block))

    def _marked_value(self, at: int, is_share: bool) -> Iterator[tuple[int, int | None]]:
        """The numbers of a value: of a share, one that is finite."""
        if not is_share:
            yield at, None
            return
        yield from ((at, 0), (at + 1, None))
        if self.graph.settings.rounded:
            yield at + 2, 0


def _rows(story: Story) -> Iterator[tuple[int, ...]]:
    """A row for each decision of a chunk: its place and that of its fact, the number of its name, its columns but for job and queue, and of
    an admission where what is told of its flavors ends; of one that has one charge and no victims, and replaces nobody, also the charge."""
    tape, at = story.tape, np.flatnonzero(story.columns[:, c.E_KIND] > c.ADVANCING)
    if not len(at):
        return iter(())
    events, names = story.columns[at], np.array(story.named, np.int64)[at]
    admits, blocks, begins = events[:, c.E_KIND] == c.ADMITTING, events[:, c.E_BLOCK], events[:, c.E_CHARGES]
    tape = tape if len(tape) else np.zeros(c.FLAVORS_AT, np.int64)
    ends = tape[blocks + c.B_VICTIMS]
    plain = admits & (events[:, c.E_CHARGED] == 1) & (tape[blocks + c.B_EVICTED] == 0) & (tape[blocks + c.B_REPLACED] == c.NONE)
    charges = [np.where(plain, tape[np.where(plain, begins, 0) + column], c.NONE) for column in range(c.CHARGE_WIDTH)]
    columns = (events[:, c.E_KIND], events[:, c.E_TIME], begins, events[:, c.E_CHARGED], blocks, ends, *charges)
    return zip(*(column.tolist() for column in (at, story.facts[at], names, *columns)), strict=True)


def _cut(payload: bytes, parts: Sequence[bytes]) -> bytes | None:
    """A payload with places to be filled in instead of some parts of it, which stand in this order; None where they do not. The first two
    are numbers."""
    pieces, rest = list[bytes](), payload
    for part in parts:
        before, found, rest = rest.partition(part)
        if not found:
            return None
        pieces.append(before)
    time, cause, *others = (piece.replace(b"%", b"%%") for piece in (*pieces, rest))
    return b"%d".join((time, cause, b"%b".join(others)))


def _no_text(name: str, field: Field) -> str:
    """Texts that were compared are not told in what has a form."""
    return ""


def _no_hold(name: str) -> Hold:
    raise AssertionError(f"why {name} is turned away is told in full")
