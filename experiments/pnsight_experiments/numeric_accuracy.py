"""Numbers left as numbers against bands, and against other learners: a resumable sweep over random populations.

Run it with: python -m pnsight_experiments.numeric_accuracy --out FILE.csv [--seeds 1-2] [--rows 50000]
             [--kinds smooth,stepped] [--methods numeric,bands4,bands10,lightgbm,bart,told,efficient] [--show]
and the times:  python -m pnsight_experiments.numeric_accuracy --times [--rows 20000]

Each line of the file is one method fitted to one sample of a random population with six numbers and four yes/no
covariates. It has the mean error of both ends of the bounds on the PNS for single people, who are described by every
covariate, and for ranges of one or two numbers, averaged over everyone in them; and of methods with intervals the share
of the true ends inside their nominal 90% intervals. `numeric` is the default model; `bands4` and `bands10` are the same
model where each number was cut into so many bands of equally many rows; `lightgbm` and `bart` estimate each share that
the formulas need by itself (they need LightGBM and stochtree) and are brought to the nearest law that is possible.
Models of bands and other learners answer for a range by the mean law of the observational rows in it.

Two methods that nobody has say how far one can get. `told` is told every term that the scores of the population are
sums of, bent and multiplied as it should be, and has only their weights to learn: our networks with three indices, of
the terms in place of the covariates. `efficient` draws the errors within ranges of an estimator that is as good as any
can be without taking a shape for granted (the semiparametric efficiency bound: Hahn 1998, "On the role of the
propensity score in efficient semiparametric estimation of average treatment effects").

Started again, it goes on where it stopped; `--show` prints the table of what is there. Seeds 101 to 110 are for
reporting only.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import pnsight
from pnsight._text_table import format_table
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.structures import places
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.estimands.estimand import Estimand
from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, NumericConfig, ResponseTypeConfig
from pnsight.models.response_types.shrinkage import types_of_law
from pnsight.simulation.numeric_population import NumericPopulation
from pnsight.simulation.numeric_populations import INDICATORS, NUMBERS, NUMERIC_KINDS, numeric_population
from pnsight_experiments.resumable import append, read

METHODS = ("numeric", "bands4", "bands10", "lightgbm", "bart", "told", "efficient")
PEOPLE, RANGES = 400, 60
TREATMENT, OUTCOME = "x", "y"


class Questions(NamedTuple):
    """Who is asked about, and the true laws: people (people, covariates), ranges by covariate, laws of either."""

    people: pd.DataFrame
    ranges: list[dict[str, tuple[float, float]]]
    people_law: Law
    ranges_law: Law


class Answers(NamedTuple):
    """Both ends for people and for ranges, shape (..., 2, n) each, and the share of true ends covered; NaN for none."""

    people: FloatArray
    ranges: FloatArray
    people_coverage: float = np.nan
    ranges_coverage: float = np.nan


def main() -> None:
    """Run what is missing, or show what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", default="1-2", help="of the populations and of the samples")
    parser.add_argument("--rows", type=int, help="of each table; 50,000, and 20,000 for times")
    parser.add_argument("--kinds", default=",".join(NUMERIC_KINDS))
    parser.add_argument("--methods", default="numeric,bands4,bands10")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--times", action="store_true")
    given = parser.parse_args()
    if given.times:
        print(format_table({name: [text] for name, text in times(given.rows or 20_000).items()}))
        return
    if given.out is None:
        parser.error("--out is missing")
    if given.show:
        print(format_table(table_columns(read(given.out))))
        return
    first, last = map(int, given.seeds.split("-"))
    rows = given.rows or 50_000
    for seed in range(first, last + 1):
        for kind in given.kinds.split(","):
            done = {(row["population"], row["rows"], row["method"]) for row in read(given.out)}
            missing = [
                method for method in given.methods.split(",") if (f"{kind}:{seed}", str(rows), method) not in done
            ]
            for row in measure(kind, seed, rows, missing):
                append(given.out, row)


