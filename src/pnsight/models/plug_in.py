"""The plug-in estimate: each query's own rows, put into the formulas. The paper's baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from pnsight._progress import Progress, no_progress
from pnsight._text import percent
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.data.study import People, Study
from pnsight.errors import ModelError, join_names
from pnsight.estimands.closed_forms import Ends
from pnsight.estimands.estimand import Question, refuse_to_fit
from pnsight.estimands.resolve import ROUNDING
from pnsight.models.base import LawModel, rows_behind
from pnsight.queries import lattice

MOST_UNCOVERED = 0.05
"""Share of a query's people whose profiles may lack rows; with more of them a standardised answer is undefined."""

_OF_THOSE_LEFT = "answers are about the people whose counts are left, who may respond otherwise than all"

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
    population: People = "observational"

    name: ClassVar[str] = "plug-in"
    method: ClassVar[str] = (
        "The plug-in: the shares of a group's own rows, put into the formulas. Exact where rows are many, wild where "
        "they are few, and without an answer where there are none: look at the rows beside an answer before you trust "
        "it. It gives no intervals."
    )

    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Keep the study; there is nothing else to learn."""
        self.validate_parameters()
        self.study_ = study
        return self

    def validate_parameters(self) -> None:
        """Raise an error where parameters are not known, or do not go together."""
        refuse_to_fit(self.quantity)
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
    def pools_rows(self) -> bool:
        """Whether open queries add up rows."""
        return self.mix == "rows"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader of any answer should know; counts that are withheld are those of other people than the rest."""
        found = super().caveats
        return (*found, _OF_THOSE_LEFT) if self.study.withheld and any(self.study.withheld.rows) else found

    def shares(self, codes: Codes, population: People | None = None) -> FloatArray:
        """Share of the people of a population, by default the model's, that are in each query, shape (queries,)."""
        return super().shares(codes, population or self.population)

    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """Empirical law of each query, NaN where the rows it needs are absent."""
        if self.mix == "profiles":
            return Law.from_columns(self._mean_parts(codes, Question())[0])
        observational = None if self.study.observational is None else counts[:, 4:]
        return Law.from_counts(counts[:, :4], observational)

    def ends_given(self, codes: Codes, counts: FloatArray, question: Question) -> Ends:
        """The formulas at the query's law, or the mean over its profiles where assumptions or refinement need them."""
        if question.by_profile:
            return question.ends_of(self._mean_parts(codes, question)[0], rows_behind(counts))
        return question.ends(self.law_given(codes, counts), rows_behind(counts))

    def notes(self, codes: Codes, question: Question) -> tuple[str, ...]:
        """For how many queries an answer made profile by profile leaves people out, and how far to trust it."""
        found = super().notes(codes, question)
        if question.refined:
            found += self._noise_notes()
        return found + self._cover_notes(codes, question) if question.by_profile or self.mix == "profiles" else found

    def _noise_notes(self) -> tuple[str, ...]:
        """What the noise of small profiles does to refined bounds, if there are any."""
        from pnsight.diagnostics.support import ENOUGH_ROWS  # loads SciPy, which a plain answer can do without

        people, rows = self.study.people(self.population), rows_behind(self.study.counts)
        few = people[(rows[:, : 2 if self.study.observational is None else 3] < ENOUGH_ROWS).any(axis=1)].sum()
        if not few:
            return ()
        return (
            f"{percent(few / people.sum())} of people have a profile with fewer than {ENOUGH_ROWS} rows in an arm or "
            "table: its noise makes refined bounds look tighter than they are; use a response-types model",
        )

    def _cover_notes(self, codes: Codes, question: Question) -> tuple[str, ...]:
        uncovered = 1 - self._mean_parts(codes, question)[1]
        many = uncovered > MOST_UNCOVERED
        few = (uncovered > ROUNDING) & ~many
        lack = "have a profile that lacks rows in one arm or table"
        if question.refined:
            lack += ", or whose bounds cross"
        notes = {
            f"{few.sum():,} of {len(codes):,} answers leave out people who {lack}, "
            f"at most {uncovered[few].max(initial=0):.1%} of those asked about": few,
            f"{many.sum():,} of {len(codes):,} queries have no answer: more than {MOST_UNCOVERED:.0%} of those asked "
            f"about {lack}; use fewer or coarser covariates": many,
        }
        return tuple(note for note, concerned in notes.items() if concerned.any())

    def _mean_parts(self, codes: Codes, question: Question) -> tuple[FloatArray, FloatArray]:
        """The mean of what each query's profiles bring to an answer, and the share of its people that they cover.

        For the law itself it is the sum over profiles z of P(z) P(y | do(x), z), and the same for the joint: all parts
        are means over the same profiles, those that have an answer.
        """
        study = self.study
        own = Law.from_counts(study.experimental, study.observational)
        parts = question.parts(own, rows_behind(study.counts))
        unknown = np.isnan(parts.sum(axis=1))
        people = study.people(self.population)
        covered = np.where(unknown, 0.0, people)
        weighed = np.nan_to_num(parts) * covered[:, None]
        sums = lattice.sum_over(study.schema, codes, study.profiles, np.column_stack([weighed, covered, people]))
        share = _ratio(sums[:, -2], sums[:, -1])
        mixed = _ratio(sums[:, :-2], sums[:, -2:-1])
        mixed[~(share >= 1 - MOST_UNCOVERED)] = np.nan
        return mixed, share


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """The quotient, NaN where the divisor is zero."""
    return np.asarray(part / np.where(whole > 0, whole, np.nan))
