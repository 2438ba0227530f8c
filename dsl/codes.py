"""Every diagnostic there is: code and title. Each has a page in `docs/diagnostics/`."""

SYNTAX: dict[str, str] = {
    "GP001": "the file cannot be read as text",
    "GP002": "the file is beyond a limit",
    "GP003": "unexpected text",
    "GP004": "a block is not closed",
    "GP005": "wrong column",
    "GP006": "an unclosed or broken text in quotes",
    "GP007": "unknown item or statement",
    "GP008": "a name has to stand in quotes",
    "GP009": "not enforced by this version",
}

MEANING: dict[str, str] = {
    "GP020": "unknown name",
    "GP021": "declared twice",
    "GP022": "said twice",
    "GP023": "a quantity has no exact meaning",
    "GP024": "the flavor has to be named",
    "GP025": "lends more than it owns",
    "GP026": "owns more than exists",
    "GP027": "contradicting statements",
    "GP028": "no policy header",
    "GP029": "does not belong here",
    "GP030": "types do not match",
    "GP031": "a field that cannot be used here",
    "GP032": "the order of preempt rules is missing or incomplete",
    "GP033": "a preempt rule without `evict from`",
    "GP034": "a test that cannot be played",
    "GP035": "a flavor without capacity",
    "GP036": "a name or reason that cannot be shown",
    "GP037": "goes with the other way of deciding",
    "GP038": "a choice that deciding in cycles needs",
    "GP039": "a capacity that deciding in cycles does not have",
    "GP040": "resource groups that overlap",
    "GP041": "a quota on what a queue does not serve",
    "GP042": "a local queue without a namespace",
    "GP043": "levels of a topology that do not fit",
}

WARNINGS: dict[str, str] = {
    "GP050": "a rule that can never fire",
    "GP051": "a priority nobody may use",
    "GP052": "a rule by which workloads can evict each other in turns",
    "GP053": "a queue that can never run anything",
    "GP054": "nothing can ever be evicted",
    "GP055": "shares that are all 0",
    "GP056": "a lending limit above what is owned",
    "GP057": "victims that may take their room back",
    "GP058": "resource groups that overlap, in cycles",
    "GP059": "a quota on a flavor that the queue does not use",
    "GP060": "a guard that always holds",
    "GP061": "rules that together refuse everything",
    "GP062": "queues that are for the same workloads",
    "GP063": "a test that expects nothing",
    "GP064": "names that look alike",
    "GP065": "statement about places without effect",
}

CODES: dict[str, str] = {**SYNTAX, **MEANING, **WARNINGS}
