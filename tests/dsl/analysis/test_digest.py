"""Tests for the identity of a policy."""

import random
from dataclasses import replace

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.analysis.digest import digest
from gpol.dsl.syntax.parser import parse
from gpol.engine.policy_graph import Source

RICH = """policy "p" {
  order queues by share asc, submitted asc
  preempt by reclaim-owned, fair-share, make-room
}
resource license
flavor h100 {
  gpu 100
  license 4
  worth 2.5
}
flavor a100 { gpu from nodes where zone = "b" }
priority production 1000 { never evicted }
priority batch 100
cohort research {
  weight 3
  owns 8 gpu on h100
  queue nlp {
    for namespace "nlp-*" and label "tier" = "prod"
    for user "ada"
    owns 40 gpu on h100
    guarantees 16 gpu on h100
    weight 2
    prefer h100
    priority at most batch
  }
  queue vision { borrows up to 4 gpu on a100 }
}
queue serving {
  owns 1 license
  lends nothing on h100
}
protect warm-up { where victim.running < 1h and victim.priority < batch }
deny too-big for nlp { where workload.gpu > 8 } because "at most 8"
hold racks for vision because "moving"
"""


CYCLES = """policy "p" {
  use kueue.fair
  usage halves every 7d, sampled every 5m
  usage weighs cpu 1, memory 0
}
flavor h100 {
  gpu as owned
  label pool = "a"
  taint pool = "a" NoSchedule
  tolerates pool
}
flavor a100 { gpu as owned }
queue nlp {
  serves gpu from h100, a100
  owns 40 gpu on h100
  when borrowing try next flavor
  rather evict than borrow
  evicts its own of lower priority
  reclaims from anyone
  borrows by evicting lower priority up to 100
  stopped
  for namespaces where label "a" in "b", "c" and label "d" exists
  needs check prov on h100
  admits by usage
  local queue "t/a" { weight 2 }
}
"""


PLACES = """policy "p" { use kueue.fair }
topology fabric {
  level rack from label "rack"
  level host from node
}
topology islands { level island from label "island" }
flavor h100 {
  gpu as owned
  placed in fabric
}
flavor a100 {
  gpu as owned
  placed on nodes
}
queue nlp { serves gpu from h100, a100 }
"""


ON_NODES = """flavor gpus {
  gpu, cpu from nodes where pool = "a"
  placed on nodes
}
"""

PASSES = {
    "by scenarios": f"""policy "p" {{ use kai.default }}
{ON_NODES}cohort research {{
  owns anything
  queue nlp {{
    owns 8 gpu
    uses up to 16 gpu
    weight 3 for gpu
    priority 100
  }}
  queue vision {{ weight 2 }}
}}
""",
    "node by node": f"""policy "p" {{ use volcano.proportion }}
{ON_NODES}queue nlp {{
  guarantees 2 gpu
  uses up to 16 gpu
  weight 3
  never reclaimed
}}
queue vision {{ weight 2 }}
""",
    "by rescheduling": f"""policy "p" {{
  use armada.default
  share of cost where nothing is due counts 0 weighing gpu 4, cpu 1
  start up to 1/2 of gpu a cycle
}}
{ON_NODES}priority low 10 {{ queues use up to 1/4 of gpu }}
queue nlp {{ weight 1/3 }}
queue vision {{ weight 2 }}
""",
}
"""A policy for each search for victims."""

_RECLAIM = """preempt reclaim-entitled {
  in reclaim
  when workload fits what its queue is entitled to
  evict from other queues
  search by scenarios, moving whom it can
  take surplus pods one by one, then the rest together
  accept where victim side is over its entitlement or workload side is owed what it owns
  accept where workload side stays less saturated
}
"""

_ROOM = """preempt make-room {
  in preempt
  evict from the same queue
  search node by node
  take single pods
  votes { priority, conformance }
}
"""

_BALANCE = """preempt rebalance {
  in balance
  evict from any queue
  search by rescheduling
  take whole workloads
  accept where victim side is over its entitlement
}
"""

