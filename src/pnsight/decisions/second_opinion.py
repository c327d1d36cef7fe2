"""A second opinion: refined bounds of large groups, valid even where the model is wrong, beside the model's own.

A model is fitted to all folds of the rows but one, in turn. For every profile it only says which of the valid bounds to
use; the bound itself is a mean over the rows of the fold that was left out (`pnsight.estimands.dual_bounds`). If the
model is right the two agree. If it is wrong this one is wider than need be, and still holds; the model's own may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pnsight._progress import Progress, no_progress, subtask
from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import OPEN, Codes
from pnsight.data.structure import Structure
from pnsight.data.study import POOLED, Population, Study
from pnsight.decisions.contradictions import answering_model
from pnsight.decisions.validation import MIN_GROUP_ROWS, deal_study
from pnsight.errors import QueryError, join_names
from pnsight.estimands.compiled_ratio import CompiledRatio
from pnsight.estimands.confidence import simultaneous_levels
from pnsight.estimands.critical_values import two_sided
from pnsight.estimands.dual_bounds import CrossFit, DualBounds, dual_bounds
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.resolve import ROUNDING
from pnsight.models.base import Model, refuse_numbers
from pnsight.models.plug_in import MOST_UNCOVERED
from pnsight.notes import INFO, WARNING, Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable, plain_numbers
from pnsight.queries.query import QueryLike, encode

AGREE, TIGHTER, WIDER = "agree", "model tighter", "model wider"
"""Values of `agreement`: alike within chance; the model claims more than the rows bear out; or less than they allow."""

ROWS_PER_FEATURE = 20
"""Rows that a group needs in each arm for every covariate's category that arms are weighted by, and in the category."""

IN_STEP, DIFFER = "opinions_agree", "opinions_differ"
"""Kinds of notes that say whether the two agree."""

NEEDS_ROWS, NEEDS_OVERLAP, CONTRADICTED = "opinion_needs_rows", "opinion_needs_overlap", "opinion_contradicted"
"""Kinds of notes that say why there is no second opinion on a group."""


@dataclass(frozen=True, repr=False)
class SecondOpinion(Tabular):
    """Refined bounds by the model and by a second opinion, one row a group; arrays of shape (groups,).

    Attributes
    ----------
    quantity, queries : what is bounded, and of whom
    model_lower, model_upper : the model's refined bounds, NaN without an answer
    model_low, model_high : from where the interval of its lower end begins to where that of its upper end stops
    lower, upper : bounds by the second opinion, which hold whatever the model; NaN without an answer
    low, high : the same of their intervals: both ends of the true refined bounds are within, with confidence `level`
    lower_error, upper_error : standard errors of `lower` and `upper`
    agreement : `AGREE`, `TIGHTER`, `WIDER`, or nothing where one of them has no answer
    level : confidence
    notes : what a reader should know
    """

    quantity: str
    queries: tuple[str, ...]
    model_lower: FloatArray
    model_upper: FloatArray
    model_low: FloatArray
    model_high: FloatArray
    lower: FloatArray
    upper: FloatArray
    low: FloatArray
    high: FloatArray
    lower_error: FloatArray
    upper_error: FloatArray
    agreement: npt.NDArray[np.str_]
    level: float
    notes: tuple[Note, ...]

    NUMBERS: ClassVar = ("model_lower", "model_upper", "model_low", "model_high", "lower", "upper", "low", "high")

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def caption(self) -> str:
        """What is shown."""
        return f"refined bounds on {self.quantity} by the model and by a second opinion; {self.level:.0%} intervals"

    def columns(self) -> dict[str, list[Any]]:
        """The query, both bounds with their intervals, and whether they agree."""
        numbers = {name: plain_numbers(getattr(self, name)) for name in self.NUMBERS}
        return {"query": list(self.queries), **numbers, "agreement": [str(word) for word in self.agreement]}


