"""Asks the process that answers questions, from the event loop of the one that decides: nothing here takes time there but copying bytes."""

import asyncio
import logging
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

from ..answers import UnansweredError
from .question import QUESTION, Question

LOG = logging.getLogger("gpol.reading")

AT_ONCE = 4
"""How many questions are under way at once; of trials, which may need as much memory as the whole state, one."""


_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""A process is copied without its threads, so it shall have but one."""


class Answered(NamedTuple):
    """An answer: its HTTP status, and its bytes."""

    status: int
    body: bytes


class Reader:
    """The process beside this one, which follows the journal at a place; an async context manager. It is started anew when it has died.

    `seconds` is how long an answer may take.
    """

    def __init__(self, place: str, seconds: float) -> None:
        self._place, self._seconds = place, seconds
        self._process: Process | None = None
        self._control: socket.socket | None = None
        self._starting = asyncio.Lock()
        self._questions = asyncio.Semaphore(AT_ONCE)
        self._trials = asyncio.Semaphore(1)

    async def __aenter__(self) -> Self:
        await self._started()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stop()

    async def ask(
        self, name: str, workload: str = "", query: Mapping[str, str] | None = None, body: bytes = b"", seconds: float | None = None
    ) -> Answered:
        """The answer to a question. Raises UnansweredError where there is none in time: `seconds`, where it is another one than usual."""
        remedy = (
            "ask for less, or try again later" if seconds is not None else "ask for less, try again later, or raise `http.answer_seconds`"
        )
        seconds = self._seconds if seconds is None else seconds
        late = _too_late(seconds, remedy)
        turns = self._trials if name == "try" else self._questions
        if name == "try" and turns.locked():
            raise UnansweredError(503, "Busy", "another trial is under way", "try again when it has ended")
        deadline = monotonic() + seconds
        question = Question(name, workload, dict(query or {}), deadline)
        try:
            async with asyncio.timeout(seconds), turns:
                data = await self._exchange(QUESTION.dump_json(question) + b"\n" + body)
        except TimeoutError:
            raise late from None
        head, _, answer = data.partition(b"\n")
        status, _, size = head.partition(b" ")
        if not size.isdigit() or len(answer) != int(size):
            if monotonic() >= deadline:
                raise late
            raise UnansweredError(503, "NoAnswer", "the process that answers questions has failed", "its log says why; try again later")
        return Answered(int(status), answer)

    async def _exchange(self, data: bytes) -> bytes:
        """Send a question, and return what comes back; nothing comes from a process that has died."""
        ours, theirs = socket.socketpair()
        with theirs:
            ours.setblocking(False)
            reading, writing = await asyncio.open_unix_connection(sock=ours)
            try:
                await self._hand_over(theirs)
                theirs.close()
                writing.write(data)
                writing.write_eof()
                return await reading.read()
            except ConnectionError:
                return b""
            finally:
                writing.transport.abort()

    async def _hand_over(self, theirs: socket.socket) -> None:
        """Give the other end to the process, which is started anew once, if it has died."""
        try:
            control = await self._started()
            try:
                socket.send_fds(control, [b"?"], [theirs.fileno()])
            except ConnectionError:
                socket.send_fds(await self._started(instead_of=control), [b"?"], [theirs.fileno()])
        except OSError as error:  # it has more questions than it can take: it still reads the journal, or its machine is overloaded
            message = f"the process that answers questions takes no more of them now: {error.strerror}"
            raise UnansweredError(503, "Busy", message, "try again later") from None

    async def _started(self, instead_of: socket.socket | None = None) -> socket.socket:
        """The socket by which the process gets questions; `instead_of` one at whose other end there is none any more."""
        async with self._starting:
            if self._control not in (None, instead_of) and self._process is not None and self._process.returncode is None:
                return self._control
            await self._stop()
            ours, theirs = socket.socketpair()
            with theirs:
                command = (sys.executable, "-m", "gpol.console.reading.reading_process", str(theirs.fileno()))
                self._process = await asyncio.create_subprocess_exec(
                    *command,
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    env=os.environ | _ONE_THREAD,
                )
            place = self._place.encode()
            ours.sendall(len(place).to_bytes(4, "big") + place)  # not among the arguments: a URL may have a password
            ours.setblocking(False)
            self._control = ours
            return ours

    async def _stop(self) -> None:
        """End the process, and all copies of it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
            self._process = None


def _too_late(seconds: float, remedy: str) -> UnansweredError:
    return UnansweredError(504, "TimedOut", f"there was no answer within {seconds:g} seconds", remedy)
