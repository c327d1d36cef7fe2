"""Tables of the response-type model: beside the paper's Mask-MLP, on random populations, and of its intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from pnsight.simulation import NAMES
from pnsight_experiments.paper import reported
from pnsight_experiments.rivals import RIVALS
from pnsight_experiments.scores import SUPPORT_BANDS
from pnsight_experiments.settings import BASELINE, FLAGSHIP
from pnsight_experiments.summary import ENDS, Cell, Row, as_percent, as_ratio, cells, family, fits, short

RIVAL = "mask-mlp"
SPACES = ("exact", "mask")


def against_paper(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Error on the catalog's populations beside the paper's Mask-MLP and our own, whose thresholds the oracle chose."""
    found = {_key(cell): cell for cell in cells(rows)}
    columns: dict[str, list[Any]] = defaultdict(list)
    for cell in _flagship_cells(rows):
        rival = found.get((*_key(cell)[:3], RIVAL, cell.end))
        for name in ("population", "budget", "space", "end"):
            columns[name].append(getattr(cell, name))
        columns["error"].append(short(cell.mae))
        columns["seeds"].append(cell.seeds)
        columns["paper's Mask-MLP"].append(short(_paper(cell)))
        columns["ratio"].append(as_ratio(cell.mae / _paper(cell)))
        columns["our Mask-MLP"].append(short(rival.mae if rival else None))
        columns["ratio to ours"].append(as_ratio(cell.mae / rival.mae if rival and rival.mae else None))
    return dict(columns)


def headline(rows: Sequence[Row], budget: int = 200_000) -> dict[str, list[Any]]:
    """Mean error over all queries and both ends, a line for each of the catalog; the oracle chose for Mask-MLP."""
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for cell in cells(rows):
        if cell.budget == budget and cell.space == "mask":
            errors[cell.population, cell.learner].append(cell.mae)
            if cell.learner == RIVAL and cell.paper:
                errors[cell.population, "paper"].append(cell.paper)
    mean = {key: fmean(values) for key, values in errors.items()}
    names = [name for name in NAMES if (name, FLAGSHIP) in mean]
    learners = {"plug-in": BASELINE, "Mask-MLP, paper": "paper", "Mask-MLP, ours": RIVAL, "response types": FLAGSHIP}
    columns: dict[str, list[Any]] = {"population": names} if names else {}
    for head, learner in learners.items() if names else ():
        columns[head] = [short(mean.get((name, learner))) for name in names]
    return columns


def paper_ratios(rows: Sequence[Row]) -> list[float]:
    """Our error over that of the paper's Mask-MLP, one a cell of the table above."""
    return [cell.mae / _paper(cell) for cell in _flagship_cells(rows)]


def _flagship_cells(rows: Sequence[Row]) -> list[Cell]:
    return [cell for cell in cells(rows) if cell.learner == FLAGSHIP and cell.population in NAMES and _paper(cell)]


def _paper(cell: Cell) -> float:
    """The paper's error of Mask-MLP in the same place; zero where it has none."""
    return reported(cell.population, cell.budget, cell.space, RIVAL, cell.end) or 0.0


def _key(cell: Cell) -> tuple[Any, ...]:
    return cell.population, cell.budget, cell.space, cell.learner, cell.end


def on_random_populations(rows: Sequence[Row], budget: int = 200_000) -> dict[str, list[Any]]:
    """Mean error over the random populations of each kind, of those that all three learners were fitted to."""
    errors = _random_errors(rows, budget)
    shared = {(population, space) for population, space, learner in errors if learner == RIVAL}
    kinds = dict.fromkeys((population.split(":")[0], space) for population, space in sorted(shared))
    columns: dict[str, list[Any]] = defaultdict(list)
    for kind, space in kinds:
        names = sorted({name for name, where in shared if name.split(":")[0] == kind and where == space})
        means = {
            learner: fmean(errors[name, space, learner] for name in names) for learner in (BASELINE, RIVAL, FLAGSHIP)
        }
        columns["kind"].append(kind)
        columns["space"].append(space)
        columns["populations"].append(len(names))
        for learner, mean in means.items():
            columns[learner].append(short(mean))
        for learner in (BASELINE, RIVAL):
            columns[f"{learner} over ours"].append(as_ratio(means[learner] / means[FLAGSHIP]))
        losses = [
            f"{name} to {learner}"
            for name in names
            for learner in (BASELINE, RIVAL)
            if errors[name, space, learner] < errors[name, space, FLAGSHIP]
        ]
        columns["losses"].append(", ".join(losses) or "none")
    return dict(columns)


def beside_rivals(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Mean error of both ends over all queries, a line for each population: ours, the rivals', and the best of them."""
    errors: dict[str, dict[str, float]] = defaultdict(dict)
    for row in fits(rows):
        if row["dropped"] != "infeasible":
            errors[row["population"]][row["learner"]] = fmean(row[f"mask_{end}_mae"] for end in ENDS)
    columns: dict[str, list[Any]] = defaultdict(list)
    for population, found in errors.items():
        ours, others = found.get(FLAGSHIP), [found[name] for name in RIVALS if name in found]
        columns["population"].append(population)
        for learner in (BASELINE, *RIVALS, FLAGSHIP):
            columns[learner].append(short(found.get(learner)))
        columns["best rival over ours"].append(as_ratio(min(others) / ours if ours and others else None))
    return dict(columns)


def _random_errors(rows: Sequence[Row], budget: int) -> dict[tuple[str, str, str], float]:
    """Mean error of both ends by population, space and learner; the plug-in's over the queries it answers."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in fits(rows):
        if row["population"] in NAMES or row["budget"] != budget or row["dropped"] == "infeasible":
            continue
        if row["learner"] == RIVAL and (row["threshold"], row["validation"]) != ("300", "queries"):
            continue
        for space in SPACES:
            if row[f"{space}_lower_mae"] is not None:
                ends = fmean(row[f"{space}_{end}_mae"] for end in ENDS)
                found[row["population"], space, row["learner"]].append(ends)
    return {key: fmean(values) for key, values in found.items()}


def interval_table(rows: Sequence[Row], budget: int = 200_000) -> dict[str, list[Any]]:
    """Share of the oracle's ends inside nominal 90% intervals, mean width, and coverage by support, by population.

    Random populations of one kind are put together.
    """
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in fits(rows):
        if row["learner"] == FLAGSHIP and row["budget"] == budget and row["mask_width"] is not None:
            groups[family(row)].append(row)
    columns: dict[str, list[Any]] = defaultdict(list)
    for name, found in sorted(groups.items(), key=lambda item: (item[0] not in NAMES, item[0])):
        columns["population"].append(name)
        columns["fits"].append(len(found))
        for space in SPACES:
            for end in ENDS:
                columns[f"{space} {end}"].append(as_percent(row[f"{space}_{end}_covered"] for row in found))
            columns[f"{space} width"].append(short(fmean(row[f"{space}_width"] for row in found)))
        for start, stop in zip(SUPPORT_BANDS, (*SUPPORT_BANDS[1:], None), strict=True):
            words = f"{start}+ rows" if stop is None else "no rows" if stop == 1 else f"{start}-{stop - 1} rows"
            columns[words].append(as_percent(row[f"covered_from_{start}"] for row in found))
    return dict(columns)
