"""What `pnsight plan` expects of further rows, beside what happens when they are drawn and all is fitted again.

Run it with: python experiments/benchmarks/planning.py

For samples of two populations: fit, plan, then draw rows from the best, a middling and the worst of the groups that fix
one covariate, fit again with them, and compare. Fits differ even on the same rows, so one more is made without any,
and changes are taken from the mean of the two that have none. Each refit is a line in experiments/results/planning.csv;
what is there is not done again. At the end all lines are summed up.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

import pnsight
from pnsight._text_table import format_table
from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.data.two_by_two import EXPERIMENT_ALONE
from pnsight.decisions import NOT, TREAT, UNCERTAIN, decided
from pnsight.decisions.planning.variance_left import Crowd, doubt_left, split
from pnsight.estimands import Estimand
from pnsight.queries import lattice
from pnsight.queries.query import encode
from pnsight.simulation import ProfilePopulation

RESULTS = Path(__file__).parents[1] / "results" / "planning.csv"

THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""Where people are decided on; groups are chosen for one of these, and the mean over all of them is steadier."""

NO_ROWS = "nobody"
GROUPS = (NO_ROWS, "best", "middle", "worst")
"""Where further rows come from."""

Row = Mapping[str, Any]


class Setting(NamedTuple):
    """A population, the rows of each table to begin with, those that are added, and the threshold planned for."""

    population: ProfilePopulation
    budget: int
    added: int
    threshold: float


def settings() -> tuple[Setting, Setting]:
    interactions = pnsight.simulation.random_population("interaction", 101, covariates=6)
    return (
        Setting(interactions, 10_000, 20_000, 0.4),
        Setting(pnsight.simulation.paper_population("mediator"), 50_000, 100_000, 0.3),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=[5, 2], help="how many samples of each population")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    for setting, seeds in zip(settings(), given.seeds, strict=True):
        for seed in range(1, seeds + 1):
            done = [row["group"] for row in read(given.results) if _of(row) == (setting.population.name, seed)]
            for row in outcomes(setting, seed, [group for group in GROUPS if group not in done]):
                write(given.results, row)
    print(format_table(summary(read(given.results))))


def _of(row: Row) -> tuple[str, int]:
    return row["population"], int(row["seed"])


# --- one sample -----------------------------------------------------------------------------------------


