"""Asking one model for the pages and the JSON interface: what was asked lately is remembered."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pnsight.data.schema import Codes, codes_of
from pnsight.decisions import (
    NONE,
    ArmDecisions,
    Decisions,
    DecisionsBy,
    Questions,
    Ranking,
    WhatIf,
    ask_beyond,
    decide_arm,
    decided,
    decisions_by,
    rank,
    tip,
    what_if,
)
from pnsight.decisions.harm_cap import most_harmed
from pnsight.decisions.ranking import By
from pnsight.errors import LimitError
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.quantities import PNS, Quantity
from pnsight.models import Model
from pnsight.models.response_types.config import MAX_ENUMERATED_PROFILES
from pnsight.notes import Note
from pnsight.output.per_hundred import PerHundred, per_hundred
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.queries.bound_table import BoundTable
from pnsight.web.capabilities import Ability
from pnsight.web.state import Options, Reader, State

if TYPE_CHECKING:
    from pnsight.diagnostics import Check

_REMEMBERED = 1024
"""Answers to single queries that are remembered, a few hundred bytes each."""

_PROBE = 32
"""Queries whose time tells how long many will take."""

MOST_SECONDS = 60.0
"""What would take longer is refused."""


class Explorer:
    """A model to explore."""

    def __init__(
        self,
        model: Model,
        verdict: TablesVerdict | None = None,
        trial_verdict: TablesVerdict | None = None,
        ability: Ability | None = None,
    ) -> None:
        """`verdict` says whether the tables are usable; by default they are checked when that is first asked for.

        `trial_verdict` says that of the experiment alone, and `ability` what the model answers.
        """
        self.model, self.schema = model, model.schema
        self._verdict, self._of_trial = verdict, trial_verdict
        self.ability, self.reader = ability or Ability.of(model), Reader(model)
        self._answer = lru_cache(_REMEMBERED)(self._answer_afresh)
        self._tip = lru_cache(_REMEMBERED)(self._tip_afresh)
        self._hundred = lru_cache(_REMEMBERED)(self._hundred_afresh)

    @property
    def many_profiles(self) -> bool:
        """Whether profiles are too many to list: many queries are then not answered from one sum over all."""
        return self.schema.n_profiles > MAX_ENUMERATED_PROFILES

    @cached_property
    def verdict(self) -> TablesVerdict:
        """Whether the tables behind the model are usable."""
        return self._verdict or TablesVerdict.of_model(self.model)

    def verdict_on(self, estimand: Estimand) -> TablesVerdict:
        """Whether the tables are usable that an estimand goes by: both, or the experiment alone."""
        return self.trial_verdict if estimand.trial_alone else self.verdict

    @cached_property
    def trial_verdict(self) -> TablesVerdict:
        """Whether the experiment alone is usable."""
        return self._of_trial or TablesVerdict.of_model(self.reader.trial)

    def check(self) -> tuple[TablesVerdict, TablesVerdict | None]:
        """Check the tables now rather than when first asked for, and the experiment alone if that can be asked."""
        return self.verdict, self.trial_verdict if self.ability.trial_alone else None

    def undecided(self, estimand: Estimand) -> str:
        """Why nothing is decided about anybody; empty if decisions are made."""
        return self.verdict_on(estimand).undecided

    def answering(self, estimand: Estimand) -> Model:
        """The model whose people an estimand is about."""
        return self.reader.trial if estimand.trial_alone else self.model

    def decision(self, state: State) -> Decisions:
        """The decision for the people of a state."""
        return self.decided(self._answer(state.query, state.options.estimand)[0], state.options)

    def tip(self, state: State, cautious: bool) -> Note:
        """At which slack the decision for the people of a state changes, in a sentence."""
        options = state.options
        return self._tip(state.query, options.estimand, options.threshold, cautious)

    def share(self, state: State) -> float:
        """Which share of the people the state describes."""
        return self._answer(state.query, state.options.estimand)[1]

    def per_hundred(self, state: State) -> PerHundred | None:
        """What the answer means for a hundred of the people of a state; None where the model says nothing of that."""
        return self._hundred(state.query, state.options.estimand.of_quantity(PNS))

    def best_arm(self, state: State) -> ArmDecisions:
        """Which of all arms is best for the people of a state."""
        options = state.options
        answer = self._answer(state.query, options.estimand)[0]
        careful = self._careful(answer, options)
        return decide_arm(self.model, state.codes, options.estimand, options.threshold, careful)

    def over_time(self, state: State, quantity: Quantity) -> list[BoundTable]:
        """Bounds on a quantity for the people of a state, at each horizon."""
        asked, horizons = state.options.estimand.of_quantity(quantity), self.model.structure.description.horizons
        return [self._answer(state.query, replace(asked, horizon=each))[0] for each in horizons]

    def questions(self, state: State) -> Questions:
        """What knowing one more covariate would change."""
        options = state.options
        answer = self._answer(state.query, options.estimand)[0]
        careful = self._careful(answer, options)
        return ask_beyond(self.model, state.codes, answer, options.threshold, careful, options.estimand)

    def what_if(self, state: State) -> WhatIf | None:
        """What would be decided if one thing that is known of the people of a state were otherwise; None if none is."""
        options = state.options
        careful = options.cautious and self.ability.intervals
        return what_if(self.model, state.codes, options.threshold, careful, options.estimand)

    def decisions_by(self, state: State, covariate: str) -> DecisionsBy:
        """Who of the people of a state is treated how often, by the levels of a covariate."""
        options = state.options
        careful = options.cautious and self.ability.intervals
        return decisions_by(self.model, covariate, state.codes, options.threshold, careful, options.estimand)

    def checked(self, estimand: Estimand) -> Check | None:
        """The check of the tables that an estimand goes by; None where counts are withheld.

        Tables from which small counts were taken out would look different although they are not.
        """
        study = self.answering(estimand).study
        if study.withheld is not None:
            return None
        from pnsight.diagnostics import check  # loads SciPy, which starting a server can do without

        return check(study)

    def decisions(self, codes: Codes, options: Options) -> Decisions:
        """Decisions for many queries, if that does not take too long."""
        return self.decided(self.bounds(codes, options.estimand), options)

    def decided(self, answers: BoundTable, options: Options) -> Decisions:
        """What follows from answers: cautious decisions where there are intervals, unless plain ones are asked for."""
        found = decided(answers, options.threshold, self._careful(answers, options))
        nothing = np.full(len(answers), NONE)
        return (
            replace(found, decision=nothing, decision_cautious=nothing) if self.undecided(options.estimand) else found
        )

    def _careful(self, answers: BoundTable, options: Options) -> bool:
        return options.cautious and answers.level is not None

    def bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds for many queries, if that does not take too long."""
        if self.many_profiles and len(codes) > 2 * _PROBE:
            self._refuse_to_take_long(codes, estimand)
        return self.model.bounds(codes, estimand)

    def most_harmed(self, codes: Codes, options: Options) -> list[float]:
        """Which share of the people of each query is harmed at most; nothing where that is not known.

        To stand beside decisions to treat.
        """
        found = most_harmed(self.model, codes, options.estimand)
        return [] if np.isnan(found).all() else found.tolist()

    def ranking(self, by: By, estimand: Estimand, top: int, **limits: Any) -> Ranking:
        """The subpopulations that stand out."""
        return rank(self.model, top, by, quantity=estimand, **limits)

    def _answer_afresh(self, query: tuple[int, ...], estimand: Estimand) -> tuple[BoundTable, float]:
        codes = codes_of([query])
        share = self.answering(estimand).shares(codes, estimand.population)
        return self.model.bounds(codes, estimand), float(share[0])

    def _hundred_afresh(self, query: tuple[int, ...], estimand: Estimand) -> PerHundred | None:
        return next(iter(per_hundred(self.model, codes_of([query]), estimand)), None)

    def _tip_afresh(self, query: tuple[int, ...], estimand: Estimand, threshold: float | None, cautious: bool) -> Note:
        codes = np.array([query], dtype=np.int32)
        return tip(self.model, codes, threshold, cautious, estimand).sentence()

    def _refuse_to_take_long(self, codes: Codes, estimand: Estimand) -> None:
        """Time a few of the queries: the others take no longer each."""
        begun = time.perf_counter()
        self.model.bounds(codes[:: len(codes) // _PROBE][:_PROBE], estimand)
        seconds = (time.perf_counter() - begun) * len(codes) / _PROBE
        if seconds > MOST_SECONDS:
            raise LimitError(
                f"{len(codes):,} queries would take this model about {seconds:,.0f} seconds, and a request may take "
                f"{MOST_SECONDS:g}; ask about fewer at once, or use the command line: pnsight decide --queries."
            )
