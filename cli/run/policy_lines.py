"""Lines of facts that activate a policy: where its text comes from, and what is filled in of it."""

import json
import os
from pathlib import Path
from typing import Any

from ...dsl.analysis.checker import Checked, check
from ...dsl.analysis.profiles import ProfileSource, recorded, shipped
from ...dsl.diagnostics import PolicyError
from ...dsl.rendering import render
from ...dsl.syntax.items import decode
from ...engine.errors import FactError
from ...engine.facts import FACT, PolicyActivated, ProfileText
from ...engine.policy_graph import PolicyGraph
from ..shared.output import counted
from ..shared.reading import MOST_BYTES

_UNKNOWN_DIGEST = "sha256:" + "0" * 64


def read_activation(said: dict[str, Any], folder: Path) -> tuple[PolicyActivated, PolicyGraph]:
    """The fact of a line, complete, and the policy. Raises FactError for what is no policy, and ValidationError for what is no such fact.

    `text` is the policy; without it `file` is read, from `folder` unless its path is absolute. `profiles` are the texts of its profiles;
    without them those of this program are taken. A `digest` that is given has to be that of the text.
    """
    if "text" not in said:
        said = {**said, "text": _text_of(said.get("file"), folder)}
    if isinstance(said.get("file"), str):
        said = {**said, "file": os.path.basename(said["file"]) or said["file"]}
    given = said.get("digest")
    fact = FACT.validate_json(json.dumps({**said, "digest": _UNKNOWN_DIGEST if given is None else given}))
    assert isinstance(fact, PolicyActivated)
    given_profiles = {profile.name: profile.text for profile in fact.profiles}
    checked = _checked(fact, recorded(given_profiles) if given_profiles else shipped)
    graph = checked.graph
    assert graph is not None
    used = dict(checked.profiles)
    if unused := next((name for name in given_profiles if name not in used), None):
        raise FactError(f"PolicyActivated: the policy does not use the profile `{unused}`; leave it out of `profiles`")
    fact = fact.model_copy(update={"profiles": tuple(ProfileText(name=name, text=text) for name, text in used.items())})
    if given not in (None, graph.digest):
        raise FactError(f"PolicyActivated: the digest of its text is {graph.digest}, not {given}; leave `digest` out, or correct the text")
    return fact.model_copy(update={"digest": graph.digest}), graph


def _text_of(file: object, folder: Path) -> str:
    """The text of a file that a line names."""
    if file is None:
        raise FactError("PolicyActivated: `text` is missing; give the policy as `text`, or name its file as `file`")
    if not isinstance(file, str) or not file:
        raise FactError("PolicyActivated: `file` is no name of a file")
    path = folder / file
    try:
        with path.open("rb") as opened:
            return decode(opened.read(MOST_BYTES), path.name)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise FactError(f"PolicyActivated: `{path}` cannot be read: {told}; correct `file`, or give the policy as `text`") from None
    except PolicyError as error:
        raise FactError(f"PolicyActivated: {render(error.diagnostics[0], error.text, 'plain')}") from None


def _checked(fact: PolicyActivated, profiles: ProfileSource) -> Checked:
    """The checked policy of a fact."""
    try:
        checked = check(fact.text, fact.file, profiles)
    except PolicyError as error:
        raise FactError(f"PolicyActivated: {render(error.diagnostics[0], error.text, 'plain')}") from None
    if checked.errors:
        first = checked.errors[0]
        told = render(first, checked.texts.get(first.file, ""), "plain")
        others = f"; and {counted(len(checked.errors) - 1, 'more error')}" if len(checked.errors) > 1 else ""
        raise FactError(f"PolicyActivated: {told}{others}")
    if checked.graph is None:
        raise FactError(f"PolicyActivated: `{fact.file}` is a profile; give a policy that uses it")
    return checked
