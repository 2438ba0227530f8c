"""Which resource of several that get their flavor together a search for flavors goes on by.

Kueue keeps resources in the order of a hash of their names (pkg/resources/slice_requests.go, FNV-1a of 64 bits) and looks up where the
search goes on for the first of them alone. So a pod set that does not ask for that one, in a group that does, begins at the first flavor
again.
"""

from functools import cache

_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3


@cache
def turn(resource: str) -> tuple[int, str]:
    """The place of a resource among others, the first is the least."""
    value = _BASIS
    for byte in resource.encode():
        value = (value ^ byte) * _PRIME % 2**64
    return value, resource
