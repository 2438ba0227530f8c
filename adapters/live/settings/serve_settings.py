"""The settings of `gpol serve`, and which of them go together."""

from ipaddress import IPv4Address
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, IPvAnyAddress, model_validator

from ...kueue.live.shadow.shadow_settings import ShadowSettings
from .setting_texts import SettingPath, SettingPlace, of_form

_LABEL_VALUE = "[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
"""What Kubernetes takes for the value of a label, and for the name in the name of a resource."""

_PREFIX = "[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
_NO_LABEL = "is no value of a label; write letters, digits, `-`, `_` and `.`, with a letter or digit at each end"
_NO_RESOURCE = "is no name of a resource; write one as nodes have it, such as nvidia.com/gpu"
_NO_URL_PATH = "is no path of a URL; write one such as /volcano, without a slash at its end"


class _Part(BaseModel):
    """Some settings; one that is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Kubernetes(_Part):
    """How the API server is reached."""

    kubeconfig: SettingPath | None = Field(default=None, description="the kubeconfig; without one, the service account of the pod counts")
    context: str | None = Field(default=None, description="the context of the kubeconfig; without one, its current context")

    @model_validator(mode="after")
    def _context_of_a_kubeconfig(self) -> Self:
        if self.context is not None and self.kubeconfig is None:
            raise ValueError(
                "context is set, and there is no kubeconfig to which it belongs: name the kubeconfig as well, or leave context out"
            )
        return self


class Guarding(_Part):
    """Whether gpol keeps the objects in which the cluster has its quotas as the policy says."""

    mode: Literal["off", "report", "repair"] = Field(
        default="off", description="`repair`: what differs from the policy is written over; `report`: it is only told"
    )
    name: Annotated[str, of_form(_LABEL_VALUE, _NO_LABEL)] = Field(
        default="gpol",
        max_length=63,
        description="the name of this guard: a label of the objects that it keeps",
    )
    overrides: bool = Field(default=False, description="whether fields that another program applies are taken over as well")
    deletes: bool = Field(
        default=False,
        description="whether objects that this guard has made are deleted once the policy has them no more; only with `mode: repair`",
    )

    @model_validator(mode="after")
    def _deletes_only_where_it_writes(self) -> Self:
        if self.deletes and self.mode == "report":
            raise ValueError("deletes is set, and with `mode: report` nothing is written: set mode to repair, or leave deletes out")
        return self


class VolcanoGuarding(Guarding):
    """Whether gpol keeps Volcano's Queues and PriorityClasses as the policy says."""

    sum_flavors: bool = Field(
        default=False,
        description="whether quotas of a resource on several flavors are added up, as a Queue has one for all machines; else refused",
    )


class Kueue(_Part):
    """What gpol does for Kueue."""

    way: Literal["off", "decide", "watch"] = Field(
        default="off",
        description="`decide`: gpol admits and evicts, as an admission check; `watch`: Kueue decides, and gpol tells where it would decide "
        "otherwise",
    )
    watch: ShadowSettings = Field(default=ShadowSettings(), description=ShadowSettings.__doc__)
    guard: Guarding = Field(default=Guarding(), description=Guarding.__doc__)
    check: str = Field(default="gpol", min_length=1, max_length=253, description="the name of gpol's AdmissionCheck")
    follow_pods: bool = Field(
        default=True,
        description="whether a workload has stopped only once its pods have ended; else as soon as Kueue counts none, which is earlier",
    )


class Lease(_Part):
    """Of several gpols one works at a time: the one that holds a Lease of the cluster."""

    enabled: bool = Field(default=True, description="whether to wait for the Lease before doing anything")
    namespace: str = Field(default="gpol-system", min_length=1, max_length=63, description="the namespace of the Lease")
    name: str = Field(default="gpol", min_length=1, max_length=253, description="the name of the Lease")
    holder: str = Field(default="", max_length=253, description="who this gpol is; empty: the name of its host, and its process number")


