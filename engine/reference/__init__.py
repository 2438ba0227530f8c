"""The reference core: an executable specification of every decision, in plain Python and exact numbers, written to be read."""

from .core import Core
from .whereabouts import Standing

__all__ = ["Core", "Standing"]
