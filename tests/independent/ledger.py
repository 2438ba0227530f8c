"""Plays the events of a journal on a ledger: who waits, who runs, and what is charged to whom. Finds what does not add up.

Written from docs/events.md alone, with nothing but Python's own library.
"""

import re
from collections import Counter
from typing import Any

from form import DECISIONS, Event
from live_workload import Charges, LiveWorkload, Slot, WrongError, as_charges, need, told

__all__ = ["Ledger", "WrongError"]

REASONS = {"operator": "EvictedByOperator", "stopped": "Drained"}
"""The reason of an eviction, by its `preemption`; of all others `Preempted`."""

OF_OTHER_QUEUES = ("reclaim", "fair-sharing", "reclaim-while-borrowing")
"""The preemptions whose victims are not of the beneficiary's queue."""


class Ledger:
    """The state of a cluster, as far as events tell it. `take` is given one event after the other, and `finish` ends it."""

    def __init__(self) -> None:
        self.seq = self.time = 0
        self.changed = 0  # the last event that may have changed what a workload finds when it is looked at again
        self.fact: Event = {}
        self.fact_seq = 0
        self.batch: list[Event] = []
        self.policy: Event = {}
        self.lines: dict[str, int] = {}
        self.live: dict[str, LiveWorkload] = {}
        self.known: set[str] = set()
        self.nodes: set[str] = set()
        self.capacity: dict[Slot, int] = {}
        self.used: Counter[tuple[str, Slot]] = Counter()
        self.charged: Counter[Slot] = Counter()
        self.freed: Counter[Slot] = Counter()
        self.counts: Counter[str] = Counter()
        self.amount_time: Counter[str] = Counter()
        self.owed: dict[str, tuple[str, Event]] = {}
        self.replaced: str | None = None
        self.left_behind: Charges = {}

    def take(self, seq: int, event: Event) -> None:
        """The next event. Raises WrongError."""
        kind, self.seq = event["kind"], seq
        need(event["time"] >= self.time, f"its time {event['time']} is before {self.time}, that of the event before it")
        self.pass_time(event["time"])
        self.counts[kind] += 1
        if kind in DECISIONS:
            self.decide(event)
            self.batch.append(event)
        else:
            self.end_batch()
            self.fact, self.fact_seq, self.batch = event, seq, []
            need(bool(self.policy) or kind == "PolicyActivated", "it stands before the first policy")
            if kind != "TimeAdvanced":
                self.changed = seq
            self.handler(kind)(event)

    def handler(self, kind: str) -> Any:
        """The method for a kind of event."""
        return getattr(self, re.sub("(?<!^)([A-Z])", r"_\1", kind).lower())

    def pass_time(self, time: int) -> None:
        """What is used from one event to the next, by resource: amounts times microseconds."""
        if time > self.time:
            for (_, (_, resource)), amount in self.used.items():
                self.amount_time[resource] += amount * (time - self.time)
        self.time = time

    def end_batch(self) -> None:
        """A fact and its decisions are over: who took a place was admitted, and so was everybody for whom others were evicted, or waits."""
        need(self.replaced is None, f"`{self.replaced}` gave its place away, and nobody was admitted in it")
        for victim, (winner, _) in self.owed.items():
            said = self.live[winner].deferred if winner in self.live else None
            need(
                said is not None and victim in said["victims"],
                f"`{victim}` was evicted for `{winner}`, which the same fact neither admits nor defers until its victims have stopped",
            )
        self.owed = {}
        if any(each["kind"] != "WorkloadDeferred" for each in self.batch):
            self.changed = self.fact_seq + len(self.batch)

    def finish(self) -> None:
        """After the last event: what was charged less what was freed is what queues use, and what runs."""
        self.end_batch()
        held: Counter[Slot] = Counter()
        for (_, slot), amount in self.used.items():
            held[slot] += amount
        running: Counter[Slot] = Counter()
        for workload in self.live.values():
            running.update(workload.charged())
        balance = Counter({slot: amount - self.freed[slot] for slot, amount in self.charged.items()})
        need(
            +balance == +held == +running, "what was charged less what was freed, what queues use and what runs are not the same at the end"
        )

    # --- who holds what

    def charge(self, workload: LiveWorkload) -> None:
        """A workload is charged for what it holds from now."""
        for slot, amount in workload.charged().items():
            self.used[str(workload.queue), slot] += amount
            self.charged[slot] += amount

    def free(self, workload: LiveWorkload, charges: Charges) -> None:
        """What a workload held is free again."""
        for slot, amount in charges.items():
            self.used[str(workload.queue), slot] -= amount
            self.freed[slot] += amount
            need(
                self.used[str(workload.queue), slot] >= 0, f"queue `{workload.queue}` would use less than nothing of {slot[1]} on {slot[0]}"
            )

    def total(self, slot: Slot) -> int:
        """What all queues use of a slot."""
        return sum(amount for (_, each), amount in self.used.items() if each == slot)

    def stop(self, workload: LiveWorkload) -> None:
        """It holds nothing any more, and waits."""
        self.free(workload, workload.charged())
        workload.running = workload.told_to_stop = False
        workload.placed = {}

    def alive(self, event: Event) -> LiveWorkload:
        """The workload of an event, which has to be live."""
        name = event["workload"]
        need(name in self.known, f"workload `{name}` was never submitted")
        need(name in self.live, f"workload `{name}` has ended")
        return self.live[name]

    def waits(self, event: Event) -> LiveWorkload:
        """The workload of an event, which has to wait."""
        workload = self.alive(event)
        need(not workload.running, f"workload `{event['workload']}` runs, and does not wait")
        return workload

    def runs(self, event: Event) -> LiveWorkload:
        """The workload of an event, which has to run."""
        workload = self.alive(event)
        need(workload.running, f"workload `{event['workload']}` does not run")
        return workload

    # --- facts

    def policy_activated(self, event: Event) -> None:
        """Whoever waits is matched anew. A flavor of fixed capacity may be one of machines now, which only the policy's text says."""
        self.policy = event
        texts = [(event["file"], event["text"])]
        texts += [(each["name"].replace(".", "/") + ".gpol", each["text"]) for each in event["profiles"]]
        self.lines = {file: text.count("\n") + 1 for file, text in texts}
        self.capacity = {}
        for workload in self.live.values():
            workload.deferred = None
            if not workload.running:
                workload.queue = workload.asked["queue"]

    def capacity_changed(self, event: Event) -> None:
        """What exists of a flavor."""
        self.capacity |= {(event["flavor"], resource): amount for resource, amount in event["capacity"].items()}

    def node_added(self, event: Event) -> None:
        """A machine joins once."""
        need(event["node"] not in self.nodes, f"node `{event['node']}` is there already")
        self.nodes.add(event["node"])

    def node_changed(self, event: Event) -> None:
        """Only a machine that is there changes."""
        need(event["node"] in self.nodes, f"there is no node `{event['node']}`")

    def node_removed(self, event: Event) -> None:
        """Only a machine that is there leaves."""
        need(event["node"] in self.nodes, f"there is no node `{event['node']}`")
        self.nodes.remove(event["node"])

    def simulation_started(self, event: Event) -> None:
        """It says how jobs are played, and changes nothing."""

    def time_advanced(self, event: Event) -> None:
        """Nothing but time."""

    def usage_reported(self, event: Event) -> None:
        """Faded usage is charged to nobody."""
        need(event.get("as_of", 0) <= event["time"], "usage was counted later than it was reported")

    def workload_submitted(self, event: Event) -> None:
        """A name is free, or free again."""
        name, pod_sets = event["workload"], event["pod_sets"]
        need(name not in self.live, f"workload `{name}` is there already")
        need(1 <= len({each["name"] for each in pod_sets}) == len(pod_sets) <= 18, "it has no pod set, more than 18, or two of one name")
        for each in pod_sets:
            least = each.get("min_count", each["count"])
            need(each.get("minimum", 1) <= each["count"], f"pod set `{each['name']}` has a minimum above its pods")
            need(least <= each["count"], f"pod set `{each['name']}` would do with {least} pods, and has {each['count']}")
        need(event.get("created", 0) <= event["time"], "it was created later than it was submitted")
        self.known.add(name)
        self.live[name] = LiveWorkload.submitted(event)

    def workload_adopted(self, event: Event) -> None:
        """It is charged what it holds in another system, and belongs to the queue that holds it there."""
        workload = self.waits(event)
        need(event["since"] <= event["time"], "it was admitted later than it was adopted")
        workload.queue, workload.running, workload.told_to_stop, workload.held = event["queue"], True, event["evicting"], False
        workload.adopt(event["placements"])
        self.charge(workload)

    def workload_updated(self, event: Event) -> None:
        """Pods that are done free what they held; one that was told to stop may have stopped."""
        workload = self.alive(event)
        need(not (event["hold"] and workload.running), "it runs, and cannot be held")
        workload.priority = workload.priority if event["priority"] is None else event["priority"]
        workload.held = workload.held if event["hold"] is None else event["hold"]
        workload.boost = event.get("boost", workload.boost)
        workload.checks |= event.get("checks", {})
        before = workload.charged()
        workload.pods_done(event["reclaimable"] or {})
        after = workload.charged()
        self.free(workload, {slot: amount - after.get(slot, 0) for slot, amount in before.items()})
        if "requeued" in event and workload.told_to_stop:
            self.stop(workload)

    def workload_finished(self, event: Event) -> None:
        """Only what runs ends by itself."""
        self.stop(self.runs(event))
        del self.live[event["workload"]]

    def workload_cancelled(self, event: Event) -> None:
        """What waits or runs is withdrawn."""
        self.stop(self.alive(event))
        del self.live[event["workload"]]

    def operator_action(self, event: Event) -> None:
        """Who runs is evicted by a decision of this fact, and held; a release ends every hold."""
        workload = self.runs(event) if event["action"] == "evict" else self.alive(event)
        need(event["action"] != "hold" or not workload.running, f"workload `{event['workload']}` runs, and cannot be held")
        workload.held_by_operator = event["action"] != "release"
        workload.held = workload.held and event["action"] != "release"

    # --- decisions

    def decide(self, event: Event) -> None:
        """A decision: it names the fact of its batch, and somebody who is there."""
        need(self.fact_seq > 0, "a decision stands before the first fact")
        need(event["cause"] == self.fact_seq, f"its cause is {event['cause']}, and the fact before it is event {self.fact_seq}")
        need(event["time"] == self.fact["time"], "its time is not that of its fact")
        takes = event.get("replaces") if event["kind"] == "WorkloadAdmitted" else None
        need(
            takes == self.replaced,
            f"it takes the place of {takes or 'nobody'}, and the decision before gave away that of {self.replaced or 'nobody'}",
        )
        workload = self.alive(event)
        need(event["queue"] in (None, workload.queue or event["queue"]), f"`{event['workload']}` belongs to queue `{workload.queue}`")
        if isinstance(workload.priority, int):
            most = workload.priority + workload.boost
            need(event.get("priority", most) <= most, f"its priority is said to be {event.get('priority')}, and it asked for {most}")
        self.check_why(event["why"])
        self.handler(event["kind"])(event, workload)

    def check_why(self, why: dict[str, Any]) -> None:
        """A limit that binds is short by what it says; lines that are named exist in the recorded policy."""
        limit = why["limit"]
        if limit is not None:
            need(
                0 < limit["deficit"] == limit["asked"] - limit["available"],
                "the deficit of its limit is not what is asked less what is available",
            )
        for source in (why["rule"], limit and limit["source"]):
            if source is not None:
                lines = self.lines.get(source["file"], 0)
                need(1 <= source["line"] <= lines, f"the recorded policy has no line {source['line']} of `{source['file']}`")

    def workload_admitted(self, event: Event, workload: LiveWorkload) -> None:
        """It waited and nothing held it; it is charged what it was given, and that exists."""
        name = event["workload"]
        self.waits(event)
        need(not workload.held and not workload.held_by_operator, f"workload `{name}` is held")
        need("misconfigured" not in workload.asked, f"workload `{name}` is misconfigured")
        need(not {"Retry", "Rejected"} & set(workload.checks.values()), f"an admission check of `{name}` says no")
        workload.place(event["assignments"])
        usage, borrowed = as_charges(event["usage"], "usage"), as_charges(event["borrowed"], "borrowed")
        need(usage == workload.charged(), f"it is charged {told(usage)}, and was given {told(workload.charged())}")
        need(all(amount <= usage.get(slot, 0) for slot, amount in borrowed.items()), "it borrows more than it is charged")
        victims = self.settle(event)
        reason = "FitsAfterEviction" if victims else "FitsBorrowing" if borrowed else "FitsOwned"
        need(
            event["reason"] == reason, f"its reason is {event['reason']}, where {len(victims)} went for it and it borrows {told(borrowed)}"
        )
        workload.queue, workload.running, workload.deferred = event["queue"], True, None
        self.charge(workload)
        for slot, amount in usage.items():
            exists, total, more = self.capacity.get(slot), self.total(slot), amount > self.left_behind.get(slot, 0)
            need(exists is None or total <= exists or not more, f"{total} {slot[1]} on {slot[0]} are used, and {exists} exist")
        self.replaced, self.left_behind = None, {}

    def workload_moved(self, event: Event, workload: LiveWorkload) -> None:
        """It ran and runs on, elsewhere; it has the same flavors and as many pods, and is charged the same."""
        self.runs(event)
        before = workload.charged()
        workload.place(event["assignments"])
        need(before == workload.charged(), f"it was charged {told(before)}, and would be charged {told(workload.charged())}")

    def workload_resized(self, event: Event, workload: LiveWorkload) -> None:
        """It ran and runs on; it is charged what it has from now, and what is added exists."""
        self.runs(event)
        before, ran = workload.charged(), {name: min(placed.count, workload.pods(name)) for name, placed in workload.placed.items()}
        self.free(workload, before)
        workload.place(event["assignments"])
        usage = as_charges(event["usage"], "usage")
        need(usage == workload.charged(), f"it is charged {told(usage)}, and has {told(workload.charged())}")
        changes = {each["pod_set"]: each.get("added", 0) - each.get("taken", 0) for each in event["changes"]}
        now = {each["pod_set"]: each["count"] for each in event["assignments"]}
        goes = event["reason"] == "Preempted"
        need(goes == ("beneficiary" in event) == ("preemption" in event), "for whom pods go does not fit its reason")
        need(all((more < 0) == ("beneficiary" in event) for more in changes.values()), "pods go for nobody, or come for somebody")
        if "beneficiary" in event:
            self.owed[event["workload"]] = (event["beneficiary"], event)
        need(changes == {name: now[name] - ran[name] for name in now if now[name] != ran[name]}, "its changes are not what changes")
        self.charge(workload)
        for slot, amount in usage.items():
            exists, total, more = self.capacity.get(slot), self.total(slot), amount > before.get(slot, 0)
            need(exists is None or total <= exists or not more, f"{total} {slot[1]} on {slot[0]} are used, and {exists} exist")

    def settle(self, event: Event) -> list[str]:
        """The victims of this fact that went for the workload of a decision; it is known by now whether they were of its queue."""
        mine = {victim: gone for victim, (winner, gone) in self.owed.items() if winner == event["workload"]}
        for victim, gone in mine.items():
            same, how = gone["queue"] == event["queue"], gone["preemption"]
            need(same or how != "in-queue", f"`{victim}` was evicted within a queue, and was of another one")
            need(not same or how not in OF_OTHER_QUEUES, f"`{victim}` was evicted from another queue, and was of the same one")
        if event["kind"] == "WorkloadAdmitted":
            self.owed = {victim: owed for victim, owed in self.owed.items() if victim not in mine}
        return list(mine)

    def workload_evicted(self, event: Event, workload: LiveWorkload) -> None:
        """It ran, frees what it was charged, and goes for somebody who waits, an operator or a drained queue."""
        name, winner = event["workload"], event["beneficiary"]
        self.runs(event)
        usage = as_charges(event["usage"], "usage")
        need(usage == workload.charged(), f"it frees {told(usage)}, and held {told(workload.charged())}")
        reason = REASONS.get(event["preemption"], "Preempted")
        need(event["reason"] == reason, f"its reason is {event['reason']}, which does not go with `{event['preemption']}`")
        need((winner is None) == (reason != "Preempted"), "it has a beneficiary and was not preempted, or the reverse")
        wish = (self.fact["kind"], self.fact.get("action"), self.fact.get("workload"), self.fact.get("by"))
        if reason == "EvictedByOperator":
            need(wish == ("OperatorAction", "evict", name, event.get("by")), "it is said to be an operator's wish, and its fact is none")
        else:
            need("by" not in event, "it names an operator, and is no operator's wish")
        if winner is not None:
            need(winner in self.live and winner != name, f"its beneficiary `{winner}` is not there")
            need(not self.live[winner].running, f"its beneficiary `{winner}` does not wait")
            self.owed[name] = winner, event
        self.stop(workload)

    def workload_replaced(self, event: Event, workload: LiveWorkload) -> None:
        """It ran, and all that it held goes to who takes its place, by the next decision."""
        self.runs(event)
        usage = as_charges(event["usage"], "usage")
        need(usage == workload.charged(), f"it held {told(workload.charged())}, and not {told(usage)}")
        follower = self.waits({"workload": event["by"]})
        need(follower.asked.get("replaces") == event["workload"], f"`{event['by']}` did not ask for the place of `{event['workload']}`")
        need(follower.asked["namespace"] == workload.asked["namespace"], "the two are of different namespaces")
        self.stop(workload)
        del self.live[event["workload"]]
        self.replaced, self.left_behind = event["workload"], usage

    def workload_deferred(self, event: Event, workload: LiveWorkload) -> None:
        """It waited, and it is not said twice where nothing happened between.

        Where its search for flavors goes on in the next cycle, each of them says so: pod sets of one group that ask for different resources
        may begin with the same flavors each time, as in Kueue.
        """
        self.waits(event)
        before = workload.deferred
        again = before is not None and all(before[name] == event[name] for name in event if name not in ("time", "cause"))
        need(
            not again or event["tried"] or workload.deferred_at <= self.changed,
            f"`{event['workload']}` is deferred again as before, and nothing happened since",
        )
        for victim in event["victims"]:
            need(victim in self.live, f"its victim `{victim}` is not there")
        for attempt in event["attempts"]:
            for obstacle in attempt["obstacles"]:
                if obstacle["kind"] in ("short", "exceeds"):
                    need(
                        obstacle.get("asked", 0) > obstacle.get("limit", 0),
                        "it asks for no more than there is, and that is said to be an obstacle",
                    )
        self.settle(event)
        workload.deferred, workload.deferred_at = event, self.seq

    def workload_rejected(self, event: Event, workload: LiveWorkload) -> None:
        """It waited, and will never run."""
        self.waits(event)
        need(event["queue"] is not None or event["reason"] != "Denied", "a rule denies it, and it is in no queue")
        del self.live[event["workload"]]
