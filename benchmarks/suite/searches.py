"""Searches for victims among ten thousand, moments ahead, and Kueue's cycles over a thousand heads: deciding alone, in the kernels.

See `victims.py` and `kueue_load.py`. The definition plays a part beside each: a hundredth of the candidates, a tenth of moments and heads.
"""

from collections.abc import Iterator

from definition_time import deciding_timed
from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.definition.core import DefinitionCore
from kueue_load import cycle_times
from one_decision import PROFILES
from victims import ahead_time, by_definition, look_ahead, protected, victim_times

from .figure import Figure

GROUP = "searches"
CANDIDATES, MOMENTS, HEADS = 10_000, 1_000, 1_000
LESS = 100
"""The definition has this part of the candidates, and of the victims at least one."""

FEW_MOMENTS, FEW_HEADS, FEW_CYCLES = 100, 100, 5
"""What the definition looks at."""


def searches(runs: int) -> Iterator[Figure]:
    """Victims among many, moments ahead, and cycles of many heads."""
    kernels = compiled_kernels(kernel_folder())
    for profile in PROFILES:
        for victims, goal in ((8, 0.2), (1_000, 1.5), (CANDIDATES, 5 if profile == "kueue.classical" else 15)):
            # the first search of a core makes its tables longer
            values = tuple(spent / 1e6 for spent in victim_times(kernels, profile, CANDIDATES, victims, runs + 1)[1:])
            few = max(1, victims // LESS)
            plain = by_definition(kernels, profile, CANDIDATES // LESS, few) * 1000
            yield Figure(GROUP, f"{profile}: {victims:,} victims among {CANDIDATES:,}", "ms", values, victims, goal, plain, few)
    values = tuple(ahead_time(kernels, MOMENTS) / 1e6 for _ in range(runs))
    yield Figure(GROUP, f"gpol.fair: {MOMENTS:,} moments ahead", "ms", values, MOMENTS, 100, _ahead(kernels), FEW_MOMENTS)
    for profile in ("kueue.classical", "kueue.fair"):
        yield from _cycles(kernels, profile, runs)


def _ahead(kernels: KernelSet) -> float:
    """Milliseconds that the definition takes for a few moments."""
    plain = DefinitionCore(protected(kernels, FEW_MOMENTS).state())
    with deciding_timed() as spent:
        look_ahead(plain)
    return sum(spent) / 1e6


def _cycles(kernels: KernelSet, profile: str, runs: int) -> Iterator[Figure]:
    """The 99th percentile of cycles over a thousand heads; the median of the definition's over a hundred."""
    found = [cycle_times(kernels, profile) for _ in range(runs)]
    plain = cycle_times(None, profile, FEW_HEADS // 10, FEW_CYCLES)
    for kind, told in (("fit", "all heads fit"), ("refused", "no head fits")):
        values = tuple(_at(each[kind], 99) / 1000 for each in found)
        name = f"{profile}: a cycle of {HEADS:,} heads, {told}, 99th percentile"
        yield Figure(GROUP, name, "us", values, HEADS, 1_000, _at(plain[kind], 50) / 1000, FEW_HEADS)


def _at(times: list[int], percent: int) -> int:
    """A percentile."""
    return sorted(times)[len(times) * percent // 100]
