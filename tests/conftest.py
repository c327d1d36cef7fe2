"""One profile for all property tests, fits that are quick, and what a machine may lack."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from hypothesis import settings

from quick_fits import quick_fits

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")

LEFT_OUT = pytest.StashKey[list[str]]()


def pytest_addoption(parser):
    parser.addoption("--everything", action="store_true", help="fail rather than leave out what the machine cannot run")


def pytest_collection_modifyitems(config, items):
    """Leave out what needs Java where there is none, and say so at the end; `make check` leaves out nothing."""
    lacking = shutil.which("java") is None and not config.getoption("--everything")
    spark = [item for item in items if lacking and "Spark" in item.name]
    config.stash[LEFT_OUT] = [item.nodeid for item in spark]
    if spark:
        config.hook.pytest_deselected(items=spark)
        items[:] = [item for item in items if item not in spark]


def pytest_terminal_summary(terminalreporter, config):
    left_out = config.stash.get(LEFT_OUT, [])
    if left_out:
        terminalreporter.write_line(
            f"left out: {len(left_out)} tests of Spark, which needs Java 17 (on Debian: openjdk-17-jre-headless)"
        )


@pytest.fixture(scope="module")
def small_fits() -> Iterator[None]:
    """Response-type models with two rungs, few networks and few latent classes: all parts of a fit, in a second."""
    with quick_fits():
        yield