SAME_PASSES = {
    "by scenarios": [
        ("use kai.default }", "\n  use kai.default\n  admit within owned if never evicted, limits\n}"),
        ("use kai.default }", "\n  use kai.default\n  gangs broken for 1m end\n}"),
        ("weight 3 for gpu", 'weight 6/2 for "gpu"'),
        ("cohort research", f"{_RECLAIM}cohort research"),
        (
            "cohort research",
            _RECLAIM.replace(
                "victim side is over its entitlement or workload side is owed what it owns", "workload side is owed what it owns"
            ).replace("is owed what it owns", "is owed what it owns or victim side is over its entitlement")
            + "cohort research",
        ),
    ],
    "node by node": [
        ("queue vision", f"{_ROOM}queue vision"),
        ("weight 3", "weight 3.0"),
        (
            "proportion }",
            "proportion\n  score nodes \
balanced 1, least used 1, packed 1 for memory, packed 1 for cpu\n}",
        ),
    ],
    "by rescheduling": [("queue nlp", f"{_BALANCE}queue nlp"), ("gpu 4, cpu 1", "cpu 1, gpu 4"), ("1/2 of gpu", "0.5 of gpu")],
}
"""Passages, by the search of their policy, and how else they may be written."""

OTHER_PASSES = {
    "by scenarios": [
        ("use kai.default }", f"\n  use kai.default\n  {choice}\n}}")
        for choice in (
            "decide in cycles of 2s by allocate, consolidate, reclaim, preempt, end broken gangs",
            "decide in cycles of 1s by allocate, reclaim, consolidate, preempt, end broken gangs",
            "decide in cycles of 1s by allocate, consolidate, reclaim, preempt",
            "decide in cycles of 1s by allocate, reclaim",
            "entitle owned first, then by weight by priority",
            "entitle owned first, then by weight in whole units",
            "order queues by share asc",
            "order workloads by priority desc, submitted asc",
            "place pods by free gpu desc",
            "place pods by free gpu asc",
            "place pods by free cpu asc",
            "admit within limits",
            "gangs broken for 61s end",
        )
    ]
    + [
        ("owns anything", "owns 4 gpu"),
        ("uses up to 16 gpu", "uses up to 17 gpu"),
        ("    uses up to 16 gpu\n", ""),
        ("weight 3 for gpu", "weight 3 for cpu"),
        ("weight 3 for gpu", "weight 4 for gpu"),
        ("priority 100", "priority 101"),
        (
            "cohort research",
            _RECLAIM.replace("when workload fits what its queue is entitled to", "when workload may be evicted") + "cohort research",
        ),
        ("cohort research", _RECLAIM.replace("other queues", "any queue") + "cohort research"),
        ("cohort research", _RECLAIM.replace(", moving whom it can", "") + "cohort research"),
        ("cohort research", _RECLAIM.replace("whom it can", "everybody") + "cohort research"),
        ("cohort research", _RECLAIM.replace("whom it can", "everybody, at most 16 workloads") + "cohort research"),
        ("cohort research", _RECLAIM.replace(" or workload side is owed what it owns", "") + "cohort research"),
        ("cohort research", _RECLAIM.replace("workload side stays", "3/2 of workload side stays") + "cohort research"),
        ("cohort research", _RECLAIM.replace("  accept where workload side stays less saturated\n", "") + "cohort research"),
        ("cohort research", _RECLAIM.replace("  evict", "  where victim.priority < workload.priority\n  evict") + "cohort research"),
    ],
    "node by node": [
        ("use volcano.proportion }", f"\n  use volcano.proportion\n  {choice}\n}}")
        for choice in (
            "share used",
            "enqueue within limits",
            "enqueue within limits, 5/4 of what exists",
            "admit within limits",
            "score nodes packed 1 for cpu",
            "score nodes packed 2 for cpu",
            "score nodes packed 1 for cpu, packed 5",
            "score nodes most used 2",
            "score nodes near 5",
        )
    ]
    + [
        ("guarantees 2 gpu", "guarantees 3 gpu"),
        ("  never reclaimed\n", ""),
        ("queue vision", _ROOM.replace("node by node", "node by node, sparing whom it can") + "queue vision"),
        ("queue vision", _ROOM.replace("conformance", "conformance, gang") + "queue vision"),
        ("queue vision", _ROOM.replace("votes { priority, conformance }", "votes { priority } then { conformance }") + "queue vision"),
        ("queue vision", _ROOM.replace("  evict", "  when workload fits what its queue is entitled to\n  evict") + "queue vision"),
        (
            "queue vision",
            _ROOM.replace("  evict", "  when workload fits what its queue is entitled to in any resource\n  evict") + "queue vision",
        ),
        (
            "queue vision",
            _ROOM.replace("  evict", "  when workload fits what its queue is entitled to, up to 2 levels above\n  evict") + "queue vision",
        ),
    ],
    "by rescheduling": [
        ("gpu 4, cpu 1", "gpu 4"),
        ("gpu 4, cpu 1", "gpu 4, cpu 2"),
        (" weighing gpu 4, cpu 1", ""),
        ("1/2 of gpu", "1/3 of gpu"),
        ("  start up to 1/2 of gpu a cycle\n", ""),
        ("1/4 of gpu", "1/5 of gpu"),
        (" { queues use up to 1/4 of gpu }", ""),
        ("  start", "  entitle by weight up to demand, in at most 9 rounds, to 1/100\n  start"),
        ("  start", "  entitle by weight up to demand, in at most 10 rounds, to 1/50\n  start"),
        ("  start", "  order queues by priority desc, large-first, share-with asc\n  start"),
        ("  start", "  place pods by evicts asc, free cpu in steps of 2 asc\n  start"),
        ("  start", "  place pods by evicts asc, free cpu asc\n  start"),
        ("queue nlp", _BALANCE.replace("over its", "over 1/2 of its") + "queue nlp"),
        ("queue nlp", _BALANCE.replace("over its", "over its uncapped") + "queue nlp"),
    ],
}
"""Passages, by the search of their policy, and others that mean something else; no two of them mean the same."""


