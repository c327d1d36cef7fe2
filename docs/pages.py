"""Pieces that generated pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "experiments" / "results"
FIGURES = Path(__file__).parent / "figures"

Columns = Mapping[str, Sequence[Any]]


def command(text: str) -> str:
    """A command for a reader to copy."""
    return f"```sh\n{text}\n```"


def pictures(names: Sequence[tuple[str, str]], width: str = "100%") -> str:
    """Figures by file name, each with its description."""
    return "\n".join(f"```{{image}} figures/{name}\n:alt: {text}\n:width: {width}\n```" for name, text in names)


def markdown(columns: Columns) -> str:
    """A table."""
    lines = [list(columns), ["---"] * len(columns), *zip(*columns.values(), strict=True)]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|").strip() for cell in line) + " |" for line in lines)
