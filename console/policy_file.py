"""The file of the policy: read and checked at the start, and again whenever it has changed.

A mounted ConfigMap is such a file. A new text that has an error, or that cannot take over from the one that decides now, is refused whole:
the earlier one goes on, and it is said why.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from ..dsl.analysis.checker import check
from ..dsl.diagnostics import PolicyError
from ..dsl.syntax.items import decode
from ..sim.drive.policy import Policy
from .health import Health

LOG = logging.getLogger("gpol.service")

PART = "policy"
"""The part under which the health of the service says that a changed policy was refused."""

_MOST_BYTES = 64 * 1024 * 1024


class BadPolicyError(Exception):
    """A policy that cannot be used. The message says why."""


class NotKnownYetError(Exception):
    """Nobody can say now whether a policy may take over."""


def read_policy(path: Path) -> Policy:
    """The policy in a file. Raises BadPolicyError."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        checked = check(decode(data, path.name), path.name)
    except OSError as error:
        raise BadPolicyError(f"`{path}` cannot be read: {error.strerror or error}") from None
    except PolicyError as error:
        raise BadPolicyError("; ".join(f"{each.code}: {each.message}" for each in error.diagnostics)) from None
    if checked.errors:
        first, more = checked.errors[0], len(checked.errors) - 1
        line = checked.texts.get(first.file, "").count("\n", 0, first.span.start) + 1
        rest = f", and {more} more" if more else ""
        raise BadPolicyError(f"{first.file}:{line}: {first.code}: {first.message}{rest}; `gpol check {path}` shows all")
    if checked.graph is None:
        raise BadPolicyError(f"`{path}` is a profile; name a policy that uses it")
    return Policy.of(checked)


class PolicyFile:
    """Follows the file of a policy. `current` is the one that is to decide; `is_refused`: the file says another one, which may not.

    `unfit` says of a policy why it cannot be used, however things stand; empty where it can. It may take long, so a thread asks it.
    """

    def __init__(self, path: Path, current: Policy, health: Health, unfit: Callable[[Policy], str] = lambda policy: "") -> None:
        self.path, self.current, self._health, self._unfit = path, current, health, unfit
        self.is_refused = self._is_current_refused = False
        self._seen: tuple[int, int, int] | None = None  # it may have changed since it was read
        self._tried: Policy | None = None  # what the file says now, as long as it may not take over

    async def changed(self, seconds: float, may_take_over: Callable[[Policy], None]) -> None:
        """Return once the file has a policy that says something else and may take over: it is `current` then. See `look`."""
        while True:
            await asyncio.sleep(seconds)
            if await self.look(may_take_over):
                return

    async def look(self, may_take_over: Callable[[Policy], None]) -> bool:
        """Read the file if it has changed; say whether another policy is `current` now.

        `may_take_over` raises BadPolicyError for one that may not as things stand, or NotKnownYetError. It is asked again in the next look.
        """
        stamp = _stamp(self.path)
        if stamp != self._seen:
            self._seen, self._tried = stamp, None
            try:
                self._tried = await asyncio.to_thread(self._read)
            except BadPolicyError as error:
                self._refuse(str(error))
        if self._tried is None:
            return False
        is_other = self._is_current_refused or self._tried.graph.digest != self.current.graph.digest
        try:
            if is_other:
                may_take_over(self._tried)
        except NotKnownYetError:
            return False
        except BadPolicyError as error:
            self._refuse(str(error))
            return False
        self.current, self._tried = self._tried, None
        self.is_refused = self._is_current_refused = False
        self._health.say(PART, "")
        return is_other

    def _read(self) -> Policy:
        """What the file says. Raises BadPolicyError."""
        found = read_policy(self.path)
        if refused := self._unfit(found):
            raise BadPolicyError(refused)
        return found

    def refuse(self, why: str) -> None:
        """Say that `current` cannot take over as things stand; it is tried again in each look."""
        self._is_current_refused, self._tried = True, self.current
        self._refuse(why)

    def _refuse(self, why: str) -> None:
        self.is_refused = True
        problem = f"the changed policy is refused, and the earlier one goes on: {why}"
        if problem != self._health.problems().get(PART):
            LOG.warning("%s: %s", self.path, problem)
        self._health.say(PART, problem)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
