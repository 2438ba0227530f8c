"""A small history of a cluster under two policies, for journals with snapshots."""

from collections.abc import Iterable, Iterator

from gpol.dsl import check
from gpol.engine.cores import Core
from gpol.engine.errors import FactError
from gpol.engine.event_parts import PodSet
from gpol.engine.events import AnyEvent
from gpol.engine.facts import Fact, PolicyActivated, ProfileText, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.journal.journal import Journal
from gpol.journal.read.snapshots import Snapshotter

WITHOUT_PROTECTION = """policy "one" {
  use gpol.fair
}

flavor a100 { gpu 8 }

queue owner {
  owns 8 gpu on a100
}
queue guest {
  owns nothing
}
"""

POLICY = (
    WITHOUT_PROTECTION
    + """protect warm-up {
  where victim.running < 10s
}
"""
)


def activation(time: int, text: str = POLICY) -> PolicyActivated:
    """The fact that activates the policy, whole."""
    checked = check(text, "one.gpol")
    assert checked.graph is not None
    profiles = tuple(ProfileText(name=name, text=profile) for name, profile in checked.profiles)
    return PolicyActivated(time=time, file="one.gpol", text=text, profiles=profiles, digest=checked.graph.digest)


def facts(count: int) -> Iterator[Fact]:
    """A policy and then so many other facts: submissions to two queues, ends of those that run, and time, and another policy on the way."""
    yield activation(0)
    for number in range(1, count):
        time, name = number * 3_000_000, f"w{number}"
        if number == 17:
            yield activation(time, POLICY.replace("gpu 8 }", "gpu 9 }"))
        elif number % 3 == 2:
            yield WorkloadFinished(time=time, workload=f"w{number - 1}")
        elif number % 7 == 0:
            yield TimeAdvanced(time=time)
        else:
            queue = ("owner", "guest")[number % 2]
            yield WorkloadSubmitted(time=time, workload=name, queue=queue, pod_sets=(PodSet(requests={"gpu": f"{3 + number % 6}"}),))


def play(journal: Journal, core: Core, played: Iterable[Fact], every: int) -> list[list[AnyEvent]]:
    """Decide facts and append them, with snapshots; ends of who does not run are left out."""
    batches: list[list[AnyEvent]] = []
    with Snapshotter(journal, core, every=every) as sink:
        for fact in played:
            graph = check(fact.text, "one.gpol").graph if isinstance(fact, PolicyActivated) else None
            try:
                batches.append([fact, *core.step(fact, graph)])
            except FactError:
                continue
            sink.append([batches[-1]])
    return batches
