"""The page on live clusters says what there is to set, with its default."""

import re
from pathlib import Path
from typing import Any

from gpol.adapters.live.settings.serve_settings import ServeSettings
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

BEGIN, END = "<!-- settings: begin -->", "<!-- settings: end -->"


def rows(model: type[BaseModel], prefix: str = "") -> list[str]:
    """The rows of the table, a setting each, those of a part below it."""
    found = []
    for name, field in model.model_fields.items():
        default: Any = field.default
        if isinstance(default, BaseModel):
            found += rows(type(default), f"{prefix}{name}.")
            continue
        shown = "required" if default is PydanticUndefined else "none" if default is None else f"`{_plain(default)}`"
        assert field.description, f"{prefix}{name} is not described"
        found.append(f"| `{prefix}{name}` | {shown} | {field.description.replace('|', '/')} |")
    return found


def _plain(value: Any) -> str:
    return {True: "true", False: "false", "": '""'}.get(value, str(value)) if isinstance(value, bool | str) else str(value)


def table() -> str:
    """The table of all settings."""
    return "\n".join(["| setting | default | |", "|---|---|---|", *rows(ServeSettings)])


def test_each_setting_is_on_the_page(root: Path) -> None:
    """Between two marks stands the table that the model gives; `python tests/live/test_live_page.py` writes it."""
    page = (root / "docs" / "live.md").read_text()
    assert page.partition(BEGIN)[2].partition(END)[0].strip() == table()


def test_each_failure_has_its_test(root: Path) -> None:
    """The last column of the table says which one; each is there."""
    page = (root / "docs" / "live.md").read_text()
    table_of_failures = page.partition("## When things fail")[2].partition("\n## ")[0]
    rows_of_failures = [line for line in table_of_failures.splitlines() if line.startswith("| ")][1:]
    assert len(rows_of_failures) > 20
    for row in rows_of_failures:
        place, _, name = row.split("|")[-2].strip(" `").partition("::")
        text = (root / "tests" / "live" / place).read_text()
        assert re.search(rf"^(def {name}\(|{name} = )", text, re.MULTILINE), row


if __name__ == "__main__":
    place = Path("docs/live.md")
    text = place.read_text()
    place.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table()}\n{END}", text, flags=re.DOTALL))
