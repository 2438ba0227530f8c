"""Preempt rules of passes: each is used in one pass, says how victims are looked for, and means what it says."""

from fractions import Fraction

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.policy.pass_settings import Acceptance, PassSearch

FLAVOR = 'flavor gpus {\n  gpu, cpu from nodes where pool = "a"\n  placed on nodes\n}\n'
TREE = "queue nlp { weight 2 }\nqueue vision { weight 1 }\n"
KAI, DRF, ARMADA = "kai.default", "volcano.drf", "armada.default"


def policy(profile: str, rule: str, *choices: str) -> str:
    """A policy with a rule of its own."""
    said = "".join(f"  {choice}\n" for choice in choices)
    return f'policy "p" {{\n  use {profile}\n{said}}}\n{FLAVOR}{TREE}{rule}'


def rule(name: str, *statements: str) -> str:
    """A preempt rule."""
    return f"preempt {name} {{\n" + "".join(f"  {statement}\n" for statement in statements) + "}\n"


SURPLUS = "take surplus pods one by one, then the rest together"


def test_the_rules_of_kai():
    """They stand in the order of the passes, without an order of victims of their own."""
    graph = compile_policy(policy(KAI, ""), "p.gpol")
    assert [each.name for each in graph.preempt] == ["consolidate", "reclaim-entitled", "make-room"]
    assert all(each.order == () for each in graph.preempt)
    consolidate, reclaim, room = graph.preempt
    assert consolidate.search == PassSearch("consolidate", "by-scenarios", "everybody", "surplus-then-rest", most_moved=16)
    assert (consolidate.trigger, consolidate.scope) == ("may-be-evicted", "any-queue")
    over, owed, less = Acceptance("over-entitlement"), Acceptance("owed"), Acceptance("less-saturated")
    assert reclaim.search == PassSearch("reclaim", "by-scenarios", "whom-it-can", "surplus-then-rest", accept=((over, owed), (less,)))
    assert (reclaim.trigger, reclaim.scope) == ("fits-entitlement", "other-queues")
    assert (room.trigger, room.scope) == (None, "same-queue")
    assert room.guard is not None


def test_the_rules_of_volcano():
    """Votes in their tiers, as they are written."""
    proportion, capacity = (compile_policy(policy(f"volcano.{name}", ""), "p.gpol").preempt for name in ("proportion", "capacity"))
    assert [each.search.votes for each in proportion if each.search] == [
        (("priority", "conformance"),),
        (("gang", "conformance"), ("deserved",)),
    ]
    assert capacity[1].search == PassSearch(
        "reclaim", "node-by-node", "", "single-pods", votes=(("conformance", "deserved"),), any_resource=True
    )


def test_the_words_that_vary_a_rule():
    """Parts, levels, and whom a search spares."""
    text = policy(
        DRF,
        rule(
            "even-out",
            "in reclaim",
            "when workload fits what its queue is entitled to, up to 3 levels above",
            "evict from other queues",
            "search node by node, sparing whom it can",
            "take single pods",
        ),
    )
    _, even = compile_policy(text, "p.gpol").preempt
    assert even.search == PassSearch("reclaim", "node-by-node", "", "single-pods", levels=3, sparing=True)
    text = policy(
        ARMADA,
        rule(
            "rebalance",
            "in balance",
            "evict from any queue",
            "search by rescheduling",
            "take whole workloads",
            "accept where victim side is over 1/2 of its uncapped entitlement",
        ),
    )
    [balance] = compile_policy(text, "p.gpol").preempt
    assert balance.search is not None
    assert balance.search.accept == ((Acceptance("over-uncapped", Fraction(1, 2)),),)
    text = policy(
        KAI,
        rule(
            "reclaim-entitled",
            "in reclaim",
            "evict from other queues",
            "search by scenarios",
            SURPLUS,
            "accept where 3/2 of workload side stays less saturated",
        ),
    )
    reclaim = compile_policy(text, "p.gpol").preempt[1]
    assert reclaim.search is not None
    assert (reclaim.search.moving, reclaim.search.accept) == ("", ((Acceptance("less-saturated", Fraction(3, 2)),),))


def test_rules_of_passes_that_are_left_out_are_none():
    """A policy may run fewer passes than its profile; the rules of the others are no error, and not in the graph."""
    graph = compile_policy(policy(KAI, "", "decide in cycles of 1s by allocate, preempt"), "p.gpol")
    assert [each.name for each in graph.preempt] == ["make-room"]
    assert graph.settings.passes is not None
    assert graph.settings.passes.broken_for is None


