"""The page that a command writes with `--report`: whether it can be written is checked before the work, not after it."""

import os
from typing import TYPE_CHECKING

from .files import keep_apart, real_path, replace_file
from .output import FAILED, Format, refuse, say, say_json

if TYPE_CHECKING:
    from ...sim.measure.series import Series


def series_for(report: str | None, others: tuple[str | None, ...]) -> "Series | None":
    """What a report is made of, None without one. Ends the command where the report cannot be written, or is one of the other files."""
    if report is None:
        return None
    from ...sim.measure.series import Series

    keep_apart("--report", report, others)
    path = real_path(report)
    if not path.parent.is_dir():
        refuse(f"the folder of `{report}` does not exist; make it first")
    if path.is_dir():
        refuse(f"`{report}` is a folder; give a file's name")
    if not os.access(path.parent, os.W_OK):
        refuse(f"`{report}` cannot be written; check your rights", FAILED)
    return Series()


def write_report(report: str, page: str, form: Format) -> None:
    """Write the page, and say where it is."""
    replace_file(report, page)
    say(f"report {report}") if form is not Format.json else say_json("report", path=report)
