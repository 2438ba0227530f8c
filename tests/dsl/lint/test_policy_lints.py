"""Tests for warnings: each where it is certain, and none where a policy could be meant."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.analysis.profiles import recorded

FLAVOR = "flavor h100 { gpu 100 }\npriority low 10\npriority high 90\n"
TWO = "queue a { owns 10 gpu }\nqueue b { owns 10 gpu }\n"
LISTED = 'policy "p" { preempt by own, reclaim-owned, fair-share, make-room }\n'


def with_rule(body: str, queues: str = TWO) -> str:
    """A policy with a preempt rule `own` in front of the profile's."""
    return LISTED + FLAVOR + queues + "preempt own {\n" + "".join(f"  {line}\n" for line in body.split("; ")) + "}\n"


def found(find, text: str) -> list[tuple[str, str]]:
    """Code and marked text of what is found; all of it warnings."""
    findings = find(text)
    assert all(finding.severity == "warning" and finding.help for finding in findings)
    return [(finding.code, finding.marked) for finding in findings]


# --- GP050


@pytest.mark.parametrize(
    "body",
    [
        "evict from any queue; where victim.priority > 5 and victim.priority < 6",
        "evict from any queue; where victim.running < 0s",
        "evict from any queue; where victim.evictions < 0",
        "evict from any queue; where victim.queue.share < 0",
        'evict from any queue; where victim.queue = "c*"',
        'evict from any queue; where victim.queue != "*"',
        "when workload fits what its cohort owns; evict from queues that borrow",
    ],
)
def test_a_rule_that_can_never_fire_is_reported_once(find, body):
    """A guard beyond every value, a queue that is none, a cohort where there is none: one warning at the rule's name."""
    assert found(find, with_rule(body)) == [("GP050", "own")]


def test_a_rule_for_other_queues_needs_another_queue(find):
    """With a single queue there are no victims elsewhere."""
    one = "queue a { owns 10 gpu }\n"
    assert found(find, with_rule("evict from any queue", one)) == [("GP050", "own")]
    assert found(find, with_rule("evict from the same queue; where victim.priority < workload.priority", one)) == []


def test_a_boost_counts_above_every_ceiling_and_below_every_priority(find):
    """Guards beyond the ceilings are not called silent, as the core sees boosted priorities; the priority above them still is (GP051)."""
    capped = "queue a { priority at most low }\nqueue b { priority at most low }\n"
    for guard in ("workload.priority > 10", "workload.priority < -2147483648"):
        text = 'policy "p" { }\n' + FLAVOR + capped + f'deny big {{ where {guard} }} because "big"\n'
        assert found(find, text) == [("GP051", "high")]


@pytest.mark.parametrize(
    "rule",
    [
        "protect r for empty",
        "protect r { where victim.priority = 3000000000 }",
        'deny r for empty because "x"',
        'hold r { where workload.queue = "zzz" } because "x"',
        'deny r { where workload.pods <= 5 and workload.queue = "zzz" } because "x"',
    ],
)
def test_other_rules_can_be_silent_too(find, rule):
    """Protect, deny and hold rules of nothing, or with a guard that is never true, are reported at their names."""
    findings = find('policy "p" { }\n' + FLAVOR + TWO + "cohort empty {\n  cohort inner { }\n}\n" + rule + "\n")
    assert [finding.marked for finding in findings] in (["r"], ["3000000000"])
    assert findings[0].code in ("GP050", "GP023")


@pytest.mark.parametrize(
    "body",
    [
        "evict from any queue; where victim.priority <= -2147483648 and workload.priority > victim.priority",
        "evict from any queue; where victim.priority < workload.priority or victim.pods < 0",
        "evict from any queue; where not victim.running < 0s and victim.priority < workload.priority",
        'evict from any queue; where victim.user = "zzz" and victim.priority < workload.priority',
        'evict from any queue; where victim.queue = "[ab]*" or victim.priority < workload.priority',
        "evict from any queue; where victim.queue != a and victim.priority < workload.priority",
        "evict from any queue; where victim.running <= 0s and victim.priority < workload.priority",
    ],
)
def test_a_rule_that_may_fire_is_left_alone(find, body):
    """Bounds that are reached, alternatives, negations and names of people are no reason to warn."""
    assert found(find, with_rule(body)) == []


def test_a_protection_of_a_cohort_with_a_queue_below_is_left_alone(find):
    """A queue at any depth is enough."""
    text = 'policy "p" { }\n' + FLAVOR + "cohort outer {\n  cohort inner { queue q { } }\n}\nprotect r for outer\n"
    assert found(find, text) == []


