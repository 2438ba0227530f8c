"""ResourceFlavors, WorkloadPriorityClasses and AdmissionChecks: what their objects say."""

from . import known_fields as known
from .fields import Fields
from .objects import AdmissionCheck, ResourceFlavor, WorkloadPriorityClass
from .selectors import conditions, taint, toleration


def resource_flavor(name: str, file: str, whole: Fields) -> ResourceFlavor:
    """A ResourceFlavor."""
    spec = whole.sub("spec").known(known.RESOURCE_FLAVOR)
    return ResourceFlavor(
        name=name,
        file=file,
        labels=tuple(spec.text_map("nodeLabels").items()),
        taints=tuple(dict.fromkeys(taint(row) for row in spec.subs("nodeTaints"))),
        tolerations=tuple(dict.fromkeys(toleration(row) for row in spec.subs("tolerations"))),
        topology=spec.optional_name("topologyName"),
    )


def priority_class(name: str, file: str, whole: Fields) -> WorkloadPriorityClass:
    """A WorkloadPriorityClass; its value stands beside its metadata."""
    if not whole.has("value"):
        whole.wrong("value", "is missing", "write a whole number")
    return WorkloadPriorityClass(name, file, whole.whole("value", 0))


def admission_check(name: str, file: str, whole: Fields) -> AdmissionCheck:
    """An AdmissionCheck: Kueue uses it once its controller has said that it is active."""
    spec = whole.sub("spec").known(known.ADMISSION_CHECK)
    said = [condition.text("status") for condition in conditions(whole) if condition.text("type") == "Active"]
    return AdmissionCheck(name, file, said == ["True"], spec.text("controllerName"))