def second_opinion(
    model: Model,
    queries: QueryLike = None,
    quantity: EstimandLike = None,
    folds: int = 4,
    random_state: int = 0,
    progress: Progress = no_progress,
    **options: Any,
) -> SecondOpinion:
    """Refined bounds that hold whatever the model, beside the model's own.

    What is taken for granted: rows of each table are independent, or in the clusters that they were read with, and arms
    of the trial differ from the people asked about in the shares of the categories of each covariate only, or not at
    all; how they differ in combinations is the model's to know.

    Parameters
    ----------
    model
        A fitted model that knows the law; one with the same parameters is fitted without each fold.
    queries
        Groups; by default everyone, and each category of a covariate that has rows enough.
    quantity
        What to bound, by default what the model was fitted for.
    folds
        How many folds the rows are dealt into, at least 2.
    random_state
        Seed of the folds.
    progress
        Told which fold is at work.
    options
        What else `Estimand.parse` takes, without assumptions: ``level``, ``population``, ``payoffs``, ``contrast`` ...

    Returns
    -------
    One row a group.
    """
    asked = model.estimand(quantity, **options)
    shown = answering_model(model, asked)
    asked = replace(asked, refine="covariates", trial_alone=False, simultaneous=False, median_unbiased=False)
    _validate(shown, asked, folds)
    study = shown.study
    codes = _large_groups(study) if queries is None else encode(study.schema, queries)
    parts = deal_study(study, folds, random_state)
    told = [subtask(progress, k, len(parts), f"fold {k + 1} of {len(parts)}") for k in range(len(parts))]
    laws = np.stack([_law_without(shown, part, each) for part, each in zip(parts, told, strict=True)])
    rows = _Rows(study, np.stack(parts)[:, :, : study.structure.n_cells], laws, _people_asked(shown, asked))
    return _beside_model(shown.bounds(codes, asked), [rows.opinion(query, asked) for query in codes], asked)


def _validate(model: Model, asked: Estimand, folds: int) -> None:
    study = model.study
    if not model.capabilities.law:
        raise QueryError(
            f"a {model.name} model knows no law that a second opinion could start from; fit a response-types or "
            "plug-in model."
        )
    refuse_numbers(study.schema, "a second opinion counts rows by level", "fit a model without them")
    if study.withheld is not None:
        raise QueryError(
            "small counts are withheld from this study, so that means over its rows are not those of its people; ask "
            "for a second opinion before they are."
        )
    if study.partly_observed:
        raise QueryError(
            "some rows show less than a cell, such as censored times or missing outcomes, and a second opinion is a "
            "mean over rows that show one; leave such rows out (--missing-outcome drop), or use pnsight validate."
        )
    if asked.assume:
        raise QueryError(
            f"a second opinion goes without assumptions, but {join_names(asked.assume)} is given; leave --assume "
            "(assume=) out."
        )
    if folds < 2:
        raise QueryError(f"{folds} folds are asked for; give at least 2, so that each can be left out in turn.")


def _large_groups(study: Study) -> Codes:
    """Everyone, and each category of one covariate with rows enough."""
    codes = lattice.queries_fixing_at_most(study.schema, min(1, len(study.schema.names)))
    counts = lattice.sum_over(study.schema, codes, study.profiles, study.effective_counts)
    large = (study.structure.by_group(counts) >= MIN_GROUP_ROWS).all(axis=1)
    found: Codes = codes[large | (codes == OPEN).all(axis=1)]
    return found


def _law_without(model: Model, part: FloatArray, progress: Progress) -> FloatArray:
    """The law of every profile by a model of the other folds, shape (profiles, cells); everyone's where it has none."""
    study = model.study
    rest = study.with_counts(study.counts - part).drop_empty_profiles()
    quicker: dict[str, Any] = {"intervals": False} if model.capabilities.simulates_studies else {}
    found = model.unfitted(**quicker).fit(rest, progress).law(study.profiles).cells
    everyone = np.nan_to_num(Law.from_counts(rest.cell_rows, study.structure).cells)
    return np.where(np.isnan(found), everyone, found)


