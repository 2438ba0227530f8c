"""The facts of a file, line by line, and how they are played."""

import gzip
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple

from pydantic import ValidationError

from ...adapters.rows import plain_json
from ...engine.cores import PlayedBatch
from ...engine.errors import FactError, describe_error
from ...engine.facts import FACT, Fact, PolicyActivated
from ...engine.intake.check import refuse_wishes_without_effect
from ...engine.policy_graph import PolicyGraph
from ...engine.units import format_time
from ...journal.decode import learn, recall
from ...sim.drive.given_facts import PlayedStretch, may_be_given
from ...sim.drive.job import InputError
from ...sim.drive.player import EndlessError, OvertakenError, Player
from ...sim.drive.policy import Policy
from ..shared.output import complain, refuse
from ..shared.reading import name_in_messages
from .policy_lines import read_activation

_BLANKS = b" \t\r\n"

MAX_LINE = 1_000_000
"""The longest line of facts that is read, in bytes."""

FEW, MOST_AT_ONCE = 64, 4_096
"""How many facts are played in one go: at first and at least, and at most. Fewer than that are played one by one."""

MOST_BYTES = 8_000_000
"""How long lines may be together that are read ahead."""

Stream = IO[bytes] | gzip.GzipFile
"""An open file of facts, packed or not."""


class FactLine(NamedTuple):
    """What a line says: a fact, with the policy that it activates if it does; or why it is none, or why nothing can be read from it on.

    `size` is its length in bytes; `payload` are its bytes where they are the one form of the fact.
    """

    number: int
    size: int = 0
    fact: Fact | None = None
    graph: PolicyGraph | None = None
    payload: bytes | None = None
    problem: str = ""
    end: InputError | None = None


