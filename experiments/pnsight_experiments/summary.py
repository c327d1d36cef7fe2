"""Results boiled down: Table 1 with ours beside the paper's, per selection rule, and the claims recomputed.

Everything here is a function of rows of results; nothing is fitted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pnsight.simulation import NAMES
from pnsight_experiments.paper import COLUMNS, TABLE_1, reported
from pnsight_experiments.settings import LEARNERS

Row = Mapping[str, Any]
ENDS = ("lower", "upper")

ORACLE, FIXED, AUTO = "oracle", "fixed", "auto"
RULES: Mapping[str, Callable[[Row], bool]] = {
    ORACLE: lambda row: row["validation"] == "queries",
    FIXED: lambda row: row["validation"] == "queries" and row["threshold"] == "300",
    AUTO: lambda row: row["validation"] == "rows" and row["threshold"] == "auto",
}
"""Who chooses the threshold: the oracle, as in the paper; nobody (300 rows); held-out rows."""


@dataclass(frozen=True)
class Cell:
    """One number of a table: mean error over seeds at the chosen threshold, beside the paper's."""

    population: str
    budget: int
    space: str
    learner: str
    end: str
    mae: float
    threshold: str
    seeds: int
    paper: float | None

    @property
    def ratio(self) -> float | None:
        """Ours over the paper's."""
        return None if not self.paper else self.mae / self.paper


def fits(rows: Iterable[Row], held_out: bool = False) -> list[Row]:
    """Rows with scores; by default those whose learner saw all rows of its budget."""
    return [row for row in rows if not row["note"] and bool(row["held_out"]) == held_out]


def family(row: Row) -> str:
    """The population a row is about, or the kind of a random one."""
    return str(row["population"]).split(":")[0]


def cells(rows: Sequence[Row], rule: str = ORACLE, dropped: str = "undefined") -> list[Cell]:
    """All cells of the catalog's populations that the rows support.

    Per threshold the mean over seeds, then the smallest, by space and end.
    Thresholds that have fewer seeds than others, not run yet or with too few examples, do not compete. `dropped` names
    the convention of the plug-in: only undefined answers dropped, or infeasible ones too.
    """
    groups: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in fits(rows):
        if row["population"] not in NAMES:
            continue
        plain = not row["validation"]
        if (row["dropped"] not in ("", dropped)) if plain else not RULES[rule](row):
            continue
        for space in ("exact", "mask"):
            for end in ENDS:
                if (mae := row[f"{space}_{end}_mae"]) is not None:
                    groups[row["population"], row["budget"], row["learner"], space, end][row["threshold"]].append(mae)
    return sorted((_cell(key, by_threshold) for key, by_threshold in groups.items()), key=_order)


def _cell(key: tuple[Any, ...], by_threshold: Mapping[str, list[float]]) -> Cell:
    population, budget, learner, space, end = key
    most = max(len(values) for values in by_threshold.values())
    whole = {threshold: values for threshold, values in by_threshold.items() if len(values) == most}
    threshold, values = min(whole.items(), key=lambda item: fmean(item[1]))
    paper = reported(population, budget, space, learner, end)
    return Cell(population, budget, space, learner, end, fmean(values), threshold, len(values), paper)


def _order(cell: Cell) -> tuple[Any, ...]:
    return cell.population, cell.budget, cell.space, list(LEARNERS).index(cell.learner), cell.end


def table(found: Sequence[Cell]) -> dict[str, list[Any]]:
    """Cells with lower and upper end side by side, as columns."""
    pairs: dict[tuple[Any, ...], dict[str, Cell]] = defaultdict(dict)
    for cell in found:
        pairs[cell.population, cell.budget, cell.space, cell.learner][cell.end] = cell
    columns: dict[str, list[Any]] = defaultdict(list)
    for (population, budget, space, learner), ends in pairs.items():
        columns["population"].append(population)
        columns["budget"].append(budget)
        columns["space"].append(space)
        columns["learner"].append(learner)
        for end in ENDS:
            columns[f"{end} mae"].append(short(ends[end].mae))
            columns[f"{end} paper"].append(short(ends[end].paper))
            columns[f"{end} ratio"].append(as_ratio(ends[end].ratio))
        columns["threshold"].append("/".join(dict.fromkeys(ends[end].threshold for end in ENDS)))
        columns["seeds"].append(ends["lower"].seeds)
    return dict(columns)


def short(value: float | None) -> str:
    """An error with four decimals."""
    return "" if value is None else f"{value:.4f}"


def as_ratio(value: float | None) -> str:
    """A ratio with two decimals."""
    return "" if value is None else f"{value:.2f}"


def mean_ratio(found: Iterable[Cell]) -> float | None:
    """Mean of ours over the paper's where the paper has a number."""
    ratios = [cell.ratio for cell in found if cell.ratio is not None]
    return fmean(ratios) if ratios else None


