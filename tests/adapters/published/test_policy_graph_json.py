"""What `gpol compile` prints: its schema, the same bytes everywhere, equal for equal policies, and enough to compute the digest."""

import dataclasses
import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from gpol.adapters.published.policy_graph_json import policy_graph_json
from gpol.adapters.published.policy_graph_schema import policy_graph_schema
from gpol.cli.main import run_command
from gpol.dsl import check, compile_policy
from gpol.engine import guard, policy_graph, policy_settings
from gpol.engine.nodes import conditions
from gpol.engine.policy import doors, pass_settings
from gpol.engine.policy_graph import NO_PREEMPTION
from gpol.engine.policy_settings import LATER

RULES = """policy "rules" { preempt by here, there, reclaim-owned, fair-share, make-room }
flavor h100 { gpu 8 }
priority batch 100
cohort all {
  queue a { owns 8 gpu }
  queue b { owns nothing }
}
preempt here {
  evict from the same queue
  where (victim.priority < workload.priority or not victim.queue.share >= 1/3) and victim.user != "ada*"
}
preempt there {
  evict from queues that borrow, in the same cohort
  where workload.label "tier" = "größe \U0001f600" and victim.priority < batch
}
"""


def load(path: Path) -> ModuleType:
    """A test module, for the policies in it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _corpus() -> dict[str, str]:
    """Policies that differ in one thing each, by what it is, and those of the examples."""
    root = Path(__file__).resolve().parents[3]
    digests = load(root / "tests" / "dsl" / "analysis" / "test_digest.py")
    found = {"rules": RULES, "rich": digests.RICH, "cycles": digests.CYCLES, "places": digests.PLACES, **digests.PASSES}
    for name in ("test_another_way_to_say_the_same_keeps_the_digest", "test_another_meaning_has_another_digest"):
        for written, otherwise in getattr(digests, name).pytestmark[0].args[1]:
            text = digests.RICH.replace(written, otherwise, 1)
            found[f"rich {otherwise}"] = text.replace("for vision", "for image") if written == "queue vision" else text
    for name in ("test_cycles_said_another_way_keep_the_digest", "test_cycles_of_another_meaning_have_another_digest"):
        for written, otherwise in getattr(digests, name).pytestmark[0].args[1]:
            found[f"cycles {otherwise}"] = digests.CYCLES.replace(written, otherwise, 1)
    for written, otherwise in digests.test_places_of_another_meaning_have_another_digest.pytestmark[0].args[1]:
        found[f"places {otherwise}"] = digests.PLACES.replace(written, otherwise, 1)
    for search, changes in digests.OTHER_PASSES.items():
        for written, otherwise in changes:
            found[f"{search} {otherwise}"] = digests.PASSES[search].replace(written, otherwise, 1)
    for path in [*sorted((root / "examples").rglob("*.gpol")), *sorted((root / "tests" / "dsl" / "doubtful").glob("*.gpol"))]:
        found[path.name] = path.read_text()
    return {name: text for name, text in found.items() if check(text, "p.gpol").graph is not None}


CORPUS = _corpus()


def without_sources(value: Any) -> Any:
    """Plain data without the places where things are said."""
    if isinstance(value, list):
        return [without_sources(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: without_sources(each) for key, each in value.items() if key != "source" and not key.endswith("_source")}


@pytest.fixture(scope="module")
def program(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in the documentation that computes a digest."""
    [text] = re.findall(r"^```python\n(.*?)^```$", (root / "docs" / "policy-graph.md").read_text(), re.MULTILINE | re.DOTALL)
    path = tmp_path_factory.mktemp("page") / "digest.py"
    path.write_text(text)
    return path


# --- the form -------------------------------------------------------------------------------------------------------


