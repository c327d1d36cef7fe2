"""What the intervals promise beside coverage on plain samples: contradictions, steadiness, weights and clusters.

Run it with: python experiments/benchmarks/honest_intervals.py contradictions|trial|seeds|weights|clusters|wide

contradictions  200 studies of coherent random populations: in how many is any answer marked as contradicted?
trial           how far both tables together move what the trial says about its own people, and whether that is nearer
                the truth than a fit to the trial alone; also with a registry that is wrong, but not beyond chance
seeds           ten fits of one study with other seeds: how much do the half-widths of intervals vary?
weights         random survey weights of mean one: coverage beside unweighted studies of the effective size
clusters        trials randomised by household: coverage with and without saying so
wide            thirty covariates: everyone and large groups beside the plug-in, and the time of queries and rankings
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

import pnsight
from pnsight._text_table import format_table
from pnsight._typing import FloatArray
from pnsight.data.study import Study
from pnsight.data.two_by_two import X0N, X0Y, XN, XY, Y_X, Y_X0
from pnsight.queries import lattice
from pnsight.queries.query import encode
from pnsight.simulation import Population

KINDS = ("index", "index-dependent", "interaction", "interaction-dependent", "tree", "tree-dependent")
ENDS: tuple[Literal["lower", "upper"], ...] = ("lower", "upper")
STUDIES = (("mediator", 500, 2000), ("tree:401", 2000, 20_000), ("interaction:401", 20_000, 20_000))


def main() -> None:
    """Run one part."""
    parts = {
        "contradictions": contradictions,
        "trial": trial,
        "seeds": seeds,
        "weights": weights,
        "clusters": clusters,
        "wide": wide,
    }
    if sys.argv[1:2] and sys.argv[1] in parts:
        parts[sys.argv[1]]()
    else:
        print(__doc__)


def contradictions(studies: int = 200) -> None:
    """Coherent studies of many sizes in which an answer is marked nevertheless."""
    rng, marked = np.random.default_rng(7), 0
    for number in range(studies):
        population = pnsight.simulation.get(f"{KINDS[number % len(KINDS)]}:{400 + number}")
        trial, registry = (int(10 ** rng.uniform(2.3, 4.8)) for _ in range(2))
        model = pnsight.PlugIn().fit(population.sample(trial, registry, seed=number))
        codes = lattice.all_queries(model.schema)
        marked += bool(model.contradicted(codes).any())
    print(f"{marked} of {studies} coherent studies have an answer marked as contradicted")


def trial(studies: int = 18, rows: int = 700, registry: int = 16_000) -> None:
    """P(y_x) and P(y_x') of the trial's people by both tables, beside what the trial's rows say and what is true."""
    lines = []
    for lost in (0.0, 0.05, 0.15):
        every = [_trial_moves(number, rows, registry, lost) for number in range(studies)]
        answered = [each for each in every if each is not None]
        moved, both, alone = (np.abs(np.concatenate(part)) for part in zip(*answered, strict=True))
        lines.append(
            {
                "registry's successes lost": f"{lost:.0%}",
                "refused": f"{len(every) - len(answered)} of {len(every)}",
                "moved (standard errors)": f"{moved.mean():.2f}",
                "over 1.645": f"{(moved > 1.645).mean():.1%}",
                "most": f"{moved.max():.2f}",
                "error, both tables": f"{both.mean():.4f}",
                "error, trial alone": f"{alone.mean():.4f}",
            }
        )
    print(_table(lines))


class _TrialMoves(NamedTuple):
    """Of P(y_x) and P(y_x') of several groups: moves in standard errors, and the errors of two fits."""

    moved: FloatArray
    both_tables: FloatArray
    trial_alone: FloatArray


def _trial_moves(number: int, rows: int, registry: int, lost: float) -> _TrialMoves | None:
    """For everyone and groups of one covariate of the trial's people; None where the tables are refused."""
    population = pnsight.simulation.get(f"{KINDS[number % len(KINDS)]}:{400 + number}")
    study = _lose_outcomes(population.sample(rows, registry, seed=number), lost, np.random.default_rng([number, 3]))
    queries = ["", *(f"z{j}={level}" for j in range(1, 11) for level in (0, 1))]
    both = pnsight.ResponseTypeModel(random_state=number, population="experimental").fit(study)
    if both.contradicted(encode(study.schema, queries)).any():
        return None
    alone = pnsight.ResponseTypeModel(random_state=number).fit(study.with_tables(observational=None))
    law, own, true = both.law(queries), pnsight.PlugIn().fit(study).law(queries), population.law(queries)
    counted = study.structure.by_group(both.counts(encode(study.schema, queries)))
    moved, errors, alone_errors = [], [], []
    for arm, cell in enumerate((Y_X, Y_X0)):
        share = own.p(cell)
        error = np.sqrt(np.maximum(share * (1 - share), 0.5 / counted[:, arm]) / counted[:, arm])
        moved.append((law.p(cell) - share) / error)
        errors.append(law.p(cell) - true.p(cell))
        alone_errors.append(alone.law(queries).p(cell) - true.p(cell))
    return _TrialMoves(*map(np.concatenate, (moved, errors, alone_errors)))


def _lose_outcomes(study: Study, share: float, rng: np.random.Generator) -> Study:
    """The study with a share of the registry's successes recorded as failures."""
    counts = study.counts.copy()
    for success, failure in ((XY, XN), (X0Y, X0N)):
        column, other = study.structure.column(success), study.structure.column(failure)
        lost = rng.binomial(counts[:, column].astype(np.int64), share)
        counts[:, column] -= lost
        counts[:, other] += lost
    return study.with_counts(counts)


def seeds(fits: int = 10) -> None:
    """Coefficient of variation of half-widths over seeds of the fit."""
    lines = []
    for name, trial, registry in STUDIES:
        study = pnsight.simulation.get(name).sample(trial, registry, seed=9)
        queries = ["", *(f"z{j}=1" for j in range(1, 11)), *(f"z{j}=0,z{j + 1}=1" for j in range(1, 10))]
        exact = [",".join(f"z{j + 1}={code}" for j, code in enumerate(profile)) for profile in study.profiles[:20]]
        halves = np.array([_half_widths(study, [*queries, *exact], seed) for seed in range(fits)])
        mean = halves.mean(axis=0)
        variation = np.where(mean > 0, halves.std(axis=0, ddof=1) / np.where(mean > 0, mean, 1.0), 0.0)
        parts = {"everyone": slice(0, 1), "groups": slice(1, len(queries)), "exact": slice(len(queries), None)}
        lines.append(
            {"study": f"{name}, {trial:,} + {registry:,}"}
            | {part: f"{np.mean(variation[:, some]):.1%}" for part, some in parts.items()}
        )
    print(_table(lines))


def _half_widths(study: Study, queries: Sequence[str], seed: int) -> FloatArray:
    found = pnsight.ResponseTypeModel(random_state=seed).fit(study).bounds(list(queries))
    return np.stack([np.subtract(*found.interval(end)[::-1]) / 2 for end in ENDS])


def weights(studies: int = 24, rows: int = 400, effective: int = 150) -> None:
    """Coverage of intervals of all groups of three covariates, with random survey weights and without."""
    population = pnsight.simulation.get("confounder")
    sizes = {"weighted, mean 1": (rows, True), "unweighted, as many rows": (rows, False)}
    sizes["unweighted, the effective rows"] = (effective, False)
    lines = []
    for name, (number, weighted) in sizes.items():
        hits, widths, networks = [], [], 0
        for seed in range(studies):
            study = _three_covariates(population, number, seed, weighted, rows / effective)
            model = pnsight.ResponseTypeModel(random_state=seed).fit(study)
            hit, width = _covered(model, population)
            hits.append(hit)
            widths.append(width)
            networks += not model.fit_summary_.no_network
        lines.append(
            {
                "studies": name,
                "covered": f"{np.mean(hits):.1%}",
                "width": f"{np.mean(widths):.3f}",
                "a network chosen": f"{networks} of {studies}",
            }
        )
    print(_table(lines))


def _three_covariates(population: Population, rows: int, seed: int, weighted: bool, design_effect: float) -> Study:
    """A study of the first three covariates; weights that are gamma distributed have the design effect asked for."""
    trial, registry = (pd.DataFrame(dict(table)) for table in population.tables(rows, rows, seed=seed))
    rng = np.random.default_rng([seed, 1])
    for table in (trial, registry):
        shape = 1 / (design_effect - 1)
        table["w"] = rng.gamma(shape, 1 / shape, len(table)) + 1e-6 if weighted else 1.0
    names = ["z1", "z2", "z3"]
    return pnsight.read_study(
        trial, registry, treatment="x", outcome="y", covariates=names, survey_weight="w" if weighted else None
    )


def _covered(model: pnsight.Model, population: Population) -> tuple[float, float]:
    """Share of true ends of all groups inside their intervals, and the mean width."""
    codes = lattice.all_queries(model.schema)
    full = np.full((len(codes), len(population.schema.names)), -1, dtype=np.int32)
    full[:, : codes.shape[1]] = codes
    true, found = population.bounds(full), model.bounds(codes)
    hits, widths = [], []
    for end in ENDS:
        low, high = found.interval(end)
        hits.append((low <= getattr(true, end) + 1e-9) & (getattr(true, end) <= high + 1e-9))
        widths.append(high - low)
    return float(np.mean(hits)), float(np.mean(widths))


def clusters(studies: int = 200, households: int = 400, correlation: float = 0.3) -> None:
    """Coverage of the interval of everyone in trials randomised by household, with and without the column named."""
    lines = []
    for name, column in {"with --cluster": "household", "without": None}.items():
        hits, widths = [], []
        for seed in range(studies):
            trial = _household_trial(households, correlation, seed)
            study = pnsight.read_study(trial, treatment="x", outcome="y", covariates=[], cluster=column)
            found = pnsight.ResponseTypeModel(random_state=seed).fit(study).bounds()
            for end, true in zip(ENDS, (EFFECT, TREATED_SHARE), strict=True):
                low, high = found.interval(end)
                hits.append(low[0] <= true <= high[0])
                widths.append(high[0] - low[0])
        lines.append({"": name, "covered": f"{np.mean(hits):.1%}", "width": f"{np.mean(widths):.4f}"})
    print(_table(lines))


CONTROL_SHARE, TREATED_SHARE = 0.4, 0.55
EFFECT = TREATED_SHARE - CONTROL_SHARE


def _household_trial(households: int, correlation: float, seed: int) -> pd.DataFrame:
    """People in households of one to five, treated together, whose outcomes are correlated within a household."""
    rng = np.random.default_rng([seed, 2])
    household = np.repeat(np.arange(households), rng.integers(1, 6, households))
    x = rng.integers(0, 2, households)[household]
    share = np.where(x == 1, TREATED_SHARE, CONTROL_SHARE)
    common = (rng.random(households)[household] < share).astype(int)  # the household's draw, shared by some
    own = (rng.random(len(household)) < share).astype(int)
    shares_it = rng.random(len(household)) < np.sqrt(correlation)
    return pd.DataFrame({"household": household, "x": x, "y": np.where(shares_it, common, own)})


def wide(rows: int = 20_000, covariates: int = 30) -> None:
    """Everyone and groups that fix one covariate, with many covariates, beside the plug-in; and times."""
    population = pnsight.simulation.random_population("index", 401, covariates=covariates)
    study = population.sample(rows, rows, seed=3)
    started = time.perf_counter()
    model = pnsight.ResponseTypeModel(random_state=3).fit(study)
    fitted = time.perf_counter() - started
    plug_in = pnsight.PlugIn().fit(study)
    queries = ["", *(f"{name}={level}" for name in study.schema.names for level in ("0", "1"))]
    started = time.perf_counter()
    found = model.bounds(queries)
    asked = (time.perf_counter() - started) / len(queries)
    other = plug_in.bounds(queries)
    started = time.process_time()
    pnsight.rank(model, top=20)
    ranked = time.process_time() - started
    truth = pnsight.PlugIn().fit(population.sample(1_000_000, 1_000_000, seed=77)).bounds(queries)
    lines = []
    for name, some in {"everyone": slice(0, 1), "one covariate": slice(1, None)}.items():
        lines.append({"groups": name} | _beside(found, other, truth, some))
    print(_table(lines))
    print(f"fit {fitted:.1f} s; a query {1000 * asked:.1f} ms; rank {ranked:.1f} s of processor time")


def _beside(
    found: pnsight.BoundTable, other: pnsight.BoundTable, truth: pnsight.BoundTable, some: slice
) -> dict[str, str]:
    line: dict[str, str] = {}
    for name, answers in {"model": found, "plug-in": other}.items():
        missed = [np.abs(getattr(answers, end) - getattr(truth, end))[some] for end in ENDS]
        spans = [np.subtract(*answers.interval(end)[::-1])[some] for end in ENDS]
        line |= {f"error, {name}": f"{np.mean(missed):.4f}", f"width, {name}": f"{np.mean(spans):.4f}"}
    return line


def _table(lines: Sequence[dict[str, str]]) -> str:
    return format_table({name: [line[name] for line in lines] for name in lines[0]})


if __name__ == "__main__":
    main()
