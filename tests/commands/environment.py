"""The environment of a `gpol serve` that a test starts."""

import os


def without_variables_of_tests() -> dict[str, str]:
    """That of this process without GPOL_...: some of these are for tests, and gpol refuses those that are no settings of its own."""
    return {name: text for name, text in os.environ.items() if not name.startswith("GPOL_")}
