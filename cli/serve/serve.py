"""serve: gpol decides for a live cluster."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..shared.options import PLACE, with_format
from ..shared.output import FAILED, GOOD, NO, Format, complain, refuse, say, say_json
from ..shared.policies import checked_policy
from .log_lines import start_log

if TYPE_CHECKING:
    from ...adapters.live.settings.serve_settings import ServeSettings
    from ...console.service import Service
    from ...sim.drive.policy import Policy

MISSING = "what serves clusters is not installed ({name} is missing); `pip install 'gpol[live]'` brings it"


@click.command()
@click.option("--settings", "place", metavar="PATH", type=PLACE, help="the settings, a YAML file; variables GPOL_... come before it")
@click.option("--check", is_flag=True, help="only say what the cluster lacks; exit code 2 if it lacks anything. Nothing is written")
@with_format
def serve(place: str | None, check: bool, form: Format) -> int:
    """Decide for a live cluster, as the settings say, until stopped."""
    try:
        import aiohttp  # noqa: F401
        import kubernetes.aio.config  # noqa: F401
        import prometheus_client  # noqa: F401
    except ImportError as error:
        refuse(MISSING.format(name=error.name), FAILED)
    except RuntimeError as error:  # the client looks for its files in the home directory when it is loaded
        refuse(f"the Kubernetes client cannot be loaded: {error} Set HOME to some folder", FAILED)
    from ...sim.drive.policy import Policy

    settings = _settings(place)
    if not settings.decides and not settings.guards:
        refuse("the settings let gpol do nothing: set kueue.way, volcano.way, kueue.guard.mode or volcano.guard.mode")
    policy = Policy.of(checked_policy(str(settings.policy), form)) if settings.policy is not None else None
    if check:
        return asyncio.run(_check(settings, policy, form))
    start_log(settings.log)
    return asyncio.run(_serve(settings, policy))


def _settings(place: str | None) -> "ServeSettings":
    from ...adapters.live.settings.reading_settings import read_settings
    from ...adapters.live.settings.settings_problems import DOCUMENTED, ServeSettingsError

    try:
        return read_settings(Path(place) if place else None, os.environ)
    except ServeSettingsError as error:
        for line in error.lines:
            complain(line)
        refuse(f"the settings cannot be used; {DOCUMENTED}")
    except OSError as error:
        refuse(f"the settings in `{place}` cannot be read: {error.strerror}; check the name and your rights")
    except ValueError as error:
        refuse(f"the settings in `{place}` cannot be read: {error}; {DOCUMENTED}")


async def _serve(settings: "ServeSettings", policy: "Policy | None") -> int:
    from ...adapters.kubernetes.api import Api
    from ...adapters.kubernetes.kubeconfig import AccessError
    from ...compiled.fast_core import fast_core
    from ...console.listening import HttpSetupError
    from ...console.service import ActivationError, Service
    from ..speed.kernels import tell

    try:
        api = await Api.connect(settings.kubernetes.kubeconfig, settings.kubernetes.context)
    except AccessError as error:
        refuse(str(error))
    async with api:
        try:
            service = Service(settings, policy, api, lambda frozen: fast_core(tell, is_long=True, frozen=frozen))
            working = asyncio.ensure_future(_work(service, settings))
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, working.cancel)
            with suppress(asyncio.CancelledError):
                await working
        except (ActivationError, HttpSetupError) as error:
            refuse(str(error))
    return GOOD


async def _work(service: "Service", settings: "ServeSettings") -> None:
    """Work, and serve what can be asked over HTTP."""
    from ...console.extender_server import serve_extender
    from ...console.http_server import serve_http

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serve_http(service, settings.http))
        if settings.volcano.way == "decide":
            await stack.enter_async_context(serve_extender(settings.volcano.extender, service.extender))
        await service.run()


async def _check(settings: "ServeSettings", policy: "Policy | None", form: Format) -> int:
    """Say what the cluster lacks."""
    from ...adapters.kubernetes.api import Api, ApiError
    from ...adapters.kubernetes.kubeconfig import AccessError
    from ...console.work.cluster_check import cluster_lacks

    found = []
    try:
        async with await Api.connect(settings.kubernetes.kubeconfig, settings.kubernetes.context) as api:
            async for line in cluster_lacks(settings, policy, api):
                found.append(line)
                if form is Format.json:
                    say_json("lack", message=line)
                else:
                    say(line)
    except AccessError as error:
        refuse(str(error))
    except ApiError as error:
        refuse(f"the cluster cannot be asked: {error}", FAILED)
    if not found and form is not Format.json:
        say("good: the policy, the rights and the cluster are as gpol needs them")
    return NO if found else GOOD
