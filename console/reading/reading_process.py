"""The process that answers questions: one that follows the journal, and for each question a copy of it that answers and ends.

    recv a socket --> catch up with the journal --> fork --> the copy reads the question there, answers it and ends

A copy of a process has the whole state, as of then, and takes no time to make. What it does to that state nobody sees. It ends by itself
when its time is up, whatever it is doing. It is started with the number of a socket, by which it gets the sockets of questions, and ends
when that one is closed at the other end, so together with the process that decides.
"""

import gc
import logging
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from time import monotonic
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

from ...journal.errors import JournalError
from ..answers import ExplainQuery, StateQuery, UnansweredError
from .journal_follower import Followed, JournalFollower
from .question import NAMES, QUESTION, REASONS, Question
from .questions import explanation_of, head_of, reasons_of, state_of
from .queue_metrics import queue_metrics
from .said_wrong import said_wrong
from .trial_run import read_request, trial_of

LOG = logging.getLogger("gpol.reading")

NICE = 5
"""By how much these processes stand back for the one that decides."""

WHY_SECONDS = 20.0
"""So long reasons are found why workloads wait; then those that were found are the answer."""

_RECEIVED = 65536


def answered(followed: Followed, question: Question, body: bytes) -> bytes:
    """The answer to a question, as bytes. Raises UnansweredError and JournalError."""
    match question.name:
        case "state":
            return _json(state_of(followed, _query(StateQuery, question)))
        case "explain":
            return _json(explanation_of(followed, question.workload, _query(ExplainQuery, question)))
        case "head":
            return _json(head_of(followed))
        case "try":
            return _json(trial_of(followed, read_request(body)))
        case "why":
            return REASONS.dump_json(reasons_of(followed, NAMES.validate_json(body), until=monotonic() + WHY_SECONDS))
        case "metrics":
            return queue_metrics(followed)
        case _:
            raise ValueError(f"there is no question `{question.name}`")


def _json(answer: BaseModel) -> bytes:
    return answer.model_dump_json().encode()


def _query(kind: type[Any], question: Question) -> Any:
    try:
        return kind.model_validate(question.query)
    except ValidationError as error:
        message = f"the query cannot be used: {said_wrong(error)}"
        raise UnansweredError(400, "BadRequest", message, "/v1/openapi.json describes it") from None


# --- the process ----------------------------------------------------------------------------------------------------


def serve(control: socket.socket, place: str) -> None:
    """Answer questions until the other end of `control` is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for copies
    follower = JournalFollower(place)
    while True:
        _, sockets, _, _ = socket.recv_fds(control, 1, 1)
        if not sockets:
            return
        with socket.socket(fileno=sockets[0]) as asked:
            if not _is_waited_for(asked):
                continue
            found: Followed | JournalError
            try:
                found = follower.catch_up()
            except JournalError as error:
                found = error
            if os.fork() == 0:
                control.close()
                _answer_and_end(asked, found)


def _is_waited_for(asked: socket.socket) -> bool:
    """Whether the other end is still open: who has asked may have given up while the journal was read."""
    poll = select.poll()
    poll.register(asked, 0)  # whether the other end was closed is told without being asked for
    return not poll.poll(0)


def _answer_and_end(asked: socket.socket, found: Followed | JournalError) -> NoReturn:
    """What a copy does. It shares open files with the process it was copied from, so it ends without closing anything."""
    try:
        gc.freeze()  # what the collector touches is copied
        data = _received(asked)
        head, line_break, body = data.partition(b"\n")
        if not line_break:  # who has asked does not wait any more
            os._exit(0)
        question = QUESTION.validate_json(head)
        end_at(question.deadline)
        with suppress(OSError):  # who has asked does not wait any more
            asked.sendall(_told(found, question, body))
            asked.shutdown(socket.SHUT_WR)
    except BaseException:
        LOG.exception("a question could not be answered")
        os._exit(1)
    os._exit(0)


def end_at(deadline: float) -> None:
    """Let this process end at a moment of the clock `monotonic`, which all processes share, whatever it is doing then."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, deadline - monotonic()))


def _received(asked: socket.socket) -> bytes:
    parts = []
    while part := asked.recv(_RECEIVED):
        parts.append(part)
    return b"".join(parts)


def _told(found: Followed | JournalError, question: Question, body: bytes) -> bytes:
    """The status and the size on a line of its own, and the answer: one that is cut off can be told from a whole one."""
    try:
        if isinstance(found, JournalError):
            raise found
        return _framed(200, answered(found, question, body))
    except JournalError as error:
        refused = UnansweredError(503, "JournalUnavailable", error.message, error.remedy)
    except UnansweredError as error:
        refused = error
    return _framed(refused.status, _json(refused.answer))


def _framed(status: int, answer: bytes) -> bytes:
    return b"%d %d\n" % (status, len(answer)) + answer


def main() -> None:
    """Run as a process: the first argument is the number of the socket, and the place of the journal comes through it first."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    os.nice(NICE)
    with socket.socket(fileno=int(sys.argv[1])) as control:
        size = int.from_bytes(_exactly(control, 4), "big")
        serve(control, _exactly(control, size).decode())


def _exactly(control: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = control.recv(size - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data


if __name__ == "__main__":
    main()
