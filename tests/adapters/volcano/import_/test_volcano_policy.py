"""The tree of a policy: what each node owns, keeps and may borrow."""

from ..volcano_objects import GPU, block, graph, guaranteed, notes, queue, quotas, text

TREE = [
    queue("p", deserved={GPU: "20"}, guarantee=guaranteed(gpu="7"), capability={GPU: "32"}),
    queue("u", parent="p", deserved={GPU: "12"}, guarantee=guaranteed(gpu="4"), capability={GPU: "12"}),
    queue("y", parent="p", deserved={GPU: "6"}, guarantee=guaranteed(gpu="2")),
    queue("z", deserved={"cpu": "8"}),
]


def test_a_parent_owns_what_its_children_do_not() -> None:
    """Volcano's amounts are those of a whole subtree, gpol's those of one node: the rest of what is deserved, guaranteed and allowed."""
    policy = text(*TREE)
    assert block(policy, "cohort p")[:3] == [f'owns 2 "{GPU}"', f'guarantees 1 "{GPU}"', f'borrows up to 12 "{GPU}"']
    assert block(policy, "queue u") == [f'owns 12 "{GPU}"', f'guarantees 4 "{GPU}"', f'borrows up to 0 "{GPU}"']
    assert block(policy, "queue y") == [f'owns 6 "{GPU}"', f'guarantees 2 "{GPU}"']
    assert block(policy, "queue z") == ["owns 8 cpu"]


def test_what_is_guaranteed_is_never_lent() -> None:
    """A queue lends what it deserves less its guarantee, a parent that of its whole subtree."""
    made = graph(*TREE)
    assert quotas(made, "u")[GPU] == (12, 0, 8)
    assert quotas(made, "y")[GPU] == (6, None, 4)
    assert quotas(made, "p")[GPU] == (2, 12, 13)


def test_a_parent_that_gives_all_away_owns_nothing_itself() -> None:
    """Nothing is said of it then."""
    lines = block(text(queue("p"), queue("u", parent="p", deserved={GPU: "8"})), "cohort p")
    assert lines == [f'queue u {{ owns 8 "{GPU}" }}']


def test_guaranteed_without_being_deserved() -> None:
    """It counts as deserved, as in Volcano's scheduler; noted."""
    made = queue(guarantee=guaranteed(gpu="4", cpu="2"), deserved={"cpu": "3"})
    assert block(text(made), "queue a") == ["owns 3 cpu", "guarantees 2 cpu", f'owns 4 "{GPU}"', f'guarantees 4 "{GPU}"']
    told = "is guaranteed and not deserved: as much counts as deserved, as in Volcano's scheduler"
    assert notes(made) == [f"Queue a: spec.guarantee.resource.{GPU}: {told}"]


def test_a_queue_without_quota_borrows() -> None:
    """As Volcano's `default`: it may use what is idle."""
    assert block(text(queue(), queue("default", weight=1)), 'queue "default"') == ["owns nothing"]


def test_the_flavor_is_called_as_one_says() -> None:
    """Volcano has none, so it has the name `default`, or another one."""
    assert 'flavor "default" {' in text(queue())
    assert "flavor h100 {" in text(queue(), flavor="h100")
    assert 'flavor "a \\"b\\"" {' in text(queue(), flavor='a "b"')


def test_a_queue_may_have_the_name_of_gpols_root() -> None:
    """It gets a prefix that no name in Volcano has, as a leaf and as a parent."""
    assert block(text(queue("cluster")), 'queue "queue/cluster"') == [f'owns 8 "{GPU}"']
    below = [queue("cluster"), queue("u", parent="cluster", deserved={GPU: "8"})]
    assert 'cohort "queue/cluster" {' in text(*below)
    assert 'where victim.queue != "queue/cluster"\n' in text(queue("cluster", deserved={GPU: "8"}, reclaimable=False), queue("u"))


def test_what_counts_for_leaves_alone_is_noted_at_parents() -> None:
    """Whether others may reclaim, and whether new workloads start."""
    tree = [
        queue("p", state="Closed", deserved={GPU: "8"}, reclaimable=False),
        queue("u", parent="p", deserved={GPU: "8"}),
    ]
    assert "preempt" not in text(*tree)
    assert "stopped" not in text(*tree)
    assert [note.split(": ")[1] for note in notes(*tree)] == ["spec.reclaimable", "status.state"]


def test_the_order_of_the_files_counts_for_nothing() -> None:
    """The policy is the same however its objects are listed."""
    assert text(*TREE) == text(*reversed(TREE))
