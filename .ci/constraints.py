"""Write the constraints for installs that can be repeated: the newest versions that were tested, and the lowest.

Run it with: python .ci/constraints.py [--check]

`constraints/newest.txt` has what the environment that runs this program has of all that pnsight, its tests and its
documentation need. `constraints/lowest.txt` has the lower bounds of `pyproject.toml`, of what the package itself uses;
with --check only these are compared, since another environment may rightly have other versions.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
NEWEST = ROOT / "constraints" / "newest.txt"
LOWEST = ROOT / "constraints" / "lowest.txt"

OWN = ("pnsight", "pnsight-experiments")
ALL = ("pnsight[dev,docs]", "pnsight-experiments")
USED = ("dask", "spark", "sql")
"""Extras of the package that its users install; the others are tools for its developers."""

TABLES = ("joblib", "scikit-learn", "pandas", "polars", "pyarrow")
"""Libraries among the tools with which the package or the experiments work."""

NEWEST_HEAD = """\
# The newest versions with which pnsight was tested: pip install --constraint constraints/newest.txt .
# Written by `make constraints` from the environment in .venv; do not edit.
"""
LOWEST_HEAD = """\
# The lowest versions that pyproject.toml allows: pip install --constraint constraints/lowest.txt .
# Written by `make constraints`; do not edit. What developers' tools fix to one version is left out.
"""


def main() -> None:
    """Write both files, or compare the one that follows from pyproject.toml."""
    if sys.argv[1:] == ["--check"]:
        if LOWEST.read_text(encoding="utf-8") != lowest():
            sys.exit("constraints/lowest.txt is not what pyproject.toml says; run: make constraints")
        return
    NEWEST.write_text(newest(), encoding="utf-8")
    LOWEST.write_text(lowest(), encoding="utf-8")


def newest() -> str:
    """The text of `newest.txt`."""
    return NEWEST_HEAD + "".join(f"{name}=={version}\n" for name, version in sorted(_installed(ALL).items()))


def _installed(wanted: Iterable[str]) -> dict[str, str]:
    """Public versions of all that is needed, found by following the requirements of what is installed."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    left = [Requirement(text) for text in wanted]
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # needed elsewhere only
            continue
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                left += _requirements(installed.requires or (), extra)
        if name not in OWN:
            found[name] = Version(installed.version).public
    return found


def _requirements(texts: Iterable[str], extra: str) -> Iterator[Requirement]:
    """Requirements of a package for one of its extras, here; "" for those that it always has."""
    for requirement in map(Requirement, texts):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement


def lowest() -> str:
    """The text of `lowest.txt`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: [Requirement(text) for text in texts] for name, texts in project["optional-dependencies"].items()}
    tools = [each for each in extras["dev"] if each.name in TABLES]
    used = [*map(Requirement, project["dependencies"]), *(each for name in USED for each in extras[name]), *tools]
    fixed = {each.name for each in extras["dev"] if any(one.operator == "==" for one in each.specifier)}
    bounds = {canonicalize_name(each.name): _lower_bound(each) for each in used if each.name not in fixed}
    return LOWEST_HEAD + "".join(f"{name}=={version}\n" for name, version in sorted(bounds.items()))


def _lower_bound(requirement: Requirement) -> str:
    (bound,) = (one.version for one in requirement.specifier if one.operator == ">=")
    return bound


if __name__ == "__main__":
    main()