class Listening(_Part):
    """Where something is served, and how it is kept from strangers."""

    address: IPvAnyAddress = Field(default=IPv4Address("127.0.0.1"), description="the address to listen at; 0.0.0.0: all")
    port: int = Field(default=8080, ge=0, le=65535, description="the port to listen at; 0 for any that is free")
    certificate: SettingPath | None = Field(
        default=None,
        description="the server's certificate and those of its chain, a PEM file; read again when it changes",
    )
    key: SettingPath | None = Field(
        default=None, description="the key of the certificate, a PEM file without a password that others may not read"
    )
    insecure_plain_text: bool = Field(
        default=False,
        description="whether others may reach this address without TLS: whoever is on the way then reads all tokens and answers",
    )
    token_file: SettingPath | None = Field(
        default=None,
        description="a file with the token that opens everything, of 16 characters at least, which others may not read; read again when it "
        "changes",
    )

    @model_validator(mode="after")
    def _in_pairs(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("a certificate and its key go together; name both, or neither")
        return self

    @property
    def is_served(self) -> bool:
        """Whether anything is served there."""
        return True

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if self.is_served and self.certificate is None and not self.address.is_loopback and not self.insecure_plain_text:
            raise ValueError(
                f"without TLS nothing is served at {self.address}, which others can reach: name a certificate and a key, listen at "
                "127.0.0.1, or set insecure_plain_text, and whoever is on the way reads all tokens and answers"
            )
        if self.insecure_plain_text and self.certificate is not None:
            raise ValueError("insecure_plain_text and a certificate are both set, and one of them has no effect: leave one out")
        if self.insecure_plain_text and self.address.is_loopback:
            raise ValueError(f"insecure_plain_text is set, and others cannot reach {self.address} anyway: leave it out")
        return self


class Extender(Listening):
    """Where Volcano's scheduler asks gpol, once `volcano.way` is set."""

    port: int = Field(default=8082, ge=0, le=65535, description="the port to listen at; 0 for any that is free")
    prefix: Annotated[str, of_form("(/[A-Za-z0-9._~-]+)*", _NO_URL_PATH)] = Field(
        default="/volcano",
        max_length=200,
        description="the path before the verb, as in the scheduler's `extender.urlPrefix`",
    )


class Volcano(_Part):
    """What gpol does for Volcano."""

    way: Literal["off", "decide"] = Field(
        default="off", description="`decide`: gpol admits and evicts PodGroups, and the scheduler asks it as an extender"
    )
    guard: VolcanoGuarding = Field(default=VolcanoGuarding(), description=VolcanoGuarding.__doc__)
    extender: Extender = Field(default=Extender(), description=Extender.__doc__)


class Http(Listening):
    """What is served over HTTP, and who may read it."""

    enabled: bool = Field(default=True, description="whether anything is served over HTTP")
    kubernetes_tokens: bool = Field(
        default=False,
        description="whether tokens of the cluster count: the API server says whose they are (TokenReview), and whether that user may use "
        "the path (SubjectAccessReview, `nonResourceURLs`)",
    )
    kubernetes_audience: str | None = Field(
        default=None,
        min_length=1,
        max_length=253,
        description="the audience that tokens of the cluster are for; without one, the API server",
    )
    kubernetes_seconds: float = Field(
        default=10, ge=0, le=300, allow_inf_nan=False, description="for how many seconds an answer about a token of the cluster counts"
    )
    answer_seconds: float = Field(
        default=30, ge=1, le=600, allow_inf_nan=False, description="after how many seconds without an answer a question is given up"
    )
    probe_address: IPvAnyAddress | None = Field(
        default=None,
        description="a second address, without TLS, that serves /healthz and /readyz and nothing else, for probes that know no certificate",
    )
    probe_port: int = Field(default=8081, ge=0, le=65535, description="the port at that second address; 0 for any that is free")

    @property
    def is_served(self) -> bool:
        """Whether anything is served there."""
        return self.enabled

    @model_validator(mode="after")
    def _about_tokens_that_count(self) -> Self:
        for name in ("kubernetes_audience", "kubernetes_seconds"):
            if name in self.model_fields_set and getattr(self, name) is not None and not self.kubernetes_tokens:
                raise ValueError(f"{name} is for tokens of the cluster; set kubernetes_tokens as well, or leave it out")
        return self

    @model_validator(mode="after")
    def _port_of_an_address(self) -> Self:
        if "probe_port" in self.model_fields_set and self.probe_address is None:
            raise ValueError("probe_port is set, and probes are served only at a probe_address: name one as well, or leave probe_port out")
        return self


class ServeSettings(_Part):
    """All settings."""

    policy: SettingPath | None = Field(default=None, description="the policy, a .gpol file; leave it out where gpol only watches Kueue")
    journal: SettingPlace | None = Field(
        default=None,
        description="the journal: a file, or postgresql://...; it is made where there is none. A way needs it, a guard does not",
    )
    gpu: Annotated[str, of_form(f"({_PREFIX}/)?{_LABEL_VALUE}", _NO_RESOURCE)] = Field(
        default="nvidia.com/gpu",
        max_length=253,
        description="what the policy's `gpu` is called in the cluster; leave it out where gpol only watches Kueue",
    )
    kubernetes: Kubernetes = Field(default=Kubernetes(), description=Kubernetes.__doc__)
    policy_seconds: float = Field(
        default=2, ge=0, le=3600, allow_inf_nan=False, description="after how many seconds to look whether the policy has changed; 0: never"
    )
    log: Literal["text", "json"] = Field(default="text", description="how the log is written: for people, or one JSON object a line")
    lease: Lease = Field(default=Lease(), description=Lease.__doc__)
    kueue: Kueue = Field(default=Kueue(), description=Kueue.__doc__)
    volcano: Volcano = Field(default=Volcano(), description=Volcano.__doc__)
    http: Http = Field(default=Http(), description=Http.__doc__)

    @property
    def decides(self) -> bool:
        """Whether there are decisions, which a journal takes: of gpol itself or, where it watches, of Kueue."""
        return self.kueue.way != "off" or self.volcano.way != "off"

    @property
    def activates_policy(self) -> bool:
        """Whether it is the policy of the file by which is decided; where gpol watches, that is what Kueue's objects say."""
        return self.kueue.way == "decide" or self.volcano.way == "decide"

    @property
    def guards(self) -> bool:
        """Whether gpol keeps quotas."""
        return self.kueue.guard.mode != "off" or self.volcano.guard.mode != "off"

    @model_validator(mode="after")
    def _one_at_a_time(self) -> Self:
        if self.kueue.way != "off" and self.volcano.way != "off":
            raise ValueError("kueue.way and volcano.way are both set, and a journal is of one system: start a gpol of its own for each")
        if self.kueue.way == "decide" and self.kueue.guard.mode != "off":
            raise ValueError("with `kueue.way: decide` Kueue's quotas are wide and decide nothing: leave out kueue.guard.mode")
        return self

    @model_validator(mode="after")
    def _all_that_is_set_counts(self) -> Self:
        """A part that is switched off in so many words may keep its settings; one that nobody has switched on may not have any."""
        kueue, volcano = self.kueue, self.volcano
        switches: tuple[tuple[str, BaseModel, str], ...] = (
            ("kueue", kueue, "way"),
            ("kueue.guard", kueue.guard, "mode"),
            ("volcano", volcano, "way"),
            ("volcano.guard", volcano.guard, "mode"),
        )
        for part, said, switch in switches:
            others = [name for name in type(said).model_fields if name in said.model_fields_set and name not in (switch, "guard")]
            if others and switch not in said.model_fields_set:
                raise ValueError(f"{part}.{others[0]} is set, and {part}.{switch} is not, so it has no effect: set both, or neither")
        said_of_kueue = kueue.model_fields_set - (set() if kueue.watch.model_fields_set else {"watch"})
        for name, way in ("watch", "watch"), ("check", "decide"), ("follow_pods", "decide"):
            if name in said_of_kueue and kueue.way not in ("off", way):
                raise ValueError(f"kueue.{name} is set, and has no effect with `way: {kueue.way}`: leave it out, or set kueue.way to {way}")
        return self

    @model_validator(mode="after")
    def _all_that_is_needed(self) -> Self:
        if self.decides and self.journal is None:
            raise ValueError("journal is missing: decisions are kept in it")
        if self.journal is not None and self.guards and not self.decides:
            raise ValueError("journal is set, and guards alone decide nothing: leave it out, or set kueue.way or volcano.way")
        is_policy_used = self.activates_policy or self.guards
        if self.policy is None and (is_policy_used or not self.decides):
            raise ValueError("policy is missing: name a .gpol file")
        if self.policy is None and "policy_seconds" in self.model_fields_set:
            raise ValueError("policy_seconds is set, and to watch Kueue goes by no policy file: leave it out")
        if self.policy is not None and self.decides and not is_policy_used:
            raise ValueError("policy is set, and to watch Kueue goes by the cluster's own objects: leave it out, or set kueue.guard.mode")
        if "gpu" in self.model_fields_set and self.decides and not is_policy_used:
            raise ValueError(
                "gpu is set, and to watch Kueue goes by the cluster's own names of resources: leave it out, or set kueue.guard.mode"
            )
        if self.volcano.way == "decide" and self.volcano.extender.token_file is None:
            raise ValueError("volcano.extender.token_file is missing: the scheduler sends a token, as part of its `extender.urlPrefix`")
        return self
