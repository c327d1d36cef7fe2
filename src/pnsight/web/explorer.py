"""Asking one model for the pages and the JSON interface: what was asked lately is remembered."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np

from pnsight.data.schema import Codes
from pnsight.decisions import Decisions, Questions, Ranking, ask_beyond, decided, rank
from pnsight.decisions.ranking import MOST_CANDIDATES, By
from pnsight.errors import LimitError
from pnsight.estimands.estimand import Estimand
from pnsight.models import Model
from pnsight.models.response_types.config import MAX_ENUMERATED_PROFILES
from pnsight.queries.bound_table import BoundTable
from pnsight.web.capabilities import Ability
from pnsight.web.state import Options, Reader, State

_REMEMBERED = 1024
"""Answers to single queries that are remembered, a few hundred bytes each."""

_FEW_CANDIDATES = 500
"""Queries looked at for a ranking where each takes its time: see `Explorer.ranking`."""

_PROBE = 32
"""Queries whose time tells how long many will take."""

MOST_SECONDS = 60.0
"""What would take longer is refused."""


class Explorer:
    """A model to explore."""

    def __init__(self, model: Model) -> None:
        self.model, self.schema = model, model.schema
        self.ability, self.reader = Ability.of(model), Reader(model)
        self._answer = lru_cache(_REMEMBERED)(self._answer_afresh)

    @property
    def many_profiles(self) -> bool:
        """Whether profiles are too many to list: many queries are then not answered from one sum over all."""
        return self.schema.n_profiles > MAX_ENUMERATED_PROFILES

    def decision(self, state: State) -> Decisions:
        """The decision for the people of a state."""
        options = state.options
        return decided(self._answer(state.query, options.estimand)[0], options.threshold, options.cautious)

    def share(self, state: State) -> float:
        """Which share of the people the state describes."""
        return self._answer(state.query, state.options.estimand)[1]

    def questions(self, state: State) -> Questions:
        """What knowing one more covariate would change."""
        options = state.options
        answer = self._answer(state.query, options.estimand)[0]
        return ask_beyond(self.model, state.codes, answer, options.threshold, options.cautious, options.estimand)

    def decisions(self, codes: Codes, options: Options) -> Decisions:
        """Decisions for many queries, if that does not take too long."""
        return decided(self.bounds(codes, options.estimand), options.threshold, options.cautious)

    def bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds for many queries, if that does not take too long."""
        if self.many_profiles and len(codes) > 2 * _PROBE:
            self._refuse_to_take_long(codes, estimand)
        return self.model.bounds(codes, estimand)

    def ranking(self, by: By, estimand: Estimand, top: int, **limits: Any) -> Ranking:
        """The subpopulations that stand out.

        A model that draws people anew for every query, since its profiles are too many to list, is asked about few.
        """
        slow = self.many_profiles and self.model.capabilities.simulates_studies
        most = _FEW_CANDIDATES if slow else MOST_CANDIDATES
        return rank(self.model, top, by, most_candidates=most, quantity=estimand, **limits)

    def _answer_afresh(self, query: tuple[int, ...], estimand: Estimand) -> tuple[BoundTable, float]:
        codes = np.array([query], dtype=np.int32)
        share = self.model.shares(codes, estimand.population)
        return self.model.bounds(codes, estimand), float(share[0])

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
