"""The export as a whole: names, resources, and all problems at once."""

import pytest
from gpol.adapters.volcano.export.export_to_volcano import json_list, yaml_documents

from ..volcano_exports import HEAD, exported, problems, specs

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Team_A", "queue Team_A: is no name that Kubernetes allows; call it `team-a`, for instance"),
        ("root", "queue root: is called as the root of Volcano's tree; give it another name"),
    ],
)
def test_names_that_no_queue_has(name: str, told: str) -> None:
    """Told with the line."""
    assert problems(f'{HEAD}queue {name} {{ owns 8 "nvidia.com/gpu" }}') == [f"p.gpol:7: {told}"]


def test_two_of_a_name_are_refused() -> None:
    """Once the prefix of an import is taken away."""
    text = HEAD + 'queue a { owns 8 "nvidia.com/gpu" }\n\nqueue "queue/a" { owns nothing }\n'
    assert problems(text) == ["p.gpol:9: queue queue/a: would be called `a`, as `a` is; call it `a-2`, for instance"]


def test_resources_that_no_pod_can_ask_for_are_refused() -> None:
    """Volcano does not count them: their quotas would have no effect."""
    text = HEAD.replace('"nvidia.com/gpu"', "license") + "queue a { owns 8 license }"
    assert problems(text) == [
        "p.gpol:1: resource license: would be called `license`, which Volcano does not count: no pod can ask for it; "
        "use cpu, memory, or a name with a domain, such as nvidia.com/gpu"
    ]
    both = HEAD.replace('{ "nvidia.com/gpu" 64 }', '{\n  "nvidia.com/gpu" 64\n  gpu 8\n}') + "queue a { owns 8 gpu }"
    assert len(problems(both)) == 2
    assert specs(both, gpu="amd.com/gpu") == {"a": {"deserved": {"amd.com/gpu": "8"}}}


def test_all_problems_are_told_at_once() -> None:
    """Of names, rules, queues and priorities alike."""
    queue = 'queue A {\n  owns 8 "nvidia.com/gpu"\n  weight 1/2\n}'
    text = f'{HEAD}priority "Top" 5 {{ never evicted }}\n\n{queue}\n\nprotect p {{ where victim.pods > 2 }}'
    assert len(problems(text)) == 5


def test_objects_are_text() -> None:
    """As YAML, quotes where a reader might take a text for a number, or as one List in JSON."""
    objects = exported(HEAD + 'queue a { owns 8 "nvidia.com/gpu" }').objects
    assert yaml_documents(objects) == (
        '---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: a\nspec:\n  deserved:\n    nvidia.com/gpu: "8"\n'
    )
    assert '"kind": "List"' in json_list(objects)
