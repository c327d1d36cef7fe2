"""What would knowing more change? Which question about a partly described person is worth asking, and which was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.decisions.contradictions import answering_model
from pnsight.decisions.rule import NONE, NOT, TREAT, UNCERTAIN, Decisions, decided
from pnsight.errors import QueryError
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import CONTRADICTED, BoundTable, plain_numbers
from pnsight.queries.query import QueryLike, encode, example_query

NEVER = 1e-9
"""Probabilities up to this are none, but for rounding."""


@dataclass(frozen=True, repr=False)
class Questions(Tabular):
    """For one query: the decision as things are, and after each possible answer to each question that is open.

    A question asks for one covariate that the query leaves open; an answer is one of its levels. All but `now` have one
    entry for each answer to each question, shape (answers,).

    Attributes
    ----------
    now : the decision for the query itself
    after : the decisions with one more covariate known
    covariate, level : what is asked, and the answer
    probability : of the answer among people whom the query describes; NaN if there are none
    """

    now: Decisions
    after: Decisions
    covariate: Sequence[str]
    level: Sequence[str]
    probability: FloatArray

    @property
    def caption(self) -> str:
        """The decision as things are."""
        return f"as things are: {self.now.words()[0]}"

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Which question to ask, or why none; and what a reader of the answers should know."""
        return (self.advice, *self.now.notes)

    @property
    def advice(self) -> Note:
        """Which question to ask, or why none."""
        columns = self.columns()
        if not columns["covariate"]:
            return Note("everything_known")
        if (self.after.answers.status == CONTRADICTED).all():
            return Note("nothing_decided_whatever_known", severity="warning")
        best = columns["changes"][0]
        if best is None:
            return Note("nobody_described")
        if best < NEVER:
            return Note("no_question_helps")
        likely = {"probability": best, "always": best > 1 - NEVER}
        return Note("ask_first", {"covariate": columns["covariate"][0], **likely, "effect": self._effect(columns)})

    def _effect(self, columns: Mapping[str, Sequence[Any]]) -> str:
        """What the first question does to the decision where it changes it: settles, unsettles or changes it."""
        now, changes = str(self.now.decision[0]), columns["changes"][0]
        if now == UNCERTAIN:
            return "settles"
        return "unsettles" if now != NONE and columns[UNCERTAIN][0] > changes - NEVER else "changes"

    def columns(self) -> dict[str, list[Any]]:
        """One row a question, those most likely to change the decision first.

        ``changes`` is the probability that the decision would be another one; ``treat``, ``not``, ``uncertain`` and
        ``unanswered`` that it would be this one; ``width`` the mean distance of the bounds among those that have an
        answer.
        """
        return dict(self._by_question)

    @cached_property
    def _by_question(self) -> dict[str, list[Any]]:
        names = {name: place for place, name in enumerate(dict.fromkeys(self.covariate))}
        place = np.array([names[name] for name in self.covariate], dtype=np.intp)
        rows = self._summed(place, len(names))
        order = np.lexsort((rows["width"].round(9), -rows["changes"].round(9)))  # what is missing comes last
        found = {head: plain_numbers(values[order]) for head, values in rows.items()}
        return {"covariate": [list(names)[k] for k in order], **found}

    def _summed(self, place: npt.NDArray[np.intp], questions: int) -> dict[str, FloatArray]:
        """Sums over the answers to each question, shape (questions,) each; `place` says which question is answered."""

        def total(values: FloatArray, some: npt.NDArray[np.bool_]) -> FloatArray:
            return np.asarray(np.bincount(place, np.where(some, values, 0.0), questions), dtype=np.float64)

        probability, decision, answers = self.probability, self.after.decision, self.after.answers
        answered = decision != NONE
        found = {"changes": total(probability, (decision != self.now.decision[0]) & answered)}
        for word, head in {TREAT: TREAT, NOT: NOT, UNCERTAIN: UNCERTAIN, NONE: "unanswered"}.items():
            found[head] = total(probability, decision == word)
        known = total(probability, answered)
        width = total(probability * (answers.upper - answers.lower), answered)
        found["width"] = np.divide(width, known, out=np.full(questions, np.nan), where=known > 0)
        unknown = np.bincount(place, np.isnan(probability), questions) > 0
        return {head: np.where(unknown, np.nan, values) for head, values in found.items()}

    def by_level(self) -> dict[str, list[Any]]:
        """One row an answer: the question, the answer, its probability, then the decision as `Decisions` shows it."""
        asked = {"covariate": list(self.covariate), "level": list(self.level)}
        return {**asked, "probability": plain_numbers(self.probability), **self.after.columns()}


