"""Lines of a CSV file that a long run adds one by one, so that it can be stopped and started again."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read(out: Path) -> list[dict[str, str]]:
    """Lines that are there."""
    if not out.exists():
        return []
    with out.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append(out: Path, *rows: Mapping[str, Any]) -> None:
    """Add lines of the same columns, all at once: a run that is stopped leaves all of them or none."""
    new = not out.exists()
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        if new:
            writer.writeheader()
        writer.writerows(rows)
