"""The state of the core over arrays, to be read from outside."""

from ..definition.view import DefinitionView


class ArrayView(DefinitionView):
    """See `gpol.engine.cores.View`."""
