"""Frozen values, and the one command that writes them again after a change on purpose:

python tests/golden/regenerate.py
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from pnsight import simulation as populations
from pnsight.cli.main import main
from pnsight.queries import lattice

HERE = Path(__file__).parent
RANDOM_POPULATIONS = HERE / "random_populations.json"
TRIALS = HERE / "trials.json"
SCREENS = {name: HERE / f"{name}.txt" for name in ("oracle", "query", "check")}
SEEDS = (1, 2)  # never 101-110, which are for reporting only


def frozen_trials() -> list[str]:
    """Names of the populations of other structures that are compared with stored values."""
    return [*populations.TRIAL_NAMES, *(f"{kind}:{seed}" for kind in populations.TRIAL_KINDS for seed in SEEDS)]


def fingerprints(population: populations.Population) -> dict[str, list[float]]:
    """A few numbers that change when any probability of the population does.

    Sums against waves, not a hash: another machine's last bit moves them by nothing to speak of.
    """
    profiles = lattice.all_profiles(population.schema)
    return {
        "mass": _waves(population.covariates.mass(profiles)),
        "types": _waves(population.types(profiles)),
        "everyone": [round(float(share), 12) for share in population.mixture("")[1][0]],
    }


def _waves(values: np.ndarray) -> list[float]:
    flat = values.ravel()
    places = np.arange(1, len(flat) + 1)
    return [round(float(np.cos(k * places) @ flat), 12) for k in range(1, 9)]


def screen(name: str) -> str:
    """What the command line shows for a fixed question."""
    if name == "oracle":
        return _shown("oracle", "mediator", "", "1101001110", "X101001110")
    with tempfile.TemporaryDirectory() as folder:
        from cases import write_sexes

        model = str(Path(folder) / "model")
        tables = [*map(str, write_sexes(Path(folder))), "--treatment", "x", "--outcome", "y"]
        if name == "check":
            return _shown("check", *tables)
        _shown("fit", *tables, "--model", "plug-in", "--out", model)
        return _shown("query", model, "", "sex=F", "M")


def _shown(*arguments: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        with contextlib.suppress(SystemExit):
            main(list(arguments))
        return out.getvalue()


def regenerate() -> None:
    """Write every frozen file."""
    frozen = {
        f"{kind}:{seed}": fingerprints(populations.random_population(kind, seed))
        for kind in populations.KINDS
        for seed in SEEDS
    }
    RANDOM_POPULATIONS.write_text(json.dumps(frozen, indent=1) + "\n", encoding="utf-8")
    trials = {name: fingerprints(populations.get(name)) for name in frozen_trials()}
    TRIALS.write_text(json.dumps(trials, indent=1) + "\n", encoding="utf-8")
    for name, path in SCREENS.items():
        path.write_text(screen(name), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    regenerate()