# --- GP051


def test_a_priority_above_every_ceiling_is_reported(find):
    """The warning names the highest ceiling."""
    text = 'policy "p" { }\n' + FLAVOR + "queue a { priority at most low }\nqueue b { priority at most low }\n"
    [finding] = find(text)
    assert (finding.code, finding.marked) == ("GP051", "high")
    assert "the highest is 10" in finding.message
    assert found(find, text + "queue c { }\n") == []
    assert found(find, text.replace("queue b { priority at most low }", "queue b { priority at most high }")) == []


def test_without_queues_no_priority_is_judged(find):
    """A policy in the making is left alone."""
    assert found(find, 'policy "p" { }\n' + FLAVOR) == []


# --- GP052


@pytest.mark.parametrize(
    "body",
    [
        "evict from any queue",
        "evict from queues that borrow",
        "evict from the same queue",
        "evict from any queue; where victim.priority <= workload.priority",
        "evict from any queue; where workload.gpu >= victim.gpu",
        "evict from any queue; where victim.gpu > 4",
        "evict from any queue; where victim.gpu > 4 and workload.gpu < 9",
        'evict from any queue; where victim.user != "root" and workload.user = "a*"',
        'evict from any queue; where victim.label "spot" = "yes"',
        "evict from the same queue; where victim.queue = a",
        "evict from any queue; where victim.priority = low and workload.priority >= 10",
        "evict from any queue; where victim.running >= 1h",
        "evict from any queue; where victim.running < 10m",
        "evict from any queue; where workload.waiting >= 1d and victim.running >= 2h",
        "evict from any queue; where victim.pods > 1 or victim.priority < workload.priority",
        "evict from any queue; where not victim.pods > 1",
        "evict from any queue, in the same cohort",
    ],
)
def test_equal_workloads_that_can_evict_each_other_are_reported(find, body):
    """Where a pair is known for which the guard holds both ways, the rule is reported at its name."""
    assert found(find, with_rule(body)) == [("GP052", "own")]


@pytest.mark.parametrize(
    "body",
    [
        "when workload fits what its queue owns; evict from queues that borrow",
        "evict from any queue; where victim.priority < workload.priority",
        "evict from any queue; where workload.queue.share <= victim.queue.share_after",
        "evict from any queue; where workload.queue.share < victim.queue.share",
        "evict from any queue; where victim.gpu < workload.gpu",
        "evict from any queue; where victim.priority <= low and workload.priority > low",
        "evict from any queue; where victim.queue = a and workload.queue = b",
        "evict from any queue; where victim.queue = a",
        "evict from any queue; where victim.user != workload.user",
        "evict from any queue; where victim.user = workload.namespace",
        'evict from any queue; where victim.label "spot" = "yes" and workload.label "spot" != "yes"',
        "evict from any queue; where victim.evictions < 3",
        "evict from any queue; where workload.waiting >= 1d and victim.running < 2h",
        "evict from any queue; where workload.waiting < victim.running",
        "evict from any queue; where victim.gpu > 4 and workload.gpu < 4",
    ],
)
def test_rules_that_rank_or_may_be_meant_are_left_alone(find, body):
    """A trigger, a rank, roles that cannot be swapped, a time slice, a bounded number of turns: no warning."""
    assert found(find, with_rule(body)) == []


def test_rules_of_the_profile_are_not_the_authors_to_change(find):
    """A profile's rule is not reported in the policies that use it."""
    assert found(find, 'policy "p" { }\nflavor h { gpu 1 }\nqueue only { owns 1 gpu }\n') == []


# --- GP053, GP054


def test_a_queue_without_anything_is_reported(find):
    """Owning and borrowing nothing of all flavors it may use leaves nothing to run on."""
    head = 'policy "p" { }\n' + FLAVOR + "flavor a100 { gpu 50 }\n"
    dead = "cohort c {\n  queue q {\n    owns nothing\n    borrows nothing\n  }\n}\n"
    assert found(find, head + dead) == [("GP053", "q")]
    only = "queue q {\n  owns 4 gpu on h100\n  borrows nothing\n  only a100\n}\n"
    assert found(find, head + only) == [("GP053", "q")]


@pytest.mark.parametrize(
    "statements",
    [
        ("owns nothing",),
        ("borrows nothing on h100",),
        ("owns 1 gpu on h100", "borrows nothing"),
        ("borrows up to 1 gpu on h100", "borrows nothing on a100"),
    ],
)
def test_a_queue_that_can_run_something_is_left_alone(find, statements):
    """One flavor to own or to borrow is enough."""
    body = "".join(f"  {statement}\n" for statement in statements)
    assert found(find, 'policy "p" { }\n' + FLAVOR + "flavor a100 { gpu 50 }\nqueue q {\n" + body + "}\n") == []


