"""What would knowing more change? Which question about a partly described person is worth asking, and which was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pnsight import lattice
from pnsight.bound_table import plain_numbers
from pnsight.decide.rule import NONE, NOT, TREAT, UNCERTAIN, Decisions, decide, decided
from pnsight.errors import QueryError
from pnsight.law import FloatArray
from pnsight.models import Model
from pnsight.schema import OPEN, Codes, QueryLike
from pnsight.tabular import Tabular

_SAME = 1e-9
"""Probabilities nearer than this are the same."""


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
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Which question to ask, or why none; and what a reader of the answers should know."""
        return (self.advice, *self.now.answers.notes)

    @property
    def advice(self) -> str:
        """Which question to ask, or why none."""
        columns = self.columns()
        if not columns["covariate"]:
            return "every covariate is known: there is nothing to ask"
        best = columns["changes"][0]
        if best is None:
            return "nobody fits this description, so how likely an answer is cannot be said"
        if best < _SAME:
            return "no single question would change the decision"
        return f"ask for {columns['covariate'][0]} first: with probability {best:.3f} it changes the decision"

    def columns(self) -> dict[str, list[Any]]:
        """One row a question, those most likely to change the decision first.

        ``changes`` is the probability that the decision would be another one; ``treat``, ``not``, ``uncertain`` and
        ``unanswered`` that it would be this one; ``width`` the mean distance of the bounds among those that have an
        answer.
        """
        names = list(dict.fromkeys(self.covariate))
        rows = [self._summary(name) for name in names]
        order = sorted(range(len(names)), key=lambda k: (_last(-rows[k]["changes"]), _last(rows[k]["width"])))
        heads = ("changes", TREAT, NOT, UNCERTAIN, "unanswered", "width")
        summed = {head: plain_numbers(np.array([rows[k][head] for k in order], dtype=np.float64)) for head in heads}
        return {"covariate": [names[k] for k in order], **summed}

    def _summary(self, name: str) -> dict[str, float]:
        asked = np.array([covariate == name for covariate in self.covariate])
        probability, decision = self.probability[asked], self.after.decision[asked]
        words = {TREAT: TREAT, NOT: NOT, UNCERTAIN: UNCERTAIN, NONE: "unanswered"}
        of_each = {head: float(probability[decision == word].sum()) for word, head in words.items()}
        another = (decision != self.now.decision[0]) & (decision != NONE)
        if np.isnan(probability).any():
            return dict.fromkeys(["changes", *of_each, "width"], np.nan)
        answers = self.after.answers
        width = (answers.upper - answers.lower)[asked]
        answered = probability[decision != NONE].sum()
        mean = float(np.nansum(probability * width) / answered) if answered > 0 else np.nan
        return {"changes": float(probability[another].sum()), **of_each, "width": mean}

    def by_level(self) -> dict[str, list[Any]]:
        """One row an answer: the question, the answer, its probability, then the decision as `Decisions` shows it."""
        asked = {"covariate": list(self.covariate), "level": list(self.level)}
        return {**asked, "probability": plain_numbers(self.probability), **self.after.columns()}


def ask(
    model: Model, query: QueryLike = None, threshold: float | None = None, cautious: bool = False, **options: Any
) -> Questions:
    """What the decision for one query would be, if one more covariate were known, and how likely that is.

    How likely an answer is follows from the model's law of the covariates, given what the query fixes. `options` are
    further arguments of `model.bounds`.
    """
    codes = _one(model, query)
    more, open_places = _one_more_known(model.schema.shape, codes)
    after = decide(model, more, threshold, cautious, **options)
    shares = model.shares(more, options.get("population"))
    covariates = [model.schema.covariates[j] for j in open_places]
    levels = [covariate.levels[row[j]] for covariate, row, j in zip(covariates, more, open_places, strict=True)]
    return Questions(
        decide(model, codes, threshold, cautious, **options),
        after,
        [covariate.name for covariate in covariates],
        levels,
        _given_the_query(shares, np.array(open_places, dtype=np.intp)),
    )


def left_open(
    model: Model, query: QueryLike = None, threshold: float | None = None, cautious: bool = False, **options: Any
) -> Decisions:
    """The decision for one query, then with each covariate that it fixes left open in turn.

    The paper's case study, for any query: it shows which of the things known the decision rests on.
    """
    codes = _one(model, query)
    fixed = np.flatnonzero(codes[0] != OPEN)
    answers = model.bounds(lattice.one_less_fixed(codes[0]), **options)
    kept = {"left_open": ["", *(model.schema.names[j] for j in fixed)]}
    return decided(replace(answers, kept=kept), threshold, cautious)


def _one(model: Model, query: QueryLike) -> Codes:
    codes = model.schema.encode(query)
    if len(codes) != 1:
        raise QueryError(
            f"{len(codes)} queries are given; ask about one at a time, such as {model.schema.example()!r}."
        )
    return codes


def _one_more_known(shape: tuple[int, ...], query: Codes) -> tuple[Codes, list[int]]:
    """The query with each level of each open covariate, and which covariate that is."""
    places = [j for j, levels in enumerate(shape) if query[0, j] == OPEN for _ in range(levels)]
    levels = [level for j, levels in enumerate(shape) if query[0, j] == OPEN for level in range(levels)]
    more = np.tile(query, (len(places), 1))
    more[np.arange(len(places)), places] = levels
    return more, places


def _given_the_query(shares: FloatArray, places: np.ndarray[Any, np.dtype[np.intp]]) -> FloatArray:
    """Shares of the levels of each covariate, made to add up to one."""
    totals = np.bincount(places, weights=shares, minlength=1)[places]
    return np.asarray(np.divide(shares, totals, out=np.full(len(shares), np.nan), where=totals > 0))


def _last(number: float) -> float:
    """A key to sort by that puts what is missing last."""
    return np.inf if np.isnan(number) else round(number, 9)