def of(text: str, file: str = "p.gpol") -> str:
    """The digest of a policy's text."""
    return compile_policy(text, file).digest


def test_its_form_is_sha256():
    """A digest is `sha256:` and 64 hexadecimal digits, and is the graph's own."""
    made = compile_policy(RICH, "p.gpol")
    assert made.digest == digest(made)
    assert made.digest.startswith("sha256:")
    assert len(bytes.fromhex(made.digest.removeprefix("sha256:"))) == 32


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("\n", "\n\n"),
        ("  owns 40 gpu on h100\n", " owns   40 gpu on h100   # forty\n"),
        ("queue nlp {", 'queue "nlp" {'),
        ("license 4", '"license" 4.0'),
        ('namespace "nlp-*" and label "tier" = "prod"', 'label "tier" = "prod" and namespace "nlp-*"'),
        ('    for user "ada"\n    owns 40 gpu on h100\n', '    owns 40 gpu on h100\n    for user "ada"\n'),
        ("guarantees 16 gpu on h100", "lends all but 16 gpu on h100"),
        ("guarantees 16 gpu on h100", "lends up to 24 gpu on h100"),
        ("40 gpu", "40000m gpu"),
        ("worth 2.5", "worth 5/2"),
        ("weight 3", "weight 3.0"),
        ("1h ", "60m "),
        ("victim.priority < batch", "victim.priority < 100"),
        ("workload.gpu > 8 ", "workload.gpu > 8 gpu "),
        ("share asc,", "share,"),
        ("    weight 2\n", "    weight 2\n    borrows anything\n"),
        ("queue vision {", "queue vision {\n    owns nothing\n   "),
        ("queue vision {", "queue vision {\n    owns 0 gpu on h100\n   "),
        ("prefer h100", "prefer h100, a100"),
        ("hold racks", 'test "t" { at 0s }\nhold racks'),
        ("  order queues", "  use gpol.fair\n  order queues"),
        ("  order queues", "  share borrowed\n  order queues"),
    ],
)
def test_another_way_to_say_the_same_keeps_the_digest(written, otherwise):
    """Layout, comments, quotes, tests, equal numbers and synonyms do not change what a policy is."""
    assert written in RICH
    assert of(RICH.replace(written, otherwise)) == of(RICH)


