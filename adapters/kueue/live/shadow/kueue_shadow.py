"""gpol beside a Kueue that decides by itself: it decides in Kueue's cycles, compares, and tells where the two part. It writes nothing.

    what changed in the cluster --> steps --> a course that explains what Kueue did --> the journal
                                                      with differences, where there are any --> a file, the log, memory

The core has Kueue's state, with what only its scheduler knows: who is parked, who waits for its victims, where a search for flavors goes
on. So it explains why a workload waits, as any other core does. The journal tells what Kueue did. Where gpol decided the same, that is
gpol's own decision with its reasons. Where it did not, facts take what Kueue did as it is.

When the program starts, what Kueue holds is taken as it is: nobody watched what it decided before.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from .....engine.cores import Core
from .....engine.units import SECOND
from ....kubernetes.api import Api, ApiError
from ....live.decider import LiveDecider, Numbered
from ...problems import ImportRefused
from ...read.objects import Configuration
from .course.course import Course
from .course.course_plan import CoursePlan
from .course.explaining import Explainer, FoundCourse
from .decision_difference import KueueDifference
from .difference_file import DifferenceFile
from .shadow_settings import ShadowSettings
from .watch.cluster_objects import CONFIG_MAP, configuration_of_file, configuration_of_map
from .watch.script import Script, ScriptStep
from .watch.script_writer import ScriptWriter
from .watch.watched_cluster import WatchedCluster

LOG = logging.getLogger("gpol.shadow")

MOST_KEPT = 1_000
"""So many differences are kept in memory, the last ones."""

MOST_SECONDS = 60.0
"""So long it is looked for a way to what Kueue did; what was not explained by then is taken as it is, unchecked."""


class KueueShadow:
    """Watches a cluster. The decider's core and journal are its own: nobody else plays facts in them.

    `differences` are the last ones, `counts` counts all by kind, `explained` the decisions of Kueue that gpol made too, `unchecked` the
    stretches of which a part could not be compared. `tell` is told of what was committed.
    """

    def __init__(
        self,
        api: Api,
        decider: LiveDecider,
        settings: ShadowSettings,
        tell: Callable[[Sequence[Numbered]], None] = lambda events: None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.decider, self.settings = decider, settings
        self.cluster = WatchedCluster(api, decider.stamps.now, clock)
        self.differences: deque[KueueDifference] = deque(maxlen=MOST_KEPT)
        self.counts: Counter[str] = Counter()
        self.explained = 0
        self.unchecked = 0
        self.file = DifferenceFile(settings.differences) if settings.differences is not None else None
        self._api, self._tell, self._clock = api, tell, clock
        given = configuration_of_file(settings.configuration) if settings.configuration is not None else Configuration()
        self._writer = ScriptWriter(given)
        self._steps: list[ScriptStep] = []
        self._before = dict(self._writer.seen)
        self._expected: dict[str, int] = {}
        self._spare: Core | None = None
        self._room: int | None = None
        self._is_in_step = False
        self._config_problem = ""
        self._played_problems: dict[str, str] = {}
        self._comparing = asyncio.Lock()
        self._is_over = False
        decider.moment = 0  # cycles run when this class says so, and never because time has passed

    # --- what is told of it -----------------------------------------------------------------------------------------

    @property
    def problem(self) -> str:
        """What keeps gpol from comparing, or from writing differences down; empty where all is well."""
        refused = self._writer.refused
        told = f"the objects of the cluster make no policy that gpol can decide by: {refused}" if refused else ""
        told = told or self.cluster.problem or ("" if self._is_in_step else "what Kueue holds was not taken in yet")
        return told or self._played_problems.get("", "") or (self.file.problem if self.file is not None else "")

    @property
    def notes(self) -> list[str]:
        """What is not as it could be, though gpol compares."""
        return [self._config_problem] if self._config_problem else []

    @property
    def problems(self) -> dict[str, str]:
        """The workloads that gpol cannot represent, and why, by name: what they hold is missing in what it decides."""
        played = {name: problem for name, problem in self._played_problems.items() if name}
        return {**played, **self._writer.problems}

    # --- its life ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Watch and compare until cancelled. Raises JournalError as soon as the journal takes nothing any more."""
        async with asyncio.TaskGroup() as tasks:
            await self.cluster.run(tasks)
            await self.read_configuration()
            if self.settings.config_map:
                tasks.create_task(self._follow_configuration())
            while True:
                await self._wait()
                await self._look_aside()

    async def _follow_configuration(self) -> None:
        while True:
            await asyncio.sleep(self.settings.config_map_seconds)
            await self.read_configuration()

    async def read_configuration(self) -> None:
        """Read the Configuration of Kueue's manager, if that can be."""
        name = self.settings.config_map
        if not name:
            return
        try:
            plain = await self._api.get(CONFIG_MAP.path(*name.split("/")))
            found = configuration_of_map(plain)
        except ApiError as error:
            self._config_problem = (
                f"the Configuration of Kueue's manager cannot be read from ConfigMap {name}, so the settings count: {error}"
            )
            return
        except ImportRefused as error:
            self._config_problem = f"the manager's Configuration in ConfigMap {name} cannot be imported, so the settings count: {error}"
            return
        async with self._comparing:
            self._config_problem = ""
            self._steps += self._writer.configure(found, self._second(), self._clock())
        self.cluster.woken.set()

    async def _wait(self) -> None:
        """Wait until it is time to look."""
        while (seconds := self._due_in()) is None or seconds > 0:
            self.cluster.woken.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.cluster.woken.wait()
        await asyncio.sleep(0)

    def _due_in(self) -> float | None:
        """In how many seconds it is time to look; None until something changes."""
        received = [step.received for step in (*self._steps[:1], *self._steps[-1:])] + self.cluster.received
        if not received:
            if self._is_in_step or self._writer.refused:
                return None
            return self.settings.settle_seconds if self.cluster.problem else 0.0
        now = self._clock()
        quiet = max(received) + self.settings.settle_seconds - now
        return max(0.0, min(quiet, min(received) + self.settings.longest_seconds - now))

    # --- looking ----------------------------------------------------------------------------------------------------

    def look(self, is_quiet: bool | None = None) -> tuple[KueueDifference, ...]:
        """Compare what has changed since, as far as it is settled. Return the differences; raises JournalError.

        `is_quiet` says whether Kueue has had its time for all of it; without it the clock does.
        """
        script = self._next_script(is_quiet)
        return self._keep(self._explained(script), script.steps) if script is not None else ()

    async def _look_aside(self) -> None:
        """The same beside all else: a search may take long, so it goes on in a thread, and meanwhile the cluster is watched."""
        async with self._comparing:
            script = self._next_script(None)
            if script is None:
                return
            try:
                found = await asyncio.to_thread(self._explained, script)
            except asyncio.CancelledError:
                self._is_over = True
                raise
            self._keep(found, script.steps)

    def _next_script(self, is_quiet: bool | None) -> Script | None:
        """What has changed and is settled, to be compared; None where there is nothing to compare, or not yet."""
        self._steps += self._writer.write(self.cluster.take())
        now = self._clock()
        newest = max((step.received for step in self._steps), default=now)
        if is_quiet is None:
            is_quiet = not self._steps or now - newest >= self.settings.settle_seconds
        if self._writer.refused:
            self._is_in_step, self._steps = False, []
            return None
        if not self._is_in_step:
            self._begin()
            return None
        youngest = now if is_quiet else now - self.settings.longest_seconds / 2
        settled = next((place for place, step in enumerate(self._steps) if step.received > youngest), len(self._steps))
        steps, self._steps = self._steps[:settled], self._steps[settled:]
        return Script(steps, self._steps, self._before, is_quiet) if steps or is_quiet else None

    def _begin(self) -> None:
        """Take everything as it is, as nobody watched how it came about; from then on Kueue is compared."""
        steps = self._writer.from_scratch(self._second(), self._clock())
        if self._writer.refused:
            return
        ended = [name for name in self.decider.core.view.names() if name not in self._writer.seen]
        self._steps, self._before, self._expected, self._spare = [], {}, {}, None
        course = Course(self.decider.core.copy(), Script(steps, (), {}, False), {}, self._writer.name_of, CoursePlan(unchecked=-1))
        for name in ended:
            course.record.end(name)
        course.run()
        self._keep(FoundCourse(course), steps)
        at_rest = Explainer(self.decider.core, Script((), (), self._before, True), self._expected, self._writer.name_of).at_rest()
        self._keep(FoundCourse(at_rest), ())
        self._is_in_step = True

    def _explained(self, script: Script) -> FoundCourse:
        """What Kueue did, explained. Nothing that others read changes."""
        core = self._spare if self._spare is not None else self.decider.core.copy()
        self._spare = None
        names, left_out, until = self._writer.name_of, len(self.problems), self._clock() + MOST_SECONDS
        course = Course(core, script, self._expected, names)
        if course.run() is None:
            return FoundCourse(course)
        goes_on = lambda: not self._is_over and self._clock() < until  # noqa: E731
        requeue = int(self.settings.requeue_seconds * SECOND)
        return Explainer(self.decider.core, script, self._expected, names, left_out, requeue, self._room, goes_on).explain()

    def _keep(self, found: FoundCourse, steps: Sequence[ScriptStep]) -> tuple[KueueDifference, ...]:
        """Play a course for good, commit it, and tell the differences."""
        course = found.course
        seqs = [self.decider.play(fact, graph)[0].seq for fact, graph in course.record.played]
        committed = self.decider.commit(lambda events: None) if seqs else []
        self._spare = course.core
        self._expected = course.expected
        self._room = max(course.record.made_room, default=self._room)
        for step in steps:
            if step.seen is not None:
                self._before[step.seen.key] = step.seen
                if step.seen.is_over:
                    self._before.pop(step.seen.key)
        self._played_problems = {**{key: told for key, told in self._played_problems.items() if self._is_there(key)}, **course.problems}
        self.explained += course.explained
        if found.unchecked:
            self.unchecked += 1
            LOG.warning("a part of what Kueue did could not be compared, and was taken as it is")
        events: dict[int, int] = {}
        for difference, place in course.record.marks:
            events.setdefault(id(difference), seqs[place])
        journal = self.decider.identity
        differences = tuple(replace(each, journal=journal, event=events.get(id(each), 0)) for each in found.differences)
        self._report(differences)
        if committed:
            self._tell(committed)
        return differences

    def _second(self) -> int:
        """Now, in whole seconds, as Kueue compares times."""
        now = self.decider.stamps.now()
        return now - now % SECOND

    def _is_there(self, key: str) -> bool:
        return key in self._writer.seen

    def _report(self, differences: Sequence[KueueDifference]) -> None:
        for each in differences:
            LOG.warning("event %d: Kueue decided otherwise: %s", each.event, each.text)
            self.counts[each.kind] += 1
        self.differences.extend(differences)
        if self.file is not None and (differences or self.file.waiting):
            self.file.append(differences)
