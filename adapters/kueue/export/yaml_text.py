"""Objects as text: YAML documents as people keep them for `kubectl apply`, and a List in JSON.

The YAML has no anchors, keys in the order of the objects, and quotes around every text that some reader of YAML might take for
a number, a date, true, false or null.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import yaml

Object = dict[str, Any]
"""A plain object of Kubernetes."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"])
_NEVER_FOLDED = 1 << 30


class _Dumper(yaml.SafeDumper):
    """Writes plain data, the same value each time it comes."""

    def ignore_aliases(self, data: Any) -> bool:
        """No value is named to be repeated."""
        return True

    def text(self, data: str) -> yaml.ScalarNode:
        """A text: lines as a block, else in quotes unless it is a plain word to every reader."""
        if "\n" in data:
            return self.represent_scalar("tag:yaml.org,2002:str", data, style="|")
        plain = _PLAIN.fullmatch(data) is not None and data.lower() not in _WORDS
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if plain else '"')


_Dumper.add_representer(str, _Dumper.text)


def yaml_documents(objects: Sequence[Object]) -> str:
    """The objects as YAML, a document each."""
    return "".join("---\n" + yaml_document(item) for item in objects)


def yaml_document(item: Object) -> str:
    """One object as YAML."""
    return str(yaml.dump(item, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_NEVER_FOLDED, default_flow_style=False))


def json_list(objects: Sequence[Object]) -> str:
    """The objects as one List in JSON."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}, indent=2, ensure_ascii=False) + "\n"
