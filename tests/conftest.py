"""Profiles of property tests, fits that are quick, which tests are slow, and what a machine may lack."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from postgres_server import find_postgres
from quick_config import QUICK

os.environ.pop("COLUMNS", None)  # workers of pytest-xdist are given one; what is printed must not depend on them
os.unsetenv("COLUMNS")  # nor on the one that readline leaves to the programs that a test starts

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("quick", settings.get_profile("fixed"), max_examples=10)
settings.load_profile("fixed")

TESTS = Path(__file__).parent

SLOW_PLACES = (
    "browser",
    "engines",
    "experiments",
    "faults",
    "output",
    "cli/test_bench.py",
    "cli/test_cases.py",
    "cli/test_check.py",
    "cli/test_deciding.py",
    "cli/test_demo.py",
    "cli/test_report.py",
    "cli/test_response_type_model.py",
    "cli/test_sites.py",
    "cli/test_structure_options.py",
    "decisions",
    "disclosure",
    "diagnostics/test_assumptions.py",
    "diagnostics/test_coherence.py",
    "diagnostics/test_effective_rows.py",
    "diagnostics/test_evidence.py",
    "diagnostics/test_pooling.py",
    "diagnostics/test_sites.py",
    "estimands/test_assumptions.py",
    "estimands/test_confidence.py",
    "estimands/test_coverage.py",
    "estimands/test_program.py",
    "estimands/test_referee.py",
    "estimands/test_refinement.py",
    "models/test_bound_regressor.py",
    "models/test_contradictions.py",
    "models/test_latent_classes.py",
    "models/test_marginalise.py",
    "models/test_networks.py",
    "models/test_persistence.py",
    "models/test_questions.py",
    "models/test_response_training.py",
    "models/test_response_types.py",
    "models/test_shares.py",
    "models/test_shrinkage.py",
    "models/test_suppression.py",
    "models/test_training.py",
    "numbers/test_numeric_models.py",
    "numbers/test_reading_numbers.py",
    "planning",
    "reading/test_bands.py",
    "test_examples.py",
    "test_recipes.py",
    "web",
)
"""Folders and files of `tests` that `make quick` does not even import.

They train networks, solve or draw much, or start other programs.
"""

LEFT_OUT = pytest.StashKey[list[str]]()


@dataclass(frozen=True)
class Need:
    """A program that some tests need, how to find it, which tests those are, and what to say where it is missing."""

    find: Callable[[], object]
    concerns: Callable[[pytest.Item], bool]
    words: str


NEEDS = (
    Need(
        lambda: shutil.which("java"),
        lambda item: "Spark" in item.name,
        "tests of Spark, which needs Java 17 (on Debian: openjdk-17-jre-headless)",
    ),
    Need(
        lambda: shutil.which("chromium"),
        lambda item: "browser" in item.path.parts,
        "tests in a browser, which need Chromium (on Debian: chromium)",
    ),
    Need(
        find_postgres,
        lambda item: "PostgreSQL" in item.name or item.path.stem == "test_postgresql",
        "tests of PostgreSQL, which need its server (on Debian: postgresql)",
    ),
)


def pytest_addoption(parser):
    parser.addoption("--everything", action="store_true", help="fail rather than leave out what the machine cannot run")
    parser.addoption("--quick", action="store_true", help="leave out what is slow, and try fewer random examples")


def pytest_configure(config):
    """Be quick, if asked to be."""
    if not config.getoption("--quick"):
        return
    settings.load_profile("quick")
    gone = [place for place in SLOW_PLACES if not (TESTS / place).exists()]
    if gone:
        raise pytest.UsageError(f"SLOW_PLACES in tests/conftest.py names what is not there: {', '.join(gone)}")


def pytest_ignore_collect(collection_path, config):
    """Pass by what is slow as a whole, if asked to be quick."""
    place = collection_path.relative_to(TESTS).as_posix()
    return True if config.getoption("--quick") and place in SLOW_PLACES else None


def pytest_collection_modifyitems(config, items):
    """Leave out what the machine cannot run, and what is slow if asked to be quick."""
    if config.getoption("--quick"):
        _deselect(config, items, [item for item in items if _is_slow(item)])
    _leave_out(config, items)


def _is_slow(item: pytest.Item) -> bool:
    """Whether a test is marked as slow, or runs a program that fits a response-type model."""
    return item.get_closest_marker("slow") is not None or "quick_default" in getattr(item, "fixturenames", ())


def _deselect(config, items, gone):
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if item not in set(gone)]


def _leave_out(config, items):
    """Leave out what the machine cannot run, and say so at the end; `make check` leaves out nothing."""
    lacking = [] if config.getoption("--everything") else [need for need in NEEDS if need.find() is None]
    left_out = {need: [item for item in items if need.concerns(item)] for need in lacking}
    config.stash[LEFT_OUT] = [f"{len(found)} {need.words}" for need, found in left_out.items() if found]
    _deselect(config, items, [item for found in left_out.values() for item in found])


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
