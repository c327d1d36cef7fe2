"""Tests of assumptions: what an assumption implies, tested for everyone and in subgroups.

Within every profile, ``monotone`` implies P(y_x') <= P(y) <= P(y_x), and ``exogenous`` that P(y|x) = P(y_x) and
P(y|x') = P(y_x'), which is two inequalities each; both together, that the treated of both tables respond at least as
often as the untreated. These are all that data can show of them. How they are compared is in `subgroup_tests`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pnsight._typing import BoolArray
from pnsight.data.schema import OPEN, Codes
from pnsight.data.structure import Structure
from pnsight.data.study import Study
from pnsight.data.two_by_two import Y_X, Y_X0
from pnsight.diagnostics.inequalities import (
    RESPONDED,
    RESPONDED_IF_CHOSEN,
    RESPONDED_IN_ALL,
    Inequality,
    cell_proportion,
    two_group_inequalities,
)
from pnsight.diagnostics.subgroup_tests import Comparisons
from pnsight.errors import AssumptionError
from pnsight.estimands.assumptions import EXOGENOUS, MONOTONE, AssumeLike, read_assumptions
from pnsight.estimands.compiled import coherence_terms
from pnsight.notes import Note

_TREATED, _UNTREATED = cell_proportion(Y_X), cell_proportion(Y_X0)
_CHOSE, _DID_NOT = RESPONDED_IF_CHOSEN


def implied(assume: Sequence[str], experiment_alone: bool = False) -> tuple[Inequality, ...]:
    """What assumptions imply that the tables at hand can contradict.

    Parameters
    ----------
    assume
        Names of assumptions.
    experiment_alone
        Whether there is no observational table.

    Returns
    -------
    inequalities that hold in every profile of a population that the assumptions hold of
    """
    return tuple(_implied(assume, experiment_alone))


def _implied(assume: Sequence[str], experiment_alone: bool) -> Iterator[Inequality]:
    if MONOTONE in assume:
        yield Inequality(_UNTREATED, _TREATED)
    if MONOTONE in assume and not experiment_alone:
        yield from (Inequality(RESPONDED, _TREATED), Inequality(_UNTREATED, RESPONDED))
    if EXOGENOUS in assume and not experiment_alone:
        for chosen, assigned in ((_CHOSE, _TREATED), (_DID_NOT, _UNTREATED)):
            yield from (Inequality(chosen, assigned), Inequality(assigned, chosen))
    if MONOTONE in assume and EXOGENOUS in assume and not experiment_alone:
        yield Inequality(*reversed(RESPONDED_IN_ALL))


@dataclass(frozen=True)
class AssumptionTest:
    """What a study says about assumptions.

    Attributes
    ----------
    assume : their names
    found : the comparisons of what they imply
    """

    assume: tuple[str, ...]
    found: Comparisons

    @property
    def contradicted(self) -> bool:
        """Whether any subgroup contradicts the assumptions by more than chance explains."""
        return bool(self.found.reported)

    def contradictions(self, codes: Codes) -> list[int]:
        """Which of the contradictions reported are about people of these queries, shape (queries, covariates).

        A query is concerned if somebody could be both in it and in the subgroup.
        """
        return [which for which, group in enumerate(self.found.reported_codes) if _overlap(codes, group).any()]

    def note(self, codes: Codes) -> Note:
        """What was assumed and how it stands up for the people of these queries.

        Parameters
        ----------
        codes : shape (queries, covariates)
            Queries.

        Returns
        -------
        a note; `AssumptionError` is raised where the study contradicts the assumptions
        """
        concerned, found = self.contradictions(codes), self.found
        if concerned or not found.all_reported:
            raise AssumptionError(self._refusal(concerned or [0]))
        assumed = {"assumed": self.assume, **found.extent}
        if not found.queries:
            return Note("assumption_untestable", {"assumed": self.assume})
        if self.contradicted:
            return Note("assumption_contradicted_elsewhere", {**assumed, "elsewhere": found.reported_groups}, "warning")
        return Note("assumption_not_contradicted", {**assumed, "detectable": found.minimum_detectable})

    def _refusal(self, concerned: list[int]) -> Note:
        first, found = concerned[0], self.found
        at = found.reported[first]
        return Note(
            "assumption_contradicted",
            {
                "assumed": self.assume,
                "implies": str(found.inequalities[at]),
                "found": found.describe(first).values,
                "comparisons": found.extent["comparisons"],
                "adjusted": found.adjusted[at],
                "also": [found.reported_groups[which] for which in concerned[1:]],
                "more": not found.all_reported,
                "others_may_be_asked": self._others_may_be_asked,
            },
            "failure",
        )

    @property
    def _others_may_be_asked(self) -> bool:
        """Whether there are people whom none of the contradictions concerns."""
        return self.found.all_reported and not (self.found.reported_codes == OPEN).all(axis=1).any()


def implied_by_types(structure: Structure, possible: BoolArray) -> tuple[Inequality, ...]:
    """What follows for shares of two groups of cells if there are only some response types.

    Parameters
    ----------
    structure
        Any structure.
    possible : shape (types,)
        Types that there may be.

    Returns
    -------
    inequalities that hold in every profile, but for those that hold whatever types there are
    """
    always = set(two_group_inequalities(coherence_terms(structure), structure))
    found = two_group_inequalities(coherence_terms(structure, tuple(possible.tolist())), structure)
    return tuple(dict.fromkeys(each for each in found if each not in always))


def _check_no_impossible_rows(study: Study, assume: Sequence[str], possible: BoolArray) -> None:
    """Refuse assumptions under which nobody could be in a cell that has rows."""
    structure = study.structure
    empty = np.asarray((structure.observed_incidence[:, possible] == 0).all(axis=1))
    names = [*(cell.name for cell in structure.cells), *(each.name for each in structure.sets)]
    rows = study.cell_rows[0]
    against = [name for name, none, some in zip(names, empty, rows, strict=True) if none and some > 0]
    if against:
        values = {"assumed": assume, "cells": against, "rows": float(rows[empty].sum())}
        raise AssumptionError(Note("assumption_impossible", values, "failure"))


def assumptions_of(study: Study, assume: AssumeLike, possible: BoolArray | None = None) -> AssumptionTest:
    """Test assumptions: what they imply against the tables of a study, in every subgroup that has rows enough.

    Parameters
    ----------
    study
        The tables.
    assume
        The name of an assumption, or several.
    possible : shape (types,), or None
        Response types that they leave, where there are not two arms and two outcomes.

    Returns
    -------
    what the study says about them
    """
    names, study = read_assumptions(assume), study.grouped
    if possible is None:
        inequalities = implied(names, study.observational is None)
    else:
        _check_no_impossible_rows(study, names, possible)
        inequalities = implied_by_types(study.structure, possible)
    if not inequalities:
        raise AssumptionError(
            f"{' and '.join(map(repr, names)) or 'nothing'} was assumed, of which {_tables(study)} nothing; leave the "
            "assumption out, or fit with an observational table."
        )
    return AssumptionTest(names, Comparisons.of(study, inequalities))


def _tables(study: Study) -> str:
    return "an experiment alone shows" if study.observational is None else "the tables show"


def _overlap(codes: Codes, group: Codes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each query and the group agree wherever both fix a covariate."""
    return np.asarray(((codes == group) | (codes == OPEN) | (group == OPEN)).all(axis=1))
