"""gpol's AdmissionCheck: as long as nobody says that it is active, Kueue reserves no quota in the ClusterQueues that need it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....engine.units import format_time
from ...kubernetes.api import Api, ApiError, Plain
from ...kubernetes.reflector import ObjectChange, Reflector
from ...live.stamps import Stamps
from ...live.work_queue import WorkQueue
from .protocol import ADMISSION_CHECK, CONTROLLER

_MESSAGE = "gpol decides"


@dataclass(frozen=True, slots=True)
class CheckSeen:
    """An AdmissionCheck: who controls it, and whether it is said to be active in its present generation."""

    controller: str
    generation: int
    is_active: bool


@dataclass(slots=True)
class CheckStatus:
    """Says of the AdmissionCheck `name` that it is active. `problem` is why it cannot, empty where it is well.

    `unusable`: there is no such check, or it is somebody else's, who alone may answer it.
    """

    api: Api
    name: str
    stamps: Stamps
    checks: Reflector[CheckSeen] = field(init=False)
    unusable: str = ""
    _failure: str = ""
    _writes: WorkQueue = field(default_factory=WorkQueue)

    def __post_init__(self) -> None:
        self.checks = Reflector(self.api, ADMISSION_CHECK, _read, self._see)

    @property
    def problem(self) -> str:
        """See the class."""
        return self.unusable or self._failure

    async def follow(self) -> None:
        """Follow the AdmissionChecks of the cluster, until cancelled."""
        self._see([])
        await self.checks.run()

    async def keep_active(self) -> None:
        """Say that the check is active whenever it does not say so, until cancelled."""
        await self._writes.work(self._write)

    def _see(self, changes: Sequence[ObjectChange[CheckSeen]]) -> None:
        seen = self.checks.known.get(self.name)
        if seen is None:
            self.unusable = f"there is no AdmissionCheck `{self.name}`; `gpol export kueue --live` writes it, and all else that is needed"
        elif seen.value.controller != CONTROLLER:
            controller = seen.value.controller or "nobody"
            self.unusable = f"AdmissionCheck `{self.name}` belongs to controller {controller}; name another check in kueue.check"
        else:
            self.unusable = ""
            self._writes.add(self.name)

    async def _write(self, name: str) -> float | None:
        seen = self.checks.known.get(name)
        if seen is None or seen.value.is_active or self.unusable:
            self._failure = ""
            return None
        now = self.stamps.now()
        condition = {
            "type": "Active",
            "status": "True",
            "reason": "Active",
            "message": _MESSAGE,
            "observedGeneration": seen.value.generation,
            "lastTransitionTime": format_time(now - now % 1_000_000),
        }
        metadata = {"name": name, "uid": seen.uid}
        body = {"apiVersion": ADMISSION_CHECK.api_version, "kind": ADMISSION_CHECK.kind, "metadata": metadata}
        try:
            await self.api.apply(
                ADMISSION_CHECK.path(name=name, part="status"), {**body, "status": {"conditions": [condition]}}, CONTROLLER
            )
        except ApiError as error:
            self._failure = f"AdmissionCheck `{name}` is not active: {error}"
            return error.retry_after or 1.0
        self._failure = ""
        return None


def _read(plain: Plain) -> CheckSeen:
    status = plain.get("status") or {}
    generation = (plain.get("metadata") or {}).get("generation") or 1
    said = [each for each in status.get("conditions") or [] if each.get("type") == "Active"]
    is_active = any(each.get("status") == "True" and each.get("observedGeneration", generation) == generation for each in said)
    return CheckSeen(str((plain.get("spec") or {}).get("controllerName", "")), int(generation), is_active)
