"""Listening at an address of this machine, with TLS where there is a certificate."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from aiohttp import web

from ..adapters.live.settings.serve_settings import Listening
from .access.certificates import ServerCertificate

LOOK_SECONDS = 10
"""How often it is looked whether the files of a certificate have changed."""


class HttpSetupError(Exception):
    """Nothing can be served as the settings say. The message says why, and what to do."""


class ListenPlace(NamedTuple):
    """Where to listen; `setting` is the setting that says the port."""

    address: IPv4Address | IPv6Address
    port: int
    setting: str


def certificate_of(settings: Listening) -> ServerCertificate | None:
    """The certificate that the settings name, if they do. Raises SecretFileError where it cannot be used."""
    if settings.certificate is None or settings.key is None:
        return None
    return ServerCertificate(settings.certificate, settings.key)


async def listen(stack: AsyncExitStack, runner: web.BaseRunner, place: ListenPlace, certificate: ServerCertificate | None) -> str:
    """Listen at a place until the stack is closed, and return the address as a URL. Raises HttpSetupError."""
    address = str(place.address)
    tls = certificate.context if certificate is not None else None
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, address, place.port, ssl_context=tls).start()
    except OSError as error:
        raise HttpSetupError(
            f"nothing can be served at {address}, port {place.port}: {error.strerror or error}; change `{place.setting}`"
        ) from None
    host = f"[{address}]" if ":" in address else address
    return f"{'http' if tls is None else 'https'}://{host}:{int(runner.addresses[0][1])}"


def keep_certificate(stack: AsyncExitStack, certificate: ServerCertificate, tell: Callable[[float], None]) -> None:
    """Exchange a certificate when its files change, until the stack is closed. `tell` is told when it ends, in seconds since the epoch."""

    async def look() -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            certificate.read_again()
            tell(certificate.expires.timestamp())

    tell(certificate.expires.timestamp())
    stack.push_async_callback(_cancelled, asyncio.ensure_future(look()))


async def _cancelled(task: "asyncio.Future[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
