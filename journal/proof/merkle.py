"""The Merkle tree over a journal's events, as RFC 6962 defines it: roots, and short proofs of what a root stands for.

A leaf is an event's stored bytes, in order; event `seq` is the leaf with index `seq - 1`. A root stands for all leaves below it, so
one signature vouches for a whole history, and a few dozen hashes show that an event is in it, or that a longer history only added to it.

Nothing here needs the leaves in memory: a proof is the roots of a few ranges of leaves, found while their hashes stream by once.

Source: RFC 6962, section 2.1 (hashes, paths, consistency proofs); RFC 9162, sections 2.1.3.2 and 2.1.4.2 (how both are verified).
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple, Self

HASH_BYTES = 32
"""The length of every hash."""


class TreeHead(NamedTuple):
    """What stands for the first `size` leaves: the tree's root over them."""

    size: int
    root: bytes


def leaf_hash(payload: bytes) -> bytes:
    """The hash of a leaf. Its first byte keeps leaves and inner nodes apart, so that neither can be passed off as the other."""
    return sha256(b"\x00" + payload).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """A tree that is appended to: of the leaves so far it keeps the roots of full subtrees alone, at most one of each size."""

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []  # INVARIANT: one for each bit that is set in size, the largest subtree first

    def append(self, leaf: bytes) -> None:
        """Add a leaf by its hash."""
        size = self.size
        while size & 1:  # a full subtree of the same size stands to the left: the two become one
            leaf = node_hash(self._peaks.pop(), leaf)
            size >>= 1
        self._peaks.append(leaf)
        self.size += 1

    @property
    def root(self) -> bytes:
        """The root over all leaves so far; of none, the hash of nothing."""
        if not self._peaks:
            return sha256().digest()
        *others, root = self._peaks
        for peak in reversed(others):
            root = node_hash(peak, root)
        return root

    @property
    def head(self) -> TreeHead:
        """Size and root."""
        return TreeHead(self.size, self.root)

    def copy(self) -> Self:
        """A frontier of the same leaves that goes its own way."""
        other = type(self)()
        other.size, other._peaks = self.size, self._peaks.copy()
        return other


# --- making proofs ----------------------------------------------------------------------------------------------------


def inclusion_path(index: int, size: int, leaves: Iterable[bytes]) -> list[bytes]:
    """The proof that the leaf at `index` is one of the first `size`: the siblings on its way to the root, nearest first.

    `leaves` are the hashes of all leaves from the first on; at least `size` of them.
    """
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not among the first {size}")
    return _roots(_siblings(index, range(size)), leaves)


def consistency_path(old: int, new: int, leaves: Iterable[bytes]) -> list[bytes]:
    """The proof that the tree of the first `old` leaves is the beginning of that of the first `new`; empty for equal ones, and for 0.

    `leaves` are the hashes of all leaves from the first on; at least `new` of them.
    """
    if not 0 <= old <= new:
        raise ValueError(f"{old} leaves are not the beginning of {new}")
    return _roots(_kept(old, range(new), whole=True) if 0 < old < new else [], leaves)


def _split(leaves: range) -> tuple[range, range]:
    """The two subtrees below a node: the left one is full, and as large as can be."""
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return leaves[:left], leaves[left:]


def _siblings(index: int, leaves: range) -> list[range]:
    """PATH of RFC 6962, 2.1.1, as ranges of leaves."""
    if len(leaves) == 1:
        return []
    left, right = _split(leaves)
    return [*_siblings(index, left), right] if index in left else [*_siblings(index, right), left]


def _kept(old: int, leaves: range, whole: bool) -> list[range]:
    """SUBPROOF of RFC 6962, 2.1.2, as ranges of leaves; `whole`: these are the old tree itself, whose root the verifier has."""
    if old == leaves.stop:
        return [] if whole else [leaves]
    left, right = _split(leaves)
    if old <= left.stop:
        return [*_kept(old, left, whole), right]
    return [*_kept(old, right, whole=False), left]


def _roots(ranges: Sequence[range], leaves: Iterable[bytes]) -> list[bytes]:
    """The root over each range of leaves, in the ranges' order. INVARIANT: no two of them overlap, so each leaf belongs to one at most."""
    roots: dict[range, bytes] = {}
    ahead = sorted(ranges, key=lambda each: each.start, reverse=True)
    if ahead:
        frontier, end = Frontier(), max(each.stop for each in ranges)
        for index, leaf in zip(range(end), leaves, strict=False):
            if index in ahead[-1]:
                frontier.append(leaf)
                if frontier.size == len(ahead[-1]):
                    roots[ahead.pop()] = frontier.root
                    frontier = Frontier()
    if ahead:
        raise ValueError("there are fewer leaves than the proof is about")
    return [roots[each] for each in ranges]


# --- verifying proofs -------------------------------------------------------------------------------------------------


def includes(tree: TreeHead, index: int, leaf: bytes, path: Sequence[bytes]) -> bool:
    """Whether `path` proves that `leaf` (a hash) is the one at `index` of a tree. RFC 9162, 2.1.3.2, with its names."""
    if not 0 <= index < tree.size:
        return False
    fn, sn, r = index, tree.size - 1, leaf
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node_hash(p, r)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node_hash(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == tree.root


def continues(old: TreeHead, new: TreeHead, path: Sequence[bytes]) -> bool:
    """Whether `path` proves that the new tree is the old one with leaves added behind. RFC 9162, 2.1.4.2, with its names."""
    if old.size in (0, new.size):  # the empty tree is every tree's beginning, and a tree its own
        return not path and old.root == (new.root if old.size else Frontier().root)
    if old.size > new.size or not path:
        return False
    first, *rest = path if old.size & (old.size - 1) else (old.root, *path)
    fn, sn = old.size - 1, new.size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = first
    for c in rest:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node_hash(c, fr), node_hash(c, sr)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node_hash(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and (fr, sr) == (old.root, new.root)
