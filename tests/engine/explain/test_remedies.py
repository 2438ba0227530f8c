"""Remedies: what would admit a waiting workload. Each is carried out, and the workload runs."""

import re
from collections.abc import Callable
from typing import Any

import pytest

POLICY = """policy "remedies" {
}
flavor a { gpu 6 }
flavor b { gpu 4 }
queue owner {
  owns 4 gpu on a
  only a
}
queue guest {
  owns nothing
  borrows up to 3 gpu on a
  only a
}
queue keeper {
  owns 2 gpu on a
  guarantees 2 gpu on a
}
protect warm-up { where victim.running < 10m }
hold frozen for keeper { where workload.user = "eve" } because "ask Olga"
"""


class Case:
    """A cluster under `POLICY` and the means to carry out a remedy."""

    def __init__(self, c: Any, policy: str = POLICY) -> None:
        self.c, self.policy = c, policy
        self.capacities = {"a": 6000, "b": 4000}

    def carry_out(self, name: str, kind: str) -> None:
        """Do what the one remedy of a kind for a workload says."""
        remedy = self.c.remedy(name, kind)
        match kind:
            case "ends":
                for workload in remedy.workloads:
                    self.c.finish(workload)
            case "limits":
                for limit in remedy.limits:
                    self.raise_limit(limit)
            case "flavor":
                self.policy = re.sub(r"only a\b", f"only a, {remedy.flavor}", self.policy)
                self.c.activate(self.policy)
            case "time":
                self.c.at(f"{remedy.until}us")
            case "release":
                self.c.operator("release", name)

    def raise_limit(self, limit: Any) -> None:
        """Let a limit grow by its deficit: what exists by a fact, what may be borrowed by an edit of its line."""
        if limit.limit == "borrowing":
            lines = self.policy.splitlines()
            line = lines[limit.source.line - 1]
            more = re.sub(r"up to (\d+)", lambda found: f"up to {int(found[1]) + limit.deficit // 1000}", line)
            assert more != line
            lines[limit.source.line - 1] = more
            self.policy = "\n".join(lines) + "\n"
            self.c.activate(self.policy)
        else:
            assert limit.node == "cluster"
            self.capacities[limit.flavor] += limit.deficit
            self.c.fact("CapacityChanged", flavor=limit.flavor, capacity={limit.resource: self.capacities[limit.flavor]})


def borrowing(c: Any) -> None:
    """`w` is short of what its queue may borrow."""
    c.submit("g1", "guest", "1")
    c.submit("g2", "guest", "2")
    c.submit("w", "guest", "2")


def kept(c: Any) -> None:
    """`w` is short of what others lend."""
    c.submit("o", "owner", "4")
    c.submit("w", "owner", "1")


def full(c: Any) -> None:
    """`w` is short of what exists."""
    c.submit("k", "keeper", "2", on=("a",))
    c.submit("o", "owner", "4")
    c.submit("w", "owner", "3")


def too_big(c: Any) -> None:
    """`w` asks for more than it could ever borrow, and more than exists."""
    c.submit("g", "guest", "1")
    c.submit("w", "guest", "9")


def just_too_big(c: Any) -> None:
    """`w` asks for one GPU more than it could ever borrow, and 4 GPUs of the other flavor are free."""
    c.submit("w", "guest", "4")


def protected(c: Any) -> None:
    """`w` waits for protections to end."""
    c.submit("g1", "guest", "1")
    c.at("5m")
    c.submit("g2", "guest", "2")
    c.submit("w", "owner", "4")


def by_owner(c: Any) -> None:
    """`w` is held by its owner while there is room."""
    c.submit("g", "guest", "3")
    c.submit("w", "guest", "1")
    c.update("w", hold=True)
    c.finish("g")


def by_operator(c: Any) -> None:
    """`w` was evicted by an operator."""
    c.submit("w", "guest", "1")
    c.operator("evict", "w")


SITUATIONS = {
    borrowing: {"ends", "limits", "flavor"},
    kept: {"ends", "limits", "flavor"},
    full: {"ends", "limits", "flavor"},
    too_big: {"limits"},
    just_too_big: {"limits", "flavor"},
    protected: {"time", "ends", "limits", "flavor"},
    by_owner: {"release"},
    by_operator: {"release"},
}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_kinds(cluster: Callable[[str], Any], situation: Callable[[Any], None]) -> None:
    """Each situation has the remedies that can help there, one of a kind, and no others."""
    c = cluster(POLICY)
    situation(c)

    assert c.standing("w").state == "pending"
    assert sorted(remedy.kind for remedy in c.standing("w").remedies) == sorted(SITUATIONS[situation])


