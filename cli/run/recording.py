"""What run and simulate keep: a new journal that says who activates its policy, with snapshots in it and checkpoints beside it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

import click

from ...journal.errors import EvidenceError, JournalError, UnavailableError
from ..shared.options import PLACE, Command
from ..shared.output import FAILED, STOPPED, Format, refuse
from ..shared.signing import code_of, read_signing_key, signing_key, tell_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...engine.cores import Core
    from ...journal.journal import Journal
    from ...journal.proof.checkpointer import Checkpointer
    from ...journal.proof.signing_keys import SigningKey
    from ...journal.read.snapshots import Snapshotter

    ExitFunction = Callable[[type[BaseException] | None, BaseException | None, TracebackType | None], None]

DEFAULT_EVERY = 10_000
"""After how many events run and simulate write a checkpoint unless told otherwise."""

keep = click.option("--journal", metavar="PATH|URL", type=PLACE, help="keep all events in this new journal: a file, or postgresql://...")


def acting(command: Command) -> Command:
    """Give a command the options that say who activates its policy, and why."""
    why = click.option("--note", metavar="TEXT", default="", help="why the policy is activated; the journal records it")
    return click.option("--by", metavar="NAME", default="", help="who activates the policy; the journal records it")(why(command))


def check_acting(by: str, note: str, journal: str | None) -> None:
    """Refuse a name or a note that PolicyActivated cannot hold, and one that nothing would record."""
    from ...engine.event_parts import MOST_NAME
    from ...engine.facts import MOST_NOTE

    for option, what, text, most in (("--by", "name", by, MOST_NAME), ("--note", "note", note, MOST_NOTE)):
        if text and journal is None:
            refuse(f"{option}: there is no journal to record the {what} in; give --journal PATH, or leave {option} out")
        if len(text) > most:
            refuse(f"{option}: the {what} has {len(text)} characters, and at most {most} are recorded; give a shorter one")
        if any("\ud800" <= character <= "\udfff" for character in text):  # bytes that Python could not read
            refuse(f"{option}: the {what} is not UTF-8; give it in UTF-8")


def with_checkpoints(command: Command) -> Command:
    """Give a command that makes a journal the options to sign it; `Wanted` holds them."""
    for option in (
        signing_key,
        click.option("--checkpoint-every", metavar="N", type=click.IntRange(min=1), help="after N events, and at the end; else 10,000"),
        click.option("--checkpoints", metavar="FOLDER", type=PLACE, help="sign the journal as it grows, and keep the checkpoints here"),
    ):
        command = option(command)
    return command


class Wanted(NamedTuple):
    """What run and simulate were told about checkpoints: the folder, after how many events, the key's file."""

    checkpoints: str | None
    checkpoint_every: int | None
    key: str | None


def sink_of(journal: "Journal | None", checkpointer: "Checkpointer | None", core: "Core", stack: ExitStack) -> "Snapshotter | None":
    """What takes the batches into a journal: with snapshots of the core, a last one when the stack closes, and checkpoints if wanted."""
    from ...journal.read.snapshots import Snapshotter

    return stack.enter_context(Snapshotter(journal, core, checkpointer)) if journal is not None else None


def _last_checkpoint(checkpointer: "Checkpointer") -> "ExitFunction":
    """What to do at the end: sign the rest. Where the end is an error, that one is told, whatever becomes of the checkpoint."""

    def sign(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if checkpointer.journal.head.seq:
                checkpointer.write()
        except JournalError as failed:
            if error is None:
                refuse(f"the journal is whole, but its last checkpoint was not written: {failed}", code_of(failed))

    return sign


class Signer(NamedTuple):
    """What signs a journal that is about to be made: the key, the folder, after how many events."""

    key: "SigningKey"
    folder: str
    every: int

    @classmethod
    def of(cls, wanted: Wanted, journal: str | None) -> "Signer | None":
        """The signer that the options ask for, or None. All is checked before anything is made; what is wrong ends the command."""
        if wanted.checkpoints is None:
            if wanted.checkpoint_every is not None or wanted.key is not None:
                refuse("--checkpoint-every and --key are of no use without --checkpoints FOLDER; give it, or leave them out")
            return None
        from ...journal.proof.checkpoint_folder import CheckpointFolder

        if journal is None:
            refuse("--checkpoints: there is no journal to sign; give --journal PATH")
        key, folder = read_signing_key(wanted.key), wanted.checkpoints
        try:
            if Path(folder).exists() and CheckpointFolder(Path(folder)).checkpoint_files():
                refuse(f"--checkpoints: `{folder}` holds checkpoints of another journal, as this one is new; choose another folder")
        except EvidenceError as error:
            refuse(f"--checkpoints: {error}")
        return cls(key, folder, wanted.checkpoint_every if wanted.checkpoint_every is not None else DEFAULT_EVERY)

    def sign(self, journal: "Journal", stack: ExitStack) -> "Checkpointer":
        """A checkpointer: events are appended to the journal through it. When the stack closes, it writes a last checkpoint."""
        from ...journal.proof.checkpointer import Checkpointer

        try:
            checkpointer = Checkpointer(journal, Path(self.folder), self.key, self.every)
        except JournalError as error:
            refuse(str(error), code_of(error))
        stack.push(_last_checkpoint(checkpointer))
        return checkpointer


def tell_last(checkpointer: "Checkpointer | None", form: Format) -> None:
    """Say what was signed last, if anything was."""
    if checkpointer is not None and checkpointer.newest is not None:
        from ...journal.proof.checkpoint_folder import checkpoint_name

        newest = checkpointer.newest
        tell_checkpoint(newest, str(checkpointer.folder.path / checkpoint_name(newest.size)), form)


@contextmanager
def told_at_an_early_end(journal: str | None) -> Iterator[None]:
    """Where Ctrl-C (exit code 130), or a store that cannot be written, stops a run or a simulation, say which events its journal keeps.

    It goes around everything that closes the journal, so that what is said of it stays true.
    """
    try:
        yield
    except KeyboardInterrupt:
        if journal is None:
            told = "nothing was kept, as no journal was asked for; with --journal PATH what was played up to then is kept"
        else:
            told = _kept(journal) or f"nothing was written to the journal `{journal}` yet"
        refuse(f"stopped; {told}", STOPPED)
    except UnavailableError as error:
        told = _kept(journal) if journal is not None else ""
        refuse(f"{error.message}; {told}" if told else str(error), FAILED)
    except JournalError as error:
        refuse(str(error), FAILED)


def _kept(journal: str) -> str:
    """What a journal keeps of a run that was stopped, and how to go on; empty where it cannot be read."""
    from ...engine.units import format_time
    from ...journal.journal import Journal

    try:
        with Journal.open(journal) as kept:
            name, last = kept.name, kept.head.seq
            time = format_time(kept.at(last).event.time) if last else ""
    except JournalError:
        return ""
    if last == 0:
        return f"the journal {name} has no event yet; remove it, and start again"
    place = quote(name)
    return (
        f"the journal {name} keeps events 1 to {last:,}, up to {time}, and they verify and replay: `gpol state {place}` shows "
        "how things stood; no command plays on from there: to play all of it, start again with another --journal"
    )