def ask(
    model: Model,
    query: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    **options: Any,
) -> Questions:
    """What the decision for one query would be, if one more covariate were known, and how likely that is.

    How likely an answer is follows from the model's law of the covariates, given what the query fixes. `options` are
    further arguments of `model.bounds`, the others those of `decide`.
    """
    codes = _one(model, query)
    asked = model.estimand(quantity, **options)
    return ask_beyond(model, codes, model.bounds(codes, asked), threshold, cautious, asked, extrapolate)


def ask_beyond(
    model: Model,
    codes: Codes,
    answer: BoundTable,
    threshold: float | None,
    cautious: bool,
    estimand: Estimand,
    extrapolate: bool = False,
) -> Questions:
    """The same where the answer to the query itself, given as codes of shape (1, covariates), is known already."""
    more, open_places = _one_more_known(model.schema, codes)
    after = decided(model.bounds(more, estimand), threshold, cautious, extrapolate)
    shares = answering_model(model, estimand).shares(more, estimand.population)
    covariates = [model.schema.covariates[j] for j in open_places]
    levels = [covariate.text(int(row[j])) for covariate, row, j in zip(covariates, more, open_places, strict=True)]
    return Questions(
        decided(answer, threshold, cautious, extrapolate),
        after,
        [covariate.name for covariate in covariates],
        levels,
        _given_the_query(shares, np.array(open_places, dtype=np.intp)),
    )


def left_open(
    model: Model,
    query: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    **options: Any,
) -> Decisions:
    """The decision for one query, then with each covariate that it fixes left open in turn.

    The paper's case study, for any query: it shows which of the things known the decision rests on.
    """
    codes = _one(model, query)
    fixed = np.flatnonzero(codes[0] != OPEN)
    answers = model.bounds(lattice.query_and_parents(codes[0]), quantity, **options)
    kept = {"left_open": ["", *(model.schema.names[j] for j in fixed)]}
    return decided(replace(answers, kept=kept), threshold, cautious, extrapolate)


def _one(model: Model, query: QueryLike) -> Codes:
    codes = encode(model.schema, query)
    if len(codes) != 1:
        raise QueryError(
            f"{len(codes)} queries are given; ask about one at a time, such as {example_query(model.schema)!r}."
        )
    return codes


def _one_more_known(schema: Schema, query: Codes) -> tuple[Codes, list[int]]:
    """The query with each level, or group of numbers, of each open covariate, and which covariate that is."""
    unknown = [(j, each.level_codes.tolist()) for j, each in enumerate(schema.covariates) if query[0, j] == OPEN]
    places = [j for j, codes in unknown for _ in codes]
    levels = [code for _, codes in unknown for code in codes]
    more = np.tile(query.astype(schema.code_type), (len(places), 1))
    more[np.arange(len(places)), places] = levels
    return more, places


def _given_the_query(shares: FloatArray, places: npt.NDArray[np.intp]) -> FloatArray:
    """Shares of the levels of each covariate, made to add up to one."""
    totals = np.bincount(places, weights=shares, minlength=1)[places]
    return np.asarray(np.divide(shares, totals, out=np.full(len(shares), np.nan), where=totals > 0))
