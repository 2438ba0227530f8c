"""The compiled kernel that counts finds the figures that `Measure` finds."""

from dataclasses import replace
from pathlib import Path

import pytest
from gpol.adapters.traces import read_jobs
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.outcome.history import E_JOB
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.columns.column_measure import ColumnMeasure
from gpol.sim.measure.columns.compiled_count import compiled_count
from gpol.sim.measure.measure import AccountError, Measure

CAMPUS = Path(__file__).parents[2] / "examples" / "campus"
CHUNK = 300


def _activated(policy: Policy) -> Measure:
    measure = Measure()
    measure.take(policy.activation(0), [], policy.graph)
    return measure


def test_the_compiled_kernel_counts_the_same(tmp_path: Path) -> None:
    """In chunks, compiled and read from the cache; what contradicts itself is found as well."""
    policy, jobs = Policy.of(check((CAMPUS / "campus.gpol").read_text(), "campus.gpol")), read_jobs(CAMPUS / "workloads.csv")[:300]
    facts, core, wanted = [job.fact for job in jobs], ArrayCore(), _activated(policy)
    core.step(policy.activation(0), policy.graph)
    loop = core.closed_loop(facts, [job.duration for job in jobs], True)
    assert loop is not None
    measured = [ColumnMeasure(_activated(policy), policy.graph, facts, compiled_count(tmp_path)) for _ in range(2)]
    assert len(list(tmp_path.rglob("*.nbi"))) == 1
    goes_on, chunks = True, 0
    while goes_on:
        chunk = loop.play(CHUNK)
        for columns in measured:
            columns.take(chunk)
        for fact, decisions in chunk.batches():
            wanted.take(fact, decisions, policy.graph)
        goes_on, chunks = chunk.goes_on, chunks + 1
    assert chunks > 2
    assert measured[0].measure() == measured[1].measure() == wanted
    last = facts[chunk.events[-1, E_JOB]].workload
    with pytest.raises(AccountError, match=f"`{last}` ends, but is not live"):
        measured[0].take(replace(chunk, events=chunk.events[-1:]))
