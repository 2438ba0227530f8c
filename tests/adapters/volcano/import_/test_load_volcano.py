"""The import as a whole: the same every time, all problems at once, and no damage ends in anything but a clear answer."""

import json
from pathlib import Path

import pytest
import yaml
from gpol.adapters.kueue.problems import MOST_PROBLEMS
from gpol.adapters.volcano.import_.load_volcano import ImportRefused, latest_moment, load_volcano, read_files
from gpol.dsl import print_tree
from hypothesis import given
from hypothesis import strategies as st

from ..volcano_objects import GPU, NOW, imported, pod_group, problems, queue, text

EXAMPLE = Path(__file__).parents[4] / "examples" / "volcano"
FILES = {path.name: path.read_bytes() for path in sorted(EXAMPLE.glob("*.yaml"))}


def attempt(files: dict[str, bytes]) -> str:
    """The policy and the facts of files, or why they are refused."""
    try:
        raws = read_files(files.items())
        made = load_volcano(raws, max(NOW, latest_moment(raws)))
    except ImportRefused as refused:
        return str(refused)
    return print_tree(made.tree) + "".join(fact.payload().decode() for fact in made.facts)


def test_all_problems_are_told_at_once() -> None:
    """Up to a number that somebody reads, of all kinds of objects."""
    assert len(problems(queue("a", weight=0), queue("b", state="Ajar"), pod_group(phase="Asleep"))) == 3
    with pytest.raises(ImportRefused, match=r"\nand 5 more$"):
        imported(*(queue(f"q{number}", weight=0) for number in range(MOST_PROBLEMS + 5)))


def test_yaml_and_json_say_the_same() -> None:
    """One document or many, in Lists or alone."""
    objects = [queue(), queue("b", weight=2, deserved={GPU: "4"}), pod_group()]
    as_yaml = "---\n".join(yaml.safe_dump(item) for item in objects).encode()
    as_list = json.dumps({"kind": "List", "items": objects}).encode()
    apart = {str(number): json.dumps(item).encode() for number, item in enumerate(objects)}
    assert attempt({"x": as_yaml}) == attempt({"x": as_list}) == attempt(apart)


@given(st.permutations([queue("p"), queue("c", parent="p"), queue("d", parent="p", weight=2), queue("e", state="Closed")]))
def test_the_order_of_queues_counts_for_nothing(objects: list[dict[str, object]]) -> None:
    """The policy is the same, byte for byte."""
    assert text(*objects) == text(*sorted(objects, key=str))


def test_the_example_is_the_same_every_time() -> None:
    """Nothing is random, and no set is gone through."""
    assert attempt(FILES) == attempt(dict(reversed(FILES.items()))) == attempt(FILES)
    assert attempt(FILES).startswith("policy ")


# --- damage


@given(st.data())
def test_damaged_bytes_are_refused_or_imported(data: st.DataObject) -> None:
    """Bytes that are cut out, doubled, or replaced by others never end in anything but an answer."""
    name = data.draw(st.sampled_from(sorted(FILES)))
    whole = FILES[name]
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 400)))
    other = data.draw(st.one_of(st.just(b""), st.just(whole[start:end] * 2), st.binary(max_size=40)))
    assert attempt({**FILES, name: whole[:start] + other + whole[end:]})


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["1E30", "-1", "8", "a/b", "root", "cluster", "*"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["cpu", GPU, "gpu", "resource", ""]), inner, max_size=3)
    ),
    max_leaves=6,
)
"""Any value, often one that looks as if it belonged there."""


@given(st.data())
def test_any_value_in_any_field_is_refused_or_imported(data: st.DataObject) -> None:
    """A value of whatever form in any field, at any depth, of any object of the example."""
    documents = {name: yaml.safe_load(text) for name, text in FILES.items()}
    for _ in range(data.draw(st.integers(1, 3))):
        part = data.draw(st.sampled_from([documents[name] for name in sorted(documents)]))
        while True:
            key = data.draw(st.sampled_from(range(len(part)) if isinstance(part, list) else sorted(part)))
            inner = part[key]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 3)) == 0:
                break
            part = inner
        part[key] = data.draw(JSON)
        if any(not isinstance(document, dict) for document in documents.values()):
            break
    assert attempt({name: json.dumps(document, default=str).encode() for name, document in documents.items()})
