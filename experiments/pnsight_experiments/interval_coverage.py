"""Coverage of the confidence intervals on small, unequal and large studies: a resumable sweep.

Run it with: python -m pnsight_experiments.interval_coverage --out FILE.csv [--seeds 201-210] [--sizes 150/300,500/2000]
             [--populations mediator,tree] [--show]

Each line of the file is one fit of the default model to one sample of one population with known truth: the share of the
true ends inside their nominal 90% intervals, over the exact queries and over 6,000 drawn from all, the mean widths,
cautious decisions that the truth contradicts, the errors for groups with 1,000 rows beside the plug-in's, and how far
the trial's shares are from what the trial itself says. Started again, it goes on where it stopped; `--show` prints the
tables of what is there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pnsight
from pnsight._text_table import format_table
from pnsight.data.structure import EXPERIMENTAL
from pnsight.estimands.estimand import Estimand
from pnsight.queries import lattice
from pnsight_experiments.resumable import append, read
from pnsight_experiments.scores import Truth, truth

SIZES = (
    "150/300",
    "200/2000",
    "500/2000",
    "500/20000",
    "2000/50000",
    "2000/200000",
    "20000/20000",
    "200000/200000",
)
"""Rows of the trial and of the registry."""

CATALOG = ("confounder", "covariate", "direct", "direct-positive", "mediator")
KINDS = ("index", "index-dependent", "interaction", "interaction-dependent", "tree", "tree-dependent")
THRESHOLDS = (0.1, 0.3, 0.5)
MANY_ROWS, FEW_ROWS = 1000, 30
TENTH = 1.645
"""Standard errors that chance exceeds once in ten."""

ROUNDING = 1e-9
QUERIES = 6000
"""Queries drawn from all, beside the exact ones."""

FEW_SAMPLES, MANY_SAMPLES, SMALL_TRIAL = 3, 10, 2000


def main() -> None:
    """Run what is missing, or show what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", default="201-210", help="of the random populations and of the samples")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--populations", default=",".join((*CATALOG, *KINDS)))
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.show:
        print(tables(read(given.out)))
        return
    first, last = map(int, given.seeds.split("-"))
    for place in settings(given.sizes.split(","), given.populations.split(","), range(first, last + 1)):
        if place not in {tuple(row[name] for name in ("population", "size", "seed")) for row in read(given.out)}:
            append(given.out, score(*place))


def settings(sizes: Sequence[str], populations: Sequence[str], seeds: range) -> Iterator[tuple[str, str, str]]:
    """Population, size and seed of each fit: by seed first, so that a part of the sweep is a smaller sweep."""
    for place, seed in enumerate(seeds):
        for size in sizes:
            if place < (MANY_SAMPLES if int(size.split("/")[0]) <= SMALL_TRIAL else FEW_SAMPLES):
                for name in populations:
                    yield (f"{name}:{seed}" if name in KINDS else name), size, str(seed)


def score(population: str, size: str, seed: str) -> dict[str, Any]:
    """One fit and its scores."""
    trial, registry = map(int, size.split("/"))
    known = asked(truth(population))
    study = pnsight.simulation.get(population).sample(trial, registry, seed=int(seed))
    started = time.perf_counter()
    model = pnsight.ResponseTypeModel(random_state=int(seed)).fit(study)
    fitted = time.perf_counter()
    found = model.bounds(known.codes)
    row: dict[str, Any] = {"population": population, "size": size, "seed": seed, "seconds": fitted - started}
    row["answering"] = time.perf_counter() - fitted
    row["contradicted"] = int((found.status == "contradicted").sum())
    row |= coverage(known, found)
    row |= decisions(known, found)
    row |= large_groups(known, found, pnsight.PlugIn().fit(study).bounds(known.codes))
    row |= trial_shift(model)
    print(" ".join(f"{name}={value:.3g}" if isinstance(value, float) else f"{value}" for name, value in row.items()))
    return row


def asked(known: Truth) -> Truth:
    """All exact queries, and some drawn from all."""
    drawn = np.zeros(len(known.exact), dtype=bool)
    drawn[np.random.default_rng(0).choice(len(drawn), min(QUERIES, len(drawn)), replace=False)] = True
    some = known.exact | drawn
    return Truth(known.codes[some], known.exact[some], known.lower[some], known.upper[some])


def coverage(known: Truth, found: pnsight.BoundTable) -> dict[str, float]:
    """Share of true ends inside their intervals, and widths, over the exact queries and over all."""
    result = {}
    for space, inside in {"exact": known.exact, "all": np.ones_like(known.exact)}.items():
        inside = inside & (found.status == "ok")
        for end in ("lower", "upper"):
            low, high = found.interval(end)
            true = getattr(known, end)
            hit = (low <= true + ROUNDING) & (true <= high + ROUNDING)
            result[f"{space}_{end}"] = float(hit[inside].mean())
            result[f"{space}_{end}_width"] = float((high - low)[inside].mean())
            result[f"{space}_{end}_error"] = float(np.abs(getattr(found, end) - true)[inside].mean())
    return result


def decisions(known: Truth, found: pnsight.BoundTable) -> dict[str, int]:
    """Cautious decisions at several thresholds, and how many of them the truth contradicts."""
    count = {"decided": 0, "wrong": 0}
    for threshold in THRESHOLDS:
        words = pnsight.decisions.decided(found, threshold).decision_cautious
        treat, spare = words == "treat", words == "not"
        count["decided"] += int(treat.sum() + spare.sum())
        count["wrong"] += int((known.upper[treat] < threshold).sum() + (known.lower[spare] >= threshold).sum())
    return count


