"""Whether a submission would only wait: both cores say the same, and nothing changes by the question."""

from collections import Counter
from typing import Any

import pytest
from careful import careful_kernels
from cores_by_name import CORES
from draws import Dice
from fuzzing import drawn_play
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.errors import FactError
from gpol.engine.facts import Fact, WorkloadSubmitted
from gpol.engine.policy_graph import PolicyGraph
from gpol.sim.drive.policy import Policy
from job_draws import gang
from player import fact_of
from submission_draws import submission
from worlds import SECOND

HISTORIES = 4
FACTS = 60

KEPT: dict[str, list[int] | slice] = {
    "state": [
        c.TIME,
        c.SEQ,
        c.CAUSE,
        c.SUBMISSIONS,
        c.IDLE,
        c.FRESH,
        c.LIVE,
        c.WAITING,
        c.WAITS_AT,
        c.FIRST_WAITING,
        c.FIRST_STIRRED,
        c.FIRST_GAVE,
    ],
    "node": [c.STIRRED, c.NEXT_STIRRED, c.GENERATION, c.EPOCH, c.PREEMPTOR, c.LINE, c.WAITS, c.FIRST_RUNNING, c.CHANGED, c.MOST_WAITING],
    "quota": [c.OWNED, c.USED],
    "watch": [c.JOINED, c.REACH, c.NEED],
    "asked": slice(None),
    "name": [c.ROW, c.GAVE, c.NEXT_GAVE, c.JOB],
    "wish": [c.WISH, c.LEAST],
    "cell": slice(None),
    "shape": [c.REFUSED, c.HOPELESS],
}
"""What later decisions go by, of the tables that a question might disturb: their columns."""


def kept(core: ArrayCore) -> dict[str, Any]:
    """What later decisions go by."""
    assert core._store is not None
    tables = core._store.tables
    found = {name: getattr(tables, name)[..., columns].copy() for name, columns in KEPT.items()}
    pending = (tables.when[:, c.NUMBER] > 0) & (tables.work[:, c.WAIT] != c.NONE)
    return {**found, "wish": found["wish"][tables.work[pending, c.WAIT]]}


def assert_kept(before: dict[str, Any], core: ArrayCore) -> None:
    """It is as it was; tables may have grown."""
    for name, now in kept(core).items():
        assert now[: len(before[name])].tolist() == before[name].tolist(), name


def ask(core: Core, fact: WorkloadSubmitted) -> bool:
    """Ask twice, as drivers do: it is the same answer, and the same state before and after."""
    frozen, wake = core.freeze(), core.next_wake()
    tables = kept(core) if isinstance(core, ArrayCore) and core._store is not None and not core.decides_in_cycles else None
    answer = core.only_waits(fact)
    if tables is not None and isinstance(core, ArrayCore):
        core.only_waits(fact.model_copy(update={"workload": "another"}))
        assert_kept(tables, core)
    assert core.only_waits(fact) is answer
    assert (core.freeze(), core.next_wake()) == (frozen, wake)
    return answer


def told(core: Core, fact: Fact, graph: PolicyGraph | None) -> tuple[list[bytes] | str, int | None]:
    """What a core decides, or the message with which it refuses, and the next wake."""
    try:
        decided: list[bytes] | str = [each.payload() for each in core.step(fact, graph)]
    except FactError as error:
        decided = str(error)
    return decided, core.next_wake()


@pytest.mark.parametrize("number", range(HISTORIES))
def test_both_cores_answer_alike_and_go_on_as_if_they_were_not_asked(number: int) -> None:
    """Submissions that come, others that might, some of them impossible: each is asked of cores whose twins are asked nothing."""
    seen = Counter[bool]()
    play, facts = drawn_play(
        Dice(f"only waits/{number}"), number % 4 == 3, CORES["definition"], CORES["array"], Counter(), crowded=number % 2 == 0
    )
    draw, never_asked = Dice(f"asked/{number}"), play.core
    asked: list[Core] = [DefinitionCore(), ArrayCore(kernels=careful_kernels())]
    others: list[Core] = [never_asked, ArrayCore()]
    for _ in range(FACTS):
        plain = facts.next(never_asked, never_asked.next_wake())
        fact, graph = fact_of(plain, play.texts)
        questions = [fact] if isinstance(fact, WorkloadSubmitted) else []
        if never_asked.graph is not None and draw.chance(2):
            time = max(0, never_asked.time + draw.pick([0, 0, SECOND, 60 * SECOND, -1]))
            live = sorted(never_asked.view.names())
            name = draw.pick(live) if live and draw.chance(8) else f"asked-{facts.number}"
            questions.append(fact_of({**submission(draw, facts.world, never_asked, name, time), "time": time}, ())[0])
        for question in questions:
            assert isinstance(question, WorkloadSubmitted)
            answers = [ask(core, question) for core in asked]
            assert answers[0] is answers[1], question
            seen[answers[0]] += 1
        results = [told(core, fact, graph) for core in (*others, *asked)]
        assert all(result == results[0] for result in results), fact
    assert len({core.freeze() for core in (*others, *asked)}) == 1
    assert seen[True] > 3
    assert seen[False] > 3


def test_the_core_over_arrays_asks_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of the definition, which has every live workload, is not made for a question."""
    policy = Policy.of(check('policy "p" {}\nflavor pool { gpu 8 }\nqueue owner { owns 8 gpu }\n', "p.gpol"))
    core = ArrayCore()
    core.step(policy.activation(0), policy.graph)
    core.step(gang("a", 0, 6, 1).fact)
    monkeypatch.setattr(ArrayCore, "state", lambda core: pytest.fail("the whole state is made"))
    assert [core.only_waits(gang(name, 5, gpus, 1).fact) for name, gpus in (("b", 3), ("c", 2), ("a", 3))] == [True, False, False]