class Facts:
    """The facts of a file, line by line; a line that is none ends the run, or is skipped and listed. `as_recorded`: these facts alone are
    played, without the moments between them at which time alone decides.

    A file on the disk is read some lines ahead of what is played, so that many facts can be played in one go; of a stream each fact is
    played before the next one is waited for.
    """

    def __init__(self, path: str, file: Stream, skip: bool, as_recorded: bool = False) -> None:
        self.name = name_in_messages(path)
        self.file = file
        self.skip = skip
        self.as_recorded = as_recorded
        self.folder = Path() if path == "-" else Path(path).parent
        self.is_stream = path == "-" or not Path(path).is_file()
        self.skipped = 0
        self._line = 0

    def __iter__(self) -> Iterator[FactLine]:
        try:
            while text := self._next_line():
                if text.strip(_BLANKS):
                    yield self._read(text)
        except InputError as error:
            yield FactLine(self._line, end=error)

    def _read(self, text: bytes) -> FactLine:
        try:
            if len(text) > MAX_LINE:
                raise ValueError(f"the line is longer than {MAX_LINE:,} bytes")
            said = text.strip(_BLANKS)
            known = recall(said)
            if isinstance(known, Fact) and not isinstance(known, PolicyActivated):
                line = FactLine(self._line, len(said), known, payload=said)
            else:
                line = FactLine(self._line, len(said), *self._fact(text.rstrip(_BLANKS), said))
            if line.fact is not None and not self.as_recorded:
                refuse_wishes_without_effect(line.fact)
            return line
        except (ValidationError, ValueError) as error:
            problem = describe_error(error) if isinstance(error, ValidationError) else str(error)
        return FactLine(self._line, problem=problem)

    def _fact(self, text: bytes, payload: bytes) -> tuple[Fact, PolicyGraph | None]:
        """The fact of a line; `payload` is it without blanks before it. Raises ValidationError and ValueError for what is none."""
        said = plain_json(text)
        if not isinstance(said, dict):
            raise ValueError("the line is no JSON object")
        if said.get("kind") == PolicyActivated.__name__:
            return read_activation(said, self.folder, self.as_recorded)
        fact: Fact = FACT.validate_python(said)
        learn(payload, fact)
        return fact, None

    def _next_line(self) -> bytes:
        """The next line; of one that is too long its beginning alone, so that no line fills the memory."""
        self._line += 1
        try:
            text = rest = self.file.readline(MAX_LINE + 1)
            while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
                rest = self.file.readline(MAX_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            remedy = "write or copy the file again"
            raise InputError(self.name, self._line, f"the file cannot be read on: {error}", remedy) from None
        return text.removeprefix(b"\xef\xbb\xbf") if self._line == 1 else text

    def bad(self, line: int, problem: str, applied: str = "") -> None:
        """Say what is wrong with a line, and what of it was applied; end the run unless lines may be skipped."""
        if not self.skip:
            rest = applied or "nothing from this line on was applied"
            raise InputError(self.name, line, problem, f"{rest}; correct it, or use --skip-invalid")
        complain(f"skipped {self.name}:{line}: {problem}" + (f"; {applied}" if applied else ""))
        self.skipped += 1


def open_facts(path: str, stack: ExitStack) -> Stream:
    """A file to read, closed with the stack; standard input stays open."""
    if path == "-":
        return sys.stdin.buffer
    try:
        if path.endswith(".gz"):
            return stack.enter_context(gzip.open(path, "rb"))
        return stack.enter_context(open(path, "rb"))
    except OSError as error:
        refuse(f"`{path}` cannot be read: {error.strerror}; check the name and your rights")


def given_facts(path: str, file: Stream) -> Iterator[Fact]:
    """The facts of a file, without playing them. Raises InputError at a line that is none."""
    facts = Facts(path, file, skip=False, as_recorded=True)
    for line in facts:
        if line.end is not None:
            raise line.end
        if line.fact is None:
            raise InputError(facts.name, line.number, line.problem, "correct it, or give the facts that an import or export wrote")
        yield line.fact


def play(policy: Policy, facts: Facts, player: Player) -> Generator[PlayedBatch | PlayedStretch]:
    """Activate the policy at the first possible fact's time, then play all; a fact that cannot have happened counts as a bad line."""
    playing, last = _Playing(policy, facts, player), 0
    for lines in playing.stretches():
        last = lines[-1].number
        yield from playing.play(lines)
    if facts.as_recorded:
        return
    try:
        yield from player.come_to_rest()
    except EndlessError as error:
        raise InputError(facts.name, last, f"after this line, the last one, {error}", "all facts were applied") from None


class _Playing:
    """Plays lines: many in one go where there are enough of them, else one by one."""

    def __init__(self, policy: Policy, facts: Facts, player: Player) -> None:
        self.policy, self.facts, self.player = policy, facts, player
        self._most = FEW
        self._blank = Player()
        self._blank.step(policy.activation(0), policy.graph)

    def stretches(self) -> Iterator[list[FactLine]]:
        """Lines with facts that may be played in one go, or a line without."""
        found, size = list[FactLine](), 0
        for line in self.facts:
            may_join = line.fact is not None and not self.facts.is_stream and may_be_given(line.fact, not self.facts.as_recorded)
            size += line.size
            if found and (not may_join or len(found) == MOST_AT_ONCE or size > MOST_BYTES):
                yield found
                found, size = [], line.size
            found.append(line)
            if not may_join:
                yield found
                found, size = [], 0
        if found:
            yield found

    def play(self, lines: list[FactLine]) -> Iterator[PlayedBatch | PlayedStretch]:
        """Play lines.

        How many are taken together grows while the core can play them in one go: where it often cannot, trying costs more than it saves.
        """
        at = 0
        while at < len(lines):
            some, done = lines[at : at + self._most], 0
            if len(some) >= FEW:
                facts = [(line.fact, line.payload or line.fact.payload()) for line in some if line.fact is not None]
                done, stretch = self.player.play_in_one_go(facts, not self.facts.as_recorded)
                if stretch is not None:
                    yield stretch
                self._most = min(2 * self._most, MOST_AT_ONCE) if done == len(some) else max(done // 2, FEW)
            # what is left begins with a fact that is not for the core alone; where that came soon, more like it may follow
            left = some[done:] if done < FEW // 2 else some[done : done + 1]
            for line in left[:FEW]:
                yield from self._play_one(line)
            at += done + len(left[:FEW])

    def _play_one(self, line: FactLine) -> Iterator[PlayedBatch]:
        facts, player, fact, graph = self.facts, self.player, line.fact, line.graph
        if line.end is not None:
            raise line.end
        if fact is None:
            facts.bad(line.number, line.problem)
            return
        try:
            if player.core.graph is None:
                self._blank.core.check(fact, graph)  # a refused line must not even activate the policy at its time
                yield player.step(self.policy.activation(fact.time), self.policy.graph)
            if facts.as_recorded:
                yield player.step(fact, graph)
            else:
                yield from player.play(fact, graph)
        except OvertakenError as error:
            moment = format_time(player.core.time)
            applied = f"what time alone decided on the way to it, up to {moment}, was applied, and nothing of the fact itself"
            facts.bad(line.number, str(error), applied)
        except FactError as error:
            facts.bad(line.number, str(error))
        except EndlessError as error:
            applied = "of this line nothing but what time alone decided was applied"
            raise InputError(facts.name, line.number, f"on the way to this line {error}", applied) from None
