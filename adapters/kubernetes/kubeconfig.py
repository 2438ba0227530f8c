"""How a server is reached, and who asks: as a kubeconfig says, or as the service account of a pod.

The official client reads both, and looks at little before it uses it. What it would trip over later is found here, and told with its place.
"""

import base64
import binascii
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import yaml
from kubernetes.aio import config
from kubernetes.aio.client import Configuration
from kubernetes.aio.config import ConfigException
from kubernetes.aio.config.exec_provider import ExecProvider
from kubernetes.aio.config.kube_config import ConfigNode, KubeConfigLoader

from ...dsl.syntax.names import listed

ConfigPart = dict[str, Any]
"""What a kubeconfig says, or a part of it: any text may stand there."""

_FAILURES = (ConfigException, aiohttp.ClientError, OSError, ValueError, TypeError, AttributeError, LookupError)
"""How the client fails at a kubeconfig."""

_IN_BASE64 = {"cluster": ("certificate-authority-data",), "user": ("client-certificate-data", "client-key-data")}


class AccessError(Exception):
    """There is no way to reach a server, or nothing to prove who asks. The message says where, why, and what to do."""


async def configured(kubeconfig: Path | None, context: str | None) -> Configuration:
    """How a server is reached; without a kubeconfig as the service account of the pod says. Raises AccessError."""
    made = Configuration()
    if kubeconfig is None:
        try:
            config.load_incluster_config(client_configuration=made)
        except _FAILURES as error:
            remedy = "name a kubeconfig, or run where a service account is mounted"
            raise AccessError(f"this program does not run in a pod: {_told(error)}; {remedy}") from None
        _check_proofs(made, "the service account of this pod", "of the cluster", "of the account")
        return made
    place = f"kubeconfig `{kubeconfig}`"
    file = Path(os.path.expanduser(kubeconfig))
    said = _read(file, place)
    chosen = context or said.get("current-context")
    if not chosen:
        raise AccessError(f"{place} has no current-context; set kubernetes.context as well")
    inner = _named(said, "context", chosen, place)
    cluster = _named(said, "cluster", inner.get("cluster"), place)
    user = _named(said, "user", inner["user"], place) if inner.get("user") else {}
    of_cluster, of_user = f"of cluster `{inner.get('cluster')}`", f"of user `{inner.get('user')}`"
    _check_server(cluster.get("server"), place, of_cluster)
    if "exec" in user:
        user = await _by_plugin(user, place, of_user)
    try:
        await KubeConfigLoader(_alone(cluster, user), config_base_path=str(file.absolute().parent)).load_and_set(made)
    except _FAILURES as error:
        remedy = f"correct it, {of_cluster} or {of_user}"
        raise AccessError(f"{place} cannot be used in context `{chosen}`: {_told(error)}; {remedy}") from None
    if "BearerToken" in made.api_key:
        made.api_key["BearerToken"] = made.api_key["BearerToken"].strip()  # as kubectl does; files end with a line break
    _check_proofs(made, place, of_cluster, of_user)
    return made


def _read(file: Path, place: str) -> ConfigPart:
    try:
        said = yaml.safe_load(file.read_bytes())
    except OSError as error:
        raise AccessError(f"{place} cannot be read: {error.strerror}; check kubernetes.kubeconfig and your rights") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise AccessError(f"{place} is no YAML: {_told(error)}; write it anew with `kubectl config view --raw`") from None
    if not isinstance(said, dict):
        wrong = "is empty" if said is None else "has no clusters, users and contexts"
        raise AccessError(f"{place} {wrong}; write it anew with `kubectl config view --raw`")
    return said


def _named(said: ConfigPart, kind: str, name: object, place: str) -> ConfigPart:
    """The context, cluster or user of a name."""
    rows = said.get(f"{kind}s") or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise AccessError(f"{place}: {kind}s is no list of objects; write one `- name: ...` for each {kind}")
    found = [row.get(kind) or {} for row in rows if row.get("name") == name]
    if not found:
        names = listed(str(row.get("name")) for row in rows)
        raise AccessError(f"{place} has no {kind} `{name}`; {f'it has {names}' if rows else 'it has none'}")
    if len(found) > 1 or not isinstance(found[0], dict):
        wrong = "twice; keep one" if len(found) > 1 else "without fields; write them below its name"
        raise AccessError(f"{place} has {kind} `{name}` {wrong}")
    for field in _IN_BASE64.get(kind, ()):
        try:
            base64.standard_b64decode(found[0].get(field) or "")
        except (binascii.Error, TypeError, ValueError):
            raise AccessError(f"{place}: {field} of {kind} `{name}` is not base64; write it on one line, as `base64 -w0` does") from None
    return found[0]


def _alone(cluster: ConfigPart, user: ConfigPart) -> ConfigPart:
    """A kubeconfig with nothing else."""
    return {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": user}],
    }


def _check_server(server: object, place: str, of_cluster: str) -> None:
    try:
        parts = urlsplit(server) if isinstance(server, str) and server.split() == [server] else urlsplit("")
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none
        is_url = False
    if not is_url:
        raise AccessError(f"{place}: the server {of_cluster} is no URL: `{server}`; write one such as https://10.0.0.1:6443")


async def _by_plugin(user: ConfigPart, place: str, of_user: str) -> ConfigPart:
    """A user with the credentials that its plugin brings."""
    where = f"{place}: the exec plugin {of_user}"
    remedy = "run it by hand, or write a token or a client certificate instead"
    try:
        brought = await ExecProvider(ConfigNode("exec", user["exec"])).run()
    except _FAILURES as error:
        raise AccessError(f"{where} has failed: {_told(error)}; {remedy}") from None
    said: Mapping[str, Any] = brought if isinstance(brought, dict) else {}
    token, certificate, key = (said.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
    rest = {name: user[name] for name in user if name != "exec"}
    if isinstance(token, str) and token:
        return {**rest, "token": token}
    if isinstance(certificate, str) and isinstance(key, str) and certificate and key:
        return {**rest, "client-certificate-data": _in_base64(certificate), "client-key-data": _in_base64(key)}
    raise AccessError(f"{where} has brought neither a token nor a certificate with its key; {remedy}")


def _in_base64(text: str) -> str:
    return base64.standard_b64encode(text.encode()).decode()


def _check_proofs(made: Configuration, place: str, of_cluster: str, of_user: str) -> None:
    """Look whether certificates are some, and whether the token can be sent. Raises AccessError."""
    token = made.api_key.get("BearerToken", "")
    if not token.isprintable() or not token.isascii():
        raise AccessError(f"{place}: the token {of_user} has a line break or another character that no token has; write it on one line")
    try:
        ssl.create_default_context(cafile=made.ssl_ca_cert)
    except OSError as error:
        remedy = "write a certificate in PEM, or its base64 into certificate-authority-data"
        raise AccessError(f"{place}: the certificate authority {of_cluster} cannot be used: {_told(error)}; {remedy}") from None
    try:
        if made.cert_file:
            ssl.create_default_context().load_cert_chain(made.cert_file, made.key_file, lambda: "")  # nobody is there to be asked
    except OSError as error:
        remedy = "write both in PEM, or their base64 into client-certificate-data and client-key-data, the key without a password"
        raise AccessError(f"{place}: the client certificate {of_user} and its key cannot be used: {_told(error)}; {remedy}") from None


def _told(error: Exception) -> str:
    """What an error says, on one line."""
    text = error.reason if isinstance(error, ssl.SSLError) and error.reason else str(error)
    return " ".join(text.split()) or type(error).__name__
