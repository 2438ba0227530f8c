"""The facts of a file, line by line, and how they are played."""

import gzip
import json
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from ...adapters.rows import once
from ...engine.cores import PlayedBatch
from ...engine.errors import FactError, describe_error
from ...engine.facts import FACT, Fact, PolicyActivated
from ...engine.policy_graph import PolicyGraph
from ...engine.units import format_time
from ...sim.drive.job import InputError
from ...sim.drive.player import EndlessError, OvertakenError, Player
from ...sim.drive.policy import Policy
from ..shared.output import complain, refuse
from ..shared.reading import name_in_messages
from .policy_lines import read_activation

_ACTIVATES = PolicyActivated.__name__.encode()

MAX_LINE = 1_000_000
"""The longest line of facts that is read, in bytes."""

Stream = IO[bytes] | gzip.GzipFile
"""An open file of facts, packed or not."""


FactLine = tuple[Fact, PolicyGraph | None]
"""A fact and, where it activates a policy, that policy."""


class Facts:
    """The facts of a file, line by line; a line that is none ends the run, or is skipped and listed."""

    def __init__(self, path: str, file: Stream, skip: bool) -> None:
        self.name = name_in_messages(path)
        self.file = file
        self.skip = skip
        self.folder = Path() if path == "-" else Path(path).parent
        self.line = 0
        self.skipped = 0

    def __iter__(self) -> Iterator[FactLine]:
        while text := self._next_line():
            if not text.strip():
                continue
            try:
                if len(text) > MAX_LINE:
                    raise ValueError(f"the line is longer than {MAX_LINE:,} bytes")
                fact = self._fact(text)
            except RecursionError:
                self.bad("the line nests too deep")
            except (ValidationError, ValueError) as error:
                self.bad(describe_error(error) if isinstance(error, ValidationError) else str(error))
            else:
                yield fact

    def _fact(self, text: bytes) -> FactLine:
        """The fact of a line. Raises ValidationError and ValueError for what is none."""
        if _ACTIVATES not in text:
            fact: Fact = FACT.validate_json(text)
            json.loads(text, object_pairs_hook=once)  # of a key that is there twice, pydantic takes the last one
            return fact, None
        said = json.loads(text, object_pairs_hook=once)
        if not isinstance(said, dict) or said.get("kind") != PolicyActivated.__name__:
            return FACT.validate_json(text), None
        return read_activation(said, self.folder)

    def _next_line(self) -> bytes:
        """The next line; of one that is too long its beginning alone, so that no line fills the memory."""
        self.line += 1
        try:
            text = rest = self.file.readline(MAX_LINE + 1)
            while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
                rest = self.file.readline(MAX_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            remedy = "write or copy the file again"
            raise InputError(self.name, self.line, f"the file cannot be read on: {error}", remedy) from None
        return text.removeprefix(b"\xef\xbb\xbf") if self.line == 1 else text

    def bad(self, problem: str, applied: str = "") -> None:
        """Say what is wrong with the line at hand, and what of it was applied; end the run unless lines may be skipped."""
        if not self.skip:
            rest = applied or "nothing from this line on was applied"
            raise InputError(self.name, self.line, problem, f"{rest}; correct it, or use --skip-invalid")
        complain(f"skipped {self.name}:{self.line}: {problem}" + (f"; {applied}" if applied else ""))
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


def play(policy: Policy, facts: Facts, player: Player, as_recorded: bool) -> Generator[PlayedBatch]:
    """Activate the policy at the first possible fact's time, then play all; a fact that cannot have happened counts as a bad line."""
    blank = Player()
    blank.step(policy.activation(0), policy.graph)
    for fact, graph in facts:
        try:
            if player.core.graph is None:
                blank.core.check(fact, graph)  # a refused line must not even activate the policy at its time
                yield player.step(policy.activation(fact.time), policy.graph)
            if as_recorded:
                yield player.step(fact, graph)
            else:
                yield from player.play(fact, graph)
        except OvertakenError as error:
            moment = format_time(player.core.time)
            facts.bad(str(error), f"what time alone decided on the way to it, up to {moment}, was applied, and nothing of the fact itself")
        except FactError as error:
            facts.bad(str(error))
        except EndlessError as error:
            applied = "of this line nothing but what time alone decided was applied"
            raise InputError(facts.name, facts.line, f"on the way to this line {error}", applied) from None
    if as_recorded:
        return
    try:
        yield from player.come_to_rest()
    except EndlessError as error:
        raise InputError(facts.name, facts.line, f"after this line, the last one, {error}", "all facts were applied") from None
