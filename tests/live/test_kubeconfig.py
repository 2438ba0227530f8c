"""What is wrong with a kubeconfig is told before anything is asked: the place, the cause and what to do; no other line is printed."""

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from fake_serving import certified
from gpol.adapters.kubernetes.kubeconfig import AccessError, configured
from kubernetes.aio.client import Configuration

Said = dict[str, Any]
ANEW = "write it anew with `kubectl config view --raw`"
PLUGIN = "kubeconfig `k`: the exec plugin of user `u`"
BY_HAND = "run it by hand, or write a token or a client certificate instead"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, so that names are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(user: Said | None = None, **cluster: Any) -> Said:
    """A kubeconfig with one context, `c`."""
    return {
        "clusters": [{"name": "s", "cluster": {"server": "https://127.0.0.1:6443", **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "c", "context": {"cluster": "s", "user": "u"}}],
        "current-context": "c",
    }


def used(config: Said | str, context: str | None = None) -> Configuration:
    """What becomes of a kubeconfig."""
    Path("k").write_text(config if isinstance(config, str) else yaml.safe_dump(config))
    return asyncio.run(configured(Path("k"), context))


def refused(config: Said | str, context: str | None = None) -> str:
    """Why a kubeconfig is refused."""
    with pytest.raises(AccessError) as error:
        used(config, context)
    return str(error.value)


def plugin(prints: str = "", code: int = 0) -> Said:
    """A user whose plugin prints something."""
    script = f"import sys; sys.stdout.write({prints!r}); sys.stderr.write('no luck' * {code}); sys.exit({code})"
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": ["-c", script]}}


def credential(**status: Any) -> str:
    """What a plugin prints."""
    return json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})


def test_a_file_that_cannot_be_read() -> None:
    """It is not there, is a folder, or is no kubeconfig."""
    check = "check kubernetes.kubeconfig and your rights"
    for name, told in (("none", "No such file or directory"), (".", "Is a directory")):
        with pytest.raises(AccessError) as error:
            asyncio.run(configured(Path(name), None))
        assert str(error.value) == f"kubeconfig `{name}` cannot be read: {told}; {check}"
    assert refused("") == f"kubeconfig `k` is empty; {ANEW}"
    assert refused("[]") == f"kubeconfig `k` has no clusters, users and contexts; {ANEW}"
    for text in ("[", "\0", "[" * 5000):
        assert refused(text).startswith("kubeconfig `k` is no YAML: ")


def test_names_that_do_not_lead_anywhere() -> None:
    """Each is told with those that there are."""
    good = said()
    assert refused({**good, "current-context": ""}) == "kubeconfig `k` has no current-context; set kubernetes.context as well"
    assert refused(good, "other") == "kubeconfig `k` has no context `other`; it has `c`"
    assert refused({**good, "users": None}) == "kubeconfig `k` has no user `u`; it has none"
    assert refused({**good, "clusters": good["clusters"] * 2}) == "kubeconfig `k` has cluster `s` twice; keep one"
    assert refused({**good, "clusters": 3}) == "kubeconfig `k`: clusters is no list of objects; write one `- name: ...` for each cluster"
    assert refused({**good, "users": ["u"]}) == "kubeconfig `k`: users is no list of objects; write one `- name: ...` for each user"
    assert refused({**good, "users": [{"name": "u", "user": 3}]}) == "kubeconfig `k` has user `u` without fields; write them below its name"
    assert used({**good, "current-context": "other"}, "c").host == "https://127.0.0.1:6443"


@pytest.mark.parametrize("server", ["not a url", "10.0.0.1:6443", "https://", "https://a:b", "ftp://a", None, 3])
def test_a_server_that_is_no_url(server: object) -> None:
    """It would be asked for as a path."""
    told = f"kubeconfig `k`: the server of cluster `s` is no URL: `{server}`; write one such as https://10.0.0.1:6443"
    assert refused(said(server=server)) == told


