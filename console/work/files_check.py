"""Whether the journal and the other files that the settings name can be used. Nothing is written, and what is not there yet is not made."""

from collections.abc import Iterator

from ...adapters.kueue.live.shadow.watch.cluster_objects import configuration_of_file
from ...adapters.kueue.problems import ImportRefused
from ...adapters.live.journal_place import JournalPlace, refuse_other_place
from ...adapters.live.settings.serve_settings import Listening, ServeSettings
from ...journal.errors import JournalError, MissingError
from ...journal.journal import Journal
from ..access.secret_files import SecretFileError
from ..access.static_token import StaticToken
from ..listening import certificate_of


def unusable_files(settings: ServeSettings) -> Iterator[str]:
    """What of the files cannot be used, a line each with what to do."""
    if settings.http.enabled:
        yield from _of_listening("http", settings.http)
    if settings.volcano.way == "decide":
        yield from _of_listening("volcano.extender", settings.volcano.extender)
    configuration = settings.kueue.watch.configuration
    if settings.kueue.way == "watch" and configuration is not None:
        try:
            configuration_of_file(configuration)
        except ImportRefused as error:
            yield f"kueue.watch.configuration: {error}"


def unusable_journal(place: str, here: JournalPlace) -> Iterator[str]:
    """Why a journal cannot be used, with what to do; nothing where there is none yet. `here` is where it is to be used."""
    try:
        with Journal.open(place) as journal:
            if journal.head.seq:
                journal.at(journal.head.seq)
            refuse_other_place(journal, here)
    except MissingError:
        return
    except JournalError as error:
        yield f"journal: {error}"


def _of_listening(part: str, settings: Listening) -> Iterator[str]:
    """The token and the certificate, read as at the start."""
    try:
        certificate_of(settings)
    except SecretFileError as error:
        yield f"{part}.certificate: {error}"
    try:
        if settings.token_file is not None:
            StaticToken(settings.token_file)
    except SecretFileError as error:
        yield f"{part}.token_file: {error}"
