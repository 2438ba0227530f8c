"""`gpol import kueue`, `gpol export kueue` and `gpol kueue decide`: Kueue's objects to a policy and facts, and back; or to decisions."""

import gzip
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

from ..adapters.kueue.exporting import GPU, ExportRefused, export, json_list, yaml_documents
from ..adapters.kueue.load import PROFILES, Imported, ImportRefused, latest_moment, load, read_files
from ..adapters.kueue.objects import Objects
from ..adapters.kueue.problems import Note, Refused
from ..adapters.kueue.reading import UnreadableError, read_line
from ..adapters.kueue.scenarios import decide
from ..dsl import compile_policy, print_tree
from ..dsl.diagnostics import PolicyError
from ..dsl.split import MAX_BYTES, MAX_LINES
from ..engine.errors import FactError
from ..engine.events import PolicyActivated
from ..engine.reference import Core
from ..engine.units import format_time
from .files import check_new, real_path, write_new
from .moments import parse_time
from .output import (
    GOOD,
    INVALID,
    Format,
    checked_policy,
    complain,
    counted,
    file_name,
    read_bytes,
    refuse,
    say,
    say_json,
    say_text,
)

MAX_LINE = 32 << 20
"""Bytes of a scenario."""

MOST_TOLD = 20
"""Lines that are complained of on stderr; the answers tell of all."""


# --- decide -----------------------------------------------------------------------------------------------------------


