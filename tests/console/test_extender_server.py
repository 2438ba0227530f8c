"""The server that Volcano's scheduler asks: as bounded as the other one, and it logs nothing of what was sent."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from gpol.adapters.live.settings.serve_settings import Extender
from gpol.console import connections
from gpol.console.extender_server import serve_extender
from gpol.console.work.volcano_work import ExtenderAnswers

TOKEN = "0123456789abcdef-right"
ODD = (
    f"POST /volcano/jobReady HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\0\r\n\r\n",
    f"POST /volcano/jobReady HTTP/1.1\r\nAuthorization : Bearer {TOKEN}\r\n\r\n",
    f"POST http://gpol:{TOKEN}@[::1/volcano/jobReady HTTP/1.1\r\n\r\n",
    f"POST /volcano/jobReady HTTP/1.1\r\nAuthorization: Bearer {TOKEN}{'x' * 9000}\r\n\r\n",
    f"{TOKEN}\r\n\r\n",
)
"""Requests that are no HTTP, each with the token."""


@pytest.fixture
def served(tmp_path: Path) -> Callable[[Callable[[int], Awaitable[None]]], None]:
    """Does something with the port at which the extender listens, while gpol does not decide."""
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)

    def serve(act: Callable[[int], Awaitable[None]]) -> None:
        async def run() -> None:
            async with serve_extender(Extender(port=0, token_file=file), ExtenderAnswers()) as url:
                await act(int(url.rpartition(":")[2]))

        asyncio.run(run())

    return serve


async def answered(port: int, request: bytes) -> bytes:
    """The first line of the answer to a request; empty where none came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    line = await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    return line


def test_nothing_that_was_sent_is_logged(served: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    """What is no HTTP is refused, and neither the log nor anybody else learns the token from it."""

    async def act(port: int) -> None:
        for request in ODD:
            assert b" 400 " in await answered(port, request.encode())

    caplog.set_level("DEBUG")
    served(act)
    assert TOKEN not in caplog.text
    assert "Traceback" not in caplog.text


def test_a_token_that_is_no_text(served: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    """It is a wrong token, and no mistake of gpol."""

    async def act(port: int) -> None:
        for given in ("Basic \xe9\xe9", "Basic ====", "Basic /w==", "Bearer \xe9"):
            request = f"POST /volcano/jobReady HTTP/1.1\r\nHost: x\r\nAuthorization: {given}\r\nContent-Length: 2\r\n\r\n{{}}"
            assert b" 401 " in await answered(port, request.encode())

    served(act)
    assert "Traceback" not in caplog.text


def test_connections_are_bounded(served: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes when there are too many is hung up on; the others are answered."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)

    async def act(port: int) -> None:
        first = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert await answered(port, b"") == b""
        reader, writer = first[0]
        writer.write(b"POST /volcano/jobReady HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        assert b" 401 " in await reader.readline()
        for _, each in first:
            each.close()

    served(act)