ROOM = ("in preempt", "evict from the same queue", "search by scenarios", SURPLUS)


@pytest.mark.parametrize(
    ("statements", "code", "marked", "piece"),
    [
        (ROOM[1:], "GP044", "make-room", "`in reclaim`"),
        ((ROOM[0], *ROOM[2:]), "GP033", "make-room", "`evict from other queues`"),
        ((*ROOM[:2], ROOM[3]), "GP044", "make-room", "`search by scenarios`"),
        (ROOM[:3], "GP044", "make-room", f"`{SURPLUS}`"),
        (("in allocate", *ROOM[1:]), "GP045", "in allocate", "`in reclaim`"),
        (("in end broken gangs", *ROOM[1:]), "GP045", "in end broken gangs", "`in preempt`"),
        (("in balance", *ROOM[1:]), "GP045", "in balance", "add `balance` to `decide in cycles`"),
        (("in reclaim", *ROOM[1:]), "GP022", "in reclaim", "keep one"),
        ((*ROOM, "in preempt"), "GP022", "in preempt", "keep one"),
        ((*ROOM, "where victim.running < 1h"), "GP031", "where victim.running < 1h", "`where victim.priority < workload.priority`"),
        ((*ROOM, "where victim.nonsense < 1h"), "GP020", "victim.nonsense", "known"),
        (
            (*ROOM, "accept where workload side is owed what it owns or workload side is owed what it owns"),
            "GP022",
            "workload side is owed what it owns",
            "keep one",
        ),
        ((*ROOM[:2], "search by scenarios, moving everybody, at most 0 workloads", SURPLUS), "GP023", "0", "from 1"),
        ((*ROOM, "order by victim.priority asc"), "GP037", "order by victim.priority asc", "reverse of `order queues`"),
        ((*ROOM, "when workload fits what its queue owns"), "GP037", "when workload fits what its queue owns", "is entitled to"),
        (("in preempt", "evict from queues that borrow", *ROOM[2:]), "GP037", "evict from queues that borrow", "`evict from other queues`"),
        (
            ("in preempt", "evict from any queue, in the same cohort", *ROOM[2:]),
            "GP037",
            "evict from any queue, in the same cohort",
            "remove",
        ),
    ],
)
def test_what_is_wrong_with_a_rule(find, statements, code, marked, piece):
    """What a rule lacks, says twice or cannot say is told where it stands, with the remedy."""
    findings = find(policy(KAI, rule("make-room", *statements)))
    fitting = [each for each in findings if (each.code, each.marked) == (code, marked)]
    assert fitting, findings
    assert piece in fitting[0].help


def test_a_pass_without_a_rule(find):
    """Each pass that evicts needs one."""
    findings = find(policy(DRF, "", "decide in cycles of 1s by allocate, preempt, reclaim, consolidate"))
    assert ("GP045", "consolidate") in [(each.code, each.marked) for each in findings]


def test_a_vote_stands_once(find):
    """In whatever tier."""
    text = policy(
        DRF, rule("make-room", "in preempt", "evict from the same queue", "search node by node", "take single pods", "votes { gang, gang }")
    )
    assert [(each.code, each.marked) for each in find(text)] == [("GP022", "gang")]


@pytest.mark.parametrize(
    ("votes", "piece"),
    [
        ("votes { gang, conformance } then { deserved }", "spares nobody"),
        ("votes { conformance } then { priority, share }", "can never be asked"),
        ("votes { gang } then { deserved } then { share }", "spares nobody"),
    ],
)
def test_a_later_tier_is_warned_of(find, votes, piece):
    """It never keeps a candidate that an earlier one gives up."""
    text = policy(
        "volcano.proportion",
        rule("reclaim-deserved", "in reclaim", "evict from other queues", "search node by node", "take single pods", votes),
    )
    [finding] = find(text)
    assert (finding.code, finding.severity) == ("GP066", "warning")
    assert piece in finding.message
    assert finding.marked == votes.split(" then ")[1]


def test_one_tier_is_fine(find):
    """All have a say then; and a profile's tiers are not the author's."""
    votes = "votes { gang, conformance, deserved }"
    text = policy(
        "volcano.proportion",
        rule("reclaim-deserved", "in reclaim", "evict from other queues", "search node by node", "take single pods", votes),
    )
    assert find(text) == []
    assert find(policy("volcano.proportion", "")) == []
