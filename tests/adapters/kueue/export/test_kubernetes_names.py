"""Names that Kubernetes allows, and those that it does not."""

import pytest
from gpol.adapters.kueue.export.kubernetes_names import is_label_key, is_label_value, is_namespace, is_subdomain, suggestion

from ..exports import AT_ONCE, IN_CYCLES, problems


@pytest.mark.parametrize(
    ("test", "good", "bad"),
    [
        (is_subdomain, ["a", "0", "a-b.c", "x" * 253], ["", "A", "a_b", "-a", "a.", "a..b", "x" * 254]),
        (is_namespace, ["team-a", "x" * 63], ["a.b", "Team", "x" * 64, ""]),
        (is_label_key, ["cpu", "nvidia.com/gpu", "A_b.c", "x.y/" + "k" * 63], ["", "a b", "/a", "a/b/c", "X.y/k", "k" * 64]),
        (is_label_value, ["", "x", "A_b.c-1", "v" * 63], ["-x", "a b", "v" * 64]),
    ],
)
def test_what_is_allowed(test: object, good: list[str], bad: list[str]) -> None:
    """Each kind of name has the letters and the length that Kubernetes gives it."""
    assert callable(test)
    assert [name for name in good if not test(name)] == []
    assert [name for name in bad if test(name)] == []


@pytest.mark.parametrize(
    ("name", "taken", "near"),
    [
        ("NLP", [], "nlp"),
        ("Zürich, 2nd floor", [], "zurich-2nd-floor"),
        ("team/a", ["team-a"], "team-a-2"),
        ("-.-", [], "unnamed"),
        ("x" * 300, [], "x" * 243),
        ("Ünder_score.", [], "under-score"),
    ],
)
def test_suggestions(name: str, taken: list[str], near: str) -> None:
    """The nearest name that is allowed and free is suggested."""
    assert suggestion(name, taken) == near
    assert is_subdomain(suggestion(name, taken))


ALLOWED = "small letters, digits, `-` and `.`, at most 253 characters"


def test_every_wrong_name_is_told_with_its_line() -> None:
    """Queues, cohorts, flavors, priorities and local queues that Kubernetes could not call so are refused all at once."""
    text = """policy "p" { use kueue.classical }
resource "a b"
flavor H100 { gpu, "a b" as owned }
priority P1 1
cohort Research { queue NLP {
  serves gpu, "a b" from H100
  local queue "Team/LQ"
} }
"""
    assert [problem.split(" ", 1) for problem in problems(text)] == [
        [
            "p.gpol:5:",
            f"queue NLP: is no name that Kubernetes allows; call it `nlp`: {ALLOWED}",
        ],
        [
            "p.gpol:5:",
            f"cohort Research: is no name that Kubernetes allows; call it `research`: {ALLOWED}",
        ],
        [
            "p.gpol:3:",
            f"flavor H100: is no name that Kubernetes allows; call it `h100`: {ALLOWED}",
        ],
        [
            "p.gpol:4:",
            f"priority P1: is no name that Kubernetes allows; call it `p1`: {ALLOWED}",
        ],
        ["p.gpol:1:", "resource a b: `a b` is no name of a resource; write it as `nvidia.com/gpu`"],
        ["p.gpol:7:", "local queue Team/LQ: `Team` is no name of a namespace; call it `team`: small letters, digits and `-`"],
        [
            "p.gpol:7:",
            f"local queue Team/LQ: `LQ` is no name that Kubernetes allows; call it `lq`: {ALLOWED}",
        ],
    ]


def test_labels_and_taints_are_checked() -> None:
    """Labels, their values, taints and conditions on namespaces have to be possible in Kubernetes."""
    text = """policy "p" { use kueue.classical }
flavor a100 {
  gpu as owned
  label "a b" = "-"
  taint "c d" = "e f" NoSchedule
}
queue q {
  serves gpu from a100
  for namespaces where label "g h" in "i j"
  needs check "K l"
}
"""
    told = problems(text)
    assert [problem.split("; ")[0] for problem in told] == [
        "p.gpol:2: flavor a100: label: `a b` is no label that Kubernetes allows",
        "p.gpol:2: flavor a100: label: `-` is no value of a label that Kubernetes allows",
        "p.gpol:2: flavor a100: taint: `c d` is no taint that Kubernetes allows",
        "p.gpol:2: flavor a100: taint: `e f` is no value of a taint that Kubernetes allows",
        "p.gpol:7: queue q: for namespaces: `g h` is no label that Kubernetes allows",
        "p.gpol:7: queue q: for namespaces: `i j` is no value of a label that Kubernetes allows",
        "p.gpol:7: queue q: needs check: `K l` is no name of an AdmissionCheck",
    ]


def test_two_things_of_one_name_are_refused() -> None:
    """A cohort that would lose the mark that keeps it apart may not meet another; nor may gpu take a resource's name."""
    inside = 'serves "nvidia.com/gpu" from a100'
    text = IN_CYCLES + f'cohort "cohort/x" {{ queue a {{ {inside} }} }}\ncohort x {{ queue b {{ {inside} }} }}\n'
    assert problems(text) == ["p.gpol:11: cohort x: would be called `x`, as cohort `cohort/x` is; call it `x-2`, for instance"]
    head = 'policy "p" { use kueue.classical }\nresource "nvidia.com/gpu"\n'
    both = head + 'flavor f { gpu, "nvidia.com/gpu" as owned }\nqueue q { owns 1 gpu }\n'
    assert problems(both) == [
        "p.gpol:1: resource nvidia.com/gpu: would be called `nvidia.com/gpu`, as resource `gpu` is; "
        "keep one of the two, or export `gpu` by another name"
    ]


def test_the_root_takes_its_name() -> None:
    """A cohort that would be called as the root is refused where there is a root."""
    assert problems(AT_ONCE + 'cohort "cohort/cluster" { queue q { owns 8 gpu } }\n') == [
        "p.gpol:4: cohort cohort/cluster: would be called `cluster`, as the root of the tree is; call it `cluster-2`, for instance"
    ]
