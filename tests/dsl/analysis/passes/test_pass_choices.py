"""What the header says where passes decide: what is needed, what has a counterpart, and what it means."""

from fractions import Fraction

import pytest
from gpol.dsl.analysis.checker import check, compile_policy
from gpol.engine.policy.pass_settings import Entitlement, NodeKey, NodeScore, Passes, PassShare, Within

FLAVOR = 'flavor gpus {\n  gpu, cpu from nodes where pool = "a"\n  placed on nodes\n}\n'
TREE = "queue nlp { weight 2 }\nqueue vision { weight 1 }\n"


def policy(profile: str, *choices: str, flavor: str = FLAVOR) -> str:
    """A policy that uses a profile and chooses more."""
    said = "".join(f"  {choice}\n" for choice in choices)
    return f'policy "p" {{\n  use {profile}\n{said}}}\n{flavor}{TREE}'


def passes(profile: str, *choices: str) -> Passes:
    """The settings of such a policy."""
    made = compile_policy(policy(profile, *choices), "p.gpol").settings
    assert made.cycles is None
    assert made.passes is not None
    return made.passes


def test_what_kai_says():
    """Each choice of its profile by the name that the core knows it by."""
    made = passes("kai.default")
    assert made.period == 1_000_000
    assert made.order == ("allocate", "consolidate", "reclaim", "preempt", "end-broken-gangs")
    assert made.entitlement == Entitlement("owned-first", whole_units=True, by_priority=True)
    assert made.share == PassShare("entitlement", "x1000")
    assert made.place_by[-1] == NodeKey("free", "gpu", descending=False)
    assert made.admit_within == (Within("limits"), Within("owned-if-never-evicted"))
    assert (made.enqueue_within, made.scores, made.broken_for) == ((), (), 60_000_000)


def test_what_volcano_says():
    """Bounds for what is let in, and scores of nodes."""
    made = passes("volcano.proportion")
    assert made.order == ("enqueue", "allocate", "preempt", "reclaim", "backfill")
    assert (made.entitlement, made.share) == (Entitlement("weight"), PassShare("entitlement", "1"))
    assert made.enqueue_within == (Within("existing", Fraction(6, 5)), Within("limits"))
    assert made.admit_within == (Within("entitlement"),)
    assert made.scores == (
        NodeScore("balanced", Fraction(1)),
        NodeScore("least-used", Fraction(1)),
        NodeScore("packed", Fraction(1), "cpu"),
        NodeScore("packed", Fraction(1), "memory"),
    )
    assert made.broken_for is None


def test_what_armada_says():
    """Rounds, steps of what is free, and weights of a cost."""
    made = passes("armada.default", "share of cost where nothing is due counts 0 weighing gpu 4, cpu 1/2", "start up to 1/4 of gpu a cycle")
    assert made.order == ("balance",)
    assert made.entitlement == Entitlement("demand", rounds=10, remainder=Fraction(1, 100))
    assert made.share == PassShare("cost", "0", (("cpu", Fraction(1, 2)), ("gpu", Fraction(4))))
    assert made.place_by == (
        NodeKey("evicts", "", descending=False),
        NodeKey("free", "gpu", descending=False, step=1000),
        NodeKey("free", "cpu", descending=False, step=100),
        NodeKey("free", "memory", descending=False, step=100 * 2**20),
    )
    assert made.start_cap == (("gpu", Fraction(1, 4)),)


def test_entitled_as_owned_where_nothing_is_said():
    """That is the default, also of `volcano.drf`, where queues own nothing."""
    assert passes("volcano.drf").entitlement == Entitlement("owned") == passes("volcano.capacity").entitlement


def test_a_choice_replaces_the_profiles():
    """`place pods by` stands in the place of the profile's, and so does each bound."""
    made = passes("kai.default", "place pods by free cpu desc", "admit within limits")
    assert made.place_by == (NodeKey("free", "cpu", descending=True),)
    assert made.admit_within == (Within("limits"),)


def test_what_is_needed():
    """A policy over a profile that says nothing of it has to say how far queues are, whose turn it is and where pods go."""
    bare = {"t.bare": 'profile "t.bare" { decide in cycles of 1s by allocate }\n'}
    [finding] = check(policy("t.bare"), "p.gpol", bare.get).diagnostics
    assert finding.code == "GP044"
    for piece in (
        "share of entitlement where nothing is due counts 1",
        "order queues by ...",
        "order workloads by ...",
        "place pods by ...",
    ):
        assert f"`{piece}`" in finding.help


