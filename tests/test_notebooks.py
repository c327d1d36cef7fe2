"""The notebooks of the gallery: all are listed, and those that are quick run without an error.

`make notebooks` runs all of them, and so does `make docs`.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
QUICK = ("court", "marketing", "policy")
"""Each takes two or three seconds."""


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("run_notebooks", DOCS / "run_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_notebook_is_in_the_gallery_and_can_be_downloaded(runner):
    listed = re.findall(r"^notebooks/([\w-]+)$", (DOCS / "gallery.md").read_text(encoding="utf-8"), re.MULTILINE)
    pages = runner.notebooks()
    assert sorted(listed) == [page.stem for page in pages]
    assert all(f"<{page.stem}.ipynb>`" in page.read_text(encoding="utf-8") for page in pages)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_notebook_runs_and_every_cell_shows_something(runner, name):
    found = runner.execute(runner.NOTEBOOKS / f"{name}.md")
    assert [cell.source for cell in found.cells if not cell.outputs] == []


@pytest.mark.slow
def test_a_notebook_with_a_mistake_is_reported(runner, tmp_path):
    page = tmp_path / "wrong.md"
    page.write_text("# Wrong\n\n```{code-cell}\n1 / 0\n```\n", encoding="utf-8")
    with pytest.raises(runner.CellExecutionError, match="ZeroDivisionError"):
        runner.execute(page)
