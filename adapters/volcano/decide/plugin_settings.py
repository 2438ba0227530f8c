"""Actions, tiers and arguments of a scenario. What no pass honours is refused by name.

Volcano: pkg/scheduler/plugins/factory.go, plugins/defaults.go, actions/factory.go.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from ....engine.definition.volcano.model.volcano_settings import CALLBACKS, HIERARCHY, PluginArgument, VolcanoPlugin, VolcanoSettings
from ....engine.definition.volcano.place.strategy_fit import RESOURCES, WEIGHT
from ....engine.definition.volcano.votes.sla import LONGEST_WAIT
from .go_durations import go_duration
from .scenario_parts import ActionConfiguration, ResourceStrategy, ScenarioPlugin, VolcanoScenario
from .scenario_problems import refused

GivenArgument = bool | int | Decimal | str | Mapping[str, ResourceStrategy]
"""An argument as a scenario has it."""

Unlisted = Literal["on", "off"]
"""What a callback is that a plugin does not list: on in a configuration file, off in Volcano's own test tables."""

PASSES = ("enqueue", "allocate", "preempt", "reclaim", "backfill")
"""The actions that are passes here."""

_OF_PREFERENCES = (
    "nodeaffinity.weight",
    "podaffinity.weight",
    "tainttoleration.weight",
    "imagelocality.weight",
    "podtopologyspread.weight",
)
"""Weights of what pods and nodes prefer. A scenario has no preferences: they are refused, so these change nothing."""

PLUGINS: dict[str, tuple[str, ...]] = {
    "priority": (),
    "gang": (),
    "conformance": (),
    "drf": (),
    "proportion": (),
    "capacity": ("ancestorReclaimLevel",),
    "overcommit": ("overcommit-factor",),
    "predicates": (),
    "nodeorder": ("leastrequested.weight", "mostrequested.weight", "balancedresource.weight", *_OF_PREFERENCES),
    "binpack": ("binpack.weight", "binpack.cpu", "binpack.memory", "binpack.resources"),
    "resource-strategy-fit": (WEIGHT, "resources"),
    "network-topology-aware": (
        "weight",
        "hypernode.binpack.cpu",
        "hypernode.binpack.memory",
        "hypernode.binpack.resources",
        "hypernode.binpack.normal-pod.enable",
    ),
    "sla": (LONGEST_WAIT,),
}
"""The plugins that are honoured, with their arguments."""

_OF_RESOURCES = {"binpack": "binpack.resources.", "network-topology-aware": "hypernode.binpack.resources."}
"""How the arguments of a plugin begin that are the weights of resources."""

_TRUTH = "hypernode.binpack.normal-pod.enable"
_WITH_POINT = ("overcommit-factor",)
"""Arguments that are numbers with a point, or without one."""

_TOPOLOGY_AWARE = "enableTopologyAwarePreemption"


def volcano_settings(scenario: VolcanoScenario, unlisted: Unlisted) -> VolcanoSettings:
    """The configuration of a scenario. Raises ImportRefused."""
    for at, action in enumerate(scenario.actions):
        if action not in PASSES:
            raise refused(f"actions[{at}]", f"is `{action[:60]}`, which is not supported", f"write {', '.join(PASSES)}")
    tiers = []
    counting = unlisted == "off" or scenario.whole_numbers
    for at, tier in enumerate(scenario.tiers):
        tiers.append(tuple(_plugin(given, f"tiers[{at}].plugins[{of}]", unlisted, counting) for of, given in enumerate(tier.plugins)))
    return VolcanoSettings(tuple(scenario.actions), tuple(tiers), _topology_aware(scenario.configurations or []))


def _plugin(given: ScenarioPlugin, place: str, unlisted: Unlisted, counting: bool) -> VolcanoPlugin:
    if given.name not in PLUGINS:
        raise refused(f"{place}.name", f"is `{given.name[:60]}`, a plugin that is not supported", f"there are {', '.join(PLUGINS)}")
    said = given.enabled or {}
    for callback in sorted(said):
        if callback not in (*CALLBACKS, HIERARCHY):
            raise refused(
                f"{place}.enabled", f"has `{callback[:60]}`, which is no callback", f"there are {', '.join((*CALLBACKS, HIERARCHY))}"
            )
    enabled = {callback for callback in CALLBACKS if said.get(callback, unlisted == "on")}
    if said.get(HIERARCHY, False):
        enabled.add(HIERARCHY)
    return VolcanoPlugin(given.name, frozenset(enabled), _arguments(given.name, given.arguments or {}, place, counting))


def _arguments(plugin: str, given: Mapping[str, GivenArgument], place: str, counting: bool) -> dict[str, PluginArgument]:
    """The arguments that a plugin goes by. Whole numbers do where they are `counting`: JSON has only numbers with a point, to Go.

    Volcano: pkg/scheduler/framework/arguments.go (`GetInt` takes no such number, `GetFloat64` and `Get` do).
    """
    made: dict[str, PluginArgument] = {}
    for name in sorted(given):
        value = given[name]
        if name not in PLUGINS[plugin] and not (plugin in _OF_RESOURCES and name.startswith(_OF_RESOURCES[plugin])):
            raise refused(f"{place}.arguments", f"has `{name[:60]}`, which plugin {plugin} does not honour", "leave it out")
        if isinstance(value, dict) != (name == "resources"):
            raise refused(f"{place}.arguments.{name}", "is not what the plugin takes", "write what Volcano's documentation shows")
        if isinstance(value, dict):
            for resource, strategy in sorted(value.items()):
                made[f"{RESOURCES}{resource}/type"] = strategy.type
                made[f"{RESOURCES}{resource}/weight"] = strategy.weight
        elif name in _WITH_POINT and isinstance(value, int | Decimal) and not isinstance(value, bool):
            made[name] = Fraction(value)
        elif isinstance(value, Decimal):
            raise refused(f"{place}.arguments.{name}", f"is {value}, no whole number", "write a whole number")
        elif name == LONGEST_WAIT:
            made[name] = go_duration(value, f"{place}.arguments.{name}")
        elif name == _TRUTH and value in ("true", "false"):
            made[name] = value == "true"
        elif isinstance(value, str | bool) or (isinstance(value, int) and (counting or name == WEIGHT)):
            made[name] = value
    return made


def _topology_aware(configurations: list[ActionConfiguration]) -> bool:
    """Whether the pass `preempt` looks at where its victims are (`enableTopologyAwarePreemption`)."""
    found = False
    for at, given in enumerate(configurations):
        for name, value in (given.arguments or {}).items():
            place = f"configurations[{at}].arguments"
            if given.name != "preempt" or name != _TOPOLOGY_AWARE or not isinstance(value, bool):
                raise refused(
                    place, f"has `{name[:60]}` of `{given.name[:60]}`, which is not supported", f"only preempt's {_TOPOLOGY_AWARE} is"
                )
            found = value
    return found
