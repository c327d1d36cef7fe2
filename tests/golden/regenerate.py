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
TOXIC_DRUG = HERE / "toxic_drug.json"
NUMERIC_POPULATIONS = HERE / "numeric_populations.json"
SCREENS = {name: HERE / f"{name}.txt" for name in ("oracle", "query", "check")}
SEEDS = (1, 2)  # never 101-110, which are for reporting only


def frozen_trials() -> list[str]:
    """Names of the populations of other structures that are compared with stored values."""
    return [*populations.TRIAL_NAMES, *(f"{kind}:{seed}" for kind in populations.TRIAL_KINDS for seed in SEEDS)]


def fingerprints(population: populations.ProfilePopulation) -> dict[str, list[float]]:
    """A few numbers that change when any probability of the population does.

    Sums against waves, not a hash: another machine's last bit moves them by nothing to speak of.
    """
    profiles = lattice.all_profiles(population.schema)
    return {
        "mass": _waves(population.covariates.mass(profiles)),
        "types": _waves(population.types(profiles)),
        "everyone": [round(float(share), 12) for share in population.mixture("")[1][0]],
    }


def frozen_numeric() -> list[str]:
    """Names of the populations with numbers that are compared with stored values."""
    return [f"{kind}:{seed}" for kind in populations.NUMERIC_KINDS for seed in SEEDS]


def numeric_fingerprints(population: populations.NumericPopulation) -> dict[str, list[float]]:
    """The same for a population with numbers, at values that stay where they are."""
    steps = np.linspace(-2.0, 2.0, 50)[:, None] * np.cos(np.arange(10.0))
    values = np.stack([number.value(steps[:, j]) for j, number in enumerate(population.covariates.numbers)], axis=1)
    centres = np.array([number.centre for number in population.covariates.numbers])
    return {
        "centres": _waves(centres),
        "correlation": _waves(population.covariates.correlation),
        "types": _waves(population.types(values)),
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
    TOXIC_DRUG.write_text(json.dumps(fingerprints(populations.get("toxic-drug")), indent=1) + "\n", encoding="utf-8")
    numeric = {name: numeric_fingerprints(populations.get(name)) for name in frozen_numeric()}
    NUMERIC_POPULATIONS.write_text(json.dumps(numeric, indent=1) + "\n", encoding="utf-8")
    for name, path in SCREENS.items():
        path.write_text(screen(name), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    regenerate()