def large_groups(known: Truth, found: pnsight.BoundTable, plug_in: pnsight.BoundTable) -> dict[str, float]:
    """For groups with many rows in both tables, errors and widths beside those of the plug-in."""
    many = np.minimum(found.support_experimental, found.support_observational) >= MANY_ROWS
    many &= (found.status == "ok") & (plug_in.status == "ok")
    result = {"large": float(many.sum())}
    for name, answers in {"large": found, "large_plug_in": plug_in}.items():
        missed = [np.abs(getattr(answers, end) - getattr(known, end))[many] for end in ("lower", "upper")]
        spans = [np.subtract(*answers.interval(end)[::-1])[many] for end in ("lower", "upper")]
        result[f"{name}_error"] = float(np.mean(missed)) if many.any() else float("nan")
        result[f"{name}_width"] = float(np.mean(spans)) if many.any() else float("nan")
    return result


def trial_shift(model: pnsight.ResponseTypeModel) -> dict[str, float]:
    """How far P(y_x) of the trial's people moved from what their own rows say, in standard errors of those rows.

    Of everyone, the larger of both arms; of groups that one covariate tells apart and that have `FEW_ROWS` rows in both
    arms, the share of arms that moved by more than 1.645 standard errors, of which chance alone would make a tenth.
    """
    structure = model.structure
    codes = lattice.queries_fixing_at_most(model.schema, 1)
    law, _ = model.law_and_error(codes, Estimand.parse("pns", population="experimental"))
    counts = model.counts(codes)
    moved = []
    for number in structure.groups_of(EXPERIMENTAL):
        rows, shares = counts[:, structure.group_slices[number]], law.cells[:, structure.group_slices[number]]
        total = rows.sum(axis=1)
        share = (rows[:, 0] + 0.5) / (total + 1)
        error = np.sqrt(share * (1 - share) / np.maximum(total, 1))
        moved.append(
            np.where(total >= FEW_ROWS, np.abs(shares[:, 0] - rows[:, 0] / np.maximum(total, 1)) / error, np.nan)
        )
    by_arm = np.array(moved)
    groups = by_arm[:, (codes >= 0).any(axis=1)]
    groups = groups[:, ~np.isnan(groups).any(axis=0)]
    everyone = by_arm[:, (codes < 0).all(axis=1)].max()
    return {
        "trial_shift": float(everyone),
        "trial_shift_groups": float((groups > TENTH).mean()) if groups.size else 0.0,
    }


def tables(rows: list[dict[str, str]]) -> str:
    """Coverage, width and decisions by size and kind of population, as text."""
    return format_table(table_columns(rows))


def table_columns(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Coverage, width and decisions by size and kind of population."""
    columns: dict[str, list[str]] = {}
    sizes = [size for size in SIZES if any(row["size"] == size for row in rows)]
    kinds = sorted({row["population"].split(":")[0] for row in rows})
    for size in [*sizes, "all"]:
        for kind in [*kinds, "all"]:
            some = [
                row for row in rows if size in (row["size"], "all") and kind in (row["population"].split(":")[0], "all")
            ]
            if some and (size != "all" or kind == "all"):
                for name, text in _line(size, kind, some).items():
                    columns.setdefault(name, []).append(text)
    return columns


def cells_with_wrong_decisions(rows: list[dict[str, str]], share: float) -> list[str]:
    """Sizes and kinds of population in which the truth contradicts more than that share of the cautious decisions."""
    counts: dict[str, tuple[int, int]] = {}
    for row in rows:
        cell = f"{row['population'].split(':')[0]} with {row['size']} rows"
        decided, wrong = counts.get(cell, (0, 0))
        counts[cell] = decided + int(row["decided"]), wrong + int(row["wrong"])
    return [cell for cell, (decided, wrong) in counts.items() if wrong > share * decided]


def _line(size: str, kind: str, rows: list[dict[str, str]]) -> dict[str, str]:
    def mean(name: str) -> float:
        values = np.array([float(row[name] or "nan") for row in rows])
        return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")

    exact = np.array([(float(row["exact_lower"]) + float(row["exact_upper"])) / 2 for row in rows])
    error = f" ± {exact.std(ddof=1) / np.sqrt(len(exact)):.1%}" if len(exact) > 1 else ""
    decided, wrong = (sum(int(row[name]) for row in rows) for name in ("decided", "wrong"))
    return {
        "rows": size,
        "population": kind,
        "samples": str(len(rows)),
        "exact": f"{np.nanmean(exact):.1%}{error}",
        "all": f"{(mean('all_lower') + mean('all_upper')) / 2:.1%}",
        "exact width": f"{(mean('exact_lower_width') + mean('exact_upper_width')) / 2:.3f}",
        "all width": f"{(mean('all_lower_width') + mean('all_upper_width')) / 2:.3f}",
        "exact error": f"{(mean('exact_lower_error') + mean('exact_upper_error')) / 2:.4f}",
        "all error": f"{(mean('all_lower_error') + mean('all_upper_error')) / 2:.4f}",
        "wrong": f"{wrong / max(decided, 1):.3%} of {decided:,}",
        "marked": str(sum(int(row["contradicted"]) > 0 for row in rows)),
        "trial moved": f"{mean('trial_shift'):.2f}, {mean('trial_shift_groups'):.1%}",
        "large error": f"{mean('large_error'):.4f} / {mean('large_plug_in_error'):.4f}",
        "large width": f"{mean('large_width'):.4f} / {mean('large_plug_in_width'):.4f}",
    }


if __name__ == "__main__":
    main()