def _people_asked(model: Model, asked: Estimand) -> BoolArray:
    """Which cells hold rows of the people that the estimand is about, shape (cells,)."""
    tables = model.structure.tables
    own: Population = getattr(model, "population", "observational")
    whose = asked.population or own
    chosen = tables if whose == POOLED or whose not in tables else (whose,)
    return np.isin([group.table for group in model.structure.groups for _ in group.cells], chosen)


# --- one group ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Rows in folds, and the laws of their profiles by models of the other folds.

    Attributes
    ----------
    study : whose rows
    counts, laws : shape (folds, profiles, cells)
    people : shape (cells,)
        Which rows are people of the population asked about.
    """

    study: Study
    counts: FloatArray
    laws: FloatArray
    people: BoolArray

    def opinion(self, query: Codes, asked: Estimand) -> DualBounds | str:
        """The second opinion on one group; the kind of note that says why there is none."""
        structure = self.study.structure
        inside = lattice.matching_profiles(self.study.profiles, query)
        counts, compiled = self.counts[:, inside], asked.compiled(structure)
        rows = counts.sum(axis=0)
        groups = structure.by_group(rows)[:, _used(compiled, structure)]
        features = _features(self.study.profiles[inside], rows[:, self.people].sum(axis=1), groups)
        if features is None:
            return NEEDS_OVERLAP
        enough = max(MIN_GROUP_ROWS, ROWS_PER_FEATURE * features.shape[1])
        effective = structure.by_group(rows * self._worth)[:, _used(compiled, structure)].sum(axis=0)
        if min(effective.min(initial=np.inf), rows[:, self.people].sum()) < enough:
            return NEEDS_ROWS
        given = CrossFit(structure, counts, self.laws[:, inside], self.people, features, self._worth)
        return dual_bounds(compiled, given) or NEEDS_OVERLAP

    @property
    def _worth(self) -> FloatArray:
        """How many independent rows a row of each cell is worth, shape (cells,)."""
        structure, design = self.study.structure, self.study.design
        return np.ones(structure.n_cells) if design is None else design.cell_worth(structure)[: structure.n_cells]


def _used(compiled: CompiledRatio, structure: Structure) -> BoolArray:
    """Groups of cells that bounds depend on, shape (groups,)."""
    terms = [compiled.numerator.lower, compiled.numerator.upper, *([] if compiled.event is None else [compiled.event])]
    used = np.concatenate([np.abs(each.coefficients) for each in terms]).sum(axis=0)
    return structure.by_group(used) > 0


def _features(profiles: Codes, people: FloatArray, groups: FloatArray) -> FloatArray | None:
    """Categories of the covariates as indicators, shape (profiles, features), those left out that have few rows.

    Parameters
    ----------
    profiles : shape (profiles, covariates)
        Codes.
    people : shape (profiles,)
        Rows of the people asked about.
    groups : shape (profiles, groups)
        Rows of the groups of cells that are weighted to them.

    Returns
    -------
    None where categories with too few rows hold too many of the people asked about.
    """
    found = []
    for column in profiles.T:
        categories, place = np.unique(column, return_inverse=True)
        indicators = np.eye(len(categories))[place]
        rows = indicators.T @ np.column_stack([people, groups])
        common = (rows >= ROWS_PER_FEATURE).all(axis=1)
        if rows[~common, 0].sum() > MOST_UNCOVERED * people.sum():
            return None
        largest = int(rows[:, 0].argmax())  # the others say what share is left to it
        found.append(indicators[:, common & (np.arange(len(categories)) != largest)])
    return np.concatenate([np.empty((len(profiles), 0)), *found], axis=1)


# --- beside the model -----------------------------------------------------------------------------------


def _beside_model(answers: BoundTable, found: Sequence[DualBounds | str], asked: Estimand) -> SecondOpinion:
    """Both opinions on each group."""
    nothing = DualBounds(np.nan, np.nan, np.nan, np.nan)
    z = two_sided(asked.level)
    found = [each if isinstance(each, str) else _uncrossed(each, z) for each in found]
    rows = [nothing if isinstance(each, str) else each for each in found]
    numbers = {name: np.array([getattr(each, name) for each in rows]) for name in vars(nothing)}
    low, high = numbers["lower"] - z * numbers["lower_error"], numbers["upper"] + z * numbers["upper_error"]
    lower, upper = np.clip(numbers["lower"], *asked.span), np.clip(numbers["upper"], *asked.span)
    made = SecondOpinion(
        quantity=answers.quantity,
        queries=tuple(answers.queries),
        model_lower=answers.lower,
        model_upper=answers.upper,
        model_low=answers.interval("lower")[0],
        model_high=answers.interval("upper")[1],
        lower=lower,
        upper=upper,
        low=np.clip(low, *asked.span),
        high=np.clip(high, *asked.span),
        lower_error=numbers["lower_error"],
        upper_error=numbers["upper_error"],
        agreement=_agreement(answers, {**numbers, "lower": lower, "upper": upper}, asked.level),
        level=asked.level,
        notes=(),
    )
    return replace(made, notes=(*answers.notes, *_notes(made, found)))


def _uncrossed(found: DualBounds, z: float) -> DualBounds | str:
    """Ends that do not cross: where they do within chance, both are where each is equally many errors off.

    Beyond chance, so that not even their intervals meet, no population fits the tables, and there is no answer.
    """
    gap, errors = found.lower - found.upper, found.lower_error + found.upper_error
    if gap <= ROUNDING:
        return replace(found, lower=min(found.lower, found.upper))
    if gap > z * errors:
        return CONTRADICTED
    between = found.lower - gap * found.lower_error / errors
    return replace(found, lower=between, upper=between)


def _agreement(answers: BoundTable, numbers: Mapping[str, FloatArray], level: float) -> npt.NDArray[np.str_]:
    """Whether ends differ by more than chance, in any of the groups with a chance of 1 - `level`.

    Both come from the same rows, so that they differ by less than two independent estimates would.
    """
    z = two_sided(simultaneous_levels(level, max(1, len(answers)))[0])
    errors = [np.nan_to_num(answers.standard_error(end)) for end in ("lower", "upper")]
    reach = [z * np.hypot(own, numbers[f"{end}_error"]) for end, own in zip(("lower", "upper"), errors, strict=True)]
    inwards = answers.lower - numbers["lower"], numbers["upper"] - answers.upper
    tighter = np.any([gap > far for gap, far in zip(inwards, reach, strict=True)], axis=0)
    wider = np.any([-gap > far for gap, far in zip(inwards, reach, strict=True)], axis=0)
    unknown = np.isnan(inwards[0] + inwards[1])
    return np.select([unknown, tighter, wider], ["", TIGHTER, WIDER], AGREE)


def _notes(made: SecondOpinion, found: Sequence[DualBounds | str]) -> Iterator[Note]:
    """Whether the two agree, and of how many groups there is no second opinion."""
    compared = [str(word) for word in made.agreement if word]
    for word in (TIGHTER, WIDER):
        named = [query for query, one in zip(made.queries, made.agreement, strict=True) if one == word]
        if named:
            values = {"queries": named, "of": len(compared), "tighter": word == TIGHTER}
            yield Note(DIFFER, values, WARNING if word == TIGHTER else INFO)
    if compared and set(compared) == {AGREE}:
        yield Note(IN_STEP, {"groups": len(compared)})
    needed = {"rows": MIN_GROUP_ROWS, "each": ROWS_PER_FEATURE}
    for kind in (NEEDS_ROWS, NEEDS_OVERLAP, CONTRADICTED):
        if groups := sum(each == kind for each in found):
            yield Note(kind, {"groups": groups, **({} if kind == CONTRADICTED else needed)})
