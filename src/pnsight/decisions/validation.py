"""Validation on held-out rows: whether what a model says about people it has not seen is so, on one's own tables.

Part of the rows is held out at random, clusters whole, a model is fitted to the others, and its answers are compared
with what the held-out rows show; several times over. Three things are measured, each beside the plug-in:

- Calibration: the mean of the predicted probability of each cell against the share of held-out rows in it, for
  everyone, by tenths of the prediction, and in named subgroups.
- Bounds: in groups with many held-out rows, how far the model's ends are from those of the held-out rows. These are
  noisy themselves, so their variance is taken off: the mean of d^2 - v estimates the mean squared error of the model.
  An interval is counted as holding where d is within the two errors together.
- The rule by covariates: on held-out trial rows how many respond if it is followed, if all are treated and if none is,
  and the area between its uplift curve and that of treating at random (Qini; N. J. Radcliffe 2007, "Using control
  groups to target on predicted lift").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._progress import Progress, no_progress, subtask
from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.folds import deal_folds
from pnsight.data.law import Law
from pnsight.data.schema import OPEN, Codes
from pnsight.data.structures import require_two_by_two
from pnsight.data.study import Study
from pnsight.data.two_by_two import N_X, N_X0, Y_X, Y_X0
from pnsight.errors import QueryError
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.confidence import linear_standard_error, standard_errors
from pnsight.estimands.critical_values import two_sided
from pnsight.estimands.estimand import Estimand
from pnsight.models.base import Model, refuse_numbers
from pnsight.models.plug_in import PlugIn
from pnsight.models.resampling import split_counts
from pnsight.notes import WARNING, Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import OK, plain_numbers, validate_level
from pnsight.queries.query import QueryLike, encode, format_queries

PLUG_IN = "plug-in"

EVERYONE = "everyone"
"""What the group of all people is called in tables of calibration."""

MIN_GROUP_ROWS = 300
"""Held-out rows that a group needs in each arm and in the registry for its bounds to be looked at."""

MIN_HELD_OUT = 0.001
"""Share of the rows below which it makes no sense to hold any out."""

MOST_GROUPS = 200
"""Groups looked at in one split."""

_TENTHS = 10
_BOOTSTRAP = 200
_QINI_POINTS = 20


@dataclass(frozen=True, repr=False)
class Validation(Tabular):
    """What held-out rows say about a model, and about the plug-in beside it.

    Attributes
    ----------
    summary_columns : one row a model and measure: its value, and an interval where there is one
    calibration : one row a model, cell and bin: rows, predicted and observed share, and the error of the latter
    splits, held_out : how often rows were held out, and which share of them
    level : confidence of intervals
    notes : what a reader should know
    """

    summary_columns: Mapping[str, Sequence[Any]]
    calibration: Mapping[str, Sequence[Any]]
    splits: int
    held_out: float
    level: float
    notes: tuple[Note, ...]

    @property
    def caption(self) -> str:
        """What was done."""
        return f"{self.splits} times {self.held_out:.0%} of the rows held out; {self.level:.0%} intervals"

    def columns(self) -> dict[str, list[Any]]:
        """The measures."""
        return {name: list(values) for name, values in self.summary_columns.items()}

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, the one that was validated first."""
        return tuple(dict.fromkeys(self.summary_columns["model"]))

    def by_measure(self) -> dict[str, list[tuple[float | None, float | None, float | None]]]:
        """For each measure, of each model its value and where its interval begins and stops."""
        columns = self.summary_columns
        numbers = zip(columns["value"], columns["low"], columns["high"], strict=True)
        known = dict(zip(zip(columns["model"], columns["measure"], strict=True), numbers, strict=True))
        missing = (None, None, None)
        measures = dict.fromkeys(columns["measure"])
        return {measure: [known.get((model, measure), missing) for model in self.models] for measure in measures}

    def everyones_cells(self) -> list[tuple[str, str, float, float, float, float]]:
        """How each cell is calibrated for everyone: model, cell, rows, predicted and observed share, and its error."""
        names = ("model", "cell", "rows", "predicted", "observed", "error")
        rows = zip(*(self.calibration[name] for name in (*names, "tenth", "group")), strict=True)
        return [row[:-2] for row in rows if row[-2:] == (None, EVERYONE) and row[0] == self.models[0]]

    def value(self, model: str, measure: str) -> float | None:
        """One measure of one model."""
        rows = zip(*(self.summary_columns[name] for name in ("model", "measure", "value")), strict=True)
        return next((value for name, which, value in rows if (name, which) == (model, measure)), None)