def test_without_flavors_no_queue_is_judged(find):
    """A policy in the making is left alone."""
    assert found(find, 'policy "p" { }\nqueue q { }\n') == []


def test_a_protection_of_everything_is_reported(find):
    """With preempt rules there, protecting all of it always contradicts them; otherwise it is fine."""
    rest = FLAVOR + TWO + "protect all\n"
    assert found(find, 'policy "p" { }\n' + rest) == [("GP054", "all")]
    assert found(find, 'policy "p" { preempt by nothing }\n' + rest) == []
    assert found(find, 'policy "p" { }\n' + FLAVOR + TWO + "protect all for a\n") == []
    assert found(find, 'policy "p" { }\n' + FLAVOR + TWO + "protect all { where victim.running < 10m }\n") == []


# --- shares that are all 0

NOTHING = 'policy "p" {\n  share none\n  preempt by nothing\n}\n'


def with_own(body: str) -> str:
    """A policy without shares and with a single preempt rule, `own`, of these lines."""
    rule = "preempt own {\n" + "".join(f"  {line}\n" for line in body.split("; ")) + "}\n"
    header = 'policy "p" {\n  use p\n  share none\n  preempt by own\n}\n'
    return header + FLAVOR + TWO + rule


@pytest.fixture
def find_bare():
    """Checks a text whose profile `p` says nothing, and gives code and marked text of what is found."""

    def run(text: str) -> list[tuple[str, str]]:
        checked = check(text, "p.gpol", recorded({"p": 'profile "p" { share borrowed }\n'}))
        return [(each.code, text[each.span.start : each.span.end]) for each in checked.diagnostics]

    return run


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("evict from any queue; where workload.queue.share <= victim.queue.share_after", [("GP052", "own")]),
        ("evict from any queue; where victim.queue.share = 0 and victim.queue.share < 1/2", [("GP052", "own")]),
        ("evict from any queue; where workload.queue.share < victim.queue.share_after", [("GP050", "own")]),
        ("evict from any queue; where victim.queue.share > 0", [("GP050", "own")]),
        ("evict from any queue; where victim.queue.share != workload.queue.share", [("GP050", "own")]),
        (
            "evict from any queue; where victim.priority < workload.priority and victim.queue.share >= 0",
            [("GP055", "victim.queue.share >= 0")],
        ),
        (
            "evict from any queue; where victim.priority < workload.priority; order by victim.queue.share desc, victim.priority asc",
            [("GP055", "victim.queue.share desc")],
        ),
        ("evict from any queue; where victim.priority < workload.priority", []),
        (
            "when workload fits what its queue owns; evict from any queue; where not (victim.queue.share_after > 1 or victim.gpu > 8)",
            [("GP055", "victim.queue.share_after > 1")],
        ),
    ],
)
def test_without_shares_no_rule_goes_by_them(find_bare, body, expected):
    """Equal zeros rank nobody: a rule on them alone goes in turns or never fires, and anywhere else they do nothing."""
    assert find_bare(with_own(body)) == expected


def test_with_shares_the_same_rules_are_fine(find_bare):
    """Where shares move, nothing is certain."""
    text = with_own("evict from any queue; where workload.queue.share <= victim.queue.share_after; order by victim.queue.share desc")
    assert find_bare(text.replace("share none", "share used")) == []


def test_a_profiles_rule_is_told_at_the_choice_that_breaks_it(find):
    """`share none` on top of a profile that evens shares out makes its rule go in turns; the author can mend only that."""
    text = 'policy "p" { share none }\n' + FLAVOR + TWO
    [finding] = find(text)
    assert (finding.code, finding.marked, finding.severity) == ("GP052", "share none", "warning")
    assert "a rule `fair-share` of your own" in finding.help
    own = "preempt fair-share {\n  evict from queues that borrow\n  where victim.priority < workload.priority\n}\n"
    assert found(find, text + own) == []
    assert found(find, NOTHING + FLAVOR + TWO) == []


def test_orders_and_protections_by_idle_shares_are_reported(find):
    """The policy's own order of queues and its guards; the profile's order is not the author's."""
    order = NOTHING.replace("  preempt", "  order queues by borrowing asc, share desc, submitted asc\n  preempt")
    guard = "protect r { where victim.queue.share <= 1/2 }\n"
    assert found(find, order + FLAVOR + TWO + guard) == [("GP055", "share desc"), ("GP055", "victim.queue.share <= 1/2")]