def test_policies_keep_their_digests_for_ever():
    """A policy that says nothing new has the digest that the first version gave it: journals hold it."""
    assert of(RICH) == "sha256:8204ac446a5e1ec3be821ee1ce3080503a16206621e39776fa4a2c3477bb47ae"


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("cpu 1, memory 0", "memory 0.0, cpu 2/2"),
        ("7d", "168h"),
        ("  usage halves", "  decide in cycles of 1000ms\n  usage halves"),
        ("gpu as owned\n  label", '"gpu" as owned\n  label'),
        ("serves gpu from", 'serves "gpu" from'),
        ("prov", '"prov"'),
        ('in "b", "c" and label "d" exists', 'in "c", "b" and label "d" exists'),
        ('label "a" in "b", "c" and label "d" exists', 'label "d" exists and label "a" in "b", "c"'),
        ("{ weight 2 }", "{ weight 2.0 }"),
    ],
)
def test_cycles_said_another_way_keep_the_digest(written, otherwise):
    """The same durations, numbers, names and sets are the same policy."""
    assert written in CYCLES
    assert of(CYCLES.replace(written, otherwise, 1)) == of(CYCLES)


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("use kueue.fair", "use kueue.classical"),
        ("use kueue.fair", "use kueue.fair\n  decide in cycles of 2s"),
        ("use kueue.fair", "use kueue.fair\n  preempt fairly by initial share, final share"),
        ("use kueue.fair", "use kueue.fair\n  preempt fairly by final share"),
        ("use kueue.fair", "use kueue.fair\n  order heads by borrowing asc, priority desc, submitted asc"),
        ("7d", "8d"),
        ("every 5m", "every 6m"),
        ("memory 0", "memory 1"),
        ("  usage weighs cpu 1, memory 0\n", ""),
        ('label pool = "a"', 'label pool = "b"'),
        ('taint pool = "a" NoSchedule', 'taint pool = "a" NoExecute'),
        ('taint pool = "a" NoSchedule', "taint pool NoSchedule"),
        ("tolerates pool", 'tolerates pool = "a"'),
        ("tolerates pool", "tolerates anything"),
        ("flavor a100 { gpu as owned }", "flavor a100 {\n  gpu as owned\n  missing\n}"),
        ("from h100, a100", "from a100, h100"),
        ("borrowing try next", "evicting try next"),
        ("borrowing try next flavor", "borrowing take flavor"),
        ("  rather evict than borrow\n", ""),
        ("its own of lower priority", "its own of lower priority or newer"),
        ("from anyone", "from lower priority"),
        ("up to 100", "up to 99"),
        (" up to 100", ""),
        ("  stopped\n", ""),
        ("  stopped\n", "  stopped and drained\n"),
        ('in "b", "c"', 'not in "b", "c"'),
        ('where label "a" in "b", "c" and label "d" exists', 'where label "d" exists'),
        ('for namespaces where label "a" in "b", "c" and label "d" exists', "for no namespaces"),
        ("prov on h100", "prov on a100"),
        ("prov on h100", "prov"),
        ("  admits by usage\n", ""),
        ('"t/a"', '"t/b"'),
        ("{ weight 2 }", "{ weight 3 }"),
        ("{ weight 2 }", "{\n    weight 2\n    stopped\n  }"),
    ],
)
def test_cycles_of_another_meaning_have_another_digest(written, otherwise):
    """Every statement of the way of cycles counts."""
    assert written in CYCLES
    assert of(CYCLES.replace(written, otherwise, 1)) != of(CYCLES)


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("topology fabric", 'topology "fabric"'),
        ("placed in fabric", 'placed in "fabric"'),
        ("flavor h100", "# a comment\nflavor h100"),
        ("level host from node", 'level "host" from node'),
    ],
)
def test_places_said_another_way_keep_the_digest(written, otherwise):
    """Quotes and layout do not count in topologies either."""
    assert written in PLACES
    assert of(PLACES.replace(written, otherwise, 1)) == of(PLACES)


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("  placed in fabric\n", ""),
        ("placed in fabric", "placed in islands"),
        ("placed in fabric", "placed on nodes"),
        ("  placed on nodes\n", ""),
        ("topology islands", "topology isles"),
        ('topology islands { level island from label "island" }\n', ""),
        ("level rack", "level row"),
        ('label "rack"', 'label "row"'),
        ("  level host from node\n", ""),
        ('  level rack from label "rack"\n', ""),
    ],
)
def test_places_of_another_meaning_have_another_digest(written, otherwise):
    """Topologies, their levels and who is placed in them count."""
    assert written in PLACES
    assert of(PLACES.replace(written, otherwise, 1)) != of(PLACES)


def _cases(changes):
    return [(search, written, otherwise) for search in changes for written, otherwise in changes[search]]


@pytest.mark.parametrize(("search", "written", "otherwise"), _cases(SAME_PASSES))
def test_passes_said_another_way_keep_the_digest(search, written, otherwise):
    """What is the default or the profile's may be written out; bounds, terms of a score and alternatives are sets."""
    assert written in PASSES[search]
    assert of(PASSES[search].replace(written, otherwise, 1)) == of(PASSES[search])