@pytest.mark.parametrize(
    ("situation", "kind"),
    [(situation, kind) for situation, kinds in SITUATIONS.items() for kind in sorted(kinds)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_each_remedy_works(cluster: Callable[[str], Any], situation: Callable[[Any], None], kind: str) -> None:
    """Whoever does what a remedy says sees the workload run."""
    c = cluster(POLICY)
    situation(c)
    case = Case(c)

    case.carry_out("w", kind)

    assert c.standing("w").state == "running"


@pytest.mark.parametrize("situation", [protected], ids=lambda situation: situation.__name__)
def test_time_is_not_wasted(cluster: Callable[[str], Any], situation: Callable[[Any], None]) -> None:
    """Half a second before the moment that the remedy names, the workload still waits."""
    c = cluster(POLICY)
    situation(c)
    until = c.remedy("w", "time").until

    c.at(f"{until - 500_000}us")

    assert c.standing("w").state == "pending"


def test_no_end_is_superfluous(cluster: Callable[[str], Any]) -> None:
    """For 3 GPUs out of 1, 1 and 2 in use, two ends are named, and either alone would not do."""
    c = cluster(POLICY.replace("protect warm-up { where victim.running < 10m }\n", ""))
    for name, gpus in (("o1", "1"), ("o2", "1"), ("o3", "2")):
        c.submit(name, "owner", gpus)
    c.submit("w", "owner", "3")

    assert sorted(c.remedy("w", "ends").workloads) == ["o1", "o3"]


def test_ends_that_would_not_help_are_not_named(cluster: Callable[[str], Any]) -> None:
    """A big workload of another queue is not in the way of one that its own borrowing limit stops."""
    c = cluster(POLICY)
    c.capacity("a", gpu="8")
    c.submit("o", "owner", "3")
    c.submit("g", "guest", "3")
    c.submit("w", "guest", "1")

    assert c.remedy("w", "ends").workloads == ("g",)


def test_limits_in_a_row(cluster: Callable[[str], Any]) -> None:
    """With 1 in use, a request for 9 is 7 above what may be borrowed (3), and 6 above what keeper leaves of the cluster (6 - 2)."""
    c = cluster(POLICY)
    too_big(c)

    limits = c.remedy("w", "limits").limits
    assert [(limit.node, limit.limit, limit.flavor, limit.deficit) for limit in limits] == [
        ("cluster", "capacity", "a", 6000),
        ("guest", "borrowing", "a", 7000),
    ]


def test_another_flavor_for_the_workload(cluster: Callable[[str], Any]) -> None:
    """Where the queue would use a free flavor, and the workload alone insists on another, it runs once it accepts both."""
    c = cluster(POLICY)
    c.submit("v", "keeper", "4", on=("a",))
    c.submit("w", "keeper", "3", on=("a",))
    flavor = c.remedy("w", "flavor").flavor
    c.cancel("w")

    assert c.submit("w", "keeper", "3", on=("a", flavor)) == ["run w"]


def test_either_may_accept_the_flavor_of_the_other(cluster: Callable[[str], Any]) -> None:
    """A workload for b in a queue for a: it runs if it accepts a, and it runs if its queue accepts b."""
    c = cluster(POLICY)
    c.submit("w", "guest", "1", on=("b",))

    assert [remedy.flavor for remedy in c.standing("w").remedies] == ["a", "b"]
    c.submit("w-accepts-a", "guest", "1", on=("a", "b"))
    c.activate(POLICY.replace("only a", "only a, b"))
    assert c.running() == ["w", "w-accepts-a"]


def test_a_rule_that_holds_ends_with_the_rule(cluster: Callable[[str], Any]) -> None:
    """The remedy of a hold rule is that it no longer holds the workload: here, another user's submission would run."""
    c = cluster(POLICY)
    c.submit("w", "keeper", "1", user="eve")

    assert [remedy.kind for remedy in c.standing("w").remedies] == ["release"]
    assert c.activate(POLICY.replace("eve", "mallory")) == ["run w"]


def test_a_running_workload_needs_no_remedy(cluster: Callable[[str], Any]) -> None:
    """There is nothing to name for one that runs."""
    c = cluster(POLICY)
    c.submit("w", "guest", "1")

    assert c.standing("w").remedies == ()
