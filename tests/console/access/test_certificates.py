"""TLS: which certificates are refused, what clients see, and how a certificate is exchanged."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from gpol.adapters.live.settings.serve_settings import Http
from gpol.console import listening
from gpol.console.access.certificates import ServerCertificate
from gpol.console.access.secret_files import SecretFileError
from gpol.console.http_server import serve_http
from gpol.console.listening import HttpSetupError


def refused(certificate: Path, key: Path) -> str:
    """Why a certificate is refused."""
    with pytest.raises(SecretFileError) as error:
        ServerCertificate(certificate, key)
    return str(error.value)


def test_certificates_that_are_refused(certify: Any, tmp_path: Path) -> None:
    """A certificate that has expired or is not valid yet, a key of another one, one with a password, and no PEM: each is told."""
    good, other = certify("good"), certify("other")
    expired, early = certify("expired", days=(-10, -1)), certify("early", days=(1, 10))
    hidden = certify("hidden", password=b"secret")
    text = tmp_path / "text"
    text.write_text("no certificate")
    text.chmod(0o600)
    assert "has expired at" in refused(*expired)
    assert "valid only from" in refused(*early)
    assert "does not belong to the certificate" in refused(good.certificate, other.key)
    assert "has a password" in refused(*hidden)
    assert "holds no certificate" in refused(text, good.key)
    assert "holds no private key" in refused(good.certificate, text)
    assert "No such file" in refused(tmp_path / "none", good.key)
    good.key.chmod(0o644)
    assert "everybody" in refused(*good)


def test_an_expired_certificate_of_an_authority_is_refused(certify: Any) -> None:
    """Each certificate of the chain has to be valid."""
    good, expired = certify("good"), certify("expired", days=(-10, -1))
    good.certificate.write_bytes(good.certificate.read_bytes() + expired.certificate.read_bytes())
    assert "CN=expired) has expired" in refused(*good)


def test_nothing_is_served_with_an_expired_certificate(certify: Any, tools: Any, place: Path) -> None:
    """The start fails, and the message says why."""
    expired = certify("expired", days=(-10, -1))
    settings = Http(port=0, certificate=expired.certificate, key=expired.key)

    async def ask() -> None:
        async with serve_http(tools.service_of(place), settings):
            pass

    with pytest.raises(HttpSetupError, match="has expired at"):
        asyncio.run(ask())


async def seen(url: str, authority: Path, oldest: ssl.TLSVersion | None = None, newest: ssl.TLSVersion | None = None) -> int:
    """What a client gets that trusts one authority."""
    context = ssl.create_default_context(cafile=str(authority))
    context.minimum_version = oldest or context.minimum_version
    context.maximum_version = newest or context.maximum_version
    async with aiohttp.ClientSession() as session, session.get(f"{url}/healthz", ssl=context) as response:
        return response.status


def test_clients_check_the_certificate(serve: Any, certify: Any) -> None:
    """A client that trusts the certificate is answered, by TLS 1.2 and 1.3; one that does not trust it, or asks by HTTP, is not."""
    good, other = certify("good"), certify("other")

    async def ask() -> None:
        async with serve(certificate=good.certificate, key=good.key) as client:
            url = client.server.url
            assert url.startswith("https://")
            assert await seen(url, good.certificate) == 200
            assert await seen(url, good.certificate, newest=ssl.TLSVersion.TLSv1_2) == 200
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await seen(url, other.certificate)
            with pytest.raises(aiohttp.ClientError):
                async with client.session.get(url.replace("https", "http") + "/healthz"):
                    pass
            assert (await client.get("/v1/journal/head")).status == 200

    asyncio.run(ask())


def test_older_versions_of_tls_are_not_spoken(certify: Any) -> None:
    """TLS 1.2 is the oldest version that is spoken."""
    assert ServerCertificate(*certify("good")).context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_changed_certificate_is_shown_to_new_connections(serve: Any, certify: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are read again when they change; what cannot be used is told, and the certificate stays the one before."""
    monkeypatch.setattr(listening, "LOOK_SECONDS", 0.02)
    good, other, expired = certify("good"), certify("other", days=(-1, 2)), certify("expired", days=(-10, -1))
    authority = good.certificate.with_name("authority")
    authority.write_bytes(other.certificate.read_bytes())

    async def ask() -> None:
        async with serve(certificate=good.certificate, key=good.key) as client:
            certificate = client.server.certificate
            expires = certificate.expires
            good.certificate.write_bytes(expired.certificate.read_bytes())
            expired.key.replace(good.key)
            await asyncio.sleep(0.3)
            assert certificate.expires == expires
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await seen(client.server.url, authority)
            other.certificate.replace(good.certificate)
            other.key.replace(good.key)
            while certificate.expires == expires:
                await asyncio.sleep(0.02)
            assert await seen(client.server.url, authority) == 200
            told = client.service.metrics.registry.get_sample_value("gpol_certificate_expiry_timestamp_seconds")
            assert told == certificate.expires.timestamp()

    asyncio.run(ask())


def test_a_certificate_that_begins_later_is_shown_once_it_does(certify: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A renewed one that is not valid yet is refused once in the log, and taken when its time has come, without a change of its file."""
    now = [datetime.now(UTC)]
    first, later = certify("first"), certify("later", days=(1, 3))
    shown = ServerCertificate(first.certificate, first.key, lambda: now[0])
    ends = shown.expires
    for ours, theirs in ((first.certificate, later.certificate), (first.key, later.key)):
        ours.write_bytes(theirs.read_bytes())
    for _ in range(3):
        shown.read_again()
    assert shown.expires == ends
    assert caplog.text.count("is valid only from") == 1
    now[0] += timedelta(days=2)
    shown.read_again()
    assert shown.expires > ends
