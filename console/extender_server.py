"""Serves Volcano's scheduler: the extender, from the decisions that were committed."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from ..adapters.live.settings.serve_settings import Extender
from ..adapters.volcano.extender.extender_handler import extender_handler
from .access.secret_files import SecretFileError
from .access.static_token import StaticToken
from .connections import LIMITS, Listener
from .listening import HttpSetupError, ListenPlace, certificate_of, keep_certificate, listen
from .work.volcano_work import ExtenderAnswers

LOG = logging.getLogger("gpol.http")


@asynccontextmanager
async def serve_extender(settings: Extender, answers: ExtenderAnswers) -> AsyncIterator[str]:
    """Serve the extender until left; gives its URL. Raises HttpSetupError."""
    try:
        certificate = certificate_of(settings)
        token = StaticToken(settings.token_file) if settings.token_file is not None else None
    except SecretFileError as error:
        raise HttpSetupError(str(error)) from None
    is_right = token.is_right if token is not None else None
    handler = extender_handler(lambda: answers.now, settings.prefix, is_right, answers.tally)
    runner = web.ServerRunner(Listener(handler, handler_cancellation=True, **LIMITS), shutdown_timeout=2)
    async with AsyncExitStack() as stack:
        place = ListenPlace(settings.address, settings.port, "volcano.extender.port")
        url = await listen(stack, runner, place, certificate)
        if certificate is not None:
            keep_certificate(stack, certificate, lambda expires: None)
        LOG.info("Volcano's extender is served at %s%s", url, settings.prefix)
        yield url