def preferred_thresholds(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The threshold at which each learner's mean error over both ends is smallest, by population, budget and space."""
    sums: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in fits(rows):
        if row["validation"] == "queries":
            for space in ("exact", "mask"):
                ends = [row[f"{space}_{end}_mae"] for end in ENDS]
                if None not in ends:
                    key = row["population"], row["budget"], space, row["learner"]
                    sums[key][row["threshold"]].append(fmean(ends))
    columns: dict[str, list[Any]] = defaultdict(list)
    for key, by_threshold in sorted(sums.items()):
        if len(by_threshold) > 1:
            best = min(by_threshold, key=lambda threshold: fmean(by_threshold[threshold]))
            for name, value in zip(("population", "budget", "space", "learner"), key, strict=True):
                columns[name].append(value)
            columns["best threshold"].append(best)
            columns["tried"].append(" ".join(sorted(by_threshold, key=int)))
    return dict(columns)


@dataclass(frozen=True)
class Claims:
    """The abstract's claims: mean error of the learners and by how much it lies below the baseline's."""

    source: str
    cells: int
    mean_mae: float
    below_baseline: float


def claims(found: Sequence[Cell], source: str = "ours") -> Claims:
    """The abstract's two claims recomputed from cells: over all populations, budgets, spaces and ends."""
    return _claims(source, {_place(cell): cell.mae for cell in found})


def paper_claims(found: Sequence[Cell] | None = None) -> Claims:
    """The same computed from the paper's own table, or from its part that the cells found cover."""
    if found is None:
        return _claims("the paper, all of Table 1", TABLE_1)
    return _claims("the paper, the same cells", {_place(c): c.paper for c in found if c.paper is not None})


def claims_table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The abstract's claims: of the paper's table, then ours beside the paper's over the cells that were run."""
    everything = cells(rows)
    compared = [paper_claims()]
    for left_out, name in (
        ("direct", "ours, Direct with positive C_Y"),
        ("direct-positive", "ours, Direct as printed"),
    ):
        kept = [cell for cell in everything if cell.population != left_out]
        compared += [claims(kept, name), paper_claims(kept)]
    return {
        "source": [claim.source for claim in compared],
        "cells": [claim.cells for claim in compared],
        "mean error of the learners": [f"{claim.mean_mae:.4f}" for claim in compared],
        "below the plug-in by": [f"{claim.below_baseline:.0%}" for claim in compared],
    }


def _claims(source: str, values: Mapping[tuple[Any, ...], float]) -> Claims:
    learned, reductions = [], []
    for (population, budget, space, learner, end), mae in values.items():
        baseline = values.get((population, budget, space, "plug-in", end))
        if learner in ("exact-mlp", "mask-mlp") and (space, learner) in COLUMNS and baseline:
            learned.append(mae)
            reductions.append(1 - mae / baseline)
    return Claims(source, len(learned), fmean(learned), fmean(reductions))


def gap_to_oracle(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Error with the threshold chosen on held-out rows, beside the oracle's choice with validation by queries."""
    seeds = {(r["population"], r["budget"], r["learner"], r["seed"]) for r in fits(rows) if RULES[AUTO](r)}
    shared = [r for r in rows if (r["population"], r["budget"], r["learner"], r["seed"]) in seeds]
    honest = {_place(cell): cell for cell in cells(shared, AUTO) if cell.threshold}
    columns: dict[str, list[Any]] = defaultdict(list)
    for cell in cells(shared, ORACLE):
        if (other := honest.get(_place(cell))) is not None:
            for name in ("population", "budget", "space", "learner", "end"):
                columns[name].append(getattr(cell, name))
            columns["oracle's choice"].append(short(cell.mae))
            columns["held-out rows' choice"].append(short(other.mae))
            columns["ratio"].append(as_ratio(other.mae / cell.mae if cell.mae else None))
    return dict(columns)


def _place(cell: Cell) -> tuple[Any, ...]:
    return cell.population, cell.budget, cell.space, cell.learner, cell.end


def baseline_table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The plug-in under both conventions, dropping undefined answers or infeasible ones too, beside the paper's."""
    strict = {_place(cell): cell for cell in cells(rows, dropped="infeasible")}
    columns: dict[str, list[Any]] = defaultdict(list)
    for cell in cells(rows):
        if cell.learner == "plug-in":
            for name in ("population", "budget", "space", "end"):
                columns[name].append(getattr(cell, name))
            columns["undefined dropped"].append(short(cell.mae))
            columns["infeasible dropped"].append(short(strict[_place(cell)].mae))
            columns["paper"].append(short(cell.paper))
    return dict(columns)


def crossing_table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Mean share of answers whose lower end came out above the upper, by learner, space and population.

    Plug-in, thresholds of 300 rows and chosen ones only, so that learners are compared at like settings.
    """
    shares: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in _usual(rows):
        space = "mask" if row["mask_scored"] else "exact"
        key = row["learner"], row["threshold"], row["validation"], space, family(row)
        shares[key].append(row[f"{space}_crossed"] / row[f"{space}_scored"])
    names = ("learner", "threshold", "validation", "space", "population")
    columns: dict[str, list[Any]] = {name: [key[i] for key in sorted(shares)] for i, name in enumerate(names)}
    columns["crossed"] = [f"{fmean(shares[key]):.2%}" for key in sorted(shares)]
    columns["fits"] = [len(shares[key]) for key in sorted(shares)]
    return columns


def _usual(rows: Sequence[Row]) -> list[Row]:
    """Fits at the settings a reader would compare: no threshold, 300 rows, or chosen on held-out rows."""
    return [row for row in fits(rows) if row["threshold"] in ("", "300", "auto") and row["dropped"] != "infeasible"]


def agreement_table(rows: Sequence[Row], budget: int = 200_000) -> dict[str, list[Any]]:
    """Decisions over all queries against the oracle's: agreement, and confident answers that it contradicts."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in _usual(rows):
        if row["budget"] == budget and row["mask_agree_0.5"] is not None:
            groups[row["learner"], row["threshold"], row["validation"], family(row)].append(row)
    columns: dict[str, list[Any]] = defaultdict(list)
    for key, found in sorted(groups.items()):
        for name, value in zip(("learner", "threshold", "validation", "population"), key, strict=True):
            columns[name].append(value)
        for theta in (0.3, 0.5):
            columns[f"agree at {theta}"].append(as_percent(row[f"mask_agree_{theta}"] for row in found))
            columns[f"contradicted at {theta}"].append(as_percent(row[f"mask_wrong_{theta}"] for row in found))
        columns["fits"].append(len({(row["population"], row["seed"]) for row in found}))
    return dict(columns)


def as_percent(values: Iterable[float | None]) -> str:
    """The mean of the values there are, as a percentage."""
    found = [value for value in values if value is not None]
    return f"{fmean(found):.2%}" if found else ""


def held_out_table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Error on held-out, well-supported queries beside the oracle error of the same fits, and both ranks."""
    groups: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in fits(rows, held_out=True):
        if row["dropped"] != "infeasible" and row["mask_lower_mae"] is not None:
            groups[row["population"], row["budget"]].append(row)
    columns: dict[str, list[Any]] = defaultdict(list)
    for (population, budget), found in sorted(groups.items()):
        held_out, oracle = _mean_by_learner(found, "held_out"), _mean_by_learner(found, "mask")
        for learner in sorted(held_out, key=lambda name: held_out[name]):
            columns["population"].append(population)
            columns["budget"].append(budget)
            columns["learner"].append(learner)
            columns["held-out error"].append(short(held_out[learner]))
            columns["oracle error"].append(short(oracle[learner]))
            columns["held-out rank"].append(_rank(held_out, learner))
            columns["oracle rank"].append(_rank(oracle, learner))
    return dict(columns)


def _mean_by_learner(rows: Sequence[Row], score: str) -> dict[str, float]:
    """Mean over seeds and both ends of one score, by learner."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        values[row["learner"]] += [row[f"{score}_{end}_mae"] for end in ENDS]
    return {learner: fmean(found) for learner, found in values.items()}


def runs_table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """What was run: fits by learner, way to validate and budget, with their seeds and thresholds."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["dropped"] != "infeasible":
            groups[row["learner"], row["validation"], row["held_out"], row["budget"]].append(row)
    columns: dict[str, list[Any]] = defaultdict(list)
    for (learner, validation, held_out, budget), found in sorted(groups.items()):
        columns["learner"].append(learner)
        columns["validation"].append(validation)
        columns["held out"].append(f"{held_out:.0%}" if held_out else "")
        columns["budget"].append(budget)
        columns["populations"].append(len({row["population"] for row in found}))
        columns["seeds"].append(" ".join(map(str, sorted({row["seed"] for row in found}))))
        columns["thresholds"].append(" ".join(sorted({row["threshold"] for row in found}, key=lambda t: (len(t), t))))
        columns["fits"].append(len(found))
        columns["too few examples"].append(sum(bool(row["note"]) for row in found))
    return dict(columns)


def _rank(values: Mapping[str, float], name: str) -> int:
    return 1 + sorted(values.values()).index(values[name])


def transformer_table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Mean error of both ends over all queries, of Mask-MLP's network and of a Transformer in its place."""
    networks = ("mask-mlp", "mask-transformer")
    errors: dict[tuple[str, int, str], float] = {}
    for row in fits(rows):
        alike = (row["budget"], row["threshold"], row["validation"]) == (200_000, "300", "queries")
        if alike and row["learner"] in networks:
            ends = fmean(row[f"mask_{end}_mae"] for end in ENDS)
            errors[row["population"], row["seed"], row["learner"]] = ends
    shared = sorted({key[:2] for key in errors if all((*key[:2], name) in errors for name in networks)})
    columns: dict[str, list[Any]] = defaultdict(list)
    for population in dict.fromkeys(name for name, _ in shared):
        seeds = [seed for name, seed in shared if name == population]
        means = [fmean(errors[population, seed, network] for seed in seeds) for network in networks]
        columns["population"].append(population)
        columns["seeds"].append(len(seeds))
        for network, mean in zip(networks, means, strict=True):
            columns[network].append(short(mean))
        columns["ratio"].append(as_ratio(means[1] / means[0]))
    return dict(columns)