@pytest.mark.parametrize("search", PASSES)
def test_passes_of_another_meaning_have_another_digest(search):
    """Every word of passes counts, and each in its own way."""
    changed = [PASSES[search].replace(written, otherwise, 1) for written, otherwise in OTHER_PASSES[search]]
    assert all(text != PASSES[search] for text in changed)
    assert len({of(text) for text in (PASSES[search], *changed)}) == len(changed) + 1


def test_nominating_said_in_words_keeps_the_digest():
    """`by nominate` is what cycles do where nothing is said of passes."""
    written = CYCLES.replace("use kueue.fair", "use kueue.fair\n  decide in cycles of 1s by nominate", 1)
    assert of(written) == of(CYCLES)


def test_neither_the_file_nor_its_lines_count():
    """The same policy under another file name and further down has the same digest."""
    assert of("# a title\n\n" + RICH, "other.gpol") == of(RICH)


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_items_does_not_matter(seed):
    """Items in any order give the same graph but for lines, and the same digest."""
    items = [RICH[item.span.start : item.span.end] + "\n" for item in parse(RICH, "p").tree.items]
    random.Random(seed).shuffle(items)
    assert of("".join(items)) == of(RICH)


def test_the_order_inside_cohorts_and_queues_does_not_matter():
    """Statements of a block are a set."""
    one = "cohort c {\n  weight 2\n  queue a {\n    owns 1 gpu\n    weight 3\n  }\n  queue b { }\n}\n"
    two = "cohort c {\n  queue b { }\n  queue a {\n    weight 3\n    owns 1 gpu\n  }\n  weight 2\n}\n"
    head = 'policy "p" { }\nflavor h { gpu 4 }\n'
    assert of(head + one) == of(head + two)


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ('policy "p"', 'policy "q"'),
        ("share asc", "share desc"),
        ("reclaim-owned, fair-share", "fair-share, reclaim-owned"),
        ("queues by share asc, submitted asc", "queues by submitted asc, share asc"),
        ("license 4", "license 5"),
        ("worth 2.5", "worth 2.6"),
        ('zone = "b"', 'zone = "c"'),
        ("production 1000 { never evicted }", "production 1000"),
        ("priority batch 100", "priority batch 101"),
        ("queue vision", "queue image"),
        ("owns 8 gpu", "owns 9 gpu"),
        ("guarantees 16", "guarantees 15"),
        ("borrows up to 4", "borrows up to 5"),
        ("lends nothing on h100", "lends nothing on a100"),
        ("lends nothing on h100", "weight 1"),
        ("weight 3", "weight 4"),
        ('"nlp-*"', '"nlp-?"'),
        (' and label "tier" = "prod"', '\n    for label "tier" = "prod"'),
        ('    for user "ada"\n', ""),
        ("prefer h100", "only h100"),
        ("priority at most batch", "priority at most production"),
        ("prefer h100", "queueing strict fifo"),
        ("victim.running < 1h", "victim.running <= 1h"),
        ("victim.running < 1h", "victim.running < 61m"),
        ("1h and", "1h or"),
        ("protect warm-up", "protect warmup"),
        ("deny too-big for nlp", "deny too-big for vision"),
        ("deny too-big for nlp", "deny too-big"),
        ('"at most 8"', '"at most eight"'),
        ('"moving"', '"moved"'),
    ],
)
def test_another_meaning_has_another_digest(written, otherwise):
    """A name, an amount, an order, a rule or a reason that differs makes another policy."""
    changed = RICH.replace(written, otherwise, 1)
    if "vision" in written:
        changed = changed.replace("for vision", "for image")
    assert of(changed) != of(RICH)


def test_places_do_not_count_whether_set_or_not():
    """A quota's line says nothing about its meaning, and neither does its absence."""
    made = compile_policy(RICH, "p.gpol")
    first = made.nodes[1]
    moved = replace(first, quotas=tuple(replace(quota, nominal_source=Source("x", 1)) for quota in first.quotas))
    bare = replace(first, quotas=tuple(replace(quota, nominal_source=None) for quota in first.quotas))
    assert digest(replace(made, nodes=(made.nodes[0], moved, *made.nodes[2:]))) == made.digest
    assert digest(replace(made, nodes=(made.nodes[0], bare, *made.nodes[2:]))) == made.digest


def test_a_number_is_not_a_text():
    """A fraction and a text that looks like one are different constants."""
    head = 'policy "p" { }\nqueue a { }\nqueue b { }\n'
    assert of(head + "protect x { where victim.priority < 5 }\n") != of(head + "protect x { where victim.pods < 5 }\n")