def validate(
    study: Study,
    model: Model,
    splits: int = 5,
    held_out: float = 0.25,
    subgroups: QueryLike = (),
    quantity: str = "pns",
    level: float = 0.9,
    random_state: int = 0,
    progress: Progress = no_progress,
) -> Validation:
    """Hold rows out, fit to the others, and compare, several times over.

    Parameters
    ----------
    study
        Counts of both tables, of two arms and two outcomes.
    model
        What to validate; one with the same parameters is fitted for each split.
    splits
        How often.
    held_out
        Share of the rows that is held out each time; rows of a cluster go together.
    subgroups
        Groups whose calibration is told, beside everyone's.
    quantity
        Whose bounds are compared.
    level
        Confidence of the intervals.
    random_state
        Seed of the splits.
    progress
        Told which split is at work.

    Returns
    -------
    The measures, each beside the plug-in's.
    """
    require_two_by_two(study.structure, "validation is made for", "check, which looks at the tables themselves")
    reason = "validation compares with the plug-in model, which counts rows by level"
    refuse_numbers(study.schema, reason, "validate without them")
    validate_level(level)
    _validate(study, splits, held_out)
    asked = Estimand.parse(quantity, level=level)
    named = encode(study.schema, list(subgroups) if not isinstance(subgroups, str) else subgroups)
    folds = max(2, round(1 / held_out))
    models = {model.name: model} if model.name == PLUG_IN else {model.name: model, PLUG_IN: PlugIn()}
    found: dict[str, list[Split]] = {name: [] for name in models}
    for number in range(splits):
        held = hold_out(study, folds, random_state + number)
        test, rest = study.with_counts(held), study.with_counts(study.counts - held).drop_empty_profiles()
        for name, one in models.items():
            part = subtask(progress, number, splits, f"split {number + 1} of {splits}")
            fitted = one.unfitted().fit(rest, part)
            found[name].append(measure_split(fitted, test, asked, named, random_state + number))
    names = [EVERYONE, *format_queries(study.schema, named)]
    cells = [cell.name for cell in study.structure.cells]
    return Validation(
        summarise_splits(found, level), _calibration(found, names, cells), splits, 1 / folds, level, _notes(found)
    )


def _validate(study: Study, splits: int, held_out: float) -> None:
    if study.observational is None:
        raise QueryError("validation compares answers from both tables; give an observational table too.")
    if study.withheld is not None:
        raise QueryError("small counts are withheld from this study, and parts of it would have more; use all rows.")
    if splits < 1:
        raise QueryError(f"{splits} splits are asked for; give at least 1.")
    if not MIN_HELD_OUT <= held_out <= 0.5:
        raise QueryError(f"the share held out is {held_out:g}; give one of at least {MIN_HELD_OUT:g} and at most 0.5.")


def hold_out(study: Study, folds: int, seed: int) -> FloatArray:
    """Counts of one of so many folds; clusters are not split.

    Parameters
    ----------
    study
        Counts of both tables.
    folds
        One row in so many is held out.
    seed
        Of the split.

    Returns
    -------
    In the shape of the study's counts.
    """
    return deal_study(study, folds, seed)[0]


def deal_study(study: Study, folds: int, seed: int) -> Sequence[FloatArray]:
    """The rows of a study in folds; clusters are not split.

    Parameters
    ----------
    study
        Counts of its tables.
    folds
        How many; where only folds of whole clusters are left of the rows, as many as those.
    seed
        Of the split.

    Returns
    -------
    For each fold, counts in the shape of the study's; they add up to these.
    """
    if study.sampled is not None:
        ordered = {name: rows.in_order() for name, rows in study.sampled.items()}
        return list(deal_folds(study.structure, len(study.profiles), ordered, folds, seed))
    if study.design is not None:
        return _stored_folds(study.design.folds, seed)
    return split_counts(study.counts, folds, np.random.default_rng(seed))


def _stored_folds(folds: FloatArray | None, seed: int) -> list[FloatArray]:
    """The folds of whole clusters that were dealt when the tables were read, beginning with another for each seed."""
    if folds is None:
        raise QueryError(
            "which rows belong to a cluster, or weigh how much, is not known any more; start from the tables "
            "themselves (pnsight validate, or pnsight.read_study in Python)."
        )
    return [folds[(seed + number) % len(folds)] for number in range(len(folds))]


