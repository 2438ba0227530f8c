"""The log of a service, a line for each record: for people, or as JSON for programs."""

import json
import logging
import sys
from time import gmtime
from typing import Literal

from ..shared.output import shown

LogForm = Literal["text", "json"]


class _JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and what went wrong where that is told."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as a line."""
        time = f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03d}Z"
        said = {"v": 1, "time": time, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


class _TextLines(logging.Formatter):
    """A line that a terminal shows as it is: names come from outside."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as a line, or several where an error is told."""
        return "\n".join(shown(line) for line in super().format(record).split("\n"))


def start_log(form: LogForm) -> None:
    """Log to stderr from now on, in this form, with times in UTC."""
    text = _TextLines("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter = _JsonLines() if form == "json" else text
    formatter.converter = gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
