"""import volcano: the objects of a cluster with Volcano, as a policy and facts."""

from typing import TYPE_CHECKING

import click

from ..outputs.file_kinds import FACTS, IMPORTED, marked
from ..shared.files import Target, write_files
from ..shared.moments import parse_time
from ..shared.options import PLACE, force, with_format
from ..shared.output import GOOD, Format, complain, counted, refuse, say, say_json, say_text
from ..shared.progress import progress
from ..shared.reading import file_name, read_bytes
from .import_ import import_
from .kueue_files import as_data, check_targets, complain_of

if TYPE_CHECKING:
    from ...adapters.volcano.import_.load_volcano import VolcanoImport


@import_.command("volcano")
@click.argument("dumps", metavar="DUMP...", type=PLACE, nargs=-1, required=True)
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the policy into this file; else it is printed")
@click.option("--facts", metavar="PATH", type=PLACE, help="write the facts that rebuild the present state into this file, one a line")
@force
@click.option("--at", metavar="TIME", help="the moment of the dumps; else the latest one that they name")
@click.option("--flavor", metavar="NAME", help="what the only flavor is called; else default")
@click.option(
    "--capacity",
    metavar="RESOURCE=AMOUNT",
    multiple=True,
    help="how much the cluster has, such as nvidia.com/gpu=64; else what the root's capability says, or what is deserved",
)
@with_format
def import_volcano(
    dumps: tuple[str, ...],
    out: str | None,
    facts: str | None,
    force: bool,
    at: str | None,
    flavor: str | None,
    capacity: tuple[str, ...],
    form: Format,
) -> int:
    """Import Volcano's objects as `kubectl get -o yaml|json` writes them; - is standard input."""
    from ...adapters.volcano.import_.load_volcano import FLAVOR, ImportRefused, latest_moment, load_volcano, read_files
    from ...dsl import print_tree

    wanted = (("-o", out, IMPORTED), ("--facts", facts, FACTS))
    targets = [Target(option, path, kind, force) for option, path, kind in wanted if path is not None]
    check_targets(dumps, targets)
    there = _capacity(capacity)
    _check_flavor(flavor)
    try:
        with progress("reading objects", None):
            raws = read_files((file_name(path), read_bytes(path)) for path in dumps)
            now = _moment(at, latest_moment(raws))
            imported = load_volcano(raws, now, FLAVOR if flavor is None else flavor, there)
    except ImportRefused as error:
        complain_of(error)
        refuse("nothing was imported")
    if not now and imported.facts:
        refuse("the objects name no time; give the moment of the dumps with --at; nothing was imported")
    with progress("making the policy", None):
        text = marked(print_tree(imported.tree), "import volcano")
    _try(text, imported, now)
    lines = "".join(f"{fact.payload().decode()}\n" for fact in imported.facts)
    write_files((target, text if target.kind is IMPORTED else lines) for target in targets)
    if form is Format.json:
        _tell_as_json(imported, now, out, facts, text)
        return GOOD
    if out is None:
        say_text(text.rstrip("\n"))
    _tell(imported, now, out)
    return GOOD


def _capacity(said: tuple[str, ...]) -> dict[str, int]:
    """The amounts of `--capacity`."""
    from ...adapters.volcano.import_.load_volcano import said_capacity

    try:
        return said_capacity(said)
    except ValueError as error:
        refuse(f"--capacity: {error}")


def _check_flavor(name: str | None) -> None:
    """Refuse what the language takes for no name."""
    if name is not None and (not 1 <= len(name) <= 253 or name != name.strip() or not name.isprintable()):
        refuse("--flavor: a name has 1 to 253 visible characters, and no space at an end")


def _moment(at: str | None, latest: int) -> int:
    """The moment of the dumps in microseconds; 0 where neither the option nor an object names one."""
    from ...engine.units import format_time

    now = parse_time(at, "--at")
    if now is None:
        return latest
    if now < latest:
        refuse(f"--at: {format_time(now)} is before {format_time(latest)}, which an object names; give that moment or a later one")
    return now


def _try(text: str, imported: "VolcanoImport", now: int) -> None:
    """Check that the policy is one and that the facts can follow it, before anything is written."""
    from ...dsl import compile_policy
    from ...dsl.diagnostics import PolicyError
    from ...engine.default_core import new_core
    from ...engine.errors import FactError
    from ...engine.facts import PolicyActivated

    _check_size(text)
    try:
        with progress("trying the policy and the facts", len(imported.facts)) as tick:
            graph = compile_policy(text, "imported.gpol")
            core = new_core()
            core.step(PolicyActivated(time=now, file="imported.gpol", text=text, digest=graph.digest), graph)
            for number, fact in enumerate(imported.facts):
                tick(number)
                core.check(fact)
                core.apply(fact)
    except PolicyError as error:
        for diagnostic in error.diagnostics[:20]:
            complain(f"gpol: {diagnostic.message}" + (f"; {diagnostic.help}" if diagnostic.help else ""))
        refuse("these objects make no policy that can be used; nothing was imported")
    except FactError as error:
        refuse(f"the objects do not go together: {error}; nothing was imported")


def _check_size(text: str) -> None:
    """Refuse what makes a policy of more than a file of gpol holds."""
    from ...dsl.syntax.items import MAX_BYTES, MAX_LINES

    lines, size = text.count("\n"), len(text.encode())
    if lines > MAX_LINES or size > MAX_BYTES:
        found, most = f"{lines:,} lines and {size:,} bytes", f"{MAX_LINES:,} lines and {MAX_BYTES:,} bytes"
        refuse(f"the policy would have {found}, and one has at most {most}; import fewer Queues at a time; nothing was imported")


def _tell_as_json(imported: "VolcanoImport", now: int, out: str | None, facts: str | None, text: str) -> None:
    """What was imported, as one line; with the policy's text where that is written to no file."""
    counts = {"queues": len(imported.objects.queues), "workloads": _workloads(imported)}
    printed = {"text": text} if out is None else {}
    say_json("import", policy=out, facts=facts, at=now, **counts, notes=as_data(imported.notes), **printed)


def _tell(imported: "VolcanoImport", now: int, out: str | None) -> None:
    """What was imported and what was not, on stderr where the policy itself is printed."""
    from ...engine.units import format_time

    objects = imported.objects
    tell = complain if out is None else say
    for note in imported.notes:
        tell(f"note: {note}")
    moment = f" as of {format_time(now)}" if now else ""
    classes = len(objects.priorities)
    priorities = f"{classes:,} PriorityClass{'es' * (classes != 1)}"
    tell(f"imported {counted(len(objects.queues), 'Queue')}, {priorities} and {counted(_workloads(imported), 'PodGroup')}{moment}")
    if objects.hyper_nodes:
        nodes = sum(fact.kind == "NodeAdded" for fact in imported.facts)
        tell(f"placed in {counted(len(objects.hyper_nodes), 'HyperNode')} on {counted(nodes, 'Node')}")
    completed = sum(group.phase == "Completed" for group in objects.pod_groups)
    if completed:
        tell(f"left out {counted(completed, 'PodGroup')} that completed")


def _workloads(imported: "VolcanoImport") -> int:
    """How many workloads the facts submit."""
    return sum(fact.kind == "WorkloadSubmitted" for fact in imported.facts)
