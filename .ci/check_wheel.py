"""Check a wheel: it holds the package with its templates and scripts, and no tests, experiments or documentation.

Run it with: python .ci/check_wheel.py dist/pnsight-*.whl
"""

from __future__ import annotations

import sys
import zipfile

NEEDED = ("pnsight/py.typed", "pnsight/web/static/explorer.js", "pnsight/web/templates/base.html")


def problems(names: list[str]) -> list[str]:
    """What the wheel holds but should not, and what it lacks."""
    foreign = [name for name in names if not (name.startswith("pnsight/") or ".dist-info/" in name)]
    tests = [name for name in names if "/tests/" in name or name.rsplit("/", 1)[-1].startswith("test_")]
    missing = [f"{name} is missing" for name in NEEDED if name not in names]
    return [f"{name} should not be there" for name in dict.fromkeys(foreign + tests)] + missing


def main() -> None:
    """Print the size of each wheel and what is wrong with it; exit 1 if anything is."""
    for path in sys.argv[1:]:
        with zipfile.ZipFile(path) as wheel:
            names, size = wheel.namelist(), sum(entry.file_size for entry in wheel.infolist())
        found = problems(names)
        print(f"{path}: {len(names)} files, {size / 1e6:.1f} MB unpacked", *found, sep="\n  ")
        if found:
            sys.exit(1)


if __name__ == "__main__":
    main()
