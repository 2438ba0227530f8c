"""Tests for warnings of deny and hold rules that together leave nothing to be admitted."""

import pytest

HEAD = 'policy "p" { }\nflavor h100 { gpu 8 }\nqueue a { owns 2 gpu }\nqueue b { owns 2 gpu }\n'


def rules(*guards: str) -> str:
    """Deny rules `r0`, `r1` and so on; what stands before `|` is the scope."""
    made = []
    for number, guard in enumerate(guards):
        scope, _, where = guard.rpartition("|")
        made.append(f'deny r{number}{f" for {scope}" if scope else ""} {{ where {where} }} because "no"\n')
    return HEAD + "".join(made)


@pytest.mark.parametrize(
    ("guards", "message"),
    [
        (("workload.gpu > 4", "workload.gpu <= 4"), "rules `r0`, `r1` together refuse every workload"),
        (("a|workload.gpu > 4", "workload.gpu <= 4"), "rules `r0`, `r1` together refuse every workload of queue `a`"),
        (("workload.gpu > 4", 'workload.user = "x"', "workload.gpu <= 4"), "rules `r0`, `r2` together refuse every workload"),
        (('workload.user = "x"', 'workload.user != "x"'), "rules `r0`, `r1` together refuse every workload"),
        (
            ("workload.gpu > 4 or workload.pods > 1", "workload.gpu <= 4 and workload.pods <= 1"),
            "rules `r0`, `r1` together refuse every workload",
        ),
        (("workload.queue = a or workload.gpu > 4", "workload.gpu <= 4"), "rules `r0`, `r1` together refuse every workload of queue `b`"),
    ],
)
def test_rules_that_leave_nothing(find, guards, message):
    """As few rules as it takes, for all queues or for the first one."""
    assert message in [finding.message for finding in find(rules(*guards)) if finding.code == "GP061"]


@pytest.mark.parametrize(
    "guards",
    [
        ("workload.gpu > 4", "workload.gpu < 4"),
        ("workload.gpu >= 5", "workload.gpu <= 4"),
        ("a|workload.gpu > 4", "b|workload.gpu <= 4"),
        ('workload.user = "x*"', 'workload.user != "x"', "workload.gpu > 1")[:1],
        ("workload.gpu > 4", "workload.cpu <= 4"),
        ("workload.queue = a",),
        ('workload.queue = "?" and workload.queue != b',),
    ],
)
def test_rules_that_leave_something(find, guards):
    """4 GPUs, 4.5 GPUs, the other queue: something passes, so nothing is said."""
    assert find(rules(*guards)) == []


def test_a_rule_without_a_guard_says_so_openly(find):
    """To close a cluster or a queue is a thing to do, and its readers see it."""
    closed = HEAD + 'deny closed because "moved"\nhold stop for a because "wait"\n'
    assert find(closed + 'deny big { where workload.gpu > 4 } because "x"\ndeny small { where workload.gpu <= 4 } because "x"\n') == []


def test_holding_counts_as_well(find):
    """What is not denied is held: nothing starts. The note has a workload for each rule."""
    [finding] = find(HEAD + 'deny big { where workload.gpu > 4 } because "x"\nhold small { where workload.gpu <= 4 } because "y"\n')
    assert finding.code == "GP061"
    example = "one with `workload.gpu` 5 gpu is denied by `big` and one with `workload.gpu` 4 gpu is held by `small`"
    assert finding.notes == [f"for example, of the workloads of queue `a`, {example}"]
