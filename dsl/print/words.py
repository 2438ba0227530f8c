"""The smallest pieces of the text that a syntax tree is printed as: names, amounts, keys, and which words are quoted."""

import re

from ..syntax import tree

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
BARE_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
"""A label's key that need not be quoted."""

KEYWORDS = frozenset(
    """
    a above absent accept admit admits admitted all allocate and any anyone anything anywhere as asc at backfill balance balanced be
    because before best borrow borrowed borrowing borrows broken but by can cancel capacity check classically cohort conformance
    consolidate cordoned cost counts cycle cycles decide default demand deny desc deserved drained due effort end enqueue entitle
    entitled entitlement every everybody evict evicted evicting evicts exists expect fairly fifo final finish first fits flavor for from
    gang gangs group guarantees halves heads hold if ignore in initial is it its keeping kind label least lends less level levels limits
    local lost lower may missing most moving namespace namespaces near needs never newer next no node nodes nominate none not nothing of
    on once one only or order other over owed own owned owns packed pending place placed pods policy preempt prefer priority profile
    protect queue queueing queues rather reclaim reclaimed reclaims rejected release remove replace rescheduling resource rest room
    rounded rounds same sampled saturated scenarios score search serves share shrink side single slices sparing spread start stays steps
    stopped strict submit surplus taint take test than that the then to together tolerates topology try uncapped units up usage use used
    user uses victim votes wait weighing weighs weight what when where whole whom with within workload workloads worth x
    """.split()  # noqa: SIM905
)
"""Every word of the grammar. A name that is one of them is quoted, though not every place would need it, but for those below."""

_ALSO_NAMES = frozenset(
    """
    a above accept admit allocate backfill balance balanced be before broken can conformance consolidate cost counts cycle demand
    deserved due end enqueue entitle entitled entitlement everybody first gangs if is it keeping least less levels limits lost may
    moving nominate one other over owed packed place pods reclaim reclaimed replace rescheduling rest room rounds saturated scenarios
    score search shrink side single sparing spread start stays steps surplus then together uncapped units uses victim votes wait
    weighing whole whom with
    """.split()  # noqa: SIM905
)
"""Words that came late, to places where no name may stand. Names that are one of them were never quoted."""

QUOTED = KEYWORDS - _ALSO_NAMES
"""The words that are quoted where they are names."""


def name(node: tree.Name) -> str:
    """A name, quoted where a bare word would not be read as this name."""
    return node.text if _BARE.fullmatch(node.text) and node.text not in QUOTED else quoted(node.text)


def quoted(text: str) -> str:
    """A text in quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def names(nodes: tuple[tree.Name, ...]) -> str:
    """Names with commas."""
    return ", ".join(name(node) for node in nodes)


def amount(node: tree.Amount) -> str:
    """An amount: `8 gpu`."""
    return f"{node.number.text} {name(node.resource)}"


def keys(nodes: tuple[tree.Key, ...]) -> str:
    """The keys of an order, each with its direction."""
    return ", ".join(f"{key.path} {'desc' if key.descending else 'asc'}" for key in nodes)
