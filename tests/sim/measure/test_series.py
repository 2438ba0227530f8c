"""The series: areas are exact at every width of its steps, and add up to the measure's."""

from collections.abc import Callable

import numpy as np
from gpol.engine.cores import PlayedBatch
from gpol.engine.units import SECOND
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.measure import Measure
from gpol.sim.measure.series import KEPT_EVICTIONS, MAX_STEPS, METRICS, Series

USED, BORROWED, LENT, WAITING = range(len(METRICS))

Make = Callable[..., Policy]
MakeJob = Callable[..., Job]
Run = Callable[..., list[PlayedBatch]]


def _taken(policy: Policy, batches: list[PlayedBatch]) -> tuple[Series, Measure]:
    series, measure = Series(), Measure()
    for fact, decisions in batches:
        measure.take(fact, decisions, policy.graph)
        series.take(fact, decisions, measure)
    return series, measure


def test_areas_before_a_doubling(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A guest with 8 GPUs from 0 s to 2.5 s fills two steps of a second and half a third; the owner lends as much."""
    used = policy()
    series, _ = _taken(used, simulated(used, [job("g", "guest", "0s", "2500ms")]))

    assert (series.queues.names, series.queues.width) == (["guest", "owner"], SECOND)
    full = 8000 * SECOND
    assert series.queues.areas[:4, USED, 0].tolist() == [full, full, full // 2, 0]
    assert (
        series.queues.areas[:, BORROWED, 0].tolist() == series.queues.areas[:, USED, 0].tolist() == series.queues.areas[:, LENT, 1].tolist()
    )
    assert not series.queues.areas[:, USED, 1].any()


def test_several_on_one_axis(policy: Make, job: MakeJob, simulated: Run) -> None:
    """In steps four times as wide, up to a later moment: averages over each, the last one over what is left of it."""
    used = policy()
    series, _ = _taken(used, simulated(used, [job("g", "guest", "0s", "5s"), job("o", "owner", "6s", "2500ms", "2")]))
    guest, owner = (series.queues.names.index(name) for name in ("guest", "owner"))
    averages = series.queues.averages_until(10 * SECOND, 4 * SECOND)[:, USED]

    assert averages.shape == (3, 2)
    assert averages[:, guest].tolist() == [8000.0, 8000 * 1 / 4, 0.0]
    assert averages[:, owner].tolist() == [0.0, 2000 * 2 / 4, 2000 * 0.5 / 2]


def test_areas_across_a_doubling(policy: Make, job: MakeJob, simulated: Run) -> None:
    """When the steps run out at 1,024 s they become 2 s wide; what was counted before is kept, to the microsecond."""
    used = policy()
    jobs = [job("a", "owner", "0s", "3s", "8"), job("b", "owner", "1000s", "30s", "2")]
    series, measure = _taken(used, simulated(used, jobs))

    assert series.queues.width == 2 * SECOND
    areas = series.queues.areas[:, USED, series.queues.names.index("owner")]
    assert areas[:3].tolist() == [8000 * 2 * SECOND, 8000 * SECOND, 0]
    assert areas[499:516].tolist() == [0, *[2000 * 2 * SECOND] * 15, 0]
    assert int(areas.sum()) == measure.queues["owner"].used_area == 8000 * 3 * SECOND + 2000 * 30 * SECOND


def test_amounts_beyond_64_bits_do_not_wrap(policy: Make, job: MakeJob) -> None:
    """Two workloads that ask for as much as 64 bits hold, waiting for a century, are a large area, not a negative one."""
    used = policy()
    waiting = [job(name, "owner", "0s", "1h", "9000000000000000").fact for name in ("a", "b")]
    late = waiting[0].model_copy(update={"time": 100 * 365 * 86_400 * SECOND, "workload": "c"})
    series, _ = _taken(used, [(used.activation(0), []), *((fact, []) for fact in (*waiting, late))])

    assert float(series.averages()[1][0, WAITING, 1]) == 1.8e16


def test_a_long_silence_doubles_as_often_as_needed(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A job of 10 days needs steps of 1,024 s, and its area is exact."""
    used = policy()
    series, measure = _taken(used, simulated(used, [job("a", "owner", "0s", "10d")]))

    assert series.queues.width == 1024 * SECOND
    assert int(series.queues.areas[:, USED].sum()) == 8000 * 864_000 * SECOND == measure.queues["owner"].used_area
    assert series.queues.areas.shape == (MAX_STEPS, len(METRICS), 2)


def test_waiting_is_what_waits_asks_for(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A second job of 4 GPUs waits 2 s for the first."""
    used = policy()
    series, _ = _taken(used, simulated(used, [job("a", "owner", "0s", "2s"), job("b", "owner", "0s", "1s", "4")]))

    assert series.queues.areas[:3, WAITING, series.queues.names.index("owner")].tolist() == [4000 * SECOND, 4000 * SECOND, 0]


def test_averages_are_gpus_in_each_step(policy: Make, job: MakeJob, simulated: Run) -> None:
    """8 GPUs for 2.5 s are 8 in each step that was reached; the last one counts only its part."""
    used = policy()
    series, _ = _taken(used, simulated(used, [job("a", "owner", "0s", "2500ms")]))

    moments, averages = series.averages()

    assert moments == [0, SECOND, 2 * SECOND]
    assert np.array_equal(averages[:, USED, series.queues.names.index("owner")], [8, 8, 8])


def test_the_last_evictions_are_kept_and_all_are_counted(policy: Make, job: MakeJob, simulated: Run) -> None:
    """Of more evictions than are kept, the first go, and the count knows them all."""
    used = policy()
    owners = [job(f"o{number}", "owner", f"{10 * number + 5}s", "1s") for number in range(KEPT_EVICTIONS + 2)]
    series, _ = _taken(used, simulated(used, [job("g", "guest", "0s", "100d"), *owners]))

    assert series.eviction_count == KEPT_EVICTIONS + 2
    assert [event.beneficiary for event in series.evictions] == [f"o{number}" for number in range(2, KEPT_EVICTIONS + 2)]
