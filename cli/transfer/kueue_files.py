"""What importing from Kueue and exporting to it share: the files, what was refused, and notes."""

from typing import TYPE_CHECKING, Any

from ..shared.files import Target, real_path
from ..shared.output import complain, refuse

if TYPE_CHECKING:
    from ...adapters.kueue.problems import ConversionNote, Refused


def complain_of(refused: "Refused") -> None:
    """Say on stderr why objects were refused."""
    for problem in refused.problems:
        complain(f"gpol: {problem}")
    if refused.more:
        complain(f"gpol: and {refused.more} more")


def check_targets(paths: tuple[str, ...], targets: list[Target]) -> None:
    """Refuse to write over what is read, over what may not be replaced, and one result over the other."""
    read = {real_path(path) for path in paths if path != "-"}
    for target in targets:
        if target.path != "-" and real_path(target.path) in read:
            refuse(f"{target.option}: `{target.path}` is what is read; choose another name")
        target.check(printed=target.option == "-o")
    if len({real_path(target.path) for target in targets}) < len(targets):
        refuse("-o and --facts name the same file; choose two names")


def as_data(notes: "list[ConversionNote]") -> list[dict[str, Any]]:
    """Notes as JSON has them."""
    return [{"object_kind": note.kind, "names": note.names, "field": note.field, "text": note.text} for note in notes]
