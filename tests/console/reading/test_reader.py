"""The process beside the one that decides: it follows the journal, answers in time, and is missed by nobody when it dies."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gpol.compiled import core_to_ask
from gpol.compiled.core_to_ask import resting
from gpol.console.answers import UnansweredError
from gpol.console.reading import journal_follower
from gpol.console.reading.journal_follower import JournalFollower
from gpol.console.reading.reader import Reader
from gpol.engine.core.core import ArrayCore
from gpol.engine.default_core import freeze
from gpol.engine.explain.pending import standing
from gpol.engine.facts import WorkloadSubmitted
from gpol.journal.backup import backup
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at


def pid(reader: Reader) -> int:
    """The process that answers."""
    assert reader._process is not None
    return reader._process.pid


async def head(reader: Reader) -> int:
    """The last event that a reader knows."""
    return int(json.loads((await reader.ask("head")).body)["seq"])


@pytest.mark.parametrize("few", [0, 2, 1000])
def test_it_follows_a_journal_that_grows(place: Path, tools: Any, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """What a follower knows is the state at the journal's end, each time it is asked: by the definition, or over arrays once many live."""
    monkeypatch.setattr(core_to_ask, "FEW", few)
    follower, bigger = JournalFollower(str(place)), tools.POLICY.replace("gpu 8", "gpu 16")
    new = [tools.fact(n, **tools.submitted(f"new-{n}", "guest", n)) for n in (1, 8)]
    for facts, policy in ([], ""), ([tools.fact(0, "WorkloadCancelled", workload="held")], ""), (new[:1], ""), (new[1:], bigger):
        if facts:
            tools.append(place, facts, policy)
        followed = follower.catch_up()
        assert isinstance(followed.core, ArrayCore) == (few < 3)
        with Journal.open(place) as journal:
            told = core_at(journal)
            assert followed.head == journal.head
            assert freeze(followed.core) == freeze(told)
            assert followed.identity == journal.at(1).chain.hex()[:32]
        for name in told.view.names():
            assert standing(resting(followed.core), name) == standing(told, name)


def test_in_cycles_the_definition_follows(tmp_path: Path, tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a policy that decides in cycles no room is reserved, so the definition tells as soon as arrays would."""
    monkeypatch.setattr(core_to_ask, "FEW", 0)
    place = tmp_path / "lab.db"
    tools.append(place, [tools.fact(0, **tools.submitted("waits", "guest", 9))], tools.POLICY)
    follower = JournalFollower(str(place))
    assert isinstance(follower.catch_up().core, ArrayCore)
    tools.append(place, [tools.fact(1, **tools.submitted("waits too", "guest", 9))], tools.IN_CYCLES)
    followed = follower.catch_up()
    assert not isinstance(followed.core, ArrayCore)
    with Journal.open(place) as journal:
        assert freeze(followed.core) == freeze(core_at(journal))


def test_nothing_is_read_twice(place: Path, tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower begins anew only for another journal; otherwise it applies what is new."""
    begun: list[Journal] = []
    monkeypatch.setattr(journal_follower, "core_at", lambda journal: begun.append(journal) or core_at(journal))
    follower = JournalFollower(str(place))
    first = follower.catch_up()
    assert follower.catch_up() is first
    tools.append(place, [tools.fact(0, "WorkloadCancelled", workload="held")])
    assert follower.catch_up().core is first.core
    assert len(begun) == 1


def test_another_journal_in_its_place(place: Path, tools: Any, tmp_path: Path) -> None:
    """Where a backup was put back, or another journal, what is told is that one, also if it is as long as the one before."""
    backup = tmp_path / "backup.db"
    shutil.copy(place, backup)
    follower = JournalFollower(str(place))
    tools.append(place, [tools.fact(0, "WorkloadCancelled", workload="held")])
    assert follower.catch_up().core.view.workload("held") is None
    shutil.copy(backup, place)
    assert follower.catch_up().core.view.workload("held") is not None
    tools.append(place, [tools.fact(1, "WorkloadCancelled", workload="team/owner")])
    followed = follower.catch_up()
    assert followed.core.view.workload("team/owner") is None
    place.unlink()
    with pytest.raises(JournalError):
        follower.catch_up()


def test_an_empty_journal(tmp_path: Path) -> None:
    """A journal without events has no identity and no policy, and ends at 0."""
    place = tmp_path / "empty.db"
    Journal.create(place).close()

    async def ask() -> Any:
        async with Reader(str(place), 300) as reader:
            return [json.loads((await reader.ask(name)).body) for name in ("head", "state")]

    end, state = asyncio.run(ask())
    assert end == {"v": 1, "journal": "", "seq": 0, "chain": "00" * 32, "time": 0, "policy": None}
    assert (state["seq"], state["places"], state["capacity"], state["policy"]) == (0, [], [], None)


def test_why_workloads_wait(place: Path, tools: Any) -> None:
    """Each that waits with its reason; those that run, or are not live, are left out."""
    tools.append(place, [WorkloadSubmitted.model_validate({**tools.submitted("waits", "guest", 9), "time": 2 * 10**15})])

    async def ask() -> Any:
        async with Reader(str(place), seconds=60) as reader:
            return json.loads((await reader.ask("why", body=json.dumps(["waits", "held", "team/guest", "nobody"]).encode())).body)

    told = asyncio.run(ask())
    assert told["waits"].startswith("waits in queue guest: ExceedsMaxQuota")
    with Journal.open(place) as journal:
        waiting = {each.name for each in core_at(journal).view.workloads() if each.admitted is None}
    assert set(told) == {"waits", "held", "team/guest"} & waiting


def test_it_is_started_anew(place: Path) -> None:
    """After the process was killed the next question is answered by a new one."""

    async def ask() -> None:
        async with Reader(str(place), 300) as reader:
            first = pid(reader)
            assert await head(reader) == 5
            os.kill(first, signal.SIGKILL)
            await reader._process.wait()  # type: ignore[union-attr]
            assert await head(reader) == 5
            assert pid(reader) != first

    asyncio.run(ask())


def test_a_question_may_meet_a_process_that_just_died(place: Path) -> None:
    """A question to a process that was killed a moment ago is answered by a new one, or ends with 503, and the next one is answered."""

    async def ask() -> None:
        async with Reader(str(place), 300) as reader:
            await head(reader)
            os.kill(pid(reader), signal.SIGKILL)
            (said,) = await asyncio.gather(head(reader), return_exceptions=True)
            assert said == 5 or (isinstance(said, UnansweredError) and said.status == 503)
            await asyncio.sleep(0.2)
            assert await head(reader) == 5

    asyncio.run(ask())


def test_no_process_is_left(place: Path) -> None:
    """When a reader is left its process has ended."""

    async def ask() -> int:
        async with Reader(str(place), 300) as reader:
            await head(reader)
            return pid(reader)

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(ask()), 0)


