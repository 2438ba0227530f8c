"""Proofs as text: made from a journal, checked without it, and agreed to by an implementation that is not ours."""

from base64 import b64encode

import pymerkle
import pytest
from gpol.journal.errors import EvidenceError, ForgedError
from gpol.journal.journal import Journal
from gpol.journal.proof.checkpoint import Checkpoint, sign_checkpoint
from gpol.journal.proof.journal_tree import prove_event, prove_growth, tree_of
from gpol.journal.proof.merkle import TreeHead, leaf_hash
from gpol.journal.proof.proof_text import GrowthProof, InclusionProof, check_growth, check_inclusion, parse_proof
from gpol.journal.proof.signed_note import sign_note
from gpol.journal.proof.signing_keys import SigningKey

KEY = SigningKey.new("acme.example/cluster")
KEYS = [KEY.public]
COUNT = 29


@pytest.fixture
def kept(journal: Journal, history) -> Journal:
    """A journal of 29 events."""
    journal.append(history(13))
    assert journal.head.seq == COUNT
    return journal


def signed(journal: Journal, size: int) -> Checkpoint:
    """A checkpoint of a journal's first events."""
    return sign_checkpoint(tree_of(journal, size), KEY)


def test_every_event_is_proved(kept: Journal) -> None:
    """The proof of each event, written and read again, shows its stored bytes at its place."""
    checkpoint = signed(kept, COUNT)
    for seq in range(1, COUNT + 1):
        proof = parse_proof(prove_event(kept, seq, checkpoint).text)
        assert isinstance(proof, InclusionProof)
        assert check_inclusion(proof, KEYS) == checkpoint
        assert (proof.index, proof.payload) == (seq - 1, kept.at(seq).payload)


def test_all_growth_is_proved(kept: Journal) -> None:
    """For every pair of sizes, the proof, written and read again, shows that the journal only grew."""
    checkpoints = [signed(kept, size) for size in range(COUNT + 1)]
    for old in checkpoints:
        for new in checkpoints[old.size :: 7]:
            proof = parse_proof(prove_growth(kept, old, new).text)
            assert isinstance(proof, GrowthProof)
            assert check_growth(proof, old, KEYS) == new


def test_the_form_of_an_inclusion_proof(kept: Journal) -> None:
    """A proof is a C2SP tlog-proof: its name, the event as extra data, the index, the hashes, a blank line and the checkpoint verbatim."""
    checkpoint = signed(kept, 3)
    leaves = [leaf_hash(kept.at(seq).payload) for seq in (1, 2)]
    lines = prove_event(kept, 3, checkpoint).text.split("\n")

    assert lines[0] == "c2sp.org/tlog-proof@v1"
    assert lines[1] == f"extra {b64encode(kept.at(3).payload).decode()}"
    assert lines[2] == "index 2"
    assert len(lines[3]) == 44
    assert lines[3] not in [b64encode(leaf).decode() for leaf in leaves], "of the third of three, the sibling is the node over the others"
    assert "\n".join(lines[4:]) == f"\n{checkpoint.note}"


def test_the_form_of_a_growth_proof(kept: Journal) -> None:
    """A proof of growth is the body of a C2SP add-checkpoint request: from nothing, no hashes."""
    new = signed(kept, 5)

    assert prove_growth(kept, signed(kept, 0), new).text == f"old 0\n\n{new.note}"
    assert prove_growth(kept, new, new).text == f"old 5\n\n{new.note}"
    assert prove_growth(kept, signed(kept, 4), new).text.split("\n")[:2] == ["old 4", b64encode(leaf_hash(kept.at(5).payload)).decode()]


