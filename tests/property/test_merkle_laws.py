"""Laws of the Merkle tree: it is the one of RFC 6962, its proofs prove, and nothing else proves."""

from hashlib import sha256

import pytest
from gpol.journal.proof.merkle import Frontier, TreeHead, consistency_path, continues, includes, inclusion_path, leaf_hash, node_hash
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.integers(1, 130)


def leaves_of(size: int) -> list[bytes]:
    """The hashes of so many different leaves."""
    return [leaf_hash(b"event %d" % number) for number in range(1, size + 1)]


def definition(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, as it is written there, over the hashes of leaves."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return sha256(b"\x01" + definition(leaves[:k]) + definition(leaves[k:])).digest()


def head_of(leaves: list[bytes]) -> TreeHead:
    """Size and root by the definition."""
    return TreeHead(len(leaves), definition(leaves))


def flipped(value: bytes, bit: int) -> bytes:
    """A value with one bit changed."""
    return (int.from_bytes(value) ^ 1 << bit % (8 * len(value))).to_bytes(len(value))


def test_frontier_is_the_definition() -> None:
    """After every append, the root is that of RFC 6962's recursive definition, from the empty tree to 130 leaves."""
    frontier, leaves = Frontier(), leaves_of(130)
    for size in range(131):
        assert frontier.head == head_of(leaves[:size])
        if size < 130:
            frontier.append(leaves[size])


def test_the_example_of_rfc_6962() -> None:
    """The paths and consistency proofs of the tree of seven leaves are those of RFC 6962, section 2.1.3, node by node."""
    leaves = leaves_of(7)
    a, b, c, d, e, f, j = leaves
    g, h, i = node_hash(a, b), node_hash(c, d), node_hash(e, f)
    k, l = node_hash(g, h), node_hash(i, j)  # noqa: E741  # the RFC's names

    assert definition(leaves) == node_hash(k, l)
    assert [inclusion_path(index, 7, leaves) for index in (0, 3, 4, 6)] == [[b, h, l], [c, g, l], [f, j, k], [i, k]]
    assert [consistency_path(old, 7, leaves) for old in (3, 4, 6)] == [[c, d, g, l], [l], [i, j, k]]


def test_a_copy_goes_its_own_way() -> None:
    """What is appended to a copy of a frontier is not in the original."""
    frontier = Frontier()
    for leaf in leaves_of(5):
        frontier.append(leaf)
    other = frontier.copy()
    other.append(leaf_hash(b"more"))

    assert frontier.head == head_of(leaves_of(5))
    assert other.size == 6


@pytest.mark.parametrize("size", [*range(1, 35), 64, 65])
def test_every_inclusion_verifies(size: int) -> None:
    """Each leaf of each small tree has a proof that verifies, as short as can be; at no other index does it."""
    leaves = leaves_of(size)
    tree = head_of(leaves)
    for index, leaf in enumerate(leaves):
        path = inclusion_path(index, size, leaves)
        assert len(path) <= (size - 1).bit_length()
        assert [other for other in range(-1, size + 1) if includes(tree, other, leaf, path)] == [index]


def test_every_consistency_verifies() -> None:
    """For all pairs of sizes up to 40, the proof verifies between these two roots, and never the other way round."""
    leaves = leaves_of(40)
    heads = [head_of(leaves[:size]) for size in range(41)]
    for new in range(41):
        for old in range(new + 1):
            path = consistency_path(old, new, leaves)
            assert continues(heads[old], heads[new], path), (old, new)
            assert old == new or not continues(heads[new], heads[old], path), (old, new)
            assert not continues(heads[old], heads[new], [*path, leaves[0]]), (old, new)
            assert not 0 < old < new or not continues(heads[old], TreeHead(4 * new, heads[new].root), path), (old, new)


@given(SIZES, st.data())
def test_no_flipped_bit_is_included(size: int, data: st.DataObject) -> None:
    """A bit flipped in the leaf, the root or any hash of an inclusion proof, or a hash too few or too many: it does not verify."""
    leaves = leaves_of(size)
    index = data.draw(st.integers(0, size - 1))
    tree, leaf, path = head_of(leaves), leaves[index], inclusion_path(index, size, leaves)
    bit = data.draw(st.integers(0, 255))

    assert includes(tree, index, leaf, path)
    assert not includes(tree, index, flipped(leaf, bit), path)
    assert not includes(TreeHead(size, flipped(tree.root, bit)), index, leaf, path)
    assert not includes(tree, index, leaf, [*path, tree.root])
    for number, each in enumerate(path):
        assert not includes(tree, index, leaf, [*path[:number], flipped(each, bit), *path[number + 1 :]])
        assert not includes(tree, index, leaf, path[:number] + path[number + 1 :])


@given(SIZES, st.data())
def test_no_flipped_bit_is_consistent(size: int, data: st.DataObject) -> None:
    """A bit flipped in either root or any hash of a consistency proof, or a hash too few: it does not verify."""
    leaves = leaves_of(size)
    small = data.draw(st.integers(1, size))
    old, new, path = head_of(leaves[:small]), head_of(leaves), consistency_path(small, size, leaves)
    bit = data.draw(st.integers(0, 255))

    assert continues(old, new, path)
    assert not continues(TreeHead(small, flipped(old.root, bit)), new, path)
    assert not continues(old, TreeHead(size, flipped(new.root, bit)), path)
    for number, each in enumerate(path):
        assert not continues(old, new, [*path[:number], flipped(each, bit), *path[number + 1 :]])
        assert not continues(old, new, path[:number] + path[number + 1 :])


@given(SIZES, st.data())
def test_another_history_is_not_consistent(size: int, data: st.DataObject) -> None:
    """Where one of the old leaves was replaced, no proof made from the new history verifies against the old root."""
    leaves = leaves_of(size)
    small = data.draw(st.integers(1, size))
    place = data.draw(st.integers(0, small - 1))
    forged = [*leaves[:place], leaf_hash(b"forged"), *leaves[place + 1 :]]

    assert not continues(head_of(leaves[:small]), head_of(forged), consistency_path(small, size, forged))


def test_leaves_stream_once() -> None:
    """A proof reads the leaves once, in order, and no further than it needs them."""
    leaves = leaves_of(100)
    stream = iter(leaves)

    assert inclusion_path(70, 80, stream) == inclusion_path(70, 80, leaves)
    assert next(stream) == leaves[80]


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_there_is_no_proof_of_what_is_not_there(index: int, size: int) -> None:
    """A leaf outside the tree, a tree that shrinks, and leaves that run out are errors."""
    with pytest.raises(ValueError, match="not among"):
        inclusion_path(index, size, leaves_of(3))
    with pytest.raises(ValueError, match="not the beginning"):
        consistency_path(size + 1, size, leaves_of(3))
    with pytest.raises(ValueError, match="fewer leaves"):
        inclusion_path(0, 5, leaves_of(3))
