"""Coverage of the second opinion where the model is wrong: everyone's refined bounds, in simulated studies.

Two models are too small on purpose: a network that can hardly tell people apart (one index, two units, 100 steps), and
none at all, so that a few effects of the covariates stand in for it. For each study: whether both ends of the true
refined bounds are within the model's own interval, and within that of the second opinion, and how wide these are.
Results are added to the file as they come; what is there already is not computed again.

    python experiments/benchmarks/second_opinion.py --studies 200 --out experiments/results/second_opinion.csv
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import pnsight
from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, LatentClassConfig, ResponseTypeConfig, ShrinkageConfig

POPULATIONS = ("interaction:1", "tree:1", "index:1", "mediator")
CAPACITIES = {"network too small": (CONSTANT, Capacity(1, 2, 2.0, 100)), "no network": (CONSTANT,)}
"""What each model may learn."""
LEVEL = 0.9
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
FIELDS = ("model", "population", "rows", "seed", *NUMBERS, "agreement")


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


def measure(name: str, population: str, rows: int, seed: int) -> dict[str, object]:
    """Both opinions on everyone in one study, and the truth."""
    known = pnsight.simulation.get(population)
    truth = known.bounds("", "pns", refine="covariates")
    model = unfitted(name).fit(known.sample(rows, rows, seed=seed))
    found = pnsight.second_opinion(model, "", "pns", random_state=seed, level=LEVEL)
    said = {field: found.columns()[field][0] for field in (*NUMBERS[2:], "agreement")}
    about = {"model": name, "population": population, "rows": rows, "seed": seed}
    return {**about, "true_lower": truth.lower[0], "true_upper": truth.upper[0], **said}


def read(path: Path) -> list[dict[str, str]]:
    """What was measured before."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def coverage(rows: list[dict[str, str]]) -> str:
    """One line: how many studies, coverage and mean width of both, and how often they differ."""
    values = {field: np.array([float(row[field] or "nan") for row in rows]) for field in NUMBERS}
    parts = []
    for low, high in (("model_low", "model_high"), ("low", "high")):
        held = (values[low] <= values["true_lower"]) & (values["true_upper"] <= values[high])
        parts.append(f"{held.mean():10.3f}{(values[high] - values[low]).mean():8.3f}")
    width = (values["true_upper"] - values["true_lower"]).mean()
    differ = [np.mean([row["agreement"] == word for row in rows]) for word in ("model tighter", "model wider")]
    return f"{len(rows):8}{width:8.3f}{''.join(parts)}{differ[0]:9.3f}{differ[1]:8.3f}"


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=list(CAPACITIES), default=list(CAPACITIES))
    parser.add_argument("--rows", type=int, default=10_000, help="of each table")
    parser.add_argument("--studies", type=int, default=200, help="of each model, shared out among the populations")
    parser.add_argument("--out", type=Path, default=Path("second_opinion.csv"))
    given = parser.parse_args()
    done = {(row["model"], row["population"], int(row["rows"]), int(row["seed"])) for row in read(given.out)}
    for name in given.models:
        for number in range(given.studies):
            population, seed = POPULATIONS[number % len(POPULATIONS)], number // len(POPULATIONS)
            if (name, population, given.rows, seed) in done:
                continue
            new, found = not given.out.exists(), measure(name, population, given.rows, seed)
            with given.out.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, FIELDS)
                if new:
                    writer.writeheader()
                writer.writerow(found)
    rows = read(given.out)
    head = f"{'model':22}{'population':16}{'studies':>8}{'width':>8}{'model':>10}{'width':>8}"
    print(f"{head}{'second':>10}{'width':>8}{'tighter':>9}{'wider':>8}")
    for name in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == name]
        for population in (*dict.fromkeys(row["population"] for row in own), "all"):
            some = [row for row in own if population in (row["population"], "all")]
            print(f"{name:22}{population:16}{coverage(some)}")


if __name__ == "__main__":
    main()
