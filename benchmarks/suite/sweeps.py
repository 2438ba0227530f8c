"""A sweep: two hundred variants of a policy over one recorded history, on all processors, and on a local Dask cluster where Dask is there.

See `sweep.py`. Ten variants, spread over all, are also played one by one, fact by fact: each outcome must be equal in every field.
"""

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from gpol.adapters.traces import read_jobs
from gpol.compiled.fast_core import WITHOUT_COMPILER
from gpol.dsl import check
from gpol.sim.drive.policy import Policy
from gpol.sim.impact.columns.played_columns import fast_tools
from gpol.sim.impact.sweep import Backend, VariantOutcome, play_variant
from joblib import cpu_count
from sweep import CAMPUS as CAMPUS_PATHS
from sweep import PHILLY as PHILLY_PATHS
from sweep import play_all, record, variants_of

from .figure import Figure, cpu_seconds
from .start import CAMPUS, PHILLY, ROOT

GROUP = "sweep"
VARIANTS, ALONE = 200, 10
MOST_SECONDS = 120.0


def sweeps(runs: int) -> Iterator[Figure]:
    """The clock and the processor for all variants, and how long one of them takes when it is played alone."""
    philly = PHILLY.exists()
    path, file, form = (PHILLY, "philly/full.gpol", "philly") if philly else (CAMPUS, "campus/campus.gpol", None)
    policy = Policy.of(check((ROOT / "examples" / file).read_text(encoding="utf-8"), Path(file).name))
    jobs = read_jobs(path, form)
    tools, _ = fast_tools(2 * len(jobs))
    assert tools is not None, WITHOUT_COMPILER
    tried = variants_of(policy, PHILLY_PATHS if philly else CAMPUS_PATHS, VARIANTS)
    backends: list[Backend] = ["local", "dask"] if find_spec("distributed") is not None else ["local"]
    with TemporaryDirectory() as folder:
        place = str(Path(folder) / "history.db")
        events = record(place, policy, jobs, tools)
        for backend in backends:
            outcomes, wall, taken = play_all(place, tried, tools, backend)
            for number in range(0, len(tried), len(tried) // ALONE):
                assert outcomes[number] == play_variant(place, tried[number], "restart", events), f"variant {number} alone is another"
            otherwise = sum(isinstance(outcome, VariantOutcome) and outcome.changed > 0 for outcome in outcomes)
            told = f"{file}, {len(tried)} variants, {otherwise} with other decisions, {backend}"
            goal = MOST_SECONDS if philly else None
            yield Figure(GROUP, f"{told}: on the clock, on {cpu_count()} processors", "s", (wall,), len(tried), goal)
            yield Figure(GROUP, f"{told}: processor time of each", "s", (taken / len(tried),))
        alone = tuple(cpu_seconds(partial(play_variant, place, tried[turn], "restart", events)) for turn in range(runs))
        yield Figure(GROUP, f"{file}, one variant alone, fact by fact", "s", alone)
