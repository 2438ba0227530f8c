"""Laws of evidence: whatever was done to a history, what is said of it is true, and silence means that nothing signed was touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gpol.journal.audit.evidence import Evidence, EvidenceComparison
from gpol.journal.audit.faults import Fault
from gpol.journal.proof.checkpoint import sign_checkpoint
from gpol.journal.proof.checkpoint_folder import CheckpointFolder, leaves_name
from gpol.journal.proof.merkle import Frontier, leaf_hash
from gpol.journal.proof.signing_keys import SigningKey
from gpol.journal.records import Head
from hypothesis import given
from hypothesis import strategies as st

KEY = SigningKey.new("acme.example/cluster")

HISTORY = [b"event %d" % number for number in range(1, 25)]


@st.composite
def forgeries(draw: st.DrawFn) -> list[bytes]:
    """The history with some of its events replaced, taken out, put in or exchanged, or none; maybe cut off, maybe grown."""
    forged = list(HISTORY)
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(forged) - 1))
        match draw(st.sampled_from(["replace", "delete", "insert", "swap", "cut"])):
            case "replace":
                forged[place] = b"forged"
            case "delete":
                del forged[place]
            case "insert":
                forged.insert(place, b"forged")
            case "swap":
                forged[place], forged[0] = forged[0], forged[place]
            case "cut":
                del forged[place + 1 :]
        forged = forged or [b"forged"]
    return forged + [b"grown"] * draw(st.integers(0, 2))


@contextmanager
def evidence(sizes: list[int], with_leaves: set[int]) -> Iterator[Evidence]:
    """Checkpoints of the history, and for some of them the leaves since the one before."""
    with TemporaryDirectory() as place:
        folder, frontier, before = CheckpointFolder(Path(place)), Frontier(), 0
        for size, payload in enumerate(HISTORY, 1):
            frontier.append(leaf_hash(payload))
            if size in sizes:
                folder.keep(sign_checkpoint(frontier.head, KEY))
                if size in with_leaves:
                    leaves = b"".join(map(leaf_hash, HISTORY[before:size]))
                    (folder.path / leaves_name(before, size)).write_bytes(leaves)
                before = size
        yield Evidence.gather([folder.path], [KEY.public])


def compared(found: Evidence, forged: list[bytes]) -> tuple[Fault | None, EvidenceComparison]:
    """What is found first, as `verify` asks for it; the chain is whole, computed anew."""
    comparison = EvidenceComparison(found, None)
    for seq, payload in enumerate(forged, 1):
        fault = comparison.take(Head(seq, bytes(32)), payload)
        if fault is not None:
            return fault, comparison
    return comparison.end(len(forged)), comparison


def first_difference(forged: list[bytes]) -> int | None:
    """The first event that is no longer as it was, or is gone."""
    for seq, payload in enumerate(HISTORY, 1):
        if seq > len(forged) or forged[seq - 1] != payload:
            return seq
    return None


@given(forgeries(), st.sets(st.integers(1, len(HISTORY)), min_size=1), st.data())
def test_what_is_said_is_true(forged: list[bytes], sizes: set[int], data: st.DataObject) -> None:
    """Whatever checkpoints and leaves there are, no false word is said, and nothing is found only where no altered event was signed.

    An event that is named is the first one altered, or the first of a missing end behind events that are said to be open; a range holds
    the first one altered, and begins behind what is proven; what is called proven is unaltered.
    """
    with_leaves = data.draw(st.sets(st.sampled_from(sorted(sizes))))
    bad = first_difference(forged)
    with evidence(sorted(sizes), with_leaves) as found:
        fault, comparison = compared(found, forged)

        assert bad is None or comparison.proven.seq < bad
        assert (fault is None) == (bad is None or bad > max(sizes))
        if fault is None:
            assert comparison.signed == max(sizes)
        elif fault.within is not None:
            before, behind = max({0, *sizes} & set(range(bad))), min(sizes - set(range(bad)))
            assert fault.within == (before + 1, behind), "as narrow as the checkpoints allow"
            assert comparison.proven.seq == before
        elif fault.seq != bad:
            assert fault.seq == len(forged) + 1
            assert f"whether events {comparison.proven.seq + 1} to {len(forged)} are those that were signed" in fault.meaning


@given(forgeries(), st.sets(st.integers(1, len(HISTORY)), min_size=1))
def test_with_all_leaves_the_event_is_named(forged: list[bytes], sizes: set[int]) -> None:
    """Where every checkpoint has its leaves, the very first event altered is named, for any alteration of what was signed."""
    bad = first_difference(forged)
    with evidence(sorted(sizes), sizes) as found:
        fault, _ = compared(found, forged)

        assert (fault.seq if fault is not None else None) == (bad if bad is not None and bad <= max(sizes) else None)
