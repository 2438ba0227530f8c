"""Whether a system can go by a policy where gpol decides: the same is refused there as by the live exports."""

from ...adapters.kueue.export.live.live_objects import LiveChoices, export_live
from ...adapters.kueue.problems import ExportRefused
from ...adapters.live.settings.serve_settings import ServeSettings
from ...adapters.volcano.export.live_for_volcano import VolcanoLiveChoices, export_live_for_volcano
from ...sim.drive.policy import Policy


def undecidable(settings: ServeSettings, policy: Policy | None) -> str:
    """What of a policy cannot be decided in the way that the settings want, and what to write; empty where all can."""
    if policy is None or not settings.activates_policy:
        return ""
    try:
        if settings.kueue.way == "decide":
            export_live(policy.graph, LiveChoices(gpu=settings.gpu))
        else:
            export_live_for_volcano(policy.graph, VolcanoLiveChoices())
    except ExportRefused as error:
        return f"`{settings.policy}` cannot decide here: {error}"
    return ""