def test_no_flipped_bit_is_proved(kept: Journal) -> None:
    """A bit flipped anywhere in either kind of proof: it is no proof, or proves nothing (every fifth bit)."""
    old = signed(kept, 11)
    for text in (prove_event(kept, 17, signed(kept, COUNT)).text, prove_growth(kept, old, signed(kept, COUNT)).text):
        for place in range(0, len(text.encode()) * 8, 5):
            data = bytearray(text.encode())
            data[place // 8] ^= 1 << place % 8
            with pytest.raises((EvidenceError, ForgedError, UnicodeDecodeError)):
                _check(data.decode(), old)


def _check(text: str, old: Checkpoint) -> None:
    proof = parse_proof(text)
    if isinstance(proof, InclusionProof):
        check_inclusion(proof, KEYS)
    else:
        check_growth(proof, old, KEYS)


def test_a_proof_of_another_event_or_history_proves_nothing(kept: Journal) -> None:
    """Another event's bytes, another index, a longer or shorter tree, another key: each is refused."""
    checkpoint = signed(kept, COUNT)
    proof = prove_event(kept, 17, checkpoint)
    for forged in (
        InclusionProof(kept.at(18).payload, proof.index, proof.path, checkpoint),
        InclusionProof(proof.payload, proof.index + 1, proof.path, checkpoint),
        InclusionProof(proof.payload, proof.index, proof.path[:-1], checkpoint),
        InclusionProof(proof.payload, proof.index, proof.path, signed(kept, COUNT - 1)),
    ):
        with pytest.raises(ForgedError, match=r"the proof does not show that this is event"):
            check_inclusion(forged, KEYS)
    with pytest.raises(ForgedError, match=r"not signed by"):
        check_inclusion(proof, [SigningKey.new("acme.example/cluster").public])


def test_two_histories_are_not_growth(kept: Journal) -> None:
    """Two checkpoints of which the second does not continue the first: no proof can be made, and another one's hashes prove nothing."""
    old = signed(kept, 11)
    elsewhere = sign_checkpoint(TreeHead(11, bytes(32)), KEY)
    new = signed(kept, COUNT)
    with pytest.raises(ForgedError, match=r"first 11 events of .* are not those"):
        prove_growth(kept, elsewhere, new)
    with pytest.raises(ForgedError, match=r"first 20 events of .* are not those"):
        prove_growth(kept, old, sign_checkpoint(TreeHead(20, bytes(32)), KEY))
    with pytest.raises(ForgedError, match=r"does not show that the first 11 of the 29 events are those of the older checkpoint"):
        check_growth(prove_growth(kept, old, new), elsewhere, KEYS)


def test_what_cannot_be_proved_is_told(kept: Journal) -> None:
    """An event that the checkpoint does not sign, one of another journal, and exchanged checkpoints are told."""
    old, new = signed(kept, 11), signed(kept, COUNT)
    foreign = sign_checkpoint(old.tree, SigningKey.new("other.example/cluster"))
    for seq, told in (
        (0, "has no event 0; its events"),
        (COUNT + 1, f"has no event {COUNT + 1}"),
        (12, "signs 11 events, and not event 12"),
    ):
        with pytest.raises(EvidenceError, match=told):
            prove_event(kept, seq, old)
    with pytest.raises(ForgedError, match=r"signs 30 events, and .* ends at event 29"):
        prove_event(kept, 1, sign_checkpoint(TreeHead(30, bytes(32)), KEY))
    with pytest.raises(ForgedError, match=r"first 29 events of .* are not those"):
        prove_event(kept, 1, sign_checkpoint(TreeHead(29, bytes(32)), KEY))
    with pytest.raises(EvidenceError, match=r"exchange the two"):
        prove_growth(kept, new, old)
    with pytest.raises(EvidenceError, match=r"of one journal"):
        prove_growth(kept, foreign, new)
    with pytest.raises(EvidenceError, match=r"about 11 events .* about 29"):
        check_growth(prove_growth(kept, old, new), new, KEYS)


NOTE = sign_note(f"acme.example/cluster\n5\n{b64encode(bytes(32)).decode()}\n", KEY)
HASH = b64encode(bytes(32)).decode()
LINES = f"{HASH}\n" * 64


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no blank line"),
        (NOTE, "no signed note|first line is neither"),
        (f"hello\n\n{NOTE}", "its first line is neither"),
        (f"c2sp.org/tlog-proof@v2\nextra e30=\nindex 0\n\n{NOTE}", "its first line is neither"),
        (f"c2sp.org/tlog-proof@v1\nindex 0\n\n{NOTE}", "does not hold the event"),
        (f"c2sp.org/tlog-proof@v1\nextra e30\nindex 0\n\n{NOTE}", "extra data are no base64"),
        (f"c2sp.org/tlog-proof@v1\nextra e30=\nindex 00\n\n{NOTE}", "line `index`"),
        (f"c2sp.org/tlog-proof@v1\nextra e30=\nindices 0\n\n{NOTE}", "line `index`"),
        (f"c2sp.org/tlog-proof@v1\nextra e30=\nindex 0\n{HASH[:-4]}\n\n{NOTE}", "no hash of 32 bytes"),
        (f"c2sp.org/tlog-proof@v1\nextra e30=\nindex 0\n{HASH} \n\n{NOTE}", "no hash of 32 bytes"),
        (f"c2sp.org/tlog-proof@v1\nextra e30=\nindex 0\n{LINES}\n{NOTE}", "64 hashes, more than 63"),
        (f"old -1\n\n{NOTE}", "line `old`"),
        (f"old 5\n{HASH}\n\nhello\n", "no signed note"),
    ],
)
def test_what_is_no_proof_is_refused(text: str, words: str) -> None:
    """Text of another form is refused with what is wrong."""
    with pytest.raises(EvidenceError, match=words):
        parse_proof(text)


def test_pymerkle_agrees(kept: Journal) -> None:
    """The library pymerkle computes the same roots from the stored bytes, and accepts our hashes as proofs of inclusion.

    Its proofs of growth are of another form than RFC 6962's, so there its own proof is verified, between the roots that we sign.
    """
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    payloads = [recorded.payload for recorded in kept.events()]
    for payload in payloads:
        tree.append_entry(payload)
    new = signed(kept, COUNT)
    assert tree.get_root() == new.tree.root
    for seq, payload in enumerate(payloads, 1):
        path = [leaf_hash(payload), *prove_event(kept, seq, new).path]
        theirs = tree.prove_inclusion(seq, COUNT)
        ours = pymerkle.InclusionProof("sha256", True, COUNT, seq, theirs.rule, path)
        pymerkle.verify_inclusion(leaf_hash(payload), new.tree.root, ours, index=seq, size=COUNT)
    for size in range(1, COUNT):
        growth = tree.prove_consistency(size, COUNT)
        pymerkle.verify_consistency(signed(kept, size).tree.root, new.tree.root, growth, prior_size=size, later_size=COUNT)
