"""Alterations of journals that a chain computed anew hides, each with what the checker has to say about it."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

from form import Event

Events = list[Event]


@dataclass(frozen=True)
class Alteration:
    """What is altered, in which journal (`lab`, `busy` or `kueue`), how, and words of what is found."""

    what: str
    journal: str
    change: Callable[[Events], object]
    found: str


def one(events: Events, kind: str, **fields: object) -> Event:
    """The first event of a kind with these fields."""
    return next(each for each in events if each["kind"] == kind and all(each.get(name) == value for name, value in fields.items()))


def leave_out(events: Events, kind: str, **fields: object) -> None:
    """An event is not there."""
    events.remove(one(events, kind, **fields))


def only_time(events: Events, kind: str, **fields: object) -> None:
    """A fact is none, but time goes on in its place."""
    fact = one(events, kind, **fields)
    time = fact["time"]
    fact.clear()
    fact |= {"kind": "TimeAdvanced", "v": 1, "time": time}


def repeat(events: Events, kind: str, **fields: object) -> None:
    """An event is there twice."""
    event = one(events, kind, **fields)
    events.insert(next(at for at, each in enumerate(events) if each is event) + 1, copy.copy(event))


def charge(event: Event, more: int) -> None:
    """The first charge of a decision is so much more."""
    event["usage"] = [{**event["usage"][0], "amount": event["usage"][0]["amount"] + more}, *event["usage"][1:]]


def other_flavor(events: Events) -> None:
    """A workload runs on a flavor that it did not ask for, in all that is said about it."""
    for event in events:
        if event.get("workload") == "v2" and "usage" in event:
            for each in (*event["usage"], *event.get("borrowed", [])):
                each["flavor"] = "h100"
            for each in event.get("assignments", []):
                each["flavors"] = dict.fromkeys(each["flavors"], "h100")


def fewer_pods(events: Events) -> None:
    """A workload is given half of its pods, and charged for them."""
    event = one(events, "WorkloadAdmitted", workload="large")
    event["assignments"][0]["count"] = 2
    event["usage"][0]["amount"] = 2000


def swap_with_next(events: Events, kind: str, **fields: object) -> None:
    """An event stands behind the one after it."""
    at = events.index(one(events, kind, **fields))
    events[at], events[at + 1] = events[at + 1], events[at]


def admit_rejected(events: Events) -> None:
    """A workload that was rejected runs in spite of that."""
    at = events.index(one(events, "WorkloadRejected"))
    event = {**one(events, "WorkloadAdmitted"), "workload": events[at]["workload"], "queue": events[at]["queue"]}
    events.insert(at + 1, {**event, "time": events[at]["time"], "cause": events[at]["cause"]})


def another_fact(events: Events) -> None:
    """A decision names a fact before its own."""
    event = one(events, "WorkloadEvicted")
    event["cause"] = events[1]


def invent_deferral_victim(events: Events) -> None:
    """A workload waits for a victim that nobody knows."""
    one(events, "WorkloadDeferred", outcome="preempting")["victims"] = ["team/nobody"]


def forget_victims(events: Events) -> None:
    """Who waits for victims does not name them."""
    victims = {each["workload"] for each in events if each["kind"] == "WorkloadEvicted"}
    deferred = next(each for each in events if each["kind"] == "WorkloadDeferred" and victims & set(each["victims"]))
    deferred["victims"] = []


def deferred_again(events: Events) -> None:
    """A deferral is said once more, by the next moment."""
    at = next(at for at, each in enumerate(events) if each["kind"] == "WorkloadDeferred" and "cause" not in events[at + 1])
    moment = {"kind": "TimeAdvanced", "v": 1, "time": events[at]["time"]}
    events[at + 1 : at + 1] = [moment, {**events[at], "cause": moment}]


def add_field(events: Events) -> None:
    """A fact says something that the page does not have."""
    one(events, "WorkloadFinished")["note"] = "so it is"


def later(events: Events) -> None:
    """The last decision is a second later than its fact, and so is all that follows."""
    at = max(at for at, each in enumerate(events) if "cause" in each)
    for each in events[at:]:
        each["time"] += 1_000_000


ALTERATIONS = [
    Alteration("the first policy is left out", "lab", lambda e: leave_out(e, "PolicyActivated"), "before the first policy"),
    Alteration("a submission is left out", "lab", lambda e: only_time(e, "WorkloadSubmitted", workload="s1"), "was never submitted"),
    Alteration("a workload is submitted twice", "lab", lambda e: repeat(e, "WorkloadSubmitted", workload="huge"), "is there already"),
    Alteration("an admission is said twice", "lab", lambda e: repeat(e, "WorkloadAdmitted", workload="s1"), "runs, and does not wait"),
    Alteration("an admission is left out", "lab", lambda e: leave_out(e, "WorkloadAdmitted", workload="n1"), "does not run"),
    Alteration("a workload ends twice", "lab", lambda e: repeat(e, "WorkloadFinished", workload="v1"), "has ended"),
    Alteration("a rejected workload runs", "lab", admit_rejected, "has ended"),
    Alteration("less is charged than was given", "lab", lambda e: charge(one(e, "WorkloadAdmitted"), -1000), "it is charged"),
    Alteration("more is charged than was given", "lab", lambda e: charge(one(e, "WorkloadAdmitted"), 1), "it is charged"),
    Alteration("an eviction frees more than was charged", "lab", lambda e: charge(one(e, "WorkloadEvicted"), 1000), "it frees"),
    Alteration("an eviction frees less than was charged", "lab", lambda e: charge(one(e, "WorkloadEvicted"), -1), "it frees"),
    Alteration("a flavor that will not do", "lab", other_flavor, "will not do"),
    Alteration("the other queue", "lab", lambda e: one(e, "WorkloadAdmitted").update(queue="nlp"), "belongs to queue `students`"),
    Alteration("the beneficiary is not admitted", "lab", lambda e: leave_out(e, "WorkloadAdmitted", workload="v2"), "evicted for `v2`"),
    Alteration(
        "the beneficiary runs already",
        "lab",
        lambda e: one(e, "WorkloadEvicted", workload="s2").update(beneficiary="v1"),
        "beneficiary `v1` does not wait",
    ),
    Alteration(
        "the eviction follows the admission",
        "lab",
        lambda e: swap_with_next(e, "WorkloadEvicted", workload="s2"),
        "its reason is FitsAfterEviction",
    ),
    Alteration(
        "an owner's reclaim is told as one within a queue",
        "lab",
        lambda e: one(e, "WorkloadEvicted").update(preemption="in-queue"),
        "within a queue",
    ),
    Alteration(
        "a reason that the evictions contradict",
        "lab",
        lambda e: one(e, "WorkloadAdmitted", workload="v2").update(reason="FitsOwned"),
        "its reason is",
    ),
    Alteration(
        "more is borrowed than charged",
        "lab",
        lambda e: one(e, "WorkloadAdmitted")["borrowed"][0].update(amount=5000),
        "borrows more than it is charged",
    ),
    Alteration("a decision names another fact", "lab", another_fact, "its cause is 2"),
    Alteration("time goes back", "lab", lambda e: e[20].update(time=0), "its time 0 is before"),
    Alteration("a decision is later than its fact", "lab", later, "not that of its fact"),
    Alteration(
        "a line that the policy does not have", "lab", lambda e: one(e, "WorkloadEvicted")["why"]["rule"].update(line=999), "no line 999"
    ),
    Alteration(
        "a limit that is not short by its deficit",
        "lab",
        lambda e: one(e, "WorkloadEvicted")["why"]["limit"].update(deficit=1),
        "the deficit",
    ),
    Alteration("a field that the page does not have", "lab", add_field, "does not have the fields"),
    Alteration("a held workload is never let go", "busy", lambda e: only_time(e, "OperatorAction", action="release"), "`kept` is held"),
    Alteration(
        "a check goes on to say no",
        "busy",
        lambda e: one(e, "WorkloadUpdated", checks={"provision": "Ready"}).update(checks={"provision": "Retry"}),
        "says no",
    ),
    Alteration("fewer pods than were asked for", "busy", fewer_pods, "is given 2 pods, and asked for 3"),
    Alteration("another one is said to have evicted", "busy", lambda e: one(e, "WorkloadEvicted").update(by="ada"), "operator's wish"),
    Alteration("less exists than is used", "busy", lambda e: one(e, "CapacityChanged").update(capacity={"gpu": 5000}), "and 5000 exist"),
    Alteration("nobody takes the place", "busy", lambda e: leave_out(e, "WorkloadAdmitted", workload="large"), "nobody was admitted in it"),
    Alteration("nobody gives up the place", "busy", lambda e: leave_out(e, "WorkloadReplaced"), "gave away that of nobody"),
    Alteration(
        "pods that are done are forgotten",
        "busy",
        lambda e: one(e, "WorkloadUpdated", workload="elsewhere").update(reclaimable=None),
        "it frees",
    ),
    Alteration(
        "more is adopted than is freed",
        "busy",
        lambda e: one(e, "WorkloadAdopted")["placements"][0].update(usage={"gpu": 6000}),
        "it frees",
    ),
    Alteration("a machine leaves that never came", "busy", lambda e: leave_out(e, "NodeAdded"), "there is no node"),
    Alteration("a deferral says nothing new", "kueue", deferred_again, "is deferred again as before"),
    Alteration("a victim that nobody knows", "kueue", invent_deferral_victim, "is not there"),
    Alteration("who waits for victims does not name them", "kueue", forget_victims, "was evicted for"),
]
"""Each is made alone, in a journal that conserves."""
