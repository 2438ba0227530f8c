"""Checkpoints: three lines, signed by the journal's key, and nothing else opens as one."""

import pytest
from gpol.journal.errors import EvidenceError, ForgedError
from gpol.journal.proof.checkpoint import open_checkpoint, read_checkpoint, sign_checkpoint
from gpol.journal.proof.merkle import Frontier, TreeHead
from gpol.journal.proof.signed_note import sign_note
from gpol.journal.proof.signing_keys import SigningKey

KEY = SigningKey.new("acme.example/cluster")
ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
TREE = TreeHead(20_852_163, bytes.fromhex("0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62"))

SOFA = f"""example.com/behind-the-sofa
20852163
{ROOT}

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""
"""The example of C2SP's tlog-checkpoint."""


def test_the_form_is_that_of_c2sp() -> None:
    """C2SP's example is read, and a checkpoint of ours over the same tree has the same three lines, with our origin."""
    found = read_checkpoint(SOFA)
    ours = sign_checkpoint(TREE, KEY)

    assert (found.origin, found.tree, found.size, found.note) == ("example.com/behind-the-sofa", TREE, 20_852_163, SOFA)
    assert ours.note.startswith(f"acme.example/cluster\n20852163\n{ROOT}\n\n— acme.example/cluster ")
    assert open_checkpoint(ours.note, [KEY.public]) == ours == sign_checkpoint(TREE, KEY)


def test_no_events_have_a_checkpoint_too() -> None:
    """The checkpoint of an empty journal signs the root of nothing; another root for nothing is refused."""
    empty = sign_checkpoint(Frontier().head, KEY)

    assert open_checkpoint(empty.note, [KEY.public]).size == 0
    with pytest.raises(EvidenceError, match=r"no events have another root"):
        read_checkpoint(sign_note(f"acme.example/cluster\n0\n{ROOT}\n", KEY))


def test_a_proof_is_told_from_a_checkpoint() -> None:
    """A proof ends in a checkpoint, but is none: whoever mixes them up is not told of a wrong signature."""
    with pytest.raises(EvidenceError, match=r"this is a proof, not a checkpoint; check it with `gpol verify-proof`"):
        open_checkpoint(f"c2sp.org/tlog-proof@v1\nindex 0\n\n{sign_checkpoint(TREE, KEY).note}", [KEY.public])


def test_another_journals_key_does_not_do() -> None:
    """A checkpoint signed by a known key of another name than its origin is refused: the key vouches for its own journal alone."""
    other = SigningKey.new("other.example/cluster")
    foreign = sign_note(f"acme.example/cluster\n5\n{ROOT}\n", other)
    with pytest.raises(ForgedError, match=r"of the journal `acme.example/cluster`, and is not signed by a key of that name"):
        open_checkpoint(foreign, [KEY.public, other.public])
    with pytest.raises(ForgedError, match=r"not signed by"):
        open_checkpoint(SOFA, [KEY.public])


def test_extension_lines_are_let_be() -> None:
    """Lines below the root, which the form allows, change nothing."""
    extended = sign_note(f"acme.example/cluster\n5\n{ROOT}\nsome extension\n", KEY)

    assert open_checkpoint(extended, [KEY.public]).size == 5


@pytest.mark.parametrize(
    "text",
    [
        f"\n5\n{ROOT}\n",
        f"o\n05\n{ROOT}\n",
        f"o\n-5\n{ROOT}\n",
        f"o\n+5\n{ROOT}\n",
        f"o\n\u0665\n{ROOT}\n",
        f"o\n{2**63}\n{ROOT}\n",
        f"o\n{'9' * 5_000}\n{ROOT}\n",
        f"o\n5 \n{ROOT}\n",
        f"o\n5\n{ROOT[:-4]}\n",
        f"o\n5\n{ROOT[:-1]}\n",
        f"o\n5\n{ROOT}\n\nbehind a blank line\n",
        "o\n5\n",
        "hello\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    """A signed note with other lines is no checkpoint."""
    with pytest.raises(EvidenceError, match=r"this is no checkpoint"):
        open_checkpoint(sign_note(text, KEY), [KEY.public])
