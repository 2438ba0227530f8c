"""impact with several policies: a sweep, and the table of what each of them would have made of a recorded history."""

from collections.abc import Sequence
from contextlib import closing
from fractions import Fraction

from ...dsl.analysis.checker import check
from ...dsl.settable import SettingError
from ...dsl.syntax.names import listed
from ...sim.drive.driver import OnEvict
from ...sim.drive.policy import Policy
from ...sim.impact.columns.played_columns import Tools
from ...sim.impact.sweep import Backend, MissingExtraError, PolicyVariant, VariantFailure, VariantOutcome, sweep, values_of, variants
from ...sim.measure.figures import Figures, History
from ...sim.report.wording import hours, short, signed
from ..shared.output import FAILED, GOOD, INVALID, NO, NOT_VERIFIED, Format, complain, complain_text, counted, refuse, say, say_json
from ..shared.policies import names_apart, refuse_twins, refuse_undecided, rendered
from ..shared.progress import progress
from ..shared.tables import table
from .impact_output import figures_json

_CODES = {"endless": INVALID, "journal": FAILED, "damaged": NOT_VERIFIED, "lost": FAILED, "defect": FAILED}
_BACKENDS: dict[str, Backend] = {"local": "local", "dask": "dask", "ray": "ray"}


def chosen_variants(paths: Sequence[str], policies: Sequence[Policy], settings: Sequence[str], form: Format) -> list[PolicyVariant]:
    """Every policy with every combination of the values that `--set` gives.

    Ends the command for what cannot be set, what is no policy then, and what is the same policy as another.
    """
    try:
        values = dict(_setting(text) for text in settings)
        if len(values) < len(settings):
            refuse("--set: one path is set twice; give its values once, with commas in between")
        tried = variants(_named_apart(paths, policies), values)
    except SettingError as error:
        refuse(f"--set: {error}")
    digests = _digests(tried, form) if values else [policy.graph.digest for policy in policies]
    refuse_twins([variant.name for variant in tried], digests)
    return tried


def _named_apart(paths: Sequence[str], policies: Sequence[Policy]) -> list[PolicyVariant]:
    """The policies as they are, those of files with the same name by their paths."""
    names = names_apart(paths)
    return [
        PolicyVariant(policy.file, policy.text, path=name if name != policy.file else "")
        for name, policy in zip(names, policies, strict=True)
    ]


def _setting(text: str) -> tuple[str, tuple[str, ...]]:
    path, equals, values = text.rpartition("=")
    if not equals:
        refuse(f"--set: `{text}` sets nothing; write it as PATH=VALUES, such as queue.nlp.owns.h100=32..96:16")
    found = values_of(values)
    for number, value in enumerate(found):
        if value in found[:number]:
            refuse(f"--set: `{path}` is given the value `{value}` twice; give it once")
    return path, found


def _digests(tried: list[PolicyVariant], form: Format) -> list[str]:
    """What each variant means. Refuses the whole sweep, before any work, where a value makes a policy that has errors."""
    digests = []
    for variant in tried:
        checked = check(variant.text, variant.file)
        if checked.errors:
            for diagnostic in checked.errors:
                complain_text(rendered(diagnostic, checked.texts.get(diagnostic.file, ""), form))
            refuse(f"--set: `{variant.name}` has {counted(len(checked.errors), 'error')}; leave that value out, and nothing was played")
        assert checked.graph is not None
        refuse_undecided(checked.graph)
        digests.append(checked.graph.digest)
    return digests


