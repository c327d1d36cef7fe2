"""The page "What is promised": each promise names tests that hold it, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = re.findall(r"^\| (?!promise|\*\*|-)(.+) \| (.*) \|$", (ROOT / "docs" / "promises.md").read_text("utf-8"), re.M)
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)


def files_with_tests(name: str) -> list[Path]:
    """Files with tests: one, or those of a folder."""
    path = ROOT / name
    files = sorted(path.glob("test_*.py")) if path.is_dir() else [path]
    return [file for file in files if file.is_file() and re.search(r"^def test_", file.read_text("utf-8"), re.M)]


def test_all_parts_of_the_page_are_looked_at():
    assert len(ROWS) > 20


@pytest.mark.parametrize(("promise", "held_by"), ROWS)
def test_every_promise_names_tests_that_there_are(promise, held_by):
    named = re.findall(r"`([^`]+)`", held_by)
    assert named, promise
    for name in named:
        assert name.removeprefix("make ") in TARGETS if name.startswith("make ") else files_with_tests(name), name
