"""The settings of what is served: safe unless somebody says otherwise."""

from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.live.settings.reading_settings import read_settings
from gpol.adapters.live.settings.serve_settings import Http, ServeSettings
from pydantic import ValidationError


def refused(**options: Any) -> str:
    """Why settings are refused."""
    with pytest.raises(ValidationError) as error:
        Http(**options)
    return str(error.value)


def test_defaults_are_safe() -> None:
    """By default only this machine is served, without any credential that counts."""
    settings = Http()
    assert settings.address.is_loopback
    assert (settings.token_file, settings.kubernetes_tokens, settings.insecure_plain_text, settings.probe_address) == (
        None,
        False,
        False,
        None,
    )


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.1", "192.0.2.1"])
def test_others_are_served_by_tls_alone(address: str) -> None:
    """Without TLS only this machine is served, unless a setting that names the risk says otherwise."""
    assert "name a certificate and a key" in refused(address=address)
    assert Http(address=ip_address(address), insecure_plain_text=True)
    assert Http(address=ip_address(address), certificate=Path("c"), key=Path("k"))
    assert Http(address=ip_address(address), enabled=False)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_may_be_served_without_tls(address: str) -> None:
    """Loopback addresses need no TLS, so there is nothing to allow."""
    assert Http(address=ip_address(address))
    assert "others cannot reach" in refused(address=address, insecure_plain_text=True)


def test_settings_that_do_not_go_together() -> None:
    """A certificate without a key, an audience without tokens of the cluster, names instead of addresses: each is refused."""
    assert "go together" in refused(certificate="c")
    assert "go together" in refused(key="k")
    assert "set kubernetes_tokens" in refused(kubernetes_audience="gpol")
    assert "one of them has no effect" in refused(address="0.0.0.0", certificate="c", key="k", insecure_plain_text=True)
    assert "address" in refused(address="localhost")
    assert "port" in refused(port=70000)
    assert "Extra inputs" in refused(tls=True)


def test_settings_come_from_file_and_environment(tmp_path: Path) -> None:
    """A part of the file, or variables."""
    file = tmp_path / "settings.yaml"
    file.write_text("policy: lab.gpol\njournal: lab.db\nhttp:\n  port: 9090\n  kubernetes_tokens: true\n")
    settings = read_settings(file, {"GPOL_HTTP__PORT": "9191", "GPOL_HTTP__TOKEN_FILE": "/run/token"}).http
    assert (settings.port, settings.kubernetes_tokens, settings.token_file) == (9191, True, Path("/run/token"))


def test_every_setting_is_described() -> None:
    """Each setting says what it is."""
    assert all(field.description for kind in (Http, ServeSettings) for field in kind.model_fields.values())