def measure(
    kind: str, seed: int, rows: int, methods: Sequence[str], config: ResponseTypeConfig | None = None
) -> Iterator[dict[str, Any]]:
    """A line for each method, fitted to one sample.

    Parameters
    ----------
    kind, seed
        Of the population; the seed is also that of the sample and of the fit.
    rows
        Of each table.
    methods
        Some of `METHODS`.
    config
        Hyperparameters of the response-type models; None for the usual ones.

    Returns
    -------
    The lines, by column.
    """
    if not methods:
        return
    population = numeric_population(kind, seed)
    tables = [pd.DataFrame(table) for table in population.tables(rows, rows, seed)]
    asked = questions(kind, seed)
    for method in methods:
        started = time.process_time()
        found = _answer(method, population, tables, asked, seed, config)
        seconds = time.process_time() - started
        errors = {
            f"{what}_error": float(np.abs(ends - true_ends(law)).mean())
            for what, ends, law in (
                ("people", found.people, asked.people_law),
                ("ranges", found.ranges, asked.ranges_law),
            )
        }
        row = {
            "population": f"{kind}:{seed}",
            "rows": rows,
            "method": method,
            **errors,
            "people_coverage": found.people_coverage,
            "ranges_coverage": found.ranges_coverage,
            "seconds": seconds,
        }
        print(
            " ".join(f"{name}={value:.4g}" if isinstance(value, float) else f"{value}" for name, value in row.items())
        )
        yield row


def questions(kind: str, seed: int, people: int = PEOPLE, ranges: int = RANGES) -> Questions:
    """People drawn from the population, and ranges of one or two numbers around the quantiles of people drawn."""
    population, rng = numeric_population(kind, seed), np.random.default_rng([seed, 77])
    values = population.covariates.draw(rng, people)
    names = [number.name for number in population.covariates.numbers]
    crowd = population.covariates.draw(rng, 4000)
    asked = [_range(rng, crowd, names) for _ in range(ranges)]
    frame = pd.DataFrame(values, columns=names).astype(
        {number.name: float if number.decimals else int for number in population.covariates.numbers}
    )
    return Questions(frame, asked, population.law_at(values), population.law_within(*asked))


