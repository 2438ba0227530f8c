"""Requests to the extender that are refused: with a place, a cause and a remedy, as JSON."""

import json

from .verbs import VERBS

MOST_BODY = 16 * 2**20
"""The most bytes of a body. Volcano sends 3 to 5 KB for each evictee, and three times as much for each pod of a job. Reading so much takes
about 0.2 seconds, in which nothing else is done; Volcano waits for 1 second at most unless it is told otherwise."""

SESSION_OPEN = "onSessionOpen"
"""The verb that must not be configured."""

_SETTINGS = ", ".join(f"extender.{verb}Verb: {verb}" for verb in VERBS)


class RefusedError(Exception):
    """Why a request is refused, and with which status that is said."""

    def __init__(self, status: int, code: str, place: str, message: str, remedy: str) -> None:
        super().__init__(f"{place}: {message}; {remedy}")
        self.status, self.code, self.place, self.message, self.remedy = status, code, place, message, remedy

    @property
    def body(self) -> bytes:
        """What is answered instead."""
        said = {"code": self.code, "place": self.place, "message": self.message, "remedy": self.remedy}
        return json.dumps({"v": 1, "error": said}).encode()


def session_open() -> RefusedError:
    """The refusal of `onSessionOpen`.

    Its status is 200 on purpose: with any other one, and `extender.ignorable: false`, Volcano asks the extender nothing in this session,
    and so enqueues everything. It does not read the body.
    """
    message = "must not be configured: with it Volcano enqueues everything while gpol cannot be reached, and it sends the whole cluster"
    remedy = f"remove extender.onSessionOpenVerb from the scheduler's configuration; keep {_SETTINGS}"
    return RefusedError(200, "VerbRefused", SESSION_OPEN, message, remedy)


def unknown_verb(verb: str) -> RefusedError:
    """The refusal of a verb that gpol does not answer."""
    remedy = f"remove it from the scheduler's configuration; gpol answers {_SETTINGS}"
    return RefusedError(404, "UnknownVerb", verb, "is no verb that gpol answers", remedy)


def unknown_path(path: str, prefix: str) -> RefusedError:
    """The refusal of a path that is no verb below the prefix."""
    remedy = f"let extender.urlPrefix end with {prefix or 'the port'}; gpol answers {_SETTINGS}"
    return RefusedError(404, "UnknownPath", path, "is no path that is served here", remedy)


def not_post(method: str) -> RefusedError:
    """The refusal of another method."""
    return RefusedError(405, "MethodNotAllowed", method, "is not what Volcano's scheduler sends", "send POST")


def bad_body(verb: str, place: str, message: str) -> RefusedError:
    """The refusal of a body that cannot be read."""
    remedy = "send what Volcano's scheduler sends; if it was its own, its release has other fields: see docs/volcano.md"
    return RefusedError(400, "BadBody", f"{verb}: {place}", message, remedy)


def too_long(verb: str) -> RefusedError:
    """The refusal of a body that is too long."""
    remedy = "let gangs have fewer pods, or split them; one of many pods is sent with all of them, three times"
    return RefusedError(413, "TooLong", verb, f"the body has more than {MOST_BODY:,} bytes", remedy)


def too_slow(verb: str, seconds: float) -> RefusedError:
    """The refusal of a body that does not come."""
    return RefusedError(408, "TooSlow", verb, f"the body did not come within {seconds:g} seconds", "send it at once")


def compressed(verb: str) -> RefusedError:
    """The refusal of a compressed body."""
    return RefusedError(415, "Compressed", verb, "the body is compressed", "send it as it is")


def cut(verb: str) -> RefusedError:
    """The refusal of a body that does not come as its headers say."""
    return RefusedError(400, "Cut", verb, "the body does not come as its headers say", "look at the client, and what is between")


def busy() -> RefusedError:
    """The refusal of a request while the bodies of others fill the memory that there is for them."""
    return RefusedError(503, "Busy", "extender", "too many long bodies are under way", "send them again later")


def unauthorized() -> RefusedError:
    """The refusal of a request without the right token."""
    remedy = "let extender.urlPrefix be http://gpol:TOKEN@HOST:PORT/..., or send `Authorization: Bearer TOKEN`"
    return RefusedError(401, "Unauthorized", "Authorization", "the right token is needed", remedy)


def failed(verb: str) -> RefusedError:
    """The refusal of a request on which gpol itself fails."""
    return RefusedError(503, "Failed", verb, "the request could not be answered because of a mistake in gpol", "its log says more")
