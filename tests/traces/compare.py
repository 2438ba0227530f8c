"""Plays real traces through both cores: `python tests/traces/compare.py [TRACE ...] [--jobs N] [--profile NAME ...]`.

Every tenant is a queue that owns its part of a cluster, by what it used in the mean; the cluster has `--room` percent of what the jobs
would use at most if none waited. The definition and the core over arrays (`--kernels plain|compiled`) have to play the same events, byte
for byte. Ends with 0 where they do, with 1 where one differs, and with 3 where there are no traces.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN, KernelSet
from gpol.engine.cores import Core, EncodedEvents
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.events import AnyEvent
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import EndlessError, Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from read_traces import LEFT_OUT, TRACES, jobs_of

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "traces"
PROFILES = ("gpol.fair", "kueue.classical", "kueue.fair")

Asked = Counter[str]
"""Amounts by resource."""


def asked_by(job: Job) -> Asked:
    """What a job asks for in all."""
    found = Asked()
    for pod_set in job.fact.pod_sets:
        for resource, amount in pod_set.requests.items():
            found[resource] += amount * pod_set.count
    return found


def policy_for(jobs: Sequence[Job], profile: str, room: int) -> Policy:
    """A cluster for these jobs with `room` percent of what they would use at most at a time, and enough for each of them."""
    changes, largest, used = list[tuple[int, int, Job]](), Asked(), dict[str, Asked]()
    for job in jobs:
        changes += [(job.fact.time, 1, job), (job.fact.time + job.duration, -1, job)]
        largest |= asked_by(job)
        area = used.setdefault(str(job.fact.queue), Asked())
        for resource, amount in asked_by(job).items():
            area[resource] += amount * job.duration
    now, most = Asked(), Asked()
    for _, sign, job in sorted(changes, key=lambda change: change[:2]):
        for resource, amount in asked_by(job).items():
            now[resource] += sign * amount
            most[resource] = max(most[resource], now[resource])
    exists = {resource: max(most[resource] * room // 100, largest[resource]) for resource in sorted(largest) if largest[resource]}
    return _written(exists, used, profile)


def _written(exists: dict[str, int], used: dict[str, Asked], profile: str) -> Policy:
    """The policy: what the tenants do not own belongs to their cohort."""
    in_all = {resource: sum(area[resource] for area in used.values()) for resource in exists}
    reclaims = "" if profile == "gpol.fair" else "    reclaims from anyone\n"
    queues, rest = list[str](), dict(exists)
    for queue in sorted(used):
        lines = ""
        for resource, amount in exists.items():
            owned = amount * used[queue][resource] // in_all[resource] if in_all[resource] else 0
            rest[resource] -= owned
            lines += f"    owns {_amount(owned, resource)} {resource}\n"
        queues.append(f'  queue "{queue}" {{\n{lines}{reclaims}  }}\n')
    kept = "".join(f"  owns {_amount(amount, resource)} {resource}\n" for resource, amount in rest.items())
    names = ", ".join(exists)
    text = f'policy "trace" {{ use {profile} }}\nflavor pool {{ {names} as owned }}\ncohort all {{\n{kept}{"".join(queues)}}}\n'
    return Policy.of(check(text, "trace.gpol"))


def _amount(amount: int, resource: str) -> str:
    """An amount in the smallest unit as a policy writes it."""
    return str(amount) if resource == "memory" else f"{amount}m"


class Digests:
    """What a journal would be given, an event each, as short digests; and how many decisions there are of each kind."""

    def __init__(self) -> None:
        self.events, self.kinds = list[bytes](), Counter[str]()

    def append(self, batches: Sequence[Sequence[AnyEvent]]) -> None:
        """See `gpol.sim.drive.player.Sink`."""
        for event in (event for batch in batches for event in batch):
            self._take(event.kind, event.payload())

    def append_encoded(self, events: EncodedEvents, begin: int, end: int) -> None:
        """See `gpol.sim.drive.player.Sink`."""
        for kind, payload in zip(events.kinds, events.payloads, strict=True):
            self._take(kind, payload)

    def _take(self, kind: str, payload: bytes) -> None:
        self.events.append(sha256(payload).digest()[:8])
        self.kinds[kind] += 1


def play(policy: Policy, jobs: Sequence[Job], core: Core) -> tuple[Digests, str, float]:
    """The events of a simulation, how it ended, and the seconds of processor time it took."""
    found, end, begin = Digests(), "", time.process_time()
    try:
        for _ in Simulation(policy, jobs, Player(core, found)).chunks():
            pass
    except EndlessError as error:
        end = str(error)
    return found, end, time.process_time() - begin


def compare(policy: Policy, jobs: Sequence[Job], kernels: KernelSet) -> tuple[str, Iterator[str]]:
    """What differs between the cores ("": nothing), and the cells of a table about it."""
    wanted, wanted_end, plain = play(policy, jobs, DefinitionCore())
    core = ArrayCore(kernels=kernels)
    found, found_end, taken = play(policy, jobs, core)
    difference = ""
    if core._store is None:
        difference = "the numbers are beyond the tables"
    elif found.events != wanted.events:
        place = next((at for at, (one, other) in enumerate(zip(wanted.events, found.events, strict=False)) if one != other), -1)
        difference = f"{len(wanted.events)} and {len(found.events)} events, the first difference is at {place}"
    elif found_end != wanted_end:
        difference = f"{wanted_end!r} and {found_end!r}"
    counts = (found.kinds[kind] for kind in ("WorkloadAdmitted", "WorkloadEvicted", "WorkloadDeferred"))
    return difference, iter([f"{len(found.events):,}", *(f"{count:,}" for count in counts), f"{plain:.1f}", f"{taken:.1f}"])


def main() -> int:
    """Compare, and print a line for each trace and profile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", choices=[*TRACES, []], help="all if left out")
    parser.add_argument("--jobs", type=int, help="so many of each trace, the first ones")
    parser.add_argument("--profile", nargs="+", choices=PROFILES, default=PROFILES)
    parser.add_argument("--room", type=int, default=80, help="percent of what would be used at most")
    parser.add_argument("--kernels", choices=["plain", "compiled"], default="compiled")
    asked = parser.parse_args()
    if not FOLDER.is_dir():
        parser.exit(3, f"there are no traces: they belong into {FOLDER}\n")
    kernels = compiled_kernels(kernel_folder()) if asked.kernels == "compiled" else PLAIN
    heads = "".join(f"{head:>14}" for head in ("events", "admitted", "evicted", "deferred", "definition s", "arrays s"))
    print(f"{'trace':<20} {'profile':<16} {'jobs':>8}{heads}")
    different = 0
    for trace in asked.traces or TRACES:
        jobs = jobs_of(trace, FOLDER)[: asked.jobs]
        for profile in asked.profile:
            difference, cells = compare(policy_for(jobs, profile, asked.room), jobs, kernels)
            different += bool(difference)
            print(f"{trace:<20} {profile:<16} {len(jobs):>8,}{''.join(f'{cell:>14}' for cell in cells)}  {difference}", flush=True)
    for name, reason in LEFT_OUT.items():
        print(f"left out: {name}: {reason}")
    print(f"{different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
