"""Dumps: which bytes have objects, and what is said of those that have none."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from gpol.adapters.kueue.import_.load import ImportRefused, read_files
from gpol.adapters.kueue.read.documents import dumps as reading
from gpol.adapters.kueue.read.documents import yaml_documents
from gpol.adapters.kueue.read.documents.json_documents import read_line
from gpol.adapters.kueue.read.documents.limits import UnreadableError

Refused = Callable[[bytes], str]


def objects(data: str) -> list[Any]:
    """The objects of a dump."""
    return [raw.data for raw in read_files([("dump", data.encode())])]


@pytest.mark.parametrize(
    "dump",
    [
        '{"kind": "A"}\n{"kind": "B"}',
        '[{"kind": "A"}, {"kind": "B"}]',
        '{"kind": "List", "items": [{"kind": "A"}, {"kind": "B"}]}',
        '{"kind": "CohortList", "items": [{"kind": "A"}, {"kind": "List", "items": [{"kind": "B"}]}]}',
        "kind: A\n---\nkind: B\n",
        "---\n---\nkind: A\n...\n---\n# nothing\n---\nkind: List\nitems:\n- kind: B\n",
        "\ufeffkind: A\n---\n{kind: B}\n",
    ],
)
def test_every_form_of_a_dump(dump: str) -> None:
    """JSON and YAML, documents one after the other, lists, and Lists within Lists hold the same objects."""
    assert objects(dump) == [{"kind": "A"}, {"kind": "B"}]


def test_plain_words_of_yaml_are_what_json_has() -> None:
    """Null, true, false and numbers are such; everything else, and all in quotes, is a text."""
    dump = "a: null\nb: ~\nc:\nd: true\ne: 12\nf: 1.50\ng: 2e3\nh: on\ni: 010\nj: 1:30\nk: 2026-01-02\nl: '7'\nm: 0x10\nn: yes\no: -3\n"
    read = {"a": None, "b": None, "c": None, "d": True, "e": 12, "f": Decimal("1.50"), "g": Decimal("2e3"), "h": "on", "i": "010"}
    read |= {"j": "1:30", "k": "2026-01-02", "l": "7", "m": "0x10", "n": "yes", "o": -3}
    assert objects(dump) == [read]


def test_numbers_of_json_stay_exact() -> None:
    """A number with a point is a decimal, not the nearest binary fraction."""
    assert objects('{"a": 0.1, "b": 12345678901234567890}') == [{"a": Decimal("0.1"), "b": 12345678901234567890}]


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("dump", "why"),
    [
        (BOMB.encode(), "line 1, column 4: has the anchor &a; write the value where it is needed"),
        (b"a: *x\n", "line 1, column 4: has the alias *x; write the value itself"),
        (b"a: !!python/object/apply:os.system [x]\n", "line 1, column 4: has the tag tag:yaml.org,2002:python/object/apply:os.system"),
        (b"a: !env HOME\n", "has the tag !env"),
        (b"!!set {a, b}\n", "has the tag"),
        (b"a: 1\nb: 2\na: 3\n", "line 3, column 1: has key `a` twice"),
        (b'{"a": 1, "a": 2}', "has key `a` twice"),
        (b"? [a]\n: b\n", "has a key that is no text"),
        (b"a: .nan\n", "line 1, column 4: has the number .nan"),
        (b"a: -.inf\n", "has the number -.inf"),
        (b'{"a": NaN}', "has the number NaN"),
        (b'{"a": Infinity}', "has the number Infinity"),
        (b'{"a": ' + b"9" * 5000 + b"}", "has a number of 5000 digits"),
        (b'{"a": 0.' + b"9" * 5000 + b"}", "has a number of 5002 digits"),
        (b"kind: A\n\xff\n", "byte 9: is not UTF-8"),
        (b"\xff\xfek\x00", "byte 1: is not UTF-8"),
        (b'{"a": 1', "line 1, column 8: is no JSON"),
        (b"a: [1\n", "is no YAML"),
        (b"a: \x00\n", "is no YAML"),
        (b"\tb: 1\n", "is no YAML"),
        (b"", "has no objects"),
        (b"---\n---\n", "has no objects"),
        (b"[[[[{}]]]]", "Lists in Lists in Lists"),
        (b"just text\n", "holds something that is no object"),
        (b"- 1\n- 2\n", "holds something that is no object"),
        (b"[" * 200_000, "is nested more than 64 deep; nest at most 64 deep"),
        (b"[" * 70 + b"]" * 70, "is nested more than 64 deep; nest at most 64 deep"),
        (b"a: " + b"[" * 20_000, "is nested more than 64 deep; nest at most 64 deep"),
        (b"- " * 5000 + b"a\n", "is nested more than 64 deep; nest at most 64 deep"),
        (
            b'{"kind": "List", "items": [{"kind": "List", "items": [{"kind": "List", "items": [{"kind": "A"}]}]}]}',
            "Lists in Lists in Lists",
        ),
    ],
)
def test_what_is_refused(dump: bytes, why: str, refused: Refused) -> None:
    """Every trap is refused by name, with its place where there is one, and without a traceback."""
    said = refused(dump)
    assert why in said
    assert said.startswith("dump.yaml: ")
    assert "; " in said


def test_the_configuration_in_a_configmap() -> None:
    """Kueue's manager keeps it as a text in a ConfigMap; any other ConfigMap is an object like others."""
    text = "kind: Configuration\nfairSharing: {}\n"
    assert objects(f"kind: ConfigMap\ndata:\n  controller_manager_config.yaml: {text!r}\n".replace("'", '"')) == [
        {"kind": "Configuration", "fairSharing": {}}
    ]
    assert objects("kind: ConfigMap\ndata: {a: b}\n") == [{"kind": "ConfigMap", "data": {"a": "b"}}]