def decide_scenarios(path: str) -> int:
    """Answer scenarios line by line. A line that is no scenario is answered with its error, the others are answered all the same."""
    wrong = 0
    with ExitStack() as stack:
        for number, text in enumerate(_lines(path, stack), start=1):
            if not text.strip():
                continue
            scenario: Any = None
            try:
                scenario = _parsed(text)
                answer = decide(scenario)
            except Exception as error:  # whatever it is, no line may lose the answers to those after it
                problem = _problem(error)
                wrong += 1
                if wrong <= MOST_TOLD:
                    complain(f"gpol: {file_name(path)}:{number}: {problem.splitlines()[0]}")
                answer = {"name": _name(scenario), "error": problem}
            say_text(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    if wrong > MOST_TOLD:
        complain(f"gpol: and {wrong - MOST_TOLD} more lines are no scenarios")
    return INVALID if wrong else GOOD


def _parsed(text: bytes) -> Any:
    """A line as data. Raises ValueError with what is wrong with it."""
    if len(text) > MAX_LINE:
        raise ValueError(f"the line is longer than {MAX_LINE:,} bytes; split the scenario")
    return read_line(text)


def _problem(error: Exception) -> str:
    """What is wrong with a line; a defect of gpol is told in a line too, and shown with its trace where that is wanted."""
    if isinstance(error, ImportRefused | UnreadableError) or type(error) is ValueError:
        return str(error)
    if os.environ.get("GPOL_TRACEBACK"):
        raise error
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"internal error: {told}; set GPOL_TRACEBACK=1 to see where, and report it"


def _name(line: Any) -> str | None:
    """What the scenario of a line that was refused is called, where that can be told."""
    scenario = line["in"] if isinstance(line, dict) and "in" in line else line
    name = scenario.get("name") if isinstance(scenario, dict) else None
    return name if isinstance(name, str) else None


def _lines(path: str, stack: ExitStack) -> Iterator[bytes]:
    """The lines of a file; of one that is too long its beginning alone."""
    try:
        file: BinaryIO | gzip.GzipFile
        if path == "-":
            file = sys.stdin.buffer
        elif path.endswith(".gz"):
            file = stack.enter_context(gzip.open(path, "rb"))  # noqa: SIM115  # closed with the stack
        else:
            file = stack.enter_context(open(path, "rb"))  # noqa: SIM115
        while line := file.readline(MAX_LINE + 1):
            rest = line
            while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
                rest = file.readline(MAX_LINE + 1)
            yield line
    except (OSError, EOFError, zlib.error) as error:
        refuse(f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}; check the name, your rights and the file")


# --- import -----------------------------------------------------------------------------------------------------------


def import_dumps(
    paths: tuple[str, ...], out: str | None, facts: str | None, profile: str | None, at: str | None, boost: bool, form: Format
) -> int:
    """Import dumps of a cluster: write a policy and facts, or neither."""
    if profile is not None and profile not in PROFILES:
        refuse(f"--profile: `{profile}` is none of {', '.join(PROFILES)}")
    targets = {option: path for option, path in (("-o", out), ("--facts", facts)) if path is not None}
    _keep_apart(paths, targets)
    try:
        raws = read_files((file_name(path), read_bytes(path)) for path in paths)
        now = parse_time(at, "--at") if at is not None else latest_moment(raws)
        imported = load(raws, now or 0, profile, boost=boost or None)
    except ImportRefused as error:
        _complain_of(error)
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


def _refuse_nothing(objects: Objects) -> None:
    """Refuse dumps of which nothing would come: most likely they are others than was meant."""
    if not (
        objects.cluster_queues or objects.cohorts or objects.flavors or objects.local_queues or objects.priorities or objects.workloads
    ):
        wanted = "ClusterQueues, Cohorts, LocalQueues, ResourceFlavors, WorkloadPriorityClasses and Workloads"
        refuse(f"no object is of a kind that makes a policy; give {wanted}; nothing was imported")


def _complain_of(refused: Refused) -> None:
    for problem in refused.problems:
        complain(f"gpol: {problem}")
    if refused.more:
        complain(f"gpol: and {refused.more} more")


def _keep_apart(paths: tuple[str, ...], targets: dict[str, str]) -> None:
    """Refuse to write over anything: what is read, what is there, one result over the other. `targets` are paths by option."""
    read = {real_path(path) for path in paths if path != "-"}
    for option, path in targets.items():
        if path != "-" and real_path(path) in read:
            refuse(f"{option}: `{path}` is what is read; choose another name")
        check_new(option, path, printed=option == "-o")
    if len({real_path(path) for path in targets.values()}) < len(targets):
        refuse("-o and --facts name the same file; choose two names")


def _try(text: str, imported: Imported, now: int) -> None:
    """Check that the policy is one and that the facts can follow it, before anything is written."""
    _check_size(text)
    try:
        graph = compile_policy(text, "imported.gpol")
        core = Core()
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
    lines, size = text.count("\n"), len(text.encode())
    if lines > MAX_LINES or size > MAX_BYTES:
        found, most = f"{lines:,} lines and {size:,} bytes", f"{MAX_LINES:,} lines and {MAX_BYTES:,} bytes"
        remedy = "import one tree of cohorts at a time, with its ClusterQueues and their LocalQueues"
        refuse(f"the policy would have {found}, and one has at most {most}; {remedy}; nothing was imported")


def _tell(imported: Imported, now: int, out: str | None, facts: str | None, form: Format) -> None:
    """What was imported and what was not, on stderr where the policy itself is printed."""
    objects = imported.objects
    if form is Format.json and out is None:
        return
    if form is Format.json:
        counts = {"cluster_queues": len(objects.cluster_queues), "workloads": len(objects.workloads)}
        say_json("import", policy=out, facts=facts, at=now, **counts, notes=_as_data(imported.notes))
        return
    tell = complain if out is None else say
    for note in imported.notes:
        tell(f"note: {note}")
    tell(
        f"imported {counted(len(objects.cluster_queues), 'ClusterQueue')}, {counted(len(objects.cohorts), 'Cohort')}, "
        f"{counted(len(objects.local_queues), 'LocalQueue')}, {counted(len(objects.flavors), 'ResourceFlavor')} and "
        f"{counted(len(objects.workloads), 'Workload')} as of {format_time(now)}"
    )


def _as_data(notes: list[Note]) -> list[dict[str, Any]]:
    return [{"object_kind": note.kind, "names": note.names, "field": note.field, "text": note.text} for note in notes]


# --- export -----------------------------------------------------------------------------------------------------------


def export_policy(path: str, out: str | None, as_json: bool, gpu: str | None, form: Format) -> int:
    """Export a policy to Kueue's objects: write or print them all, or nothing. What they don't say is told on stderr."""
    targets = {"-o": out} if out is not None else {}
    _keep_apart((path,), targets)
    checked = checked_policy(path, form)
    assert checked.graph is not None  # a profile was refused
    if gpu is not None and all(slot.resource != "gpu" for slot in checked.graph.slots):
        refuse("--gpu: the policy counts no resource of the name gpu; leave the option out")
    try:
        exported = export(checked.graph, gpu if gpu is not None else GPU)
    except ExportRefused as error:
        _complain_of(error)
        refuse("nothing was exported")
    text = (json_list if as_json else yaml_documents)(exported.objects)
    if out is None:
        say_text(text.rstrip("\n"))
    else:
        write_new({out: text})
    if out is not None and form is Format.json:
        say_json("export", path=out, objects=len(exported.objects), notes=_as_data(exported.notes))
        return GOOD
    for note in exported.notes:
        complain(f"note: {note}")
    if out is not None:
        kinds = Counter(str(item["kind"]) for item in exported.objects)
        say(f"exported {', '.join(f'{number} {kind}' for kind, number in kinds.items())} to {out}")
    return GOOD