def outcomes(setting: Setting, seed: int, groups: Sequence[str]) -> Iterator[Row]:
    """What came of rows from each group, for one sample. Shares are of all people, by the true covariate law."""
    if not groups:
        return
    population, _, added, threshold = setting
    study = population.sample(setting.budget, setting.budget, seed=seed)
    model = pnsight.ResponseTypeModel(random_state=seed).fit(study)
    plans = {theta: levels_planned(model, theta, added) for theta in THRESHOLDS}
    order = sorted(plans[threshold], key=plans[threshold].__getitem__)
    chosen = {NO_ROWS: "", "best": order[0], "middle": order[len(order) // 2], "worst": order[-1]}
    before = uncertain_and_wrong(population, model)
    for group in groups:
        query, rows = chosen[group], 0 if group == NO_ROWS else added
        refit = pnsight.ResponseTypeModel(random_state=100 + seed).fit(with_rows(population, study, query, rows, seed))
        after = uncertain_and_wrong(population, refit)
        foretold = {theta: plans[theta].get(query, 0.0) for theta in THRESHOLDS}
        yield {
            "population": population.name,
            "covariates": len(population.schema.names),
            "budget": setting.budget,
            "seed": seed,
            "group": group,
            "query": query,
            "added": rows,
            "threshold": threshold,
            "foretold": foretold[threshold],
            "before": before[threshold][0],
            "after": after[threshold][0],
            "foretold_mean": fmean(foretold.values()),
            "before_mean": fmean(share for share, _ in before.values()),
            "after_mean": fmean(share for share, _ in after.values()),
            "wrong_before": before[threshold][1],
            "wrong_after": after[threshold][1],
            **left(model, refit, query, rows),
        }


def levels_planned(model: pnsight.ResponseTypeModel, threshold: float, added: int) -> dict[str, float]:
    """The expected change for each group that fixes one covariate."""
    candidates = lattice.queries_fixing_at_most(model.schema, 1)[1:]
    found = pnsight.decisions.planning.plan(model, threshold, added, candidates=candidates, top=len(candidates))
    return dict(zip(found.queries, found.change.tolist(), strict=True))


def with_rows(population: ProfilePopulation, study: pnsight.Study, query: str, added: int, seed: int) -> pnsight.Study:
    """The study with experimental rows of people drawn at random from a group, half of them treated."""
    rng = np.random.default_rng([seed, 7])
    profiles, mass = people(population)
    inside = mass * lattice.membership_matrix(encode(population.schema, query), profiles)[0]
    cells = np.clip(population.types(profiles) @ EXPERIMENT_ALONE.incidence.T, 0, 1)
    rows = rng.multinomial(added, inside / inside.sum())
    treated = rng.binomial(rows, 0.5)
    arms = treated, rows - treated
    responding = [rng.binomial(arm, cells[:, 2 * k]) for k, arm in enumerate(arms)]
    new = [count for arm, yes in zip(arms, responding, strict=True) for count in (yes, arm - yes)]
    counts = lattice.sum_over(population.schema, profiles, study.profiles, study.counts)
    grown = pnsight.Study(population.schema, profiles, counts, study.structure)
    return grown.with_tables(experimental=grown.experimental + np.stack(new, axis=1)).drop_empty_profiles()


def people(population: ProfilePopulation) -> tuple[Codes, FloatArray]:
    profiles = lattice.all_profiles(population.schema)
    return profiles, population.covariates.mass(profiles)


def uncertain_and_wrong(
    population: ProfilePopulation, model: pnsight.ResponseTypeModel
) -> dict[float, tuple[float, float]]:
    """By threshold the share of people whose cautious decision is uncertain, and is not what true bounds support."""
    profiles, mass = people(population)
    answers, truth = model.bounds(profiles), population.bounds(profiles)
    found = {}
    for theta in THRESHOLDS:
        decision = decided(answers, theta, cautious=True).decision
        wrong = np.where(decision == TREAT, truth.lower < theta, (decision == NOT) & (truth.upper >= theta))
        found[theta] = float(mass @ (decision == UNCERTAIN)), float(mass @ wrong)
    return found


def left(
    model: pnsight.ResponseTypeModel, refit: pnsight.ResponseTypeModel, query: str, added: int
) -> dict[str, float | str]:
    """Share of the variance of both bounds that the rows leave, in the group and outside, foretold and real."""
    crowd, codes = Crowd.of(model, None, 0), encode(model.schema, query)
    rows = crowd.added(codes, model.shares(codes), split(model.study, added, "experimental"))
    tables = model.bounds(crowd.codes), refit.bounds(crowd.codes)
    before, after = (table.standard_error("lower") ** 2 + table.standard_error("upper") ** 2 for table in tables)
    errors = np.stack([tables[0].standard_error("lower"), tables[0].standard_error("upper")])
    foretold = (doubt_left(model, Estimand(), crowd, rows)[0] * errors**2).sum(axis=0)
    inside = lattice.membership_matrix(codes, crowd.codes)[0]
    found: dict[str, float | str] = {}
    for where, part in (("in", crowd.share * inside), ("out", crowd.share * (1 - inside))):
        for kind, variance in (("foretold", foretold), ("real", after)):
            found[f"left_{where}_{kind}"] = float(part @ variance / (part @ before)) if part.any() else ""
    return found


# --- all of them ----------------------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Means over the samples of a population, by the group that rows came from."""
    columns: dict[str, list[str]] = {}
    for name in dict.fromkeys(row["population"] for row in rows):
        for group in GROUPS:
            found = [row for row in rows if (row["population"], row["group"]) == (name, group)]
            for column, text in (summed_up(found, rows) if found else {}).items():
                columns.setdefault(column, []).append(text)
    return columns


def summed_up(found: Sequence[Row], rows: Sequence[Row]) -> dict[str, str]:
    real, real_mean = changes(found, rows, ""), changes(found, rows, "_mean")
    return {
        "population": found[0]["population"],
        "rows from": found[0]["group"],
        "samples": str(len(found)),
        "foretold": f"{_mean(found, 'foretold'):+.3f}",
        "real": f"{fmean(real):+.3f}",
        "of each": " ".join(f"{change:+.3f}" for change in real),
        "foretold, all": f"{_mean(found, 'foretold_mean'):+.3f}",
        "real, all": f"{fmean(real_mean):+.3f}",
        **{
            f"left {where}, {kind}": _known(found, f"left_{where}_{kind}")
            for where in ("in", "out")
            for kind in ("foretold", "real")
        },
        "wrong": f"{_mean(found, 'wrong_before'):.4f}",
        "wrong after": f"{_mean(found, 'wrong_after'):.4f}",
    }


def changes(found: Sequence[Row], rows: Sequence[Row], which: str) -> list[float]:
    """By sample the change of the uncertain share, from the mean of both fits without further rows.

    Where no rows were added, it is the change from the one fit to the other.
    """
    without = {_of(row): float(row[f"after{which}"]) for row in rows if row["group"] == NO_ROWS}
    before = [float(row[f"before{which}"]) for row in found]
    after = [float(row[f"after{which}"]) for row in found]
    if found[0]["group"] != NO_ROWS:
        before = [fmean([old, without.get(_of(row), old)]) for row, old in zip(found, before, strict=True)]
    return [new - old for new, old in zip(after, before, strict=True)]


def _mean(rows: Sequence[Row], column: str) -> float:
    return fmean(float(row[column]) for row in rows)


def _known(rows: Sequence[Row], column: str) -> str:
    known = [float(row[column]) for row in rows if row[column]]
    return f"{fmean(known):.2f}" if known else ""


def read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, row: Row) -> None:
    """Add a line to the file."""
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if fresh:
            table.writerow(row)
        table.writerow(f"{value:.5f}" if isinstance(value, float) else value for value in row.values())


if __name__ == "__main__":
    main()
