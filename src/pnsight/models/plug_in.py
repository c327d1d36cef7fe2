"""The plug-in estimate: each query's own rows, put into the formulas. The paper's baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from pnsight._progress import Progress, no_progress
from pnsight._typing import FloatArray
from pnsight.data.coarsened import effective_counts, information_covariance
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.data.study import Population, Study
from pnsight.errors import ModelError, join_names
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.confidence import EndNoise, LawNoise
from pnsight.estimands.estimand import Estimand, validate_fitted_quantity
from pnsight.estimands.resolve import ROUNDING
from pnsight.estimands.sampling_error import CellCovariance, SamplingError
from pnsight.models.base import Capabilities, LawModel, refuse_numbers
from pnsight.models.profile_noise import ProfileNoise
from pnsight.notes import Note
from pnsight.queries import lattice

MOST_UNCOVERED = 0.05
"""Share of a query's people whose profiles may lack rows; with more of them a standardised answer is undefined."""

_CHOICES = {"mix": ("rows", "profiles"), "population": ("observational", "experimental", "pooled")}


@dataclass(eq=False)
class PlugIn(LawModel):
    """Empirical laws: undefined without rows, wild with few; the ends are pushed outwards or inwards by noise.

    Parameters
    ----------
    quantity
        What `bounds` answers when it is not asked for another.
    mix
        How a query that leaves covariates open mixes its profiles. ``"rows"``, the paper's, adds up the rows of each
        table: right if treatment was assigned alike throughout the experiment and both tables mix the covariates
        alike. ``"profiles"`` takes each profile's own law and weighs it by the profile's share of `population`.
    population
        Whose shares: ``"observational"``, ``"experimental"`` or ``"pooled"``, both tables together. An experiment
        alone is its own population.
    """

    quantity: str = "pns"
    mix: Literal["rows", "profiles"] = "rows"
    population: Population = "observational"

    name: ClassVar[str] = "plug-in"
    method: ClassVar[str] = (
        "The plug-in: the shares of a group's own rows, put into the formulas. Exact where rows are many, wild where "
        "they are few, and without an answer where there are none: look at the rows beside an answer before you trust "
        "it. Its intervals are closed forms: they say how far the shares of so many rows stray by chance, and nothing "
        "about people who are not like those who were counted."
    )

    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Keep the study; there is nothing else to learn."""
        self.validate_parameters()
        refuse_numbers(study.schema, f"a {self.name} model counts rows by level", "fit a response-types model")
        self.study_ = study
        self.libraries = {}
        return self

    def validate_parameters(self) -> None:
        """Refuse parameters that are not known, or do not go together."""
        validate_fitted_quantity(self.quantity)
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ModelError(
                    f"{name} is {getattr(self, name)!r}; expected one of {join_names(map(repr, allowed))}."
                )
        if self.mix == "rows" and self.population != "observational":
            raise ModelError(
                f"population {self.population!r} says whose profiles to weigh by, but mix 'rows' weighs none; "
                "use it with --mix profiles (mix='profiles')."
            )

    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given."""
        return {"quantity": self.quantity, "mix": self.mix, "population": self.population}

    def explain(self) -> str:
        """Nothing was chosen: how answers are made."""
        how = {
            "rows": "Each answer puts the rows of its query into the formulas.",
            "profiles": "Each answer averages the laws of its query's profiles, as their own rows show them, over the "
            f"{self.population} people.",
        }
        return f"Nothing was learned. {how[self.mix]}"

    @property
    def capabilities(self) -> Capabilities:
        """The law from a query's own rows, and so no answer without rows; intervals from how many they are."""
        return Capabilities(law=True, intervals=True, pools_rows=self.mix == "rows")

    def from_trial_alone(self) -> PlugIn:
        """The plug-in of the experimental rows."""
        study = self.study.with_tables(observational=None).drop_empty_profiles()
        return PlugIn(self.quantity, self.mix, "observational" if self.mix == "rows" else "experimental").fit(study)

    def shares(self, codes: Codes, population: Population | None = None) -> FloatArray:
        """Share of the people of a population, by default the model's, that are in each query, shape (queries,)."""
        return super().shares(codes, population or self.population)

    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """Empirical law of each query, NaN where the rows it needs are absent."""
        if self.mix == "profiles":
            return Law(self.structure, self._mean_terms(codes, Estimand())[0])
        return Law.from_counts(counts, self.structure)

    def ends_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> Ends:
        """The formulas at the query's law, or the mean over its profiles where assumptions or refinement need them."""
        if estimand.needs_profiles(self.structure):
            terms = self._mean_terms(codes, estimand)[0]
            ends = estimand.bounds_from_mean_terms(terms, self.structure, self.structure.by_group(counts))
            return self._crossed_where_profiles_are(codes, estimand, ends)
        return estimand.bounds_at(self.law_given(codes, counts), self.structure.by_group(counts))

    def noise_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> EndNoise:
        """How far the shares of so many rows stray, those of the query or of each of its profiles."""
        by_profile = estimand.needs_profiles(self.structure)
        rows = self.structure.by_group(self._effective(counts))
        if not by_profile and self.mix == "rows":
            law = self.law_given(codes, counts)
            return LawNoise(estimand, law, self._sampling_error(law, self._effective(counts), rows))
        noise = self._profile_noise(estimand)
        return noise.of_mean_terms(codes, rows.min(axis=1)) if by_profile else noise.of_laws(codes)

    def law_and_error(self, codes: Codes, estimand: Estimand) -> tuple[Law, FloatArray | SamplingError]:
        """The law of each query's own rows, or of its profiles' together, and how far it strays."""
        counts = self.counts(codes)
        if self.mix == "profiles":
            return self._profile_noise(Estimand()).of_laws(codes).law_and_error
        law = self.law_given(codes, counts)
        effective = self._effective(counts)
        return law, self._sampling_error(law, effective, self.structure.by_group(effective))

    def effective_rows_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> FloatArray:
        """The query's own effective rows, or as many as would show a mean over its profiles as well."""
        if estimand.needs_profiles(self.structure) or self.mix == "profiles":
            return self._profile_noise(estimand).effective_rows(codes)
        return np.asarray(self.structure.by_group(self._effective(counts)).min(axis=1))

    def _profile_noise(self, estimand: Estimand) -> ProfileNoise:
        terms, people = self._profile_terms(estimand)
        effective = self.study.with_counts(self._effective(self.study.counts))
        everyone = np.nan_to_num(Law.from_counts(self.study.cell_rows, self.structure).cells)
        own = self.structure.by_group(effective_counts(effective.counts, everyone, self.structure))
        return ProfileNoise(self.study, estimand, terms, own, people, effective.profile_counts(self.population))

    def _sampling_error(self, law: Law, counts: FloatArray, rows: FloatArray) -> FloatArray | SamplingError:
        """How far laws stray: by the rows of each group or, where some show less than a cell, by their information."""
        if not self.study.partly_observed:
            return rows
        return CellCovariance(information_covariance(counts, law.cells, self.structure), rows.min(axis=1))

    def _effective(self, counts: FloatArray) -> FloatArray:
        """Rows by what they are worth, in the structure's cells, from and to shape (..., cells)."""
        design = self.study.design
        return counts if design is None else counts * design.cell_worth(self.structure)

    def notes(self, codes: Codes, estimand: Estimand) -> tuple[Note, ...]:
        """For how many queries an answer made profile by profile leaves people out, and how far to trust it."""
        found = super().notes(codes, estimand)
        if estimand.refines(self.structure):
            found += self._noise_notes()
        return (
            found + self._cover_notes(codes, estimand)
            if estimand.needs_profiles(self.structure) or self.mix == "profiles"
            else found
        )

    def _noise_notes(self) -> tuple[Note, ...]:
        """What the noise of small profiles does to refined bounds, if there are any."""
        from pnsight.diagnostics.support import ENOUGH_ROWS  # loads SciPy, which a plain answer can do without

        people, rows = self.study.profile_counts(self.population), self.structure.by_group(self.study.counts)
        few = people[(rows < ENOUGH_ROWS).any(axis=1)].sum()
        if not few:
            return ()
        return (Note("noisy_profiles", {"share": few / people.sum(), "rows": ENOUGH_ROWS}, "warning"),)

    def _cover_notes(self, codes: Codes, estimand: Estimand) -> tuple[Note, ...]:
        uncovered = 1 - self._mean_terms(codes, estimand)[1]
        many = uncovered > MOST_UNCOVERED
        few = (uncovered > ROUNDING) & ~many
        asked = {"of": len(codes), "refined": estimand.refines(self.structure)}
        left_out = {**asked, "answers": few.sum(), "share": uncovered[few].max(initial=0)}
        unanswered = {**asked, "queries": many.sum(), "share": MOST_UNCOVERED}
        found = (Note("people_left_out", left_out, "warning"),) if few.any() else ()
        return (*found, Note("queries_unanswered", unanswered, "warning")) if many.any() else found

    def _mean_terms(self, codes: Codes, estimand: Estimand) -> tuple[FloatArray, FloatArray]:
        """The mean of what each query's profiles bring to an answer, and the share of its people that they cover.

        For the law itself it is the sum over profiles z of P(z) P(y | do(x), z), and the same for the joint: all parts
        are means over the same profiles, those that have an answer.
        """
        parts, covered = self._profile_terms(estimand)
        people = self.study.profile_counts(self.population)
        weighed = np.nan_to_num(parts) * covered[:, None]
        values = np.column_stack([weighed, covered, people])
        sums = lattice.sum_over(self.schema, codes, self.study.profiles, values)
        share = _ratio(sums[:, -2], sums[:, -1])
        mixed = _ratio(sums[:, :-2], sums[:, -2:-1])
        mixed[~(share >= 1 - MOST_UNCOVERED)] = np.nan
        return mixed, share

    def _crossed_where_profiles_are(self, codes: Codes, estimand: Estimand, ends: Ends) -> Ends:
        """Ends that cross where the profiles of too many people contradict themselves: no population has them all."""
        own, people = Law.from_counts(self.study.counts, self.structure), self.study.profile_counts(self.population)
        known = estimand.profile_terms(own, self.structure.by_group(self.study.counts), may_cross=True)
        answered = self._profile_terms(estimand)[1]
        contradictory = np.where(np.isnan(known.sum(axis=1)), 0.0, people - answered)
        if not contradictory.any():
            return ends
        sums = lattice.sum_over(self.schema, codes, self.study.profiles, np.column_stack([contradictory, people]))
        many = _ratio(sums[:, 0], sums[:, 1]) > MOST_UNCOVERED
        lower, upper = ends
        return np.where(many, np.inf, lower), np.where(many, -np.inf, upper)  # the extremes of an empty set

    def _profile_terms(self, estimand: Estimand) -> tuple[FloatArray, FloatArray]:
        """What each profile brings to the mean, shape (profiles, terms), and its people if it has an answer."""
        own = Law.from_counts(self.study.counts, self.structure)
        parts = estimand.profile_terms(own, self.structure.by_group(self.study.counts))
        unknown = np.isnan(parts.sum(axis=1))
        return parts, np.where(unknown, 0.0, self.study.profile_counts(self.population))


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """The quotient, NaN where the divisor is zero."""
    return np.asarray(part / np.where(whole > 0, whole, np.nan))
