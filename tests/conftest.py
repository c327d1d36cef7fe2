"""One profile for all property tests, fits that are quick, and what a machine may lack."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import settings

from quick_config import QUICK

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")

LEFT_OUT = pytest.StashKey[list[str]]()


@dataclass(frozen=True)
class Need:
    """A program that some tests need, which tests those are, and what to say where it is missing."""

    program: str
    concerns: Callable[[pytest.Item], bool]
    words: str


NEEDS = (
    Need(
        "java",
        lambda item: "Spark" in item.name,
        "tests of Spark, which needs Java 17 (on Debian: openjdk-17-jre-headless)",
    ),
    Need(
        "chromium",
        lambda item: "browser" in item.path.parts,
        "tests in a browser, which need Chromium (on Debian: chromium)",
    ),
)


def pytest_addoption(parser):
    parser.addoption("--everything", action="store_true", help="fail rather than leave out what the machine cannot run")


def pytest_collection_modifyitems(config, items):
    """Leave out what the machine cannot run, and say so at the end; `make check` leaves out nothing."""
    lacking = [] if config.getoption("--everything") else [need for need in NEEDS if shutil.which(need.program) is None]
    left_out = {need: [item for item in items if need.concerns(item)] for need in lacking}
    config.stash[LEFT_OUT] = [f"{len(found)} {need.words}" for need, found in left_out.items() if found]
    gone = {item for found in left_out.values() for item in found}
    if gone:
        config.hook.pytest_deselected(items=[item for item in items if item in gone])
        items[:] = [item for item in items if item not in gone]


def pytest_terminal_summary(terminalreporter, config):
    for what in config.stash.get(LEFT_OUT, []):
        terminalreporter.write_line(f"left out: {what}")


@pytest.fixture(scope="module")
def quick_default() -> Iterator[None]:
    """Fits that are quick where a test cannot pass a configuration: programs that make the model themselves.

    The command line, the demonstration, the examples and the experiments have no option for it, and users need none.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pnsight.models.response_types.config.DEFAULT_CONFIG", QUICK)
        yield
