"""Short runs of the soaks of `experiments/benchmarks`, each in a program of its own, since they kill and limit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "experiments" / "benchmarks" / "soak.py"


@pytest.fixture
def soak() -> Callable[..., str]:
    """Run a soak, which must find no broken promise, and give what it prints."""

    def run(name: str, **options: int) -> str:
        arguments = [word for option, value in options.items() for word in (f"--{option}", str(value))]
        ended = subprocess.run([sys.executable, str(SOAK), name, *arguments], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return run