def _range(rng: np.random.Generator, crowd: FloatArray, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """One or two numbers between quantiles at least a fifth apart."""
    found = {}
    for j in rng.choice(len(NUMBERS), size=int(rng.integers(1, 3)), replace=False):
        low = rng.uniform(0, 0.8)
        ends = np.quantile(crowd[:, j], [low, rng.uniform(low + 0.2, 1)], method="nearest")
        found[names[j]] = (float(ends[0]), float(ends[1]))
    return found


def true_ends(law: Law) -> FloatArray:
    """Both ends of the bounds on the PNS, shape (2, laws)."""
    return np.stack(Estimand.parse("pns").bounds_at(law))


# --- methods -------------------------------------------------------------------------------------------


def _answer(
    method: str,
    population: NumericPopulation,
    tables: Sequence[pd.DataFrame],
    asked: Questions,
    seed: int,
    config: ResponseTypeConfig | None,
) -> Answers:
    if method == "numeric":
        return _numeric(tables, asked, seed, config)
    if method == "told":
        return _told(population, tables, asked, seed, config or TOLD)
    if method == "efficient":
        return _efficient(population, len(tables[0]), asked, seed)
    if method.startswith("bands"):
        return _from_laws(_bands_law(int(method.removeprefix("bands")), tables, seed, config), tables, asked)
    return _from_laws(_LEARNERS[method](tables, seed), tables, asked)


def _fitted(
    tables: Sequence[pd.DataFrame], seed: int, config: ResponseTypeConfig | None, **options: Any
) -> pnsight.ResponseTypeModel:
    study = pnsight.read_study(*tables, treatment=TREATMENT, outcome=OUTCOME, **options)
    more: dict[str, Any] = {} if config is None else {"config": config}
    return pnsight.ResponseTypeModel(random_state=seed, intervals=not options, **more).fit(study)


def _numeric(tables: Sequence[pd.DataFrame], asked: Questions, seed: int, config: ResponseTypeConfig | None) -> Answers:
    model = _fitted(tables, seed, config)
    queries = [",".join(f"{name}={low:g}..{high:g}" for name, (low, high) in each.items()) for each in asked.ranges]
    found = [model.bounds(asked.people), model.bounds(queries)]
    ends = [np.stack([each.lower, each.upper]) for each in found]
    covered = [_covered(each, law) for each, law in zip(found, (asked.people_law, asked.ranges_law), strict=True)]
    return Answers(ends[0], ends[1], *covered)


def _covered(found: pnsight.BoundTable, law: Law) -> float:
    inside = []
    for end, truth in zip(("lower", "upper"), true_ends(law), strict=True):
        low, high = found.interval(end)  # type: ignore[arg-type]
        inside.append((low - 1e-9 <= truth) & (truth <= high + 1e-9))
    return float(np.mean(inside))


LawOf = Callable[[pd.DataFrame], FloatArray]
"""From people to the probabilities of the cells, shape (people, cells)."""


def _from_laws(law_of: LawOf, tables: Sequence[pd.DataFrame], asked: Questions) -> Answers:
    """Answers of a method that has a law of each person: a range is the mean law of the observational rows in it."""
    rows = law_of(tables[1])
    means = []
    for each in asked.ranges:
        inside = np.logical_and.reduce([tables[1][name].between(*ends).to_numpy() for name, ends in each.items()])
        means.append(rows[inside].mean(axis=0))
    return Answers(_ends(law_of(asked.people)), _ends(np.array(means)))


def _ends(cells: FloatArray) -> FloatArray:
    """Both ends at laws that may be impossible, brought to the nearest that is possible, shape (2, laws)."""
    even = np.full((len(cells), TWO_BY_TWO.n_types), 1 / TWO_BY_TWO.n_types)
    return true_ends(Law.from_types(types_of_law(even, cells, TWO_BY_TWO), TWO_BY_TWO))


def _bands_law(bands: int, tables: Sequence[pd.DataFrame], seed: int, config: ResponseTypeConfig | None) -> LawOf:
    model = _fitted(tables, seed, config, bands={number.name: bands for number in NUMBERS})

    def law_of(people: pd.DataFrame) -> FloatArray:
        codes = pnsight.queries.query.encode(model.schema, people[list(model.schema.names)])
        return np.asarray(model.law(codes).cells)

    return law_of


def _shares_law(estimate: Callable[[pd.DataFrame, pd.Series, int], Callable[[pd.DataFrame], FloatArray]]) -> Any:
    """A law from a learner of shares: of the outcome in either arm, and of each cell of the other table."""

    def fit(tables: Sequence[pd.DataFrame], seed: int) -> LawOf:
        trial, other = tables
        names = [name for name in trial if name not in (TREATMENT, OUTCOME)]
        arms = [
            estimate(trial.loc[trial[TREATMENT] == arm, names], trial.loc[trial[TREATMENT] == arm, OUTCOME], seed)
            for arm in (1, 0)
        ]
        cell = 2 * other[TREATMENT] + other[OUTCOME]
        observed = [estimate(other[names], (cell == each).astype(int), seed) for each in range(4)]

        def law_of(people: pd.DataFrame) -> FloatArray:
            treated, untreated = (np.clip(each(people[names]), 1e-4, 1 - 1e-4) for each in arms)
            shares = np.clip(np.stack([each(people[names]) for each in observed], axis=1), 1e-4, None)
            shares /= shares.sum(axis=1, keepdims=True)
            return _cells(treated, untreated, shares)

        return law_of

    return fit


def _cells(treated: FloatArray, untreated: FloatArray, observed: FloatArray) -> FloatArray:
    """Probabilities of the cells (people, cells); `observed` has those of x', y'; x', y; x, y'; x, y in its columns."""
    found = np.empty((len(treated), TWO_BY_TWO.n_cells))
    trial, other = (found[:, TWO_BY_TWO.columns_of(table)] for table in (EXPERIMENTAL, OBSERVATIONAL))
    for x, responding in ((1, treated), (0, untreated)):
        for y, share in ((1, responding), (0, 1 - responding)):
            trial[:, places(TWO_BY_TWO, EXPERIMENTAL)[x, y]] = share
            other[:, places(TWO_BY_TWO, OBSERVATIONAL)[x, y]] = observed[:, 2 * x + y]
    return found


def _lightgbm(inputs: pd.DataFrame, outcome: pd.Series, seed: int) -> Callable[[pd.DataFrame], FloatArray]:
    """Gradient boosting, with the number of trees chosen on a fifth of the rows."""
    import lightgbm

    held_out = np.random.default_rng(seed).random(len(inputs)) < 0.2
    model = lightgbm.LGBMClassifier(
        n_estimators=1000, learning_rate=0.05, num_leaves=15, min_child_samples=50, random_state=seed, verbose=-1
    )
    stop = lightgbm.early_stopping(30, verbose=False)
    model.fit(inputs[~held_out], outcome[~held_out], eval_set=[(inputs[held_out], outcome[held_out])], callbacks=[stop])
    return lambda people: np.asarray(model.predict_proba(people))[:, 1]


def _bart(inputs: pd.DataFrame, outcome: pd.Series, seed: int) -> Callable[[pd.DataFrame], FloatArray]:
    """Bayesian additive regression trees with a probit link, the mean of its draws."""
    from stochtree import BARTModel, OutcomeModel

    model = BARTModel()
    model.sample(
        X_train=inputs.to_numpy(dtype=np.float64),
        y_train=outcome.to_numpy(dtype=np.float64),
        num_gfr=10,
        num_burnin=50,
        num_mcmc=100,
        general_params={
            "random_seed": seed,
            "sample_sigma2_global": False,
            "outcome_model": OutcomeModel(outcome="binary", link="probit"),
        },
    )

    def predict(people: pd.DataFrame) -> FloatArray:
        drawn = model.predict(X=people.to_numpy(dtype=np.float64), scale="probability", terms="y_hat")
        return np.asarray(drawn.mean(axis=1))

    return predict


_LEARNERS = {"lightgbm": _shares_law(_lightgbm), "bart": _shares_law(_bart)}


# --- how far one can get -------------------------------------------------------------------------------

TOLD = ResponseTypeConfig(
    numeric=NumericConfig(Effort((CONSTANT, *(Capacity(3, 16, decay, 2000) for decay in (0.25, 0.06, 0.015))), folds=2))
)
"""Networks of three indices, as many as there are scores."""

_DRAWS = 200


def _told(
    population: NumericPopulation,
    tables: Sequence[pd.DataFrame],
    asked: Questions,
    seed: int,
    config: ResponseTypeConfig,
) -> Answers:
    """Our networks, fitted to the terms of the population's scores in place of the covariates; of people only."""
    terms = [
        population.terms(frame[list(population.covariates.names)].to_numpy(float)) for frame in (*tables, asked.people)
    ]
    kept = np.sort(np.unique(terms[0], axis=1, return_index=True)[1])
    kept = kept[terms[0][:, kept].std(axis=0) > 0]
    names = [f"t{j}" for j in kept]
    frames = [pd.DataFrame(each[:, kept], columns=names) for each in terms]
    known = [frame.assign(**table[[TREATMENT, OUTCOME]]) for frame, table in zip(frames, tables, strict=False)]
    study = pnsight.read_study(*known, treatment=TREATMENT, outcome=OUTCOME, numeric=names)
    found = pnsight.ResponseTypeModel(random_state=seed, intervals=False, config=config).fit(study).bounds(frames[2])
    return Answers(np.stack([found.lower, found.upper]), np.full((2, len(asked.ranges)), np.nan))


def _efficient(population: NumericPopulation, rows: int, asked: Questions, seed: int) -> Answers:
    """Ends at laws within ranges with the errors of an efficient estimator, shape (draws, 2, ranges)."""
    rng = np.random.default_rng([seed, 78])
    laws = []
    for ranges, law in zip(asked.ranges, asked.ranges_law.cells, strict=True):
        errors = rng.multivariate_normal(np.zeros(len(law)), _efficient_variance(population, rows, ranges), _DRAWS)
        laws.append(np.clip(law + errors, 0.0, 1.0))
    ends = _ends(np.concatenate(laws)).reshape(2, len(laws), _DRAWS)
    return Answers(np.full((2, len(asked.people)), np.nan), ends.transpose(2, 0, 1))


def _efficient_variance(
    population: NumericPopulation, rows: int, ranges: Mapping[str, tuple[float, float]]
) -> FloatArray:
    """Covariance of the errors of an efficient estimator of the cells within ranges, shape (cells, cells).

    How outcomes vary among people with equal covariates is averaged over the rows that show them, an arm's or the
    registry's; how laws vary with the covariates, over the rows of both tables.
    """

    def law_and_products(values: FloatArray) -> FloatArray:
        cells = population.law_at(values).cells
        return np.concatenate([cells, (cells[:, :, None] * cells[:, None, :]).reshape(len(cells), -1)], axis=1)

    averages, size = population.covariates.average(ranges, law_and_products), TWO_BY_TWO.n_cells
    mean, products = averages.mean[:size], averages.mean[size:].reshape(size, size)
    people = rows * averages.mass
    found = np.asarray((products - np.outer(mean, mean)) / (2 * people))
    for group, columns in zip(TWO_BY_TWO.groups, TWO_BY_TWO.group_slices, strict=True):
        shown = people / 2 if group.table == EXPERIMENTAL else people
        found[columns, columns] += (np.diag(mean[columns]) - products[columns, columns]) / shown
    return found


# --- what is shown -------------------------------------------------------------------------------------


def table_columns(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """A line for each kind of population and method: means over the seeds that there are."""
    columns: dict[str, list[str]] = {}
    kinds = [kind for kind in NUMERIC_KINDS if any(row["population"].startswith(f"{kind}:") for row in rows)]
    ours = {row["population"]: row for row in rows if row["method"] == METHODS[0]}
    for kind in [*kinds, "all"]:
        for method in METHODS:
            some = [row for row in rows if row["method"] == method and kind in (row["population"].split(":")[0], "all")]
            if some:
                line = {"population": kind, "method": method, "samples": str(len(some))}
                for name in ("people_error", "ranges_error", "people_coverage", "ranges_coverage", "seconds"):
                    mean = float(np.mean([float(row[name]) for row in some]))
                    line[name] = "" if np.isnan(mean) else f"{mean:.1f}" if name == "seconds" else f"{mean:.4f}"
                    if name.endswith("_error"):
                        line[name.replace("error", "ratio")] = _ratio(ours, some, name)
                for name, text in line.items():
                    columns.setdefault(name, []).append(text)
    return columns


def _ratio(ours: Mapping[str, Mapping[str, str]], theirs: Sequence[Mapping[str, str]], name: str) -> str:
    """Our mean error over that of a method, on the samples that both were fitted to."""
    both = [(float(ours[row["population"]][name]), float(row[name])) for row in theirs if row["population"] in ours]
    ratio = sum(one for one, _ in both) / sum(other for _, other in both) if both else np.nan
    return "" if np.isnan(ratio) else f"{ratio:.2f}"


def times(rows: int) -> dict[str, str]:
    """A table with four numbers and six categories: processor time of a fit with intervals and of a query, and size."""
    tables = [
        _categories(pd.DataFrame(table)) for table in numeric_population("smooth-dependent", 1).tables(rows, rows, 1)
    ]
    started = time.process_time()
    model = pnsight.ResponseTypeModel(random_state=1).fit(
        pnsight.read_study(*tables, treatment=TREATMENT, outcome=OUTCOME)
    )
    fitting = time.process_time() - started
    with tempfile.TemporaryDirectory() as folder:
        pnsight.save(model, Path(folder) / "model")
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    model.bounds("age=50")
    queries = ["age=52", "age=40..65", "bmi>=30,female=1", "age=61,bmi=27.5", "pulse_band=low,age<50"]
    longest = 0.0
    for query in queries:
        started = time.process_time()
        model.bounds(query)
        longest = max(longest, time.process_time() - started)
    return {
        "rows": f"{rows:,} + {rows:,}",
        "fit_processor_seconds": f"{fitting:.1f}",
        "folder_megabytes": f"{size / 1e6:.1f}",
        "slowest_query_processor_ms": f"{1000 * longest:.1f}",
    }


def _categories(table: pd.DataFrame) -> pd.DataFrame:
    """Four of the numbers stay, two become categories beside the yes/no covariates."""
    kept = [number.name for number in NUMBERS[:4]]
    found = table[[*kept, *INDICATORS, TREATMENT, OUTCOME]].copy()
    for name, cuts, names in (
        ("pulse", [-np.inf, 65, 80, np.inf], ["low", "middle", "high"]),
        ("creatinine", [-np.inf, 70, 90, 120, np.inf], ["a", "b", "c", "d"]),
    ):
        found[f"{name}_band"] = pd.cut(table[name], cuts, labels=names).astype(str)
    return found


if __name__ == "__main__":
    main()