# --- one split ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """What one split says of one model.

    Attributes
    ----------
    bins : by group of people and bin, and by cell: rows, sum of predictions, of outcomes, and of their variances
    ends : shape (ends, 4)
        By group with many rows and end: difference, variance of the held-out end and of the model's, and whether both
        together reach over it.
    rule : by measure, its value and standard error on held-out rows of the trial
    """

    bins: dict[tuple[int, int, int], FloatArray]
    ends: FloatArray
    rule: dict[str, tuple[float, float]]


def measure_split(model: Model, test: Study, asked: Estimand, named: Codes, seed: int) -> Split:
    """Compare a fitted model with rows that it has not seen.

    Parameters
    ----------
    model
        Fitted to other rows.
    test
        The rows held out.
    asked
        Whose bounds are compared.
    named : shape (groups, covariates)
        Groups whose calibration is looked at.
    seed
        Of the choice of groups and of resampled rows.

    Returns
    -------
    What this split says.
    """
    law = model.law(test.profiles)
    known = np.asarray(~np.isnan(law.cells).any(axis=1))
    return Split(
        _bins(law, test, known, named),
        _ends(model, test, asked, seed),
        _rule(law, test, known, seed),
    )


def _bins(law: Law, test: Study, known: BoolArray, named: Codes) -> dict[tuple[int, int, int], FloatArray]:
    """By group (everyone first), bin (-1 for all, else the tenth) and cell: rows, predicted, observed, variance."""
    structure = test.structure
    counts = test.cell_evidence * known[:, None]
    rows = structure.for_cells(structure.by_group(counts))
    members = [np.ones(len(counts), dtype=bool)]
    members += [lattice.membership_matrix(query[None, :], test.profiles)[0] > 0 for query in named]
    predicted = np.nan_to_num(law.cells)
    found = {}
    for group, inside in enumerate(members):
        for cell in range(structure.n_cells):
            bins = [(-1, inside)]
            if not group:
                bins += [(k, each) for k, each in enumerate(_tenths(predicted[:, cell], rows[:, cell]))]
            for number, chosen in bins:
                n, p, y = (values[chosen, cell] for values in (rows, predicted, counts))
                found[group, number, cell] = np.array([n.sum(), n @ p, y.sum(), n @ (p * (1 - p))])
    return found


def _tenths(predicted: FloatArray, rows: FloatArray) -> list[BoolArray]:
    """Profiles by tenths of the rows, in the order of the prediction."""
    order = np.argsort(predicted, kind="stable")
    place = np.empty(len(order))
    place[order] = np.cumsum(rows[order]) - rows[order] / 2
    tenth = np.minimum((_TENTHS * place / max(rows.sum(), 1e-300)).astype(int), _TENTHS - 1)
    return [tenth == k for k in range(_TENTHS)]


def _ends(model: Model, test: Study, asked: Estimand, seed: int) -> FloatArray:
    """Both ends of groups with many held-out rows, shape (ends, 4): see `Split`."""
    codes = supported_groups(test, seed)
    if not len(codes):
        return np.empty((0, 4))
    counts = lattice.sum_over(test.schema, codes, test.profiles, test.cell_evidence)
    shown = Law.from_counts(counts, test.structure)
    held = asked.bounds_at(shown)
    noise = _noise(asked, shown, test.structure.by_group(counts))
    said = model.bounds(codes, asked)
    z = two_sided(asked.level)
    found = []
    errors = said.standard_error("lower"), said.standard_error("upper")
    for number, (value, error) in enumerate(zip((said.lower, said.upper), errors, strict=True)):
        usable = (said.status == OK) & ~np.isnan(held[number]) & (held[0] <= held[1])
        away = value - held[number]
        within = np.abs(away) <= z * np.sqrt(np.nan_to_num(error) ** 2 + noise[number] ** 2) + 1e-12
        found.append(np.column_stack([away, noise[number] ** 2, error**2, within])[usable])
    return np.concatenate(found)


def _noise(asked: Estimand, law: Law, rows: FloatArray) -> Ends:
    """Standard errors of both ends from so many rows: of the term that each is, where there is nothing to divide by."""
    compiled = asked.compiled(law.structure)
    if compiled.event is not None:
        return standard_errors(asked, law, rows)
    lower, upper = compiled.numerator.lower, compiled.numerator.upper
    terms = lower.coefficients[lower(law).argmax(axis=0)], upper.coefficients[upper(law).argmin(axis=0)]
    return linear_standard_error(terms[0], law, rows), linear_standard_error(terms[1], law, rows)


def supported_groups(test: Study, seed: int) -> Codes:
    """Groups that fix up to two covariates and have many held-out rows in each arm and in the registry.

    Parameters
    ----------
    test
        The rows held out.
    seed
        Of the choice where there are more than `MOST_GROUPS`; everyone is always among them.

    Returns
    -------
    Shape (groups, covariates).
    """
    codes = lattice.queries_fixing_at_most(test.schema, min(2, len(test.schema.names)))
    counts = lattice.sum_over(test.schema, codes, test.profiles, test.cell_evidence)
    enough = (test.structure.by_group(counts) >= MIN_GROUP_ROWS).all(axis=1)
    large = codes[enough]
    if len(large) <= MOST_GROUPS:
        return large
    chosen = np.random.default_rng(seed).choice(len(large), MOST_GROUPS, replace=False)
    return large[np.unique(np.append(chosen, np.flatnonzero((large == OPEN).all(axis=1))))]


# --- the rule -------------------------------------------------------------------------------------------


def _rule(law: Law, test: Study, known: BoolArray, seed: int) -> dict[str, tuple[float, float]]:
    """Value of the rule by covariates, of treating all and none, and Qini, each with its standard error."""
    structure = test.structure
    columns = [structure.column(cell) for cell in (Y_X, N_X, Y_X0, N_X0)]
    effect = np.nan_to_num(law.p(Y_X) - law.p(Y_X0))
    worth = 1.0 if test.design is None else float(test.design.cell_worth(structure)[columns].mean())
    trial = test.counts[:, columns] * known[:, None]
    order = np.argsort(-effect, kind="stable")
    treat = effect > 0

    def measure(counts: FloatArray) -> dict[str, float]:
        return {**_values(counts, treat), "qini": _qini(counts[order])}

    rng = np.random.default_rng(seed)
    drawn = [measure(rng.poisson(trial * worth) / worth) for _ in range(_BOOTSTRAP)]
    return {
        name: (value, _over_known(np.std, [each[name] for each in drawn])) for name, value in measure(trial).items()
    }


def _over_known(what: Callable[..., Any], values: Sequence[float]) -> float:
    """The mean, or another number, of values that are known; NaN where none is, as where an arm has no held-out row."""
    found = np.array(values)
    known = found[~np.isnan(found)]
    return float(what(known)) if len(known) else float("nan")


def _values(counts: FloatArray, treat: BoolArray) -> dict[str, float]:
    """Shares who respond in held-out rows of a trial, shape (profiles, 4), under the rule, all and none treated."""
    people = counts.sum()
    share = counts[treat].sum() / people if people else np.nan
    by_rule = share * _share(counts[treat], 0) if treat.any() else 0.0
    by_rule += (1 - share) * _share(counts[~treat], 2) if (~treat).any() else 0.0
    treated, untreated = _share(counts, 0), _share(counts, 2)
    return {
        "value of rule": by_rule,
        "value of treating all": treated,
        "value of treating none": untreated,
        "rule over the better of both": by_rule - max(treated, untreated),
    }


def _share(counts: FloatArray, first: int) -> float:
    """Share who respond in an arm, whose cells begin at `first`."""
    yes, no = counts[:, first].sum(), counts[:, first + 1].sum()
    return float(yes / (yes + no)) if yes + no else np.nan


def _qini(counts: FloatArray) -> float:
    """Mean, over the share treated, of the uplift of treating the best first less that of treating at random.

    `counts` have shape (profiles, 4), those who are predicted to gain most first.
    """
    total = np.cumsum(counts, axis=0)
    people = total.sum(axis=1)
    if not people[-1]:
        return float("nan")
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = total[:, 0] / (total[:, 0] + total[:, 1]) - total[:, 2] / (total[:, 2] + total[:, 3])
    uplift = np.append(0.0, np.nan_to_num(people / people[-1] * effect))
    at = np.linspace(0, 1, _QINI_POINTS + 1)
    curve = np.interp(at, np.append(0.0, people / people[-1]), uplift)
    return float((curve - at * curve[-1]).mean())


# --- all splits together --------------------------------------------------------------------------------


def summarise_splits(found: Mapping[str, Sequence[Split]], level: float) -> dict[str, list[Any]]:
    """All splits together: averages, with the error of one split, as they overlap.

    Parameters
    ----------
    found
        By model, its splits.
    level
        Confidence of the intervals.

    Returns
    -------
    Columns: the model, the measure, its value, and an interval where there is one.
    """
    rows: list[tuple[str, str, float, float, float]] = []
    z = two_sided(level)
    for name, splits in found.items():
        ends = np.concatenate([split.ends for split in splits])
        nothing = (np.nan, np.nan)
        if len(ends):
            rows.append(
                (
                    name,
                    "error of bounds",
                    *error_of_bounds([mean_square(split.ends) for split in splits if len(split.ends)], level),
                )
            )
            if not np.isnan(ends[:, 2]).all():
                rows.append((name, "error that the model expects", float(np.sqrt(np.nanmean(ends[:, 2]))), *nothing))
                rows.append((name, "coverage of intervals", float(ends[:, 3].mean()), *nothing))
        rows.append((name, "calibration error", _calibration_error(splits), *nothing))
        for measure in splits[0].rule:
            value = _over_known(np.mean, [split.rule[measure][0] for split in splits])
            error = _over_known(np.mean, [split.rule[measure][1] for split in splits])
            rows.append((name, measure, value, value - z * error, value + z * error))
    heads = ("model", "measure", "value", "low", "high")
    columns = {head: [row[k] for row in rows] for k, head in enumerate(heads)}
    numbers = {head: plain_numbers(np.array(columns[head], dtype=np.float64)) for head in heads[2:]}
    return {**columns, **numbers}


def mean_square(ends: FloatArray) -> float:
    """Mean squared error of the bounds in one split, the noise of held-out rows taken off; by chance below zero.

    Parameters
    ----------
    ends : shape (ends, 4)
        As `Split` has them.

    Returns
    -------
    float
    """
    return float((ends[:, 0] ** 2 - ends[:, 1]).mean())


def error_of_bounds(squares: Sequence[float], level: float) -> tuple[float, float, float]:
    """Root mean squared error over splits, and an interval from how they differ.

    As splits overlap the interval is that of one split, by Student's distribution, since they are few.

    Parameters
    ----------
    squares
        The mean squared error of each split, as `mean_square` has it.
    level
        Confidence of the interval.

    Returns
    -------
    value, low, high : float
        Without an interval if there is only one split.
    """
    from scipy.special import stdtrit  # loads SciPy, which a plain answer can do without

    mean = float(np.mean(squares))
    reach = np.nan
    if len(squares) > 1:
        reach = float(stdtrit(len(squares) - 1, (1 + level) / 2) * np.std(squares, ddof=1))
    value, low, high = (np.sqrt(np.maximum(each, 0.0)) for each in (mean, mean - reach, mean + reach))
    return float(value), float(low), float(high)


def _calibration_error(splits: Sequence[Split]) -> float:
    """Root of the mean squared difference of predicted and observed shares by tenths, their own noise taken off."""
    squares, weights = [], []
    for split in splits:
        for (_, number, _), (rows, predicted, observed, variance) in split.bins.items():
            if number >= 0 and rows > 0:
                squares.append(((predicted - observed) / rows) ** 2 - variance / rows**2)
                weights.append(rows)
    return float(np.sqrt(max(0.0, np.average(squares, weights=weights)))) if weights else float("nan")


def _calibration(
    found: Mapping[str, Sequence[Split]], names: Sequence[str], cells: Sequence[str]
) -> dict[str, list[Any]]:
    """One row a model, group, bin and cell."""
    heads = ("model", "group", "tenth", "cell", "rows", "predicted", "observed", "error")
    columns: dict[str, list[Any]] = {head: [] for head in heads}
    for name, splits in found.items():
        for key in splits[0].bins:
            group, number, cell = key
            rows, predicted, observed, variance = np.mean([split.bins[key] for split in splits], axis=0)
            if not rows:
                continue
            values = (
                name,
                names[group],
                None if number < 0 else number + 1,
                cells[cell],
                rows,
                predicted / rows,
                observed / rows,
                np.sqrt(variance) / rows,
            )
            for head, value in zip(heads, values, strict=True):
                columns[head].append(value if isinstance(value, str | int | None) else float(value))
    return columns


def _notes(found: Mapping[str, Sequence[Split]]) -> tuple[Note, ...]:
    groups = sum(len(split.ends) for split in next(iter(found.values()))) // 2
    if not groups:
        return (Note("validation_without_groups", {"rows": MIN_GROUP_ROWS}, WARNING),)
    return (Note("validation_groups", {"groups": groups, "rows": MIN_GROUP_ROWS}),)