def test_configmaps_within_each_other_are_refused(refused: Refused) -> None:
    """A text in a text in a text is no configuration, however deep it goes."""
    dump = "kind: Configuration\n"
    for _ in range(50):
        dump = "kind: ConfigMap\ndata:\n  controller_manager_config.yaml: |\n" + "".join(f"    {line}\n" for line in dump.splitlines())
    assert "has Lists in Lists in Lists" in refused(dump.encode())


@pytest.mark.parametrize(("text", "why"), [("a: *x", "line 1, column 4: has the alias *x"), ("hello", "holds something that is no object")])
def test_what_is_wrong_in_a_configmap_is_told_as_there(text: str, why: str, refused: Refused) -> None:
    """Its lines are not those of the file."""
    said = refused(f"# first\n\nkind: ConfigMap\ndata: {{controller_manager_config.yaml: {json.dumps(text)}}}\n".encode())
    assert said.startswith(f"dump.yaml: controller_manager_config.yaml: {why}")


def test_sixty_four_levels_are_fine() -> None:
    """The limit is on what is deeper: 63 lists in an object are read, in both forms."""
    inner = "[" * 63 + "1" + "]" * 63
    assert len(objects(f'{{"a": {inner}}}')) == 1
    assert len(objects(f"a: {inner}\n")) == 1


def test_how_much_is_read(monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    """Too many bytes, objects or documents are refused by their number."""
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    monkeypatch.setattr(reading, "MOST_OBJECTS", 3)
    monkeypatch.setattr(yaml_documents, "MOST_OBJECTS", 3)
    assert "has 101 bytes; give at most 100 at once" in refused(b"#" * 101)
    assert "has 4 objects; give at most 3 at once" in refused(b'{"kind": "List", "items": [{}, {}, {}, {}]}')
    assert "more than 3 entries" in refused(b"kind: List\nitems: [{}, {}, {}, {}]\n")
    assert "more than 3 documents" in refused(b"--- {}\n" * 4)
    assert "has 4 objects" in refused(b"{}\n" * 4)
    assert "has 4 objects" in refused(b"[{}, {}, {}, {}]")


def test_an_empty_list_is_fine() -> None:
    """There are clusters without Cohorts, and `kubectl get` says so by a List without items."""
    assert objects('{"kind": "List", "items": []}') == objects("kind: CohortList\nitems: []\n") == []


@pytest.mark.parametrize("rest", [{"continue": "abc"}, {"continue": "", "remainingItemCount": 7}])
def test_a_list_that_is_cut_off_is_there_itself(rest: dict[str, Any]) -> None:
    """So that it is told of; one that is whole is not."""
    dump = {"kind": "List", "metadata": rest, "items": [{"kind": "A"}]}
    assert objects(json.dumps(dump)) == [{"kind": "List", "metadata": rest}, {"kind": "A"}]
    assert objects(json.dumps(dump | {"metadata": {"continue": "", "resourceVersion": ""}})) == [{"kind": "A"}]


def test_all_files_are_told_of() -> None:
    """One file that cannot be read does not hide another, and nothing of either is read."""
    with pytest.raises(ImportRefused) as caught:
        read_files([("a.yaml", b"a: *x"), ("b.json", b"{"), ("c.yaml", b"kind: A")])
    assert [problem.file for problem in caught.value.problems] == ["a.yaml", "b.json"]


def test_a_line_is_one_value() -> None:
    """Exact numbers, a byte order mark passed over; anything beside the value, or no value at all, is refused."""
    assert read_line(b'\xef\xbb\xbf{"a": 0.1} ') == {"a": Decimal("0.1")}
    for line, why in (
        (b"{} {}", "has 2 values of JSON; write one object a line"),
        (b" ", "has 0 values of JSON"),
        (b'{"a": \xff}', "byte 7: is not UTF-8"),
        (b'{"a": 1e99999999999999999999}', "has the number 1e99999999999999999999; no quantity is that far from 1"),
        (b"NaN", "has the number NaN"),
        (b"{", "line 1, column 2: is no JSON: "),
    ):
        with pytest.raises(UnreadableError) as caught:
            read_line(line)
        assert str(caught.value).startswith(why)
    assert [read_line(line) for line in (b"null", b"5", b'"x"')] == [None, 5, "x"]
