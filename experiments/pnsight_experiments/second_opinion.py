"""Coverage of the second opinion where the model is wrong: everyone's refined bounds, in simulated studies.

Run it with: python -m pnsight_experiments.second_opinion --out FILE.csv [--studies 200] [--show]
             [--models 'no network']

Two models are too small on purpose: a network that can hardly tell people apart (one index, two units, 100 steps), and
none at all, so that a few effects of the covariates stand in for it. For each study: whether both ends of the true
refined bounds are within the model's own interval, and within that of the second opinion, and how wide these are.
Started again, it goes on where it stopped; `--show` prints the table of what is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pnsight
from pnsight._text_table import format_table
from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, LatentClassConfig, ResponseTypeConfig, ShrinkageConfig
from pnsight_experiments.resumable import append, read

POPULATIONS = ("interaction:1", "tree:1", "index:1", "mediator")
CAPACITIES = {"network too small": (CONSTANT, Capacity(1, 2, 2.0, 100)), "no network": (CONSTANT,)}
"""What each model may learn."""
LEVEL = 0.9
DIFFER = ("model tighter", "model wider")
NUMBERS = (
    "true_lower",
    "true_upper",
    "model_lower",
    "model_upper",
    "model_low",
    "model_high",
    "lower",
    "upper",
    "low",
    "high",
)


def unfitted(name: str) -> pnsight.Model:
    """A model that is too small on purpose."""
    effort = Effort(CAPACITIES[name], folds=2, networks=2, simulations=4)
    config = ResponseTypeConfig(
        effort=effort,
        effort_if_few=effort,
        effort_if_many=effort,
        latent_classes=LatentClassConfig(classes=(1,)),
        shrinkage=ShrinkageConfig(prior_rows=(1e6,)),
    )
    return pnsight.ResponseTypeModel(config=config)


def measure(name: str, population: str, rows: int, seed: int) -> dict[str, Any]:
    """Both opinions on everyone in one study, and the truth."""
    known = pnsight.simulation.get(population)
    truth = known.bounds("", "pns", refine="covariates")
    model = unfitted(name).fit(known.sample(rows, rows, seed=seed))
    found = pnsight.second_opinion(model, "", "pns", random_state=seed, level=LEVEL)
    said = {field: found.columns()[field][0] for field in (*NUMBERS[2:], "agreement")}
    about = {"model": name, "population": population, "rows": rows, "seed": seed}
    return {**about, "true_lower": truth.lower[0], "true_upper": truth.upper[0], **said}


def table_columns(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """By model and population: coverage and mean width of both, and how often they differ."""
    columns: dict[str, list[str]] = {}
    for name in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == name]
        for population in (*dict.fromkeys(row["population"] for row in own), "all"):
            some = [row for row in own if population in (row["population"], "all")]
            for column, text in ({"model": name, "population": population} | _line(some)).items():
                columns.setdefault(column, []).append(text)
    return columns


def _line(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    values = {field: np.array([float(row[field] or "nan") for row in rows]) for field in NUMBERS}
    line = {"studies": str(len(rows)), "true width": f"{(values['true_upper'] - values['true_lower']).mean():.3f}"}
    for who, low, high in (("model", "model_low", "model_high"), ("second opinion", "low", "high")):
        held = (values[low] <= values["true_lower"]) & (values["true_upper"] <= values[high])
        line |= {
            f"{who}: coverage": f"{held.mean():.3f}",
            f"{who}: width": f"{(values[high] - values[low]).mean():.3f}",
        }
    return line | {word: f"{np.mean([row['agreement'] == word for row in rows]):.3f}" for word in DIFFER}


def main() -> None:
    """Run what is missing, or show what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--models", nargs="+", choices=list(CAPACITIES), default=list(CAPACITIES))
    parser.add_argument("--rows", type=int, default=10_000, help="of each table")
    parser.add_argument("--studies", type=int, default=200, help="of each model, shared out among the populations")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        done = {(row["model"], row["population"], int(row["rows"]), int(row["seed"])) for row in read(given.out)}
        for name in given.models:
            for number in range(given.studies):
                population, seed = POPULATIONS[number % len(POPULATIONS)], number // len(POPULATIONS)
                if (name, population, given.rows, seed) not in done:
                    append(given.out, measure(name, population, given.rows, seed))
    print(format_table(table_columns(read(given.out))))


if __name__ == "__main__":
    main()
