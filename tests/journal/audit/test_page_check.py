"""A page of rows passes exactly where nothing is wrong with any row of it."""

from typing import Any, cast

from gpol.engine.event_parts import Charge, PodSet
from gpol.engine.events import AnyEvent, WorkloadAdmitted
from gpol.engine.facts import PolicyActivated, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.engine.outcome.grounds import Why
from gpol.journal.audit.page_check import BEGINNING, place_after
from gpol.journal.audit.row_checks import RowWalk
from gpol.journal.journal import Journal
from gpol.journal.records import START, link, stream_of
from gpol.journal.store.store import SOUND_TYPES, PlainRow, Stored
from hypothesis import given
from hypothesis import strategies as st
from payload_edits import payloads


def _events() -> list[AnyEvent]:
    """A short history with everything in order."""
    events: list[AnyEvent] = [PolicyActivated(time=1, file="c.gpol", text='policy "c" {}\n', digest="sha256:" + "0" * 64)]
    for number in range(1, 4):
        name, usage = f"größe-{number}", (Charge(flavor="a100", resource="gpu", amount=1_000 * number),)
        events += [
            WorkloadSubmitted(time=number, workload=name, pod_sets=(PodSet(requests={"gpu": 1_000}),)),
            WorkloadAdmitted(
                time=number, cause=len(events) + 1, workload=name, queue="q", priority=0, reason="FitsOwned", assignments=(), usage=usage,
                borrowed=(), why=Why(),
            ),
            TimeAdvanced(time=number),
            WorkloadFinished(time=number, workload=name),
        ]  # fmt: skip
    return events


Row = list[Any]

ROWS: list[Row] = [[seq, event.payload(), b"", stream_of(event), seq, event.kind] for seq, event in enumerate(_events(), 1)]


def _chained(rows: list[Row]) -> None:
    """Compute the chain anew."""
    chain = START.chain
    for row in rows:
        row[2] = chain = link(chain, row[1])


def _is_right(rows: list[PlainRow]) -> bool:
    """What is said of rows that are looked at one by one."""

    class NothingFollows:
        def stored_page(self, _after: int | None) -> list[Stored]:
            return []

    walk = RowWalk(cast(Journal, NothingFollows()))
    stored = (Stored(*row[:3], row[3].encode(), row[4], row[5].encode(), SOUND_TYPES) for row in rows)
    return not any(walk.take(row) for row in stored)


def _passes(rows: list[PlainRow]) -> bool:
    place = place_after(rows, BEGINNING)
    assert place is None or (*place.head,) == (rows[-1][0], rows[-1][2])
    return place is not None


@st.composite
def altered(draw: st.DrawFn) -> list[PlainRow]:
    """The history with an edit or two, and mostly with a chain that was computed anew."""
    rows = [list(row) for row in ROWS]
    for edit in draw(st.lists(st.sampled_from(["payload", "swap", "drop", "time", "cause", "column", "seq"]), max_size=2)):
        place = draw(st.integers(0, len(rows) - 1))
        row = rows[place]
        match edit:
            case "payload":
                row[1] = draw(payloads())
            case "swap":
                other = draw(st.integers(0, len(rows) - 1))
                rows[place], rows[other] = rows[other], row
            case "drop" if len(rows) > 1:
                del rows[place]
            case "time":
                row[1] = row[1].replace(
                    b'"time":%d' % draw(st.integers(1, 3)), b'"time":%d' % draw(st.sampled_from([0, 1, 2, 3, 4, 2**63])), 1
                )
            case "cause":
                row[1] = row[1].replace(b'"cause":', b'"cause":%s' % draw(st.sampled_from([b"", b"1", b"-"])), 1)
            case "column":
                row[draw(st.integers(3, 5))] = draw(st.sampled_from(["time", "policy", "WorkloadFinished", 1, 2, "workload/größe-1"]))
            case "seq":
                row[0] = draw(st.integers(-1, 20))
    if draw(st.booleans()):
        for number, row in enumerate(rows, 1):
            row[0] = row[4] = number
    _chained(rows)
    if draw(st.integers(0, 3)) == 0:
        rows[draw(st.integers(0, len(rows) - 1))][2] = bytes(32)
    return [tuple(row) for row in rows if isinstance(row[3], str) and isinstance(row[5], str)] or [tuple(ROWS[0])]


@given(altered())
def test_as_row_by_row(rows: list[PlainRow]) -> None:
    """The page passes, and the walk stands at its last event, where row by row nothing is found; else it does not."""
    assert _passes(rows) == _is_right(rows)


def test_in_parts() -> None:
    """A page passes behind another one as both pass together."""
    rows = [list(row) for row in ROWS]
    _chained(rows)
    whole = place_after([tuple(row) for row in rows], BEGINNING)
    assert whole is not None
    for cut in range(1, len(rows)):
        before = place_after([tuple(row) for row in rows[:cut]], BEGINNING)
        assert before is not None
        assert place_after([tuple(row) for row in rows[cut:]], before) == whole


def test_values_of_other_types() -> None:
    """What is stored as something else than bytes and texts never passes."""
    for column, value in ((1, "text"), (1, None), (2, "text"), (2, None), (3, b"policy"), (3, None), (5, b"PolicyActivated"), (5, None)):
        rows = [list(row) for row in ROWS]
        _chained(rows)
        rows[0][column] = value
        assert not _passes([tuple(row) for row in rows])