@pytest.mark.parametrize("token", ["a\nb", "a\rb", "a\u00e4"])
def test_a_token_that_cannot_be_sent(token: str) -> None:
    """It is told, and not shown."""
    told = "kubeconfig `k`: the token of user `u` has a line break or another character that no token has; write it on one line"
    assert refused(said({"token": token})) == told


def test_a_token_in_a_file_of_its_own() -> None:
    """The line break at its end does not count. The file is found beside the kubeconfig."""
    Path("token").write_text("secret\n")
    assert used(said({"tokenFile": "token"})).api_key == {"BearerToken": "Bearer secret"}
    told = refused(said({"tokenFile": "absent"}))
    assert told.startswith("kubeconfig `k` cannot be used in context `c`: [Errno 2] No such file or directory: ")
    assert told.endswith("absent'; correct it, of cluster `s` or of user `u`")


def test_certificates_that_are_none(folder: Path) -> None:
    """The authority of the cluster, and what the user proves itself with."""
    junk = base64.b64encode(b"junk").decode()
    public = base64.b64encode(certified(folder)[1].read_bytes()).decode()
    authority = "kubeconfig `k`: the certificate authority of cluster `s` cannot be used: "
    remedy = "; write a certificate in PEM, or its base64 into certificate-authority-data"
    told = refused(said(**{"certificate-authority-data": junk}))
    assert (told.startswith(authority), told.endswith(remedy), len(told) < 250) == (True, True, True)
    client = "kubeconfig `k`: the client certificate of user `u` and its key cannot be used: "
    assert refused(said({"client-certificate-data": public, "client-key-data": junk})).startswith(client)
    assert refused(said({"client-certificate-data": public})).startswith(client)
    for field, config in (
        ("certificate-authority-data of cluster `s`", said(**{"certificate-authority-data": "abcde"})),
        ("client-key-data of user `u`", said({"client-key-data": 3})),
    ):
        assert refused(config) == f"kubeconfig `k`: {field} is not base64; write it on one line, as `base64 -w0` does"


def test_a_plugin_brings_credentials(folder: Path) -> None:
    """A token, or a certificate with its key."""
    assert used(said(plugin(credential(token="secret")))).api_key == {"BearerToken": "Bearer secret"}
    public, private = certified(folder)[1].read_text(), (folder / "server.key").read_text()
    made = used(said(plugin(credential(clientCertificateData=public, clientKeyData=private))))
    assert (Path(made.cert_file).read_text(), Path(made.key_file).read_text()) == (public, private)


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ({"exec": {"apiVersion": "v1", "command": "./absent"}}, "has failed: [Errno 2] No such file or directory: './absent'"),
        ({"exec": None}, "has failed: "),
        ({"exec": {}}, "has failed: exec: malformed request. missing key 'command'"),
        (plugin(code=1), "has failed: exec: process returned 1. b'no luck'"),
        (plugin("junk"), "has failed: exec: failed to decode process output: "),
        (plugin("[]"), "has failed: exec: malformed response. missing key 'apiVersion'"),
        (plugin(credential()), "has brought neither a token nor a certificate with its key"),
        (plugin(credential(token="")), "has brought neither a token nor a certificate with its key"),
        (plugin(credential(clientCertificateData="x")), "has brought neither a token nor a certificate with its key"),
        (plugin(credential().replace("{}", "null")), "has brought neither a token nor a certificate with its key"),
    ],
)
def test_a_plugin_that_brings_nothing(user: Said, told: str, caplog: pytest.LogCaptureFixture) -> None:
    """gpol does not go on without credentials, even beside a token that may be old; and the client prints no line of its own."""
    line = refused(said({**user, "token": "old"}))
    assert line.startswith(f"{PLUGIN} {told}")
    assert line.endswith(f"; {BY_HAND}")
    assert caplog.records == []


def test_without_a_kubeconfig() -> None:
    """Outside of a pod there has to be one."""
    with pytest.raises(AccessError) as error:
        asyncio.run(configured(None, None))
    remedy = "name a kubeconfig, or run where a service account is mounted"
    assert str(error.value) == f"this program does not run in a pod: Service host/port is not set.; {remedy}"
