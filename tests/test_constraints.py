"""Constraints for installs that can be repeated: they follow from what pyproject.toml says, and allow all of it."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FILES = ("newest", "lowest")


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / "constraints" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def requirements() -> list[Requirement]:
    """All that the package and its tools need, but for itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    return [found for found in map(Requirement, texts) if not found.name.startswith("pnsight")]


@pytest.mark.parametrize("name", FILES)
def test_each_version_is_one_that_the_package_allows(name):
    known = pins(name)
    for requirement in requirements():
        version = known.get(canonicalize_name(requirement.name))
        assert version is None or requirement.specifier.contains(version, prereleases=True), requirement


def test_the_newest_have_a_version_of_everything():
    assert {canonicalize_name(each.name) for each in requirements()} <= set(pins("newest"))


def test_the_lowest_are_what_pyproject_says_today():
    lowest = runpy.run_path(str(ROOT / ".ci" / "constraints.py"))["lowest"]
    assert (ROOT / "constraints" / "lowest.txt").read_text(encoding="utf-8") == lowest()


@pytest.mark.parametrize("name", FILES)
def test_they_name_versions_and_nothing_of_the_machine_that_wrote_them(name):
    assert all(re.fullmatch(r"[a-z0-9-]+", package) for package in pins(name))
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in pins(name).values())