def test_it_ends_with_the_one_that_asks(place: Path) -> None:
    """The process ends when the other end of its socket is closed, whatever closed it."""

    async def ask() -> None:
        async with Reader(str(place), 300) as reader:
            await head(reader)
            assert reader._control is not None
            assert reader._process is not None
            reader._control.close()
            async with asyncio.timeout(300):
                assert await reader._process.wait() == 0

    asyncio.run(ask())


def test_what_takes_too_long_is_given_up(place: Path) -> None:
    """A question that is not answered in time ends with 504; the process is asked again later."""

    async def ask() -> None:
        async with Reader(str(place), 300) as reader:
            await head(reader)
            reader._seconds = 0.2
            os.kill(pid(reader), signal.SIGSTOP)
            with pytest.raises(UnansweredError) as late:
                await head(reader)
            assert (late.value.status, late.value.detail.code) == (504, "TimedOut")
            os.kill(pid(reader), signal.SIGCONT)
            reader._seconds = 300
            assert await head(reader) == 5

    asyncio.run(ask())


def test_one_trial_at_a_time(place: Path) -> None:
    """While a trial is under way another one is refused, and other questions are answered."""

    async def ask() -> None:
        async with Reader(str(place), 300) as reader:
            first, second, other = await asyncio.gather(
                reader.ask("try", body=b"{}"), reader.ask("try", body=b"{}"), head(reader), return_exceptions=True
            )
            assert isinstance(second, UnansweredError)
            assert (second.status, second.detail.code) == (503, "Busy")
            assert (first.status, other) == (422, 5)  # type: ignore[union-attr]
            assert (await reader.ask("try", body=b"{}")).status == 422

    asyncio.run(ask())


def test_more_questions_than_it_can_take(place: Path) -> None:
    """Where the process takes no more questions, they are refused, and it is not started anew for that."""

    async def ask() -> None:
        async with Reader(str(place), 300) as reader:
            await head(reader)
            first = pid(reader)
            reader._seconds = 0.01
            os.kill(first, signal.SIGSTOP)
            codes = set()
            while "Busy" not in codes:
                with pytest.raises(UnansweredError) as refused:
                    await head(reader)
                codes.add(refused.value.detail.code)
            os.kill(first, signal.SIGCONT)
            reader._seconds = 300
            assert codes <= {"TimedOut", "Busy"}
            said: Any = None
            while said != 5:  # it takes a moment to pass over those who do not wait any more
                (said,) = await asyncio.gather(head(reader), return_exceptions=True)
            assert pid(reader) == first

    asyncio.run(ask())


def test_a_mistake_in_an_answer_is_told(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A question that cannot be answered because of a mistake ends with 503, and the log has where it lies."""

    async def ask() -> None:
        async with Reader(str(place), 300) as reader:
            with pytest.raises(UnansweredError) as failed:
                await reader.ask("no such question")
            assert (failed.value.status, failed.value.detail.code) == (503, "NoAnswer")
            assert await head(reader) == 5

    asyncio.run(ask())
    assert "there is no question `no such question`" in capfd.readouterr().err


def test_the_place_of_the_journal_is_no_argument(tmp_path: Path) -> None:
    """The URL of a journal may have a password, so no list of processes shows it."""

    async def ask() -> str:
        async with Reader("postgresql://gpol:secret-word@127.0.0.1:1/none", 300) as reader:
            said = (await reader.ask("head")).body.decode()
            assert "secret-word" not in said
            return Path(f"/proc/{pid(reader)}/cmdline").read_text() + Path(f"/proc/{pid(reader)}/environ").read_text()

    if not Path("/proc/self/cmdline").exists():
        pytest.skip("needs /proc, to see what a list of processes shows")
    assert "secret-word" not in asyncio.run(ask())


def test_a_question_ends_when_its_time_is_up() -> None:
    """The copy that answers has a clock of its own, which ends it whatever it is doing."""
    script = (
        "from time import monotonic\nfrom gpol.console.reading.reading_process import end_at\nend_at(monotonic() + 0.05)\nwhile True: pass"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=300).returncode == -signal.SIGALRM


def test_a_journal_in_postgresql(postgres_place: str, place: Path) -> None:
    """A journal on a server is followed as one in a file: each question has a connection of its own."""
    backup(place, postgres_place)

    async def ask() -> None:
        async with Reader(postgres_place, 300) as reader:
            answers = await asyncio.gather(*(reader.ask("explain", workload="team/guest") for _ in range(4)), reader.ask("metrics"))
            assert [each.status for each in answers] == [200] * 5
            assert await head(reader) == 5

    asyncio.run(ask())
