"""import kueue: the objects of a cluster with Kueue, as a policy and facts."""

from typing import TYPE_CHECKING

import click

from ..shared.files import write_new
from ..shared.moments import parse_time
from ..shared.options import PLACE, with_format
from ..shared.output import GOOD, Format, complain, counted, refuse, say, say_json, say_text
from ..shared.reading import file_name, read_bytes
from .kueue_files import as_data, check_targets, complain_of

if TYPE_CHECKING:
    from ...adapters.kueue.import_.load import Imported
    from ...adapters.kueue.read.objects import Objects


@click.group("import")
def import_() -> None:
    """Make a policy and facts of another system's state."""


@import_.command("kueue")
@click.argument("dumps", metavar="DUMP...", type=PLACE, nargs=-1, required=True)
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the policy into this new file; else it is printed")
@click.option("--facts", metavar="PATH", type=PLACE, help="write the facts that rebuild the present state into this new file, one a line")
@click.option("--profile", metavar="NAME", help="kueue.classical, kueue.fair or gpol.fair; else as the dumps' Configuration says")
@click.option("--at", metavar="TIME", help="the moment of the dumps; else the latest one that they name")
@click.option("--priority-boost", "boost", is_flag=True, help="count priority boosts, as with Kueue's feature gate PriorityBoost")
@with_format
def import_kueue(
    dumps: tuple[str, ...], out: str | None, facts: str | None, profile: str | None, at: str | None, boost: bool, form: Format
) -> int:
    """Import Kueue's objects as `kubectl get -o yaml|json` writes them; - is standard input."""
    from ...adapters.kueue.import_.load import PROFILES, ImportRefused, latest_moment, load, read_files
    from ...dsl import print_tree

    if profile is not None and profile not in PROFILES:
        refuse(f"--profile: `{profile}` is none of {', '.join(PROFILES)}")
    targets = {option: path for option, path in (("-o", out), ("--facts", facts)) if path is not None}
    check_targets(dumps, targets)
    try:
        raws = read_files((file_name(path), read_bytes(path)) for path in dumps)
        now = parse_time(at, "--at") if at is not None else latest_moment(raws)
        imported = load(raws, now or 0, profile, boost=boost or None)
    except ImportRefused as error:
        complain_of(error)
        refuse("nothing was imported")
    _refuse_nothing(imported.objects)
    text = print_tree(imported.tree)
    _try(text, imported, now or 0)
    lines = "".join(f"{fact.payload().decode()}\n" for fact in imported.facts)
    write_new({path: text if option == "-o" else lines for option, path in targets.items()})
    if out is None:
        say_text(text.rstrip("\n"))
    _tell(imported, now or 0, out, facts, form)
    return GOOD


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
        graph = compile_policy(text, "imported.gpol")
        core = new_core()
        core.step(PolicyActivated(time=now, file="imported.gpol", text=text, digest=graph.digest), graph)
        for fact in imported.facts:
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


def _tell(imported: "Imported", now: int, out: str | None, facts: str | None, form: Format) -> None:
    """What was imported and what was not, on stderr where the policy itself is printed."""
    from ...engine.units import format_time

    objects = imported.objects
    if form is Format.json and out is None:
        return
    if form is Format.json:
        counts = {"cluster_queues": len(objects.cluster_queues), "workloads": len(objects.workloads)}
        say_json("import", policy=out, facts=facts, at=now, **counts, notes=as_data(imported.notes))
        return
    tell = complain if out is None else say
    for note in imported.notes:
        tell(f"note: {note}")
    tell(
        f"imported {counted(len(objects.cluster_queues), 'ClusterQueue')}, {counted(len(objects.cohorts), 'Cohort')}, "
        f"{counted(len(objects.local_queues), 'LocalQueue')}, {counted(len(objects.flavors), 'ResourceFlavor')} and "
        f"{counted(len(objects.workloads), 'Workload')} as of {format_time(now)}"
    )
