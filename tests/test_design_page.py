"""The design page says where to find what, and there it is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {
    path.as_posix()
    for folder in ("src", "experiments", "docs", "tests")
    for path in ROOT.joinpath(folder).rglob("*.py")
}


def test_every_file_that_the_design_page_names_exists():
    named = set(re.findall(r"`([\w/]+\.py)`", (ROOT / "docs" / "design.md").read_text(encoding="utf-8")))
    assert named
    assert not [name for name in named if not any(path.endswith(f"/{name}") for path in FILES)]
