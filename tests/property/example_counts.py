"""How many examples dear laws take: a part of what the profile of hypothesis gives to every other law."""

from hypothesis import settings

LEAST = 2
"""No law takes fewer examples than this, however few the profile has."""


def one_example_in(part: int) -> settings:
    """One example where other laws take `part` of them. Beside it stands what an example costs."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return settings(max_examples=max(LEAST, profile.max_examples // part))
