"""The server in a thread of its own, for tests that run a client as another process; and what such a client needs: kubeconfig, TLS.

with ServingThread(store) as server:
    config = write_kubeconfig(folder / "config", server.url)
    ...  # server.call(store.create, WORKLOAD, {...})
"""

import asyncio
import ipaddress
import ssl
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fake_apiserver import FakeApiServer
from fake_store import FakeStore

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class ServingThread:
    """A server in a thread. Its store belongs to that thread while it runs: what touches it is passed to `call`."""

    def __init__(self, store: FakeStore, **options: Any) -> None:
        self.server = FakeApiServer(store, **options)
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="fake-apiserver", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._loop, self._over = self._started.result(timeout=60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """Where the server is."""
        return self.server.url

    def call(self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Call a function in the thread of the server, and wait for what it returns. Use it for the store, and for the faults."""

        async def called() -> Result:
            return function(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(called(), self._loop).result()

    def wait(self, coroutine: Callable[[], Awaitable[Result]], timeout: float) -> Result:
        """Run a coroutine function such as `server.server.go_down` in the thread of the server. Raises TimeoutError."""

        async def waited() -> Result:
            return await asyncio.wait_for(coroutine(), timeout)

        return asyncio.run_coroutine_threadsafe(waited(), self._loop).result()

    def wait_until(self, condition: Callable[[], object], timeout: float) -> None:
        """Wait until something is the case in the store or at the server. It is looked at after each change. Raises TimeoutError."""
        self.wait(lambda: self.server.until(condition), timeout)

    async def _serve(self) -> None:
        over = asyncio.Event()
        async with self.server:
            self._started.set_result((asyncio.get_running_loop(), over))
            await over.wait()


def write_kubeconfig(path: Path, url: str, *, token: str = "", namespace: str = "default", authority: Path | None = None) -> Path:
    """Write a kubeconfig file with one cluster, one user and one context. `authority` is the certificate that signed the server's."""
    cluster = {"server": url, **({"certificate-authority": str(authority)} if authority else {})}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "fake", "cluster": cluster}],
        "users": [{"name": "fake", "user": {"token": token} if token else {}}],
        "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake", "namespace": namespace}}],
        "current-context": "fake",
    }
    path.write_text(yaml.safe_dump(config))
    return path


def certified(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A TLS context for a server at 127.0.0.1, and the file with its certificate, which is also its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fake-apiserver")])
    usage = x509.KeyUsage(True, False, False, False, False, True, False, False, False)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "server.crt", folder / "server.key"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context, public
