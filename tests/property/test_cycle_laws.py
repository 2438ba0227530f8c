"""The laws of the core (docs/architecture.md) for policies that decide in cycles, each over generated policies and histories."""

from collections import Counter
from random import Random

from core_states import shuffle, state_of
from cycle_cases import Case, cycle_cases, history, played
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.definition.queue.line import line_key
from gpol.engine.definition.quota.tree import QuotaTree
from gpol.engine.eligibility import groups_of
from gpol.engine.events import AnyEvent, WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted, WorkloadReplaced
from gpol.engine.facts import Fact, TimeAdvanced
from gpol.engine.intake.holds import is_queued
from gpol.engine.intake.shapes import shape_of
from gpol.engine.outcome.named import charged
from gpol.engine.outcome.nomination import Request
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.workload import NOWHERE, Workload
from gpol.sim.drive.player import MOST_TURNS_IN_CYCLES, EndlessError, Player
from hash_seeds import outputs
from hypothesis import given
from hypothesis import strategies as st


def bytes_of(batches: list[list[AnyEvent]]) -> list[bytes]:
    """All payloads in order."""
    return [event.payload() for batch in batches for event in batch]


def ran(core: Core) -> list[Workload]:
    """Who runs, in order of submission."""
    return [workload for workload in core.view.workloads() if workload.admitted is not None]


def live(core: Core, name: str) -> Workload:
    """A live workload by name."""
    workload = core.view.workload(name)
    assert workload is not None
    return workload


@given(cycle_cases())
def test_deterministic(case: Case) -> None:
    """Law 1: the same policies and facts give byte-identical decisions."""
    assert bytes_of(played(case)[1]) == bytes_of(played(case)[1])