@pytest.mark.parametrize(
    "flavor", ["flavor gpus { gpu 64 }\n", 'flavor gpus { gpu from nodes where pool = "a" }\n', "flavor gpus { gpu as owned }\n"]
)
def test_the_flavor_is_placed(find, flavor):
    """Passes need nodes."""
    assert [(each.code, each.marked) for each in find(policy("kai.default", flavor=flavor))] == [("GP044", "gpus")]


@pytest.mark.parametrize(
    ("profile", "choices", "code", "marked"),
    [
        ("kai.default", ["decide in cycles of 0s by allocate, consolidate, reclaim, preempt, end broken gangs"], "GP023", "0s"),
        (
            "kai.default",
            ["decide in cycles of 1s by allocate, allocate, consolidate, reclaim, preempt, end broken gangs"],
            "GP022",
            "allocate",
        ),
        ("kai.default", ["decide in cycles of 1s by allocate", "gangs broken for 1m end"], "GP045", "gangs broken for 1m end"),
        ("volcano.drf", ["place pods by score desc, score asc"], "GP022", "score asc"),
        ("kai.default", ["place pods by free asc"], "GP031", "free asc"),
        ("kai.default", ["place pods by domain gpu asc"], "GP031", "domain gpu asc"),
        ("kai.default", ["place pods by free gpus asc"], "GP020", "gpus"),
        ("kai.default", ["place pods by fit-now desc"], "GP020", "fit-now desc"),
        ("armada.default", ["place pods by evicts asc, free cpu in steps of 0 asc"], "GP023", "0"),
        ("kai.default", ["order queues by shares asc"], "GP020", "shares asc"),
        ("kai.default", ["order workloads by gpu asc"], "GP020", "gpu asc"),
        ("volcano.drf", ["score nodes packed 1 for gpus"], "GP020", "gpus"),
        ("volcano.drf", ["score nodes balanced 1, balanced 2"], "GP022", "balanced 2"),
        ("volcano.drf", ["score nodes balanced -1"], "GP023", "-1"),
        ("volcano.drf", ["admit within limits, limits"], "GP022", "limits"),
        ("armada.default", ["entitle by weight up to demand, in at most 0 rounds, to 1/100"], "GP023", "0"),
        ("armada.default", ["share of cost where nothing is due counts 0 weighing gpus 1"], "GP020", "gpus"),
        ("armada.default", ["share of cost where nothing is due counts 0 weighing gpu 1, gpu 2"], "GP022", "gpu"),
        ("armada.default", ["start up to 1/2 of gpus a cycle"], "GP020", "gpus"),
        ("kai.default", ["gangs broken for 60 end"], "GP023", "60"),
    ],
)
def test_what_is_wrong_by_itself(find, profile, choices, code, marked):
    """Names, numbers and what is said twice are told where they stand."""
    findings = [(each.code, each.marked) for each in find(policy(profile, *choices))]
    assert (code, marked) in findings
    assert len({each for each, _ in findings}) == 1


def test_the_pass_that_ends_broken_gangs_says_for_how_long(find):
    """A profile of one's own would say it; without it the pass is half of something."""
    head = policy("volcano.drf", "decide in cycles of 1s by allocate, preempt, reclaim, end broken gangs")
    assert ("GP045", "end broken gangs") in [(each.code, each.marked) for each in find(head)]


def test_a_key_without_its_score(find):
    """`score` adds up what `score nodes` says, and needs it; `score nodes` needs the key."""
    assert ("GP045", "place pods by score desc") in [
        (each.code, each.marked) for each in find(policy("kai.default", "place pods by score desc"))
    ]
    findings = find(policy("volcano.drf", "place pods by score desc", "score nodes near 2"))
    assert findings == []


@pytest.mark.parametrize("counted", ["2", "1000", "x100", "1.0", "last", "nothing"])
def test_what_counts_is_one_of_three(find, counted):
    """Nothing, 1, or a thousand times; any other number is not read."""
    [finding] = find(policy("kai.default", f"share of entitlement where nothing is due counts {counted}"))
    assert finding.code == "GP003"
    assert "`0`, `1` or `x1000`" in finding.help
