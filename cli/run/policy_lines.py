"""Lines of facts that activate a policy: where its text comes from, and what is filled in of it."""

import os
from pathlib import Path
from typing import Any

from ...dsl.analysis.checker import check
from ...dsl.analysis.profiles import file_of, recorded, shipped
from ...dsl.diagnostics import PolicyError
from ...dsl.rendering import render
from ...dsl.syntax.items import decode
from ...engine.errors import FactError
from ...engine.facts import FACT, PolicyActivated, ProfileText
from ...engine.policy_graph import PolicyGraph
from ..shared.output import counted
from ..shared.reading import MOST_BYTES

_MOST_SHOWN = 300
"""How many characters of the name of a file are shown that cannot be read."""

_UNKNOWN_DIGEST = "sha256:" + "0" * 64


def read_activation(said: dict[str, Any], folder: Path, as_recorded: bool) -> tuple[PolicyActivated, PolicyGraph]:
    """The fact of a line, complete, and the policy. Raises FactError for what is no policy, and ValidationError for what is no such fact.

    `text` is the policy; without it `file` is read, from `folder` unless its path is absolute. `profiles` are the texts of its profiles;
    without them those of this program are taken. One of no use is refused, and so are control characters, unless facts are played
    `as_recorded`: earlier versions kept them.
    A `digest` that is given has to be that of the text.
    """
    if "text" not in said:
        said = {**said, "text": _text_of(said.get("file"), folder)}
    if isinstance(said.get("file"), str):
        said = {**said, "file": os.path.basename(said["file"]) or said["file"]}
    given = said.get("digest")
    fact = FACT.validate_python({**said, "digest": _UNKNOWN_DIGEST if given is None else given})
    assert isinstance(fact, PolicyActivated)
    graph, used = _compiled(fact, as_recorded)
    unused = [profile.name for profile in fact.profiles if profile not in used]
    if unused and not as_recorded:
        raise FactError(f"PolicyActivated: the policy does not use the profile `{unused[0]}`; leave it out of `profiles`")
    if given not in (None, graph.digest):
        raise FactError(f"PolicyActivated: the digest of its text is {graph.digest}, not {given}; leave `digest` out, or correct the text")
    return fact.model_copy(update={"profiles": fact.profiles or used, "digest": graph.digest}), graph


def _text_of(file: object, folder: Path) -> str:
    """The text of a file that a line names."""
    if file is None:
        raise FactError("PolicyActivated: `text` is missing; give the policy as `text`, or name its file as `file`")
    if not isinstance(file, str) or not file:
        raise FactError("PolicyActivated: `file` has to be the name of a file")
    path, shown = folder / file, folder / file[:_MOST_SHOWN]
    try:
        with path.open("rb") as opened:
            return decode(opened.read(MOST_BYTES), path.name)
    except ValueError:  # such as a zero byte
        raise FactError(f"PolicyActivated: no file can have the name `{shown}`; correct `file`") from None
    except OSError as error:
        raise FactError(
            f"PolicyActivated: `{shown}` cannot be read: {error.strerror}; correct `file`, or give the policy as `text`"
        ) from None
    except PolicyError as error:
        raise FactError(f"PolicyActivated: {render(error.diagnostics[0], error.text, 'plain')}") from None


def _compiled(fact: PolicyActivated, as_recorded: bool) -> tuple[PolicyGraph, tuple[ProfileText, ...]]:
    """The policy of a fact, and the profiles that it uses: of those that the fact gives, or else of those of this program."""
    given = {profile.name: profile.text for profile in fact.profiles}
    try:
        if not as_recorded:
            for text, file in ((fact.text, fact.file), *((text, file_of(name)) for name, text in given.items())):
                decode(text.encode(), file)
        checked = check(fact.text, fact.file, recorded(given) if given else shipped)
    except PolicyError as error:
        raise FactError(f"PolicyActivated: {render(error.diagnostics[0], error.text, 'plain')}") from None
    if checked.errors:
        first = checked.errors[0]
        told = render(first, checked.texts.get(first.file, ""), "plain")
        others = f"; and {counted(len(checked.errors) - 1, 'more error')}" if len(checked.errors) > 1 else ""
        raise FactError(f"PolicyActivated: {told}{others}")
    if checked.graph is None:
        raise FactError(f"PolicyActivated: `{fact.file}` is a profile; give a policy that uses it")
    return checked.graph, tuple(ProfileText(name=name, text=text) for name, text in checked.profiles)