def test_hash_seed() -> None:
    """Law 1: the hash seed of the interpreter changes no byte."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from hypothesis import given, settings, seed, Phase, HealthCheck; import hashlib;"
        "from cycle_cases import played, cycle_cases\n"
        "digest = hashlib.sha256()\n"
        "@seed(1)\n"
        "@settings(max_examples=20, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))\n"
        "@given(cycle_cases())\n"
        "def run(case): digest.update(b''.join(event.payload() for batch in played(case)[1] for event in batch))\n"
        "run(); print(digest.hexdigest())"
    )
    assert len(outputs(script, "0", "1", "4711")) == 1


@given(cycle_cases(), st.randoms(use_true_random=False))
def test_total_order(case: Case, random: Random) -> None:
    """Law 3: nothing hangs on the order in which a dict happens to be filled: shuffled before every fact, a state decides alike."""
    expected = bytes_of(played(case)[1])
    found: list[bytes] = []
    for core, fact, graph in history(case):
        shuffle(core, random)
        found += [event.payload() for event in (fact, *core.step(fact, graph))]
    assert found == expected


@given(cycle_cases())
def test_conserved(case: Case) -> None:
    """Law 4: after every fact the tree is what charging all that runs anew gives; a cohort carries what those below do not keep."""
    for core, fact, graph in history(case):
        core.step(fact, graph)
        tree = state_of(core).active.tree
        anew = QuotaTree(graph, tree.capacity)
        for workload in ran(core):
            anew.add(workload.queue, workload.usage)
        assert (tree.usage, tree.total) == (anew.usage, anew.total)
        for node, place in enumerate(graph.nodes):
            for slot in range(len(graph.slots)):
                if place.queue >= 0:
                    used = sum(dict(workload.usage).get(slot, 0) for workload in ran(core) if workload.queue == node)
                elif node > 0:
                    used = sum(max(0, tree.usage[child][slot] - tree.local[child][slot]) for child in place.children)
                else:
                    used = 0  # the trees share nothing
                assert type(tree.usage[node][slot]) is int
                assert tree.usage[node][slot] == used


def beyond(request: Request, held: Request) -> Request:
    """What of a request is more than somebody holds already."""
    amounts = dict(held)
    return tuple((slot, amount - amounts.get(slot, 0)) for slot, amount in request if amount > amounts.get(slot, 0))


@given(cycle_cases())
def test_admissions_fit(case: Case) -> None:
    """Law 4: what a cycle admits has room, each alone as the cycle begins, and all together once the cycle's victims are gone.

    Who takes another one's place needs room only for what it asks for beyond that; and the place is free for nobody else.
    """
    for core, fact, graph in history(case):
        before = state_of(core).active.copy().tree if core.graph is not None else None
        held = {workload.name: (workload.queue, workload.usage) for workload in ran(core)}
        decisions = core.step(fact, graph)
        admitted = [decision for decision in decisions if isinstance(decision, WorkloadAdmitted)]
        if before is None or not admitted:
            continue
        replaced = {decision.by: held[decision.workload] for decision in decisions if isinstance(decision, WorkloadReplaced)}
        slots = state_of(core).active.slot_index
        requests = [
            (live(core, event.workload).queue, charged(slots, event.usage), replaced.get(event.workload, (0, ()))) for event in admitted
        ]
        assert all(before.fits(queue, beyond(request, old)) for queue, request, (_, old) in requests)
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted):
                before.remove(*held[decision.workload])
        for workload in ran(core):
            if workload.evicting:  # a cycle counts on the room of who was told to stop
                before.remove(workload.queue, workload.usage)
        for queue, request, old in requests:
            assert before.fits(queue, beyond(request, old[1]))
            before.remove(*old)
            before.add(queue, request)


@given(cycle_cases())
def test_admissions_are_whole(case: Case) -> None:
    """Law 5: a workload gets all its pods, or where it may do with fewer no less than that, and is charged for just those."""
    for core, fact, graph in history(case):
        asked = {workload.name: workload.remaining[0] for workload in core.view.workloads()}
        for decision in core.step(fact, graph):
            if isinstance(decision, WorkloadAdmitted):
                [assignment] = decision.assignments
                pods = live(core, decision.workload).fact.pod_sets[0]
                fewest = asked[decision.workload] if pods.min_count is None else min(pods.min_count, asked[decision.workload])
                assert fewest <= assignment.count <= pods.count
                charged = {charge.resource: charge.amount for charge in decision.usage}
                assert charged == {resource: amount * assignment.count for resource, amount in pods.requests.items()}


def least_room(core: Core, workload: Workload) -> bool:
    """Whether the fewest pods that a workload may do with have room on some flavor of each group of its queue."""
    policy, pods = state_of(core).active, workload.fact.pod_sets[0]
    old = core.view.workload(workload.fact.replaces or "")
    held = dict(old.usage) if old is not None and old.queue == workload.queue else {}
    count = min(workload.remaining[0], pods.min_count or workload.remaining[0])
    for group in groups_of(policy.graph, policy.graph.queue_at(workload.queue)):
        wanted = {resource: pods.requests[resource] * count for resource in group.resources if resource in pods.requests}
        names = [policy.graph.flavors[flavor].name for flavor in group.flavors]
        usable = [name for name in names if not pods.flavors or name in pods.flavors]
        if wanted and not any(
            all(
                amount - held.get(policy.slot_index[name, what], 0)
                <= max(0, policy.tree.available(workload.queue, policy.slot_index[name, what]))
                for what, amount in wanted.items()
            )
            for name in usable
        ):
            return False
    return True


@given(cycle_cases())
def test_no_waste(case: Case) -> None:
    """Law 6: who is evicted in a cycle goes for a head that stays the next one, and that has room once they are gone.

    It stays the next one where the queue is not strict; nor does any queue here admit by usage, by which another may come before it.
    """
    for core, fact, graph in history(case):
        for decision in core.step(fact, graph):
            if not isinstance(decision, WorkloadEvicted) or decision.preemption in ("operator", "stopped"):
                continue
            assert decision.beneficiary is not None
            served = live(core, decision.beneficiary)
            deferred = state_of(core).workloads[served.name].deferred
            assert deferred is not None
            assert deferred.preempting
            assert graph.queue_at(served.queue).strict or core.probe.head(served.queue) == served.name
            assert least_room(core, served) or any(workload.evicting for workload in ran(core))


@given(cycle_cases())
def test_once_in_a_cycle(case: Case) -> None:
    """Law 6: a cycle decides about a workload once: nobody is evicted for two, or admitted or deferred and evicted as well."""
    for batch in played(case)[1]:
        named = Counter(event.workload for event in batch[1:] if not isinstance(event, Fact))
        assert all(count == 1 for count in named.values())
        queues = Counter(event.queue for event in batch if isinstance(event, WorkloadAdmitted | WorkloadDeferred))
        assert all(count == 1 for count in queues.values()), "one head of each queue"


@given(cycle_cases())
def test_one_place(case: Case) -> None:
    """Every live workload is in exactly one place: it runs, waits in its queue, is parked there, or is set aside, outside of its line."""
    for core, fact, graph in history(case):
        core.step(fact, graph)
        state = state_of(core)
        members = Counter(workload.name for queue in state.queues for workload in queue.members)
        assert members == Counter(name for name, workload in state.workloads.items() if workload.queue != NOWHERE)
        for node, queue in enumerate(state.queues):
            assert all(workload.queue == node for workload in queue.members)
            assert [workload.number for workload in queue.members] == sorted(workload.number for workload in queue.members)
            line = state.line(node)
            assert [each.place for each in line] == sorted(line_key(graph, each) for each in line)
            in_line = Counter(workload.name for workload in line)
            waiting = [workload for workload in queue.members if workload.admitted is None]
            assert in_line == Counter(workload.name for workload in waiting if is_queued(graph, workload))
            assert all(workload.name in in_line for workload in queue.members if workload.parked)
            assert queue.preemptor is None or queue.preemptor.name in in_line
            shapes = {shape_of(workload, state.active.tells_apart) for workload in line if not workload.parked}
            assert state.is_stirred(node) or not shapes & queue.hopeless, "who asks for the same is parked as well"
        told = Counter((each.admitted is not None, each.in_line, each.parked) for each in core.view.workloads())
        assert set(told) <= {(True, False, False), (False, True, False), (False, True, True), (False, False, False)}


def endless(player: Player) -> EndlessError | None:
    """Run cycles until none is due; the error where workloads take turns for ever."""
    try:
        for _ in player.come_to_rest():
            pass
    except EndlessError as error:
        return error
    return None


@given(cycle_cases())
def test_rest_or_named(case: Case) -> None:
    """Law 7: with no new facts cycles end, or the player names who takes turns and the lines that let them, within a stated bound."""
    core, _ = played(case)
    player, began = Player(core), core.time
    error = endless(player)
    assert (error is None) == (core.next_wake() is None)
    if error is not None:
        assert "(cycles.gpol:" in str(error)
        assert error.evictions
        assert all(eviction.why.rule is not None and eviction.why.rule.line > 1 for eviction in error.evictions)
    cycles = (core.time - began) // 1_000_000
    assert cycles <= (MOST_TURNS_IN_CYCLES + 1) * (len(core.view.names()) + 1) * 4
    if core.next_wake() is None:
        again = [event for _ in range(3) for event in core.step(TimeAdvanced(time=core.time + 1_000_000))]
        assert [event for event in again if not isinstance(event, WorkloadDeferred)] == [], "nothing is left to decide"


@given(cycle_cases(), st.data())
def test_replay_in_parts(case: Case, data: st.DataObject) -> None:
    """Law 8: recorded events applied up to a point, then facts decided, give what deciding everything gives, wakes included."""
    batches: list[tuple[list[AnyEvent], PolicyGraph, int | None]] = []
    core = new_core()
    for core, fact, graph in history(case):
        events: list[AnyEvent] = [fact, *core.step(fact, graph)]
        batches.append((events, graph, core.next_wake()))
    cut = data.draw(st.integers(1, len(batches)))
    resumed = new_core()
    for events, graph, wake in batches[:cut]:
        for event in events:
            resumed.apply(event, graph)
        assert resumed.next_wake() == wake
    for events, graph, wake in batches[cut:]:
        first = events[0]
        assert isinstance(first, Fact)
        assert bytes_of([[first, *resumed.step(first, graph)]]) == bytes_of([events])
        assert resumed.next_wake() == wake
    assert resumed.seq == core.seq


Told = list[list[tuple[object, ...]]]


def told(batches: list[list[AnyEvent]], names: dict[str, str], scale: int = 1) -> Told:
    """What was decided, batch by batch: names replaced, amounts divided; evictions in no order, which is that of names."""
    return [
        sorted(
            (
                event.kind,
                names.get(event.workload, event.workload),
                names.get(getattr(event, "queue", ""), ""),
                names.get(getattr(event, "beneficiary", None) or "", ""),
                getattr(event, "waits", ""),
                event.reason,
                tuple((names.get(charge.flavor, charge.flavor), charge.amount / scale) for charge in getattr(event, "usage", ())),
            )
            for event in batch
            if not isinstance(event, Fact)
        )
        for batch in batches
    ]


@given(cycle_cases())
def test_renaming(case: Case) -> None:
    """Law 9: queues, cohorts and flavors with other names in the same order, and workloads with any others, change nothing but names."""
    graphs = (case.graph(0), case.graph(1))
    renamed = {place.name: f"zz-{place.name}" for place in graphs[0].nodes[1:]} | {
        flavor.name: f"f{flavor.name}" for flavor in graphs[0].flavors
    }
    texts = tuple(_with_names(text, renamed) for text in case.texts)
    swapped: list[tuple[int, tuple[object, ...]]] = []
    for later, step in case.steps:
        parts = tuple(renamed.get(part, part) if isinstance(part, str) else part for part in step)
        if parts[0] == "submit":
            parts = (*parts[:6], tuple(renamed[flavor] for flavor in step[6]), *parts[7:])  # type: ignore[attr-defined]
        swapped.append((later, parts))
    other = Case(texts, tuple(swapped))  # type: ignore[arg-type]
    back = {new: old for old, new in renamed.items()} | {name: name for name in renamed}
    assert told(played(other)[1], back) == told(played(case)[1], back)


def _with_names(text: str, names: dict[str, str]) -> str:
    """A policy's text with names replaced wherever they stand as words."""
    lines = []
    for line in text.splitlines():
        words = line.split(" ")
        lines.append(" ".join(names.get(word.rstrip(","), word.rstrip(",")) + ("," if word.endswith(",") else "") for word in words))
    return "\n".join(lines) + "\n"


@given(cycle_cases(), st.integers(2, 1_000))
def test_scaling(case: Case, scale: int) -> None:
    """Law 9: all amounts multiplied by k change nothing but amounts."""
    names = {place.name: place.name for place in case.graph(0).nodes}
    assert told(played(case, scale)[1], names, scale) == told(played(case)[1], names)
