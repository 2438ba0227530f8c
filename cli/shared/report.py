"""The page that a command writes with `--report`: whether it can be written is checked before the work, not after it."""

import os

from ..outputs.file_kinds import REPORT
from .files import Target, keep_apart, real_path, write_files
from .output import FAILED, Format, refuse, say, say_json


def check_report(report: str | None, others: tuple[str | None, ...], *, force: bool) -> None:
    """End the command where a report that is wanted cannot be written, or is one of the other files."""
    if report is None:
        return
    keep_apart("--report", report, others)
    path = real_path(report)
    if not path.parent.is_dir():
        refuse(f"the folder of `{report}` does not exist; make it first")
    Target("--report", report, REPORT, force).check()
    if not os.access(path.parent, os.W_OK):
        refuse(f"`{report}` cannot be written; check your rights", FAILED)


def write_report(report: str, page: str, form: Format, *, force: bool) -> None:
    """Write the page, and say where it is."""
    write_files([(Target("--report", report, REPORT, force), page)])
    say(f"report {report}") if form is not Format.json else say_json("report", path=report)
