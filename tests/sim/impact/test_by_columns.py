"""Impact by columns is impact from objects, in every field: on generated histories, on the examples, and where it leaves the rest to it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from careful import careful_kernels
from draws import Dice
from gpol.adapters.traces import read_jobs
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core, PlayedBatch
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.errors import FactError
from gpol.engine.events import AnyEvent
from gpol.engine.facts import OperatorAction, WorkloadSubmitted
from gpol.journal.journal import Journal
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import EndlessError, Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.impact import closed_impact as module
from gpol.sim.impact import sweep as module_of_sweeps
from gpol.sim.impact.closed_impact import ClosedImpact, closed_impact
from gpol.sim.impact.columns import played_columns
from gpol.sim.impact.columns.played_columns import Tools
from gpol.sim.impact.columns.record import Compared, compare
from gpol.sim.impact.sweep import Backend, PolicyVariant, VariantOutcome, play_variant, sweep, variants
from gpol.sim.measure.columns.kernels.count_events import count_events
from gpol.sim.measure.series import Series
from job_draws import drawn_jobs
from policy_draws import PROFILES, compiled
from policy_draws import policy as drawn_policy
from policy_texts import PROTECTED, TWO_QUEUES
from worlds import world

EXAMPLES = Path(__file__).parents[3] / "examples"
PLAIN = Tools(ArrayCore, count_events)
CAREFUL = Tools(partial(ArrayCore, kernels=careful_kernels()), count_events)
NINE = TWO_QUEUES.replace("8", "9")
Make = Callable[..., Policy]
MakeJob = Callable[..., Job]
Run = Callable[..., list[PlayedBatch]]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Compared | None]:
    """What was compared by columns, as it happens; None where that was left to the objects."""
    found: list[Compared | None] = []

    def watched(*arguments: object) -> Compared | None:
        found.append(compare(*arguments))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(module, "compare", watched)
    return found


def _same(
    folder: Path,
    batches: Sequence[PlayedBatch | Sequence[AnyEvent]],
    policy: Policy,
    on_evict: OnEvict = "restart",
    tools: Tools = PLAIN,
) -> ClosedImpact:
    """The impact, by columns where that is possible; it must be that from objects, as must the history that is kept."""
    place = folder / f"{len(list(folder.glob('*.db')))}.db"
    with Journal.create(place) as journal:
        journal.append([[batch[0], *batch[1]] if isinstance(batch, tuple) else batch for batch in batches])
    kept = [place.with_suffix(f".{number}") for number in range(2)]
    with Journal.open(place) as journal, Journal.create(kept[0]) as first, Journal.create(kept[1]) as second:
        found = closed_impact(journal, policy, on_evict, kept=first, tools=tools)
        assert found == closed_impact(journal, policy, on_evict, kept=second)
        assert first.head == second.head
    return found


# --- generated histories ------------------------------------------------------------------------------------------------------


def _simulated(policy: Policy, jobs: list[Job], on_evict: OnEvict) -> list[PlayedBatch]:
    """The history, as far as it comes: a generated job may be impossible, and jobs may evict each other in turns."""
    found: list[PlayedBatch] = []
    with suppress(EndlessError, FactError):
        found.extend(Simulation(policy, jobs, Player(ArrayCore()), on_evict).run())
    return found


@pytest.mark.parametrize("part", range(2))
def test_generated_policies_on_generated_histories(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compared: list[Compared | None]
) -> None:
    """Both ways of deciding, both settings, in chunks of every size; names that are used again, and jobs that replace others."""
    told = Counter[str]()
    for number in range(6 * part, 6 * part + 6):
        draw = Dice(f"impact by columns/{number}")
        place = world(draw, number % 2 == 1)
        texts = [drawn_policy(draw, place, Counter()) for _ in range(2)]
        old, new = (Policy(compiled(text), "p.gpol", text, tuple(sorted(PROFILES.items()))) for text in texts)
        jobs, on_evict = drawn_jobs(draw, place, old, 40, replacing=True), draw.pick(["restart", "resume"])
        monkeypatch.setattr(played_columns, "CHUNK", draw.pick([1, 7, 50, 2_000]))
        try:
            found = _same(tmp_path, _simulated(old, jobs, on_evict), new, on_evict)
            assert _same(tmp_path, _simulated(old, jobs, on_evict), old, on_evict).nothing_changes
        except EndlessError:
            continue
        told.update(kind for kind, _, _ in found.tallies)
        told["worse"] += found.worse
    assert sum(each is not None for each in compared) >= 4
    assert {"WorkloadAdmitted", "WorkloadEvicted", "worse"} <= told.keys()


# --- examples -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lab/lab.gpol", ("running < 10m", "running < 1h")),
        ("lab/lab.gpol", ("owns 4 gpu on a100", "owns 2 gpu on a100")),
        ("campus/campus.gpol", ("10m", "45m")),
    ],
)
def test_the_examples(tmp_path: Path, compared: list[Compared | None], name: str, change: tuple[str, str], on_evict: OnEvict) -> None:
    """A history of an example, under its policy with a change."""
    path = EXAMPLES / name
    text = path.read_text()
    assert change[0] in text
    old, new = (Policy.of(check(each, path.name)) for each in (text, text.replace(*change).partition('\ntest "')[0]))
    jobs = list(read_jobs(path.with_name("workloads.csv")))[:300]
    found = _same(tmp_path, _simulated(old, jobs, on_evict), new, on_evict)
    assert [each is not None for each in compared] == [True]
    assert found.changed


# --- what is left to the objects ------------------------------------------------------------------------------------------------


def test_jobs_without_an_end(tmp_path: Path, policy: Make, job: MakeJob, simulated: Run, compared: list[Compared | None]) -> None:
    """They were never admitted, or a simulation was interrupted: under another policy they run on, or wait on."""
    jobs = [job("g", "guest", "0s", "2h"), job("o", "owner", "1m", "1h"), job("p", "owner", "2m", "1h", "9"), job("q", "guest", "3h", "1h")]
    denying = PROTECTED + 'deny guests for guest { where workload.gpu > 4 } because "too big"\n'
    for texts in ((denying, TWO_QUEUES), (denying, PROTECTED), (PROTECTED, denying), (PROTECTED, NINE)):
        old, new = map(policy, texts)
        batches = simulated(old, jobs)
        for length in range(2, len(batches) + 1):
            found = _same(tmp_path, batches[:length], new, tools=CAREFUL)
    assert found.endless
    assert sum(each is not None for each in compared) > len(compared) // 2


def test_other_facts(tmp_path: Path, policy: Make, job: MakeJob, compared: list[Compared | None]) -> None:
    """What an operator does is no job."""
    core, batches = DefinitionCore(), list[PlayedBatch]()
    old = policy(PROTECTED)
    first = job("g", "guest", "0s", "2h").fact
    facts = [first, OperatorAction(time=1, workload="g", action="evict", by="ada")]
    for fact in [old.activation(0), *facts]:
        batches.append((fact, core.step(fact, old.graph if fact.kind == "PolicyActivated" else None)))
    _same(tmp_path, batches, policy(TWO_QUEUES))
    assert compared == []


def test_a_history_that_its_own_policy_would_not_make(
    tmp_path: Path, policy: Make, job: MakeJob, simulated: Run, compared: list[Compared | None]
) -> None:
    """As one that another program decided: it is played batch by batch."""
    jobs = [job("g", "guest", "0s", "2h"), job("o", "owner", "1m", "1h")]
    batches = simulated(policy(TWO_QUEUES), jobs)
    other = [(policy(PROTECTED).activation(0), batches[0][1]), *batches[1:]]
    _same(tmp_path, other, policy(TWO_QUEUES))
    assert compared == []


def test_at_once_and_in_cycles(tmp_path: Path, policy: Make, job: MakeJob, simulated: Run, compared: list[Compared | None]) -> None:
    """Where the ways of deciding differ, so does the order in which recorded facts and wakes are played."""
    cycles = TWO_QUEUES.replace("gpol.fair", "kueue.classical").replace("gpu 8", "gpu as owned")
    jobs = [job("g", "guest", "0s", "2h"), job("o", "owner", "1m", "1h"), job("h", "guest", "1m", "1h")]
    _same(tmp_path, simulated(policy(TWO_QUEUES), jobs), policy(cycles))
    assert compared == [None]


def test_a_job_that_is_refused(tmp_path: Path, policy: Make, job: MakeJob, simulated: Run, compared: list[Compared | None]) -> None:
    """A submission that cannot happen under the other policy is told as that."""
    fact = job("g", "guest", "0s", "2h").fact
    jobs = [Job(WorkloadSubmitted.model_validate({**fact.model_dump(), "local_queue": "a/b"}), 5)]
    text = TWO_QUEUES.replace("queue owner {", 'queue owner {\n  local queue "a/b"\n')
    found = _same(tmp_path, simulated(policy(TWO_QUEUES), jobs), policy(text))
    assert found.impossible
    assert compared == [None]


# --- sweeps ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def swept(tmp_path: Path, policy: Make, job: MakeJob, simulated: Run) -> str:
    """A journal in which a guest yields to an owner after ten minutes, and jobs come and go."""
    jobs = [job(f"{queue}{at}", queue, f"{at}m", f"{40 + at % 7}m", str(at % 5 + 1)) for at in range(60) for queue in ("guest", "owner")]
    path = tmp_path / "swept.db"
    with Journal.create(path) as journal:
        journal.append([[fact, *decisions] for fact, decisions in simulated(policy(PROTECTED), jobs)])
    return str(path)


SETTINGS = {"protect.warm-up.victim.running": ("30m", "10m", "0s"), "queue.owner.owns.a100": ("8", "3")}
TRIED = variants([PolicyVariant("p.gpol", PROTECTED)], SETTINGS)


@pytest.mark.parametrize("backend", ["alone", "local", "dask"])
def test_a_sweep_has_the_outcomes_of_single_runs(swept: str, monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    """In this process, in others to which the record is sent, and on a Dask cluster; each variant as the definition plays it."""
    wanted = [play_variant(swept, variant, None) for variant in TRIED]
    assert len({repr(outcome) for outcome in wanted}) == len(TRIED)
    monkeypatch.setattr(module_of_sweeps, "fast_tools", lambda facts: (PLAIN, ""))
    with ExitStack() as stack:
        scheduler = stack.enter_context(_dask_cluster()) if backend == "dask" else None
        chosen: Backend = "dask" if backend == "dask" else "local"
        outcomes = sweep(swept, TRIED, None, chosen, 1 if backend == "alone" else 2, scheduler, tools=PLAIN)
        assert list(stack.enter_context(closing(outcomes))) == wanted


def test_the_columns_are_used(swept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variant reads the journal again."""
    monkeypatch.setattr(module_of_sweeps, "fast_tools", lambda facts: (PLAIN, ""))
    monkeypatch.delattr(module_of_sweeps, "closed_impact")
    with closing(sweep(swept, TRIED, None, "local", 1, tools=PLAIN)) as outcomes:
        assert all(isinstance(outcome, VariantOutcome) for outcome in outcomes)


def test_what_is_drawn_is_decided_over_tables(swept: str, policy: Make) -> None:
    """Charts want every event; the outcome is that of the definition, fact by fact."""
    other = policy(PROTECTED.replace("10m", "30m"))

    def drawn(core: Core | None) -> tuple[ClosedImpact, tuple[Series, Series]]:
        series = Series(), Series()
        with Journal.open(swept) as journal:
            return closed_impact(journal, other, series=series, core=core), series

    core = ArrayCore()
    assert repr(drawn(core)) == repr(drawn(None))
    assert core.view.submissions == 120


@contextmanager
def _dask_cluster() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address="localhost:0") as cluster:
        yield cluster.scheduler_address
