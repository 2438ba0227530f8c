"""The entry point of the program `gpol`: it runs a command, and turns whatever ends it into a message and an exit code."""

import os
import sys

import click

from .app import app
from .shared.output import FAILED, INVALID, STOPPED, RefusalError, complain, complain_text


def main() -> None:
    """Run the command; a user's mistake ends in one clear message, never in a traceback."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who called us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # open till the end
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: list[str]) -> int:
    """Run the command with arguments; return its exit code."""
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
        return code
    except RefusalError as refusal:
        complain(f"gpol: {refusal}")
        return refusal.code
    except click.exceptions.NoArgsIsHelpError as error:  # a group without a command: its message is the help of the group
        complain_text(error.format_message())
        return INVALID
    except click.ClickException as error:
        message = " ".join(error.format_message().split())  # choices stand on lines of their own
        complain(f"gpol: {message.rstrip('.')}; see `gpol --help`")
        return INVALID
    except (click.Abort, KeyboardInterrupt):
        complain("gpol: stopped")
        return STOPPED
    except BrokenPipeError:
        return 141
    except OSError as error:  # the world's doing, not a defect: no such folder, a full disk, no rights
        complain(f"gpol: `{error.filename}`: {error.strerror}" if error.filename else f"gpol: {error.strerror or error}")
        return FAILED
    except Exception as error:  # the last resort: a defect is told in one line, its trace only on demand
        if os.environ.get("GPOL_TRACEBACK"):
            raise
        complain(f"gpol: internal error: {type(error).__name__}: {error}; set GPOL_TRACEBACK=1 to see where, and report it")
        return FAILED
    finally:
        _leave_nothing_to_print()


def _invoke(arguments: list[str]) -> int:
    try:
        with app.make_context("gpol", arguments or ["--help"]) as context:  # not main(): it takes a broken pipe for a failure
            return int(app.invoke(context))
    except click.exceptions.Exit as ended:  # --help and --version
        return ended.exit_code


def _leave_nothing_to_print() -> None:
    """What stdout does not take is dropped here: Python would try it again at its end, and complain in its own words."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
