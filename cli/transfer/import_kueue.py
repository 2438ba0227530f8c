"""import kueue: the objects of a cluster with Kueue, as a policy and facts."""

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
    from ...adapters.kueue.import_.load import Imported
    from ...adapters.kueue.read.objects import Objects


@import_.command("kueue")
@click.argument("dumps", metavar="DUMP...", type=PLACE, nargs=-1, required=True)
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the policy into this file; else it is printed")
@click.option("--facts", metavar="PATH", type=PLACE, help="write the facts that rebuild the present state into this file, one a line")
@force
@click.option("--profile", metavar="NAME", help="kueue.classical, kueue.fair or gpol.fair; else as the dumps' Configuration says")
@click.option("--at", metavar="TIME", help="the moment of the dumps; else the latest one that they name")
@click.option("--priority-boost", "boost", is_flag=True, help="count priority boosts, as with Kueue's feature gate PriorityBoost")
@with_format
def import_kueue(
    dumps: tuple[str, ...], out: str | None, facts: str | None, force: bool, profile: str | None, at: str | None, boost: bool, form: Format
) -> int:
    """Import Kueue's objects as `kubectl get -o yaml|json` writes them; - is standard input."""
    from ...adapters.kueue.import_.load import PROFILES, ImportRefused, latest_moment, load, read_files
    from ...dsl import print_tree

    if profile is not None and profile not in PROFILES:
        refuse(f"--profile: `{profile}` is none of {', '.join(PROFILES)}")
    wanted = (("-o", out, IMPORTED), ("--facts", facts, FACTS))
    targets = [Target(option, path, kind, force) for option, path, kind in wanted if path is not None]
    check_targets(dumps, targets)
    try:
        with progress("reading objects", None):
            raws = read_files((file_name(path), read_bytes(path)) for path in dumps)
            now = _moment(at, latest_moment(raws))
            imported = load(raws, now, profile, boost=boost or None)
    except ImportRefused as error:
        complain_of(error)
        refuse("nothing was imported")
    _refuse_nothing(imported.objects)
    if not now and imported.facts:
        refuse("the objects name no time; give the moment of the dumps with --at; nothing was imported")
    with progress("making the policy", None):
        text = marked(print_tree(imported.tree), "import kueue")
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


def _moment(at: str | None, latest: int) -> int:
    """The moment of the dumps in microseconds; 0 where neither the option nor an object names one."""
    from ...engine.units import format_time

    now = parse_time(at, "--at")
    if now is None:
        return latest
    if now < latest:
        refuse(f"--at: {format_time(now)} is before {format_time(latest)}, which an object names; give that moment or a later one")
    return now


def _refuse_nothing(objects: "Objects") -> None:
    """Refuse dumps without any object that makes a policy: most likely they are the wrong files."""
    if not (
        objects.cluster_queues or objects.cohorts or objects.flavors or objects.local_queues or objects.priorities or objects.workloads
    ):
        wanted = "ClusterQueues, Cohorts, LocalQueues, ResourceFlavors, WorkloadPriorityClasses and Workloads"
        refuse(f"no object is of a kind that makes a policy; give {wanted}; nothing was imported")


def _try(text: str, imported: "Imported", now: int) -> None:
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
        remedy = "import one tree of cohorts at a time, with its ClusterQueues and their LocalQueues"
        refuse(f"the policy would have {found}, and one has at most {most}; {remedy}; nothing was imported")


def _tell_as_json(imported: "Imported", now: int, out: str | None, facts: str | None, text: str) -> None:
    """What was imported, as one line; with the policy's text where that is written to no file."""
    counts = {"cluster_queues": len(imported.objects.cluster_queues), "workloads": _workloads(imported)}
    printed = {"text": text} if out is None else {}
    say_json("import", policy=out, facts=facts, at=now, **counts, notes=as_data(imported.notes), **printed)


def _tell(imported: "Imported", now: int, out: str | None) -> None:
    """What was imported and what was not, on stderr where the policy itself is printed."""
    from ...engine.units import format_time

    objects = imported.objects
    tell = complain if out is None else say
    for note in imported.notes:
        tell(f"note: {note}")
    used = {queue.name for queue in objects.cluster_queues}
    local_queues = sum(local.cluster_queue in used for local in objects.local_queues)
    moment = f" as of {format_time(now)}" if now else ""
    tell(
        f"imported {counted(len(objects.cluster_queues), 'ClusterQueue')}, {counted(len(objects.cohorts), 'Cohort')}, "
        f"{counted(local_queues, 'LocalQueue')}, {counted(len(objects.flavors), 'ResourceFlavor')} and "
        f"{counted(_workloads(imported), 'Workload')}{moment}"
    )
    finished = sum(workload.finished for workload in objects.workloads)
    if finished:
        tell(f"left out {counted(finished, 'Workload')} that finished")


def _workloads(imported: "Imported") -> int:
    """How many workloads the facts submit."""
    return sum(fact.kind == "WorkloadSubmitted" for fact in imported.facts)