def test_the_published_schema_is_the_one_of_the_code(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file in docs is what `gpol schema policy-graph` prints."""
    published = (root / "docs" / "schema" / "policy-graph.json").read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(published))

    assert json.loads(published) == policy_graph_schema()
    assert run_command(["schema", "policy-graph"]) == 0
    assert capsys.readouterr().out == published


def test_the_corpus_is_large() -> None:
    """The policies that are looked at below are many, and of all three ways of deciding."""
    graphs = [compile_policy(text, "p.gpol") for text in CORPUS.values()]
    assert len(graphs) > 90
    ways = {(graph.settings.cycles is None, graph.settings.passes is None) for graph in graphs}
    assert ways == {(True, True), (False, True), (True, False)}


def test_every_policy_fits_the_schema() -> None:
    """An independent validator finds nothing wrong, and every part of the schema is met by some policy."""
    schema = policy_graph_schema()
    validator = jsonschema.Draft202012Validator(schema)
    met: set[str] = set()
    for name, text in CORPUS.items():
        graph = compile_policy(text, "p.gpol")
        made = json.loads(json.dumps(policy_graph_json(graph)))
        assert [error.message for error in validator.iter_errors(made)] == [], name
        met |= _types(graph)

    assert set(schema["$defs"]) <= met


def _types(value: object) -> set[str]:
    """The names of all types in a graph."""
    if isinstance(value, tuple):
        return {name for each in value for name in _types(each)}
    if not dataclasses.is_dataclass(value):
        return set()
    return {type(value).__name__}.union(*(_types(getattr(value, field.name)) for field in dataclasses.fields(value)))


def test_names_stand_beside_indices() -> None:
    """What an index leads to can be read: flavors, nodes, slots of quotas; fractions are text, guards say their form."""
    made = policy_graph_json(compile_policy(CORPUS["rich"], "p.gpol"))
    nlp = next(node for node in made["nodes"] if node["name"] == "nlp")
    queue = made["queues"][nlp["queue"]]
    owned = next(quota for quota in nlp["quotas"] if quota["nominal"])
    [deny] = [rule for rule in made["admission"] if rule["action"] == "deny"]

    assert (nlp["parent_name"], made["nodes"][nlp["parent"]]["name"]) == ("research", "research")
    assert (queue["node_name"], queue["flavors_names"][0]) == ("nlp", "h100")
    assert (owned["flavor_name"], owned["resource_name"], owned["nominal"], owned["nominal_source"]["file"]) == (
        "h100",
        "gpu",
        40_000,
        "p.gpol",
    )
    assert made["slots"][owned["index"]] == {"index": owned["index"], "flavor": 1, "flavor_name": "h100", "resource": "gpu"}
    assert made["flavors"][1]["worth"] == "5/2"
    assert (deny["nodes_names"], deny["guard"]["form"], deny["guard"]["right"]) == (
        ["nlp"],
        "Compare",
        {"form": "Const", "value": 8000, "type": "amount"},
    )
    assert made["nodes"][0]["parent_name"] is None


# --- the same for the same ------------------------------------------------------------------------------------------


def test_equal_policies_are_equal_up_to_sources() -> None:
    """Of all pairs of policies those with one digest have the same JSON but for sources, in the same order of keys; the others differ."""
    texts: dict[str, set[str]] = {}
    for text in CORPUS.values():
        graph = compile_policy(text, "p.gpol")
        bare = without_sources(policy_graph_json(graph))
        assert bare.pop("digest") == graph.digest
        texts.setdefault(graph.digest, set()).add(json.dumps(bare))

    assert {digest: len(found) for digest, found in texts.items() if len(found) > 1} == {}
    assert len({min(found) for found in texts.values()}) == len(texts)
    assert len(texts) < len(CORPUS)


def test_the_name_of_the_file_is_in_sources_alone() -> None:
    """The same text under another name, further down, is the same but for its sources."""
    one, two = (policy_graph_json(compile_policy(text, file)) for text, file in ((RULES, "p.gpol"), ("# first\n" + RULES, "q.gpol")))
    assert one != two
    assert without_sources(one) == without_sources(two)


@pytest.mark.parametrize("policy", ["rich", "cycles"])
def test_hash_seeds_and_pythons_decide_nothing(policy: str, tmp_path: Path) -> None:
    """In processes of their own, under several hash seeds and every Python with gpol that is here, the bytes are the same."""
    (tmp_path / "p.gpol").write_text(CORPUS[policy])
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 16) if minor != sys.version_info.minor]
    named = os.environ.get("GPOL_OTHER_PYTHONS", "").split(os.pathsep)
    others = [python for python in {*found, *named} if python and _has_gpol(python)]
    code = "from gpol.cli.main import main; main()"
    made = set()
    for python, seed in [
        (sys.executable, "0"),
        (sys.executable, "1"),
        (sys.executable, "4294967295"),
        *((python, "2") for python in others),
    ]:
        command = [python, "-c", code, "compile", str(tmp_path / "p.gpol")]
        made.add(subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout)

    assert len(made) == 1
    assert json.loads(made.pop())["digest"] == compile_policy(CORPUS[policy], "p.gpol").digest


def _has_gpol(python: str) -> bool:
    return subprocess.run([python, "-c", "import gpol.cli.main"], capture_output=True, check=False).returncode == 0


def test_the_page_prints_what_it_says(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command on the page, run where the examples are, prints the line below it."""
    page = (root / "docs" / "policy-graph.md").read_text()
    [(command, printed)] = re.findall(r"^```console\n\$ gpol (.*)\n(.*\n)```$", page, re.MULTILINE)
    shutil.copytree(root / "examples" / "lab", tmp_path / "examples" / "lab")
    monkeypatch.chdir(tmp_path)

    assert run_command(command.split()) == 0
    assert capsys.readouterr().out == printed


# --- the digest -----------------------------------------------------------------------------------------------------


def test_the_digest_can_be_computed_by_the_page(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program in the documentation, which imports nothing of gpol, gives the digest of every policy."""
    assert "gpol" not in re.findall(r"^(?:import|from) (\w+)", program.read_text(), re.MULTILINE)
    file = tmp_path / "compiled.json"
    monkeypatch.setattr(sys, "argv", ["digest.py", str(file)])
    monkeypatch.setattr("builtins.open", _closing(open))
    for text in CORPUS.values():
        graph = compile_policy(text, "p.gpol")
        file.write_text(json.dumps(policy_graph_json(graph)))
        runpy.run_path(str(program))
        assert capsys.readouterr().out == f"{graph.digest}\n"


def _closing(real: Any) -> Any:
    """The program leaves its file to the interpreter; here it is closed at once."""

    def opened(*arguments: Any, **named: Any) -> Any:
        import io

        with real(*arguments, **named) as file:
            return io.StringIO(file.read()) if "encoding" in named else io.BytesIO(file.read())

    return opened


def test_the_program_notices_another_policy(program: Path, tmp_path: Path) -> None:
    """Where the JSON was altered it ends with an error."""
    made = policy_graph_json(compile_policy(RULES, "p.gpol"))
    made["nodes"][2]["quotas"][0]["nominal"] += 1
    (tmp_path / "compiled.json").write_text(json.dumps(made))
    done = subprocess.run([sys.executable, str(program), str(tmp_path / "compiled.json")], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("AssertionError")


def test_the_program_knows_every_field(program: Path) -> None:
    """The tables of the page name every type and field of a graph, in order, and the later ones with their defaults."""
    tables: dict[str, Any] = {}
    exec(program.read_text().split("def plain")[0], tables)
    parts = [
        kind
        for module in (policy_graph, policy_settings, pass_settings, doors, guard, conditions)
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__module__ == module.__name__ and kind.__name__ != "Source"
    ]
    first = {kind.__name__: [name for name, since in _digested(kind) if since is None] for kind in parts}
    later = {kind.__name__: {name: since[0] for name, since in _digested(kind) if since is not None} for kind in parts}

    assert {kind: [_name(said) for said in fields.split()] for kind, fields in tables["FIELDS"].items()} == {
        **first,
        "Const": ["value", "type"],
    }
    said = {kind: {_name(field): default for field, default in fields.items()} for kind, fields in tables["LATER"].items()}
    assert said == {kind: {name: _json(default) for name, default in fields.items()} for kind, fields in later.items() if fields}


def _digested(kind: type) -> list[tuple[str, tuple[Any] | None]]:
    """The fields that take part in a digest; those that came later with their default."""
    places = [field for field in dataclasses.fields(kind) if field.name not in ("digest", "source") and not field.name.endswith("_source")]
    return [(field.name, (field.default,) if LATER in field.metadata else None) for field in places]


def _name(said: str) -> str:
    return said.partition(":")[0]


def _json(default: Any) -> Any:
    assert not isinstance(default, Fraction)
    return dataclasses.asdict(default) if default is NO_PREEMPTION else [] if default == () else default
