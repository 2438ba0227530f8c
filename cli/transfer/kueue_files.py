"""What importing from Kueue and exporting to it share: the files, what was refused, and notes."""

from typing import TYPE_CHECKING, Any

from ..shared.files import check_new, real_path
from ..shared.output import complain, refuse

if TYPE_CHECKING:
    from ...adapters.kueue.problems import ConversionNote, Refused


def complain_of(refused: "Refused") -> None:
    """Say on stderr why objects were refused."""
    for problem in refused.problems:
        complain(f"gpol: {problem}")
    if refused.more:
        complain(f"gpol: and {refused.more} more")


def check_targets(paths: tuple[str, ...], targets: dict[str, str]) -> None:
    """Refuse to write over anything: what is read, what is there, one result over the other. `targets` are paths by option."""
    read = {real_path(path) for path in paths if path != "-"}
    for option, path in targets.items():
        if path != "-" and real_path(path) in read:
            refuse(f"{option}: `{path}` is what is read; choose another name")
        check_new(option, path, printed=option == "-o")
    if len({real_path(path) for path in targets.values()}) < len(targets):
        refuse("-o and --facts name the same file; choose two names")


def as_data(notes: "list[ConversionNote]") -> list[dict[str, Any]]:
    """Notes as JSON has them."""
    return [{"object_kind": note.kind, "names": note.names, "field": note.field, "text": note.text} for note in notes]
