"""How Kueue is watched, as settings of `gpol serve`."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ....live.settings.setting_texts import SettingPath, of_form
from ...read.kinds import CONFIG_MAP, CONFIG_NAMESPACE

_NAME = "[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
_NO_MAP = "names no ConfigMap; write NAMESPACE/NAME, or an empty text where none is read"


class ShadowSettings(BaseModel):
    """gpol decides beside a Kueue that decides by itself, and names where they part; one setting that is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    differences: SettingPath | None = Field(
        default=None,
        description="the file to which each difference is appended, a JSON object a line; without one they are in the journal and the log",
    )
    requeue_seconds: float = Field(
        default=1,
        ge=0,
        le=30,
        allow_inf_nan=False,
        description="how long after there is room again Kueue looks at those whom it has refused: a second in its releases, ten with "
        "the feature gate SchedulerLongRequeueInterval; whoever comes meanwhile may go before them, which is no difference",
    )
    settle_seconds: float = Field(
        default=2,
        gt=0,
        le=60,
        allow_inf_nan=False,
        description="after how many seconds without a change what Kueue did is compared",
    )
    longest_seconds: float = Field(
        default=10,
        gt=0,
        le=600,
        allow_inf_nan=False,
        description="after how many seconds it is compared although changes never end for that long",
    )
    config_map: Annotated[str, of_form(f"({_NAME}/{_NAME})?", _NO_MAP)] = Field(
        default=f"{CONFIG_NAMESPACE}/{CONFIG_MAP}",
        max_length=320,
        description="the ConfigMap with the Configuration of Kueue's manager, which says whether it shares fairly; empty: it is not read",
    )
    config_map_seconds: float = Field(
        default=60, ge=1, le=3600, allow_inf_nan=False, description="after how many seconds that ConfigMap is read again"
    )
    configuration: SettingPath | None = Field(
        default=None,
        description="a file with that Configuration, which counts until the ConfigMap can be read; without one, Kueue's defaults",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.longest_seconds < self.settle_seconds:
            raise ValueError("longest_seconds is below settle_seconds; make it as long at least")
        if self.settle_seconds <= self.requeue_seconds or self.longest_seconds / 2 <= self.requeue_seconds:
            raise ValueError(
                f"requeue_seconds is {self.requeue_seconds:g}, and Kueue is compared before it has looked at everybody: make "
                "settle_seconds longer than that, and longest_seconds longer than twice that"
            )
        return self

    @model_validator(mode="after")
    def _of_a_map_that_is_read(self) -> Self:
        if "config_map_seconds" in self.model_fields_set and not self.config_map:
            raise ValueError("config_map_seconds is set, and no config_map is read: name one, or leave config_map_seconds out")
        return self
