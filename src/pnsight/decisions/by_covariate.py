"""Decisions by covariate: who is treated how often, and how far the decisions may be wrong.

Each person is decided upon by all that is known about them: profiles are decided one by one, and weigh by their people.
What a decision brings is bounded, so its errors are too: of those treated, how many it does not help and how many it
harms at most; of those not treated, how many it would have helped at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.decisions.considered import possible_profiles
from pnsight.decisions.contradictions import answering_model, refuse_all_contradicted
from pnsight.decisions.harm_cap import mean_among, most_harmed
from pnsight.decisions.rule import NONE, NOT, TREAT, UNCERTAIN, Decisions, decided
from pnsight.errors import QuantityError, QueryError, did_you_mean, join_names
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.quantities import PNS, find_quantity
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import plain_numbers
from pnsight.queries.query import QueryLike, encode

_WORDS = {"treat": TREAT, "not": NOT, "uncertain": UNCERTAIN, "unanswered": NONE}

SHARES = ("people", *_WORDS, "not_helped", "harmed", "missed")
"""Numbers of each level, in the order of `DecisionsBy.columns`."""


@dataclass(frozen=True, repr=False)
class DecisionsBy(Tabular):
    """What is decided about the people of each level of a covariate, everyone last.

    Attributes
    ----------
    covariate : whose levels they are
    levels : the levels; empty for everyone
    shares : by name, shape (levels + 1,)
        ``people``, the share of all people; ``treat``, ``not``, ``uncertain`` and ``unanswered``, shares of the people
        of the level, which add up to one; ``not_helped`` and ``harmed``, of those treated at most; ``missed``, of those
        not treated at most, whom treatment would help. NaN where there is nobody to be right or wrong about, and harm
        where the model does not know it.
    threshold : what the quantity must reach
    cautious : whether decisions are cautious
    notes : what a reader should know
    """

    covariate: str
    levels: tuple[str, ...]
    shares: dict[str, FloatArray]
    threshold: float
    cautious: bool
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def caption(self) -> str:
        """What is shown."""
        return f"decisions by {self.covariate}: shares of the people of each level, and of those decided upon"

    def columns(self) -> dict[str, list[Any]]:
        """The level and its shares."""
        return {"level": list(self.levels), **{name: plain_numbers(self.shares[name]) for name in SHARES}}


def decisions_by(
    model: Model,
    covariate: str,
    query: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    **options: Any,
) -> DecisionsBy:
    """Who is treated how often, by the levels of a covariate, and how far these decisions may be wrong.

    Parameters
    ----------
    model
        A fitted model.
    covariate
        One of its covariates; of numbers, its groups.
    query
        Whose people; by default everyone.
    threshold, cautious, extrapolate
        As `decide` takes them.
    quantity, options
        What is asked, as `model.bounds` takes it; the quantity must be a gain.

    Returns
    -------
    One row a level, and one for all of them.
    """
    place = _place(model, covariate)
    asked = model.estimand(quantity, **options)
    if find_quantity(asked.quantity.name).direction != "gain":
        raise QuantityError(
            f"{asked.quantity.name} does not say whom to treat; ask about pns, effect or benefit (quantity=)."
        )
    whose = answering_model(model, asked)
    codes = possible_profiles(whose.study)
    codes = codes[lattice.matching_profiles(codes, encode(model.schema, query)[0])]
    share = whose.shares(codes, asked.population)
    codes, share = codes[share > 0], share[share > 0]
    if not len(codes):
        raise QueryError("nobody fits this description, so there is nobody to decide about; ask about others.")
    answers = model.bounds(codes, asked)
    refuse_all_contradicted(answers, "nothing can be decided")
    found = decided(answers, threshold, cautious, extrapolate)
    errors = _errors(model, codes, asked, found)
    each = model.schema.covariates[place]
    groups = [_level(codes, place, int(code)) for code in each.level_codes]
    rows = [_row(group, share, found, errors) for group in (*groups, np.ones(len(codes), dtype=bool))]
    return DecisionsBy(
        covariate,
        (*map(each.text, each.level_codes.tolist()), ""),
        {name: np.array([row[name] for row in rows]) for name in SHARES},
        found.threshold,
        cautious,
        tuple(note for note in answers.notes if note.kind != "answers_contradicted"),
    )


def _place(model: Model, covariate: str) -> int:
    names = model.schema.names
    if covariate not in names:
        known = f"the covariates are {join_names(names)}." if names else "the study has none."
        raise QueryError(f"no covariate is called {covariate!r}; {known}{did_you_mean(covariate, names)}")
    return list(names).index(covariate)


def _level(codes: Codes, place: int, code: int) -> BoolArray:
    """Which profiles have a level, shape (profiles,)."""
    query = np.full(codes.shape[1], OPEN, dtype=codes.dtype)
    query[place] = code
    inside = np.zeros(len(codes), dtype=bool)
    inside[lattice.matching_profiles(codes, query)] = True
    return inside


def _errors(model: Model, codes: Codes, asked: Estimand, found: Decisions) -> dict[str, FloatArray]:
    """How far a decision about each profile may be wrong, shape (profiles,) each; NaN where that is not known."""
    unknown = np.full(len(codes), np.nan)
    able = model.capabilities.law and not asked.is_statement
    helped = found.answers if asked.quantity == PNS else model.bounds(codes, asked.of_quantity(PNS)) if able else None
    return {
        "not_helped": unknown if helped is None else 1 - helped.lower,
        "harmed": most_harmed(model, codes, asked),
        "missed": unknown if helped is None else helped.upper,
    }


def _row(inside: BoolArray, share: FloatArray, found: Decisions, errors: dict[str, FloatArray]) -> dict[str, float]:
    people = float(share[inside].sum())
    part = {name: share[inside & (found.decision == word)].sum() for name, word in _WORDS.items()}
    of_whom = {"not_helped": TREAT, "harmed": TREAT, "missed": NOT}
    wrong = {name: mean_among(errors[name], share, inside & (found.decision == word)) for name, word in of_whom.items()}
    return {
        "people": people,
        **{name: float(size) / people if people else np.nan for name, size in part.items()},
        **wrong,
    }
