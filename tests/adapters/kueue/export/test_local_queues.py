"""Who comes in by an exported queue."""

from ..exports import AT_ONCE, notes, problems, specs

BY_OTHERS = (
    "goes by users, groups, kinds, labels or patterns; in Kueue a job names a LocalQueue: create one in each namespace that may come"
)


def test_a_namespace_by_name_has_a_default_entry() -> None:
    """Where one queue alone matches a namespace by name, jobs that name no LocalQueue come to it by the one called default."""
    text = AT_ONCE + 'queue q {\n  owns 8 gpu\n  for namespace "team-a"\n  for namespace "team-b"\n}\n'
    assert specs(text, "LocalQueue") == {"team-a/default": {"clusterQueue": "q"}, "team-b/default": {"clusterQueue": "q"}}
    assert [note for note in notes(text) if note.startswith("queue")] == []


def test_a_namespace_of_two_queues_has_no_default() -> None:
    """Where several queues match a namespace, each has an entry of its own name."""
    text = AT_ONCE + 'queue q { for namespace "team" }\nqueue r { for namespace "team" }\n'
    assert specs(text, "LocalQueue") == {"team/q": {"clusterQueue": "q"}, "team/r": {"clusterQueue": "r"}}


def test_a_local_queue_of_the_policy_comes_first() -> None:
    """An entry that the policy has itself is not made again."""
    text = AT_ONCE + 'queue q {\n  for namespace "team"\n  local queue "team/default" { weight 2 }\n}\n'
    assert specs(text, "LocalQueue") == {"team/default": {"clusterQueue": "q", "fairSharing": {"weight": "2"}}}


def test_other_conditions_are_noted() -> None:
    """Patterns, users and conditions beside a namespace find no queue in Kueue."""
    text = AT_ONCE + 'queue a { for namespace "x-*" }\nqueue b { for user "ada" }\nqueue c { for namespace "n" and kind "Job" }\n'
    assert specs(text, "LocalQueue") == {}
    assert f"queue a, b, c: for: {BY_OTHERS}" in notes(text)


def test_a_queue_without_entry_is_noted() -> None:
    """A queue that nothing leads to is of no use in Kueue until somebody creates a LocalQueue."""
    assert "queue q: local queue: has no LocalQueue: create one in each namespace that may use it" in notes(
        AT_ONCE + "queue q { owns 8 gpu }\n"
    )


def test_a_namespace_has_to_be_one() -> None:
    """A text that no namespace can be called matches nothing in Kubernetes."""
    assert problems(AT_ONCE + 'queue q { for namespace "Team A" }\n') == [
        "p.gpol:4: queue q: for namespace: `Team A` is no name of a namespace; use small letters, digits and `-`, at most 63 of them"
    ]
