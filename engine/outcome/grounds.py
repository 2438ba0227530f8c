"""What a decision rests on, as it is written into events: the rule, what was compared, the limit, and why there are no places."""

from ..event_parts import KeptOffCause, Limit, Operand, Part, PlacesFailure, RuleRef, later


class KeptOffPlaces(Part):
    """How many places take no pod of a pod set, by the first thing in the way; `detail` is the taint, or the resource of which too little
    is free."""

    cause: KeptOffCause
    detail: str = later("")
    places: int


class LayerFit(Part):
    """How many slices of a level fit into the best domain, of how many."""

    level: str
    fit: int
    of: int


class Unplaced(Part):
    """Why pod sets that are placed together find no places on a flavor.

    `no-room`: of `of` slices of `size` pods (1: single pods) `fit` have room, in one domain of `level` where they are to stand `together`,
    else in all; `layers` say more of slices within slices. `closest` is the domain that comes closest, by its values from the widest level
    down, with room for `closest_fit`. Of `places` that were looked at those in `kept_off` take no pod at all, and `others` are of further
    causes. `if_empty`: it is so even if nothing ran. `uneven-slices`: the pods make up `of` slices of `size`, and `left_over` are in none.
    `no-level`: the topology lacks `level`; `no-domains`: no node is in a domain of it;
    `slice-above`: the slices' `level` is not below `above`. Of pods that lose their places: `place-gone`: others stand on `above`, which is
    no place any more or, with `level`, in no domain of it; `slices-broken`: a slice would not stand in one domain of `level`.
    """

    kind: PlacesFailure
    pod_sets: tuple[str, ...]
    flavor: str
    level: str = later("")
    together: bool = later(False)
    above: str = later("")
    fit: int = later(0)
    of: int = later(0)
    size: int = later(1)
    layers: tuple[LayerFit, ...] = later(())
    closest: tuple[str, ...] = later(())
    closest_fit: int = later(0)
    places: int = later(0)
    kept_off: tuple[KeptOffPlaces, ...] = later(())
    others: int = later(0)
    if_empty: bool = later(False)
    left_over: int = later(0)


class Why(Part):
    """What a decision rests on: the rule that caused it, what was compared, the limit that binds, if one does, and why there are no places.

    It is written to be read. The decision itself, with its reason, is in the other fields of the event.
    """

    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()
    limit: Limit | None = None
    places: Unplaced | None = later(None)
