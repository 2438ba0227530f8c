"""Cores that are asked where workloads stand: over arrays where many live, and what takes long to find out is found out once."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

from ..engine.cores import Core, Probe
from ..engine.default_core import thaw
from ..engine.outcome.nomination import Nomination

FEW = 1000
"""Up to so many live workloads the definition is asked."""


class _RestingProbe:
    """Questions about a state that stays as it is. Who reserves room is found by nominating the heads of all queues."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe

    def __getattr__(self, name: str) -> Any:
        return getattr(self._probe, name)

    @cached_property
    def _reserved(self) -> Sequence[Nomination]:
        return self._probe.reservations()

    def reservations(self) -> Sequence[Nomination]:
        """See `gpol.engine.cores.Probe`."""
        return self._reserved


class _RestingCore:
    def __init__(self, core: Core) -> None:
        self._core = core

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    @cached_property
    def probe(self) -> Any:
        """Questions about what would be."""
        return _RestingProbe(self._core.probe)


def resting(core: Core) -> Core:
    """A core that answers as this one does, as long as nothing happens to it."""
    return cast(Core, _RestingCore(core))


def quick(core: Core) -> Core:
    """The same core; or one over arrays in its state, where many workloads live under a policy that reserves room, at once.

    That takes seconds to make, and finds out far sooner who has room reserved: with 10,000 live workloads in a fraction of a second, where
    the definition takes more than a minute. In cycles no room is reserved, and the definition tells at least as soon.
    """
    if len(core.view.names()) <= FEW:
        return core
    from ..engine.core.core import ArrayCore  # with its kernels it takes longer to import than few workloads take to be asked about
    from .fast_core import fast_core

    if core.decides_in_cycles:
        return thaw(core.freeze(), core.graph) if isinstance(core, ArrayCore) else core
    return core if isinstance(core, ArrayCore) else fast_core(lambda _: None, is_long=True, frozen=(core.freeze(), core.graph))


def quickly(core: Core) -> Core:
    """A core to ask where many workloads stand, as long as nothing happens to this one."""
    return resting(quick(core))
