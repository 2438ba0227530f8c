"""What the nodes below a node ask it for: the trees in which those are found that it can help, and the bounds that are kept in them."""

from collections import Counter

import pytest
from cores_by_name import CORES
from draws import Dice
from fuzzing import drawn_play, play_out
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels import settle as settling
from gpol.engine.core.kernels.watch.asked import first_helped, next_helped, write_asked
from gpol.engine.core.kernels.watch.needs import note_what_arrives, what_it_asks
from gpol.engine.core.tables import Tables
from gpol.sim.drive.policy import Policy

WIDTHS = (0, 1, 2, 3, 5, 8, 13)
CASES = 30
WRITES = 40
HISTORIES = 8
FACTS = 150


def a_cohort(queues: int, slots: int) -> tuple[Tables, int]:
    """The tables under a policy with a cohort of so many queues beside another one, and the node of that cohort."""
    flavors = "".join(f"flavor f{slot} {{ gpu 100 }}\n" for slot in range(slots))
    body = "".join(f"  queue q{number} {{ owns nothing }}\n" for number in range(queues))
    text = f'policy "p" {{ use gpol.fair }}\n{flavors}cohort small {{\n  queue alone {{ owns nothing }}\n}}\ncohort wide {{\n{body}}}\n'
    policy, core = Policy.of(check(text, "p.gpol")), ArrayCore()
    core.step(policy.activation(0), policy.graph)
    return core._tables.tables, next(index for index, node in enumerate(policy.graph.nodes) if node.name == "wide")


def children(t: Tables, node: int) -> list[int]:
    """The nodes right below a node."""
    found, child = list[int](), int(t.node[node, c.FIRST_CHILD])
    while child != c.NONE:
        found.append(child)
        child = int(t.node[child, c.NEXT_CHILD])
    return found


def slots_of(t: Tables) -> range:
    """The slots for which something is asked; one where there is none."""
    return range(max(1, int(t.state[c.SLOTS])))


def arrives(t: Tables, node: int, slot: int) -> int:
    """How much of a slot may arrive at a node."""
    return int(max(t.watch[node, slot, c.ROOM], t.watch[node, slot, c.EXTRA]))


def asks(t: Tables, node: int, slot: int) -> int:
    """What a node asks its parent for."""
    return int(t.asked[t.node[t.node[node, c.PARENT], c.FIRST_ASKED] + t.node[node, c.ASKED_ROW], c.OF_SLOT + slot])


@pytest.mark.parametrize("number", range(CASES))
def test_the_least_and_all_who_are_helped_are_those_of_a_plain_list(number: int) -> None:
    """Whatever children ask for, in whatever order they come to ask for it."""
    draw = Dice(f"asked/{number}")
    t, parent = a_cohort(WIDTHS[number % len(WIDTHS)], draw.pick([1, 2, 3]))
    below = children(t, parent)
    plain = {(child, slot): c.NEVER for child in below for slot in slots_of(t)}
    for _ in range(WRITES if below else 1):
        if below:
            child, slot, asked = draw.pick(below), draw.pick(list(slots_of(t))), draw.pick([c.NEVER, c.ANYTIME, 0, 1, 2, 3, 4, 5])
            before = t.watch[parent, slot, c.NEED]
            told = write_asked(t, child, slot, asked)
            plain[child, slot] = asked
            least = min(plain[each, slot] for each in below)
            assert t.watch[parent, slot, c.NEED] == least
            assert told == (least != before)
        for slot in slots_of(t):
            t.watch[parent, slot, c.ROOM], t.watch[parent, slot, c.EXTRA] = draw.pick([-1, 0, 1, 3]), draw.pick([c.ANYTIME, 0, 2, 5])
        helped = [child for child in below if any(plain[child, slot] <= arrives(t, parent, slot) for slot in slots_of(t))]
        found, child = list[int](), first_helped(t, parent)
        while child != c.NONE:
            found.append(int(child))
            child = next_helped(t, child)
        assert found == helped


@pytest.mark.parametrize("number", range(HISTORIES))
def test_nobody_who_is_helped_is_left_out(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each list of open queues no node is noted as asking for more than it does, and who is listed is helped all the way down."""
    seen = Counter[str]()
    open_queues = settling.open_queues

    def checked(t: Tables, of_all: bool) -> None:
        for node in range(int(t.state[c.NODES])):
            if t.node[node, c.PARENT] >= 0:
                for slot in slots_of(t):
                    assert asks(t, node, slot) <= what_it_asks(t, node, slot)
        before, opened = int(t.state[c.OPENING]), t.node[:, c.OPENED].copy()
        open_queues(t, of_all)
        found, node = list[int](), int(t.state[c.FIRST_OPEN])
        while node != c.NONE:
            found.append(node)
            node = int(t.node[node, c.NEXT_OPEN])
        assert found[::-1] == [node for node in helped_below(t, 0) if of_all or opened[node] == before]
        seen["some are open" if found else "none is open"] += 1

    monkeypatch.setattr(settling, "open_queues", checked)
    play, facts = drawn_play(Dice(f"needs/{number}"), False, CORES["array"], CORES["array"], Counter(), ["small"], crowded=True)
    play_out(play, facts, FACTS)
    assert min(seen["some are open"], seen["none is open"]) > 0, seen


def helped_below(t: Tables, parent: int) -> list[int]:
    """The queues below a node at which as much arrives as they ask for, by a walk over all children."""
    found = list[int]()
    for node in children(t, parent):
        if any(asks(t, node, slot) <= arrives(t, parent, slot) for slot in slots_of(t)):
            if t.node[node, c.IS_QUEUE]:
                found.append(node)
            else:
                note_what_arrives(t, node)
                found += helped_below(t, node)
    return found