def show_sweep(
    place: str,
    tried: list[PolicyVariant],
    on_evict: OnEvict | None,
    form: Format,
    *,
    upto: int,
    tools: Tools | None,
    backend: str,
    jobs: int | None,
    scheduler: str | None,
) -> int:
    """Play every variant up to an event and print one table, the recorded history first."""
    if backend not in _BACKENDS:
        refuse(f"--backend is one of {listed(_BACKENDS)}, not `{backend}`")
    if scheduler is not None and backend != "dask":
        refuse("--scheduler is the address of a Dask cluster; use it with --backend dask")
    found: list[VariantOutcome | VariantFailure] = []
    try:
        with (
            progress("playing policies", len(tried)) as tick,
            closing(sweep(place, tried, on_evict, _BACKENDS[backend], jobs or -1, scheduler, upto, tools)) as outcomes,
        ):
            for outcome in outcomes:
                found.append(outcome)
                tick(len(found))
    except MissingExtraError as error:
        refuse(str(error))
    except ConnectionError as error:
        refuse(str(error), FAILED)
    _print(tried, found, form)
    return _code(tried, found)


def _code(tried: list[PolicyVariant], found: list[VariantOutcome | VariantFailure]) -> int:
    """Tell the failures; of all exit codes the highest counts."""
    code = GOOD
    for variant, outcome in zip(tried, found, strict=True):
        if isinstance(outcome, VariantFailure):
            complain(f"gpol: {variant.name}: {outcome.message}")
            code = max(code, _CODES[outcome.kind])
        elif outcome.changed or outcome.impossible:
            code = max(code, NO)
    return code


def _print(tried: list[PolicyVariant], found: list[VariantOutcome | VariantFailure], form: Format) -> None:
    before = next((outcome.before for outcome in found if isinstance(outcome, VariantOutcome)), None)
    if form is Format.json:
        if before is not None:
            say_json("impact-variant", variant="recorded", **_total_json(before))
        for variant, outcome in zip(tried, found, strict=True):
            say_json("impact-variant", variant=variant.name, policy=variant.policy, settings=dict(variant.values), **_outcome_json(outcome))
        return
    figures = ("evicted", "rejected", "waiting", "mean wait", "p95", "GPU-hours", "makespan")
    header = ("policy", "changed", *figures, "worse", "better", "most hurt")
    rows = [("recorded", "-", *_totals(before), "-", "-", "-")] if before is not None else []
    table("Policies", header, [*rows, *(_row(*pair) for pair in zip(tried, found, strict=True))], form)
    say("changed: decisions; waiting: at the end, and in no mean wait; worse and better: workloads")
    say("most hurt: the queue whose mean wait grew most, and by how much")


def _totals(history: History) -> tuple[str, ...]:
    total: Figures = history.total
    waits = short(int(total.mean_wait)), short(total.p95_wait * 1_000_000)
    return (
        f"{total.evicted:,}",
        f"{total.rejected:,}",
        f"{total.waiting:,}",
        *waits,
        hours(total.used_area),
        short(history.end - history.start),
    )


def _row(variant: PolicyVariant, outcome: VariantOutcome | VariantFailure) -> tuple[str, ...]:
    if isinstance(outcome, VariantFailure):
        return (variant.name, "failed", *["-"] * 10)
    hurt = f"{outcome.worst_queue} {signed(short(int(outcome.worst_wait)))}" if outcome.worst_queue is not None else "none"
    return (variant.name, f"{outcome.changed:,}", *_totals(outcome.after), f"{outcome.worse:,}", f"{outcome.better:,}", hurt)


def _outcome_json(outcome: VariantOutcome | VariantFailure) -> dict[str, object]:
    if isinstance(outcome, VariantFailure):
        return {"failed": outcome.kind, "message": outcome.message}
    grown: Fraction = outcome.worst_wait
    return {
        **_total_json(outcome.after),
        "changed": outcome.changed,
        "worse": outcome.worse,
        "better": outcome.better,
        "impossible": outcome.impossible,
        "worst_queue": outcome.worst_queue,
        "worst_queue_extra_wait_us": int(grown),
    }


def _total_json(history: History) -> dict[str, object]:
    queues = {each.queue: figures_json(each) for each in history.queues}
    return {"total": {**figures_json(history.total), "start": history.start, "end": history.end}, "queues": queues}
