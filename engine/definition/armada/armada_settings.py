"""What a profile of Armada varies."""

from dataclasses import dataclass
from fractions import Fraction

ByResource = tuple[tuple[str, Fraction], ...]
"""A fraction for each of some resources, by their names."""


@dataclass(frozen=True, slots=True)
class ArmadaCap:
    """What a queue may hold at most of everything there is, in one priority class: those workloads of one `priority` that may be evicted,
    or those that may not. Resources that `fractions` does not name have no cap.

    Armada: `maximumResourceFractionPerQueue` of a priority class (internal/scheduler/configuration/configuration.go).
    """

    priority: int
    preemptible: bool
    fractions: ByResource


@dataclass(frozen=True, slots=True)
class ArmadaSettings:
    """Armada's configuration, as far as it decides. The defaults are those of config/scheduler/config.yaml.

    `measured` are the resources that cost, each with what its part of everything is multiplied by
    (`dominantResourceFairnessResourcesToConsider`). A queue that has no more than `protected` times its share loses nothing
    (`protectedFractionOfFairShare`); `protects_uncapped`: that share is the one that it would get if it wanted everything
    (`experimentalProtectUncappedAdjustedFairShare`). `large_first`: of queues at the same cost, the larger gang is first
    (`enablePreferLargeJobOrdering`). Once more than `round_cap` of everything is started in a round, nothing else is
    (`maximumResourceFractionToSchedule`).

    `packing` orders nodes: by what is free of each resource, least first, rounded down to whole units of so many
    (`indexedResources`, with their resolutions, in the smallest unit).
    """

    measured: ByResource
    packing: tuple[tuple[str, int], ...]
    protected: Fraction = Fraction(1)
    protects_uncapped: bool = False
    large_first: bool = False
    caps: tuple[ArmadaCap, ...] = ()
    round_cap: ByResource = ()
