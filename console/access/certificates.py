"""TLS: the server's certificate and its key, checked before they are used, and exchanged while the server runs when the files change."""

import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from .secret_files import FileSignature, SecretFileError, read_file, signature

LOG = logging.getLogger("gpol.http")


def _now() -> datetime:
    return datetime.now(UTC)


class ServerCertificate:
    """A certificate with its key, and the TLS context of a server that shows it. Raises SecretFileError where they cannot be used."""

    def __init__(self, certificate: Path, key: Path, clock: Callable[[], datetime] = _now) -> None:
        self._certificate, self._key, self._clock = certificate, key, clock
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.options |= ssl.OP_NO_RENEGOTIATION
        self._signatures = self._look()
        self._refused = ""
        self.expires = self._load()
        """When the certificate ends."""

    def read_again(self) -> None:
        """Show new connections the files as they are now, if they have changed. What cannot be used is told, and the old ones stay.

        What could not be used is tried again each time: one that is not valid yet becomes so without a change.
        """
        found = self._look()
        if found == self._signatures and not self._refused:
            return
        self._signatures = found
        try:
            self.expires = self._load()
        except SecretFileError as error:
            if str(error) != self._refused:
                LOG.error("the certificate stays the one that was read before: %s", error)
            self._refused = str(error)
        else:
            self._refused = ""
            LOG.info("the certificate has changed; the new one ends at %s", self.expires.isoformat())

    def _look(self) -> tuple[FileSignature | None, FileSignature | None]:
        return signature(self._certificate), signature(self._key)

    def _load(self) -> datetime:
        chain = self._chain()
        key = self._private_key()
        try:
            belongs = _public(chain[0].public_key()) == _public(key.public_key())
        except (ValueError, UnsupportedAlgorithm) as error:
            cause = f"the certificate `{self._certificate}` has a key of a kind that gpol cannot read ({error})"
            raise SecretFileError(f"{cause}; take one with an RSA or an elliptic key") from None
        if not belongs:
            raise SecretFileError(
                f"the key `{self._key}` does not belong to the certificate `{self._certificate}`; name the two that belong together"
            )
        try:
            self.context.load_cert_chain(self._certificate, self._key, password="")  # asks nobody for one
        except (ssl.SSLError, OSError) as error:
            raise SecretFileError(f"the certificate `{self._certificate}` and its key cannot be used for TLS: {error}") from None
        return min(each.not_valid_after_utc for each in chain)

    def _chain(self) -> list[x509.Certificate]:
        data = read_file(self._certificate, "the certificate", secret=False)
        try:
            chain = x509.load_pem_x509_certificates(data)
        except ValueError:
            raise SecretFileError(
                f"`{self._certificate}` holds no certificate; give a PEM file, the server's own certificate first"
            ) from None
        now = self._clock()
        for each in chain:
            name = each.subject.rfc4514_string() or "without a name"
            if each.not_valid_after_utc <= now:
                ended = each.not_valid_after_utc.isoformat()
                raise SecretFileError(f"the certificate `{self._certificate}` ({name}) has expired at {ended}; have it renewed")
            if each.not_valid_before_utc > now:
                begins = each.not_valid_before_utc.isoformat()
                raise SecretFileError(f"the certificate `{self._certificate}` ({name}) is valid only from {begins} on; look at the clock")
        return chain

    def _private_key(self) -> PrivateKeyTypes:
        data = read_file(self._key, "the key")
        try:
            return load_pem_private_key(data, password=None)
        except TypeError:
            raise SecretFileError(f"the key `{self._key}` has a password; give one without, as nobody is there to type it") from None
        except (ValueError, UnsupportedAlgorithm):
            raise SecretFileError(f"`{self._key}` holds no private key that can be read; give a PEM file") from None


def _public(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
