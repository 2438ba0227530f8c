"""Room by evictions: now, or at the first moment ahead at which protections will have ended, should nothing else happen."""

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass, field

from ..graph import PreemptRule, ProtectRule
from .quota import Request
from .state import Active, Pool
from .victims import Search, Victim
from .workload import Workload

_ONE_BY_ONE = 4
"""How many moments ahead are searched one by one. Beyond, it is supposed that where a search finds room, later ones do, too.

Almost always they do: but who is freed later may rank first, and taking it may leave somebody who was enough with too small a
share to go. Then a wake is missed, and the next fact of any kind finds the room.
"""


@dataclass(frozen=True, slots=True)
class Protected:
    """A victim that only time keeps: from `until` on it may go. `protect` is the rule that keeps it longest, if one does."""

    until: int
    workload: Workload
    protect: ProtectRule | None


@dataclass(slots=True)
class Hunt:
    """The outcome: `victims` that make room now; or, once `until` has come, room by then; or neither.

    In the second case `waiting_for` are the victims whom only time keeps, and `rule` is the preempt rule they wait under.
    `holds_until` is the first moment at which time alone may change the outcome; None: it never does.
    """

    victims: list[Victim] = field(default_factory=list)
    until: int | None = None
    waiting_for: list[Protected] = field(default_factory=list)
    rule: PreemptRule | None = None
    holds_until: int | None = None


class Hunter:
    """Hunts for one workload at one moment, for one request after the other; `cause` and `superiors` as in `Search`."""

    def __init__(self, policy: Active, workload: Workload, now: int, cause: int, superiors: Collection[str]) -> None:
        self.policy, self.workload, self.now, self.cause, self.superiors = policy, workload, now, cause, superiors

    def hunt(self, request: Request) -> Hunt:
        """Find room for a request that does not fit as things stand."""
        search = Search(self.policy, self.workload, request, self.now, self.cause, self.superiors)
        return Hunt(victims=search.out) if search.run() else self._ahead(request, search)

    def _ahead(self, request: Request, search: Search) -> Hunt:
        """Search again at each moment at which time frees somebody, until a search finds room.

        Where somebody was passed over only because this fact admitted it, that is the present moment, for the next fact.
        """
        if not (search.passed_over_fresh or search.passed_over_kept):
            return Hunt()  # every later search would go just like this one
        with search.charged():
            turns = [(pool, victim, search.turning_points(pool, victim)) for pool, victim in search.candidates()]
            frees = [(moment, victim) for pool, victim, points in turns for moment in self._freed(search, pool, victim, points)]
        changes = min((points[0] for _, _, points in turns if points), default=None)
        moments = self._moments(request, frees, search.passed_over_fresh)
        later = self._first(request, moments)
        if later is None:
            return Hunt(holds_until=changes)
        with search.charged():
            waiting_for = self._waiting_for(search, later)
        return Hunt(until=later.now, waiting_for=waiting_for, rule=later.out[-1].rule, holds_until=changes)

    def _first(self, request: Request, moments: list[int]) -> Search | None:
        """The first search ahead that finds room: moment by moment, and by bisection where there are many and time only frees."""
        near = _ONE_BY_ONE if self.policy.time_only_frees else len(moments)
        for moment in moments[:near]:
            later = self._later(request, moment)
            if later.run():
                return later
        rest = moments[near:]
        if not rest or not self._later(request, rest[-1]).run():
            return None
        later = self._later(request, rest[bisect_left(rest, True, hi=len(rest) - 1, key=lambda moment: self._later(request, moment).run())])
        return later if later.run() else None

    def _later(self, request: Request, moment: int) -> Search:
        return Search(self.policy, self.workload, request, moment, None, self.superiors)

    def _freed(self, search: Search, pool: Pool, victim: Workload, points: list[int]) -> list[int]:
        """The moments, of now and the turning points, at which guards and protections with durations cease to keep a victim."""
        moments = [self.now, *points]
        kept = [search.keeper(pool, victim, moment) is not None for moment in moments]
        return [moment for moment, before, keeps in zip(moments, [True, *kept], kept, strict=False) if before and not keeps]

    def _moments(self, request: Request, frees: list[tuple[int, Workload]], now: bool) -> list[int]:
        """The moments ahead (and `now`) at which somebody is freed, but for those too early even if all who are free by then went."""
        moments = sorted({until for until, _ in frees if until > self.now or now})
        leaving = sorted(frees, key=lambda entry: (entry[0], entry[1].number))
        gone: dict[int, Workload] = {}
        early = 0
        tree = self.policy.tree
        for until, victim in leaving:
            if tree.fits(self.workload.queue, request):
                break
            if victim.number not in gone:
                gone[victim.number] = victim
                tree.remove(victim.queue, victim.usage)
            early = until
        fits = tree.fits(self.workload.queue, request)
        for number in sorted(gone):
            tree.add(gone[number].queue, gone[number].usage)
        return [moment for moment in moments if moment >= early] if fits else []

    def _waiting_for(self, search: Search, later: Search) -> list[Protected]:
        """The victims of a later search who may not go yet, each with when it may and what keeps it."""
        found = []
        for victim in later.out:
            pool = next(pool for pool in self.policy.pools if pool.rule is victim.rule)
            if search.keeper(pool, victim.workload, self.now) is not None:
                points = search.turning_points(pool, victim.workload)
                until = max(moment for moment in self._freed(search, pool, victim.workload, points) if moment <= later.now)
                last = search.keeper(pool, victim.workload, until - 1)
                found.append(Protected(until, victim.workload, last if isinstance(last, ProtectRule) else None))
        return found
