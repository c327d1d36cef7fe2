"""Support: how many people, and how many queries, have rows enough in the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.study import Study
from pnsight.diagnostics.stratified_chi2 import CellIndex
from pnsight.diagnostics.verdict import OK, WARNING, Verdict, verdict
from pnsight.notes import Note
from pnsight.queries import lattice

ENOUGH_ROWS = 300
"""Effective rows that a subpopulation should have in each table before its own rows say much."""

_MAX_LISTED_QUERIES = 2_000_000
_DRAWN_QUERIES = 300
_MAX_UNSEEN = 0.05


@dataclass(frozen=True)
class Support:
    """What has at least `ENOUGH_ROWS` effective rows in each table.

    Attributes
    ----------
    rows_experimental, rows_observational : rows counted; None without an observational table
    people : share of all rows whose own profile has enough
    profiles : share of all profiles that could be
    queries : share of all queries
    queries_examined, queries_drawn : how many that rests on, and whether they were drawn at random instead of listed
    only_experimental, only_observational : profiles that are in one table only
    people_only_experimental, people_only_observational : share of that table's rows that have such a profile
    """

    rows_experimental: int
    rows_observational: int | None
    people: float
    profiles: float
    queries: float
    queries_examined: int
    queries_drawn: bool
    only_experimental: int
    only_observational: int
    people_only_experimental: float
    people_only_observational: float

    @property
    def verdict(self) -> Verdict:
        """A warning where the rows of most people's own profile say little, or one table lacks many of the other's."""
        return verdict(
            WARNING if self.scarce or self.unseen else OK,
            "support",
            *self._more(),
            people=self.people,
            profiles=self.profiles,
            queries=self.queries,
            rows=ENOUGH_ROWS,
            alone=self.rows_observational is None,
            drawn=self.queries_examined if self.queries_drawn else None,
        )

    @property
    def scarce(self) -> bool:
        """Whether most people's profile has too few rows."""
        return self.people < 0.5

    @property
    def unseen(self) -> bool:
        """Whether a fair part of one table has profiles that the other lacks."""
        return max(self.people_only_experimental, self.people_only_observational) > _MAX_UNSEEN

    def _more(self) -> Iterator[Note]:
        if self.scarce:
            yield Note("scarce_support")
        if self.only_experimental or self.only_observational:
            yield Note(
                "profiles_in_one_table",
                {
                    "experimental": self.only_experimental,
                    "observational": self.only_observational,
                    "of_experimental": self.people_only_experimental,
                    "of_observational": self.people_only_observational,
                },
            )


def support_of(study: Study) -> Support:
    """Support of a study: rows behind people, profiles and queries.

    Parameters
    ----------
    study
        Both tables, or an experiment alone.

    Returns
    -------
    the shares of people, profiles and queries that have `ENOUGH_ROWS` rows in each table
    """
    tables = (EXPERIMENTAL,) if study.observational is None else (EXPERIMENTAL, OBSERVATIONAL)
    totals = np.stack([study.rows_of(table) for table in tables], axis=1)
    columns = [study.structure.all_columns_of(name) for name in tables]
    effective = np.stack([study.effective_counts[:, some].sum(axis=1) for some in columns], axis=1)
    enough = (effective >= ENOUGH_ROWS).all(axis=1)
    rows = totals.sum(axis=0)
    in_one = np.where((totals > 0).all(axis=1, keepdims=True), 0.0, totals) if len(tables) == 2 else np.zeros((1, 2))
    queries, examined, drawn = _query_share(study, effective)
    return Support(
        rows_experimental=int(rows[0]),
        rows_observational=None if study.observational is None else int(rows[1]),
        people=_share(totals[enough].sum(), totals.sum()),
        profiles=int(enough.sum())
        / study.schema.n_profiles,  # whole numbers: of many covariates more than a float holds
        queries=queries,
        queries_examined=examined,
        queries_drawn=drawn,
        only_experimental=int((in_one[:, 0] > 0).sum()),
        only_observational=int((in_one[:, 1] > 0).sum()),
        people_only_experimental=_share(in_one[:, 0].sum(), rows[0]),
        people_only_observational=_share(in_one[:, 1].sum(), rows[-1]),
    )


def _query_share(study: Study, totals: FloatArray) -> tuple[float, int, bool]:
    """Share of queries with enough rows, how many were examined, and whether they were drawn."""
    if study.schema.n_queries > _MAX_LISTED_QUERIES:
        enough = _drawn_with_enough(study, totals)
        return float(enough.mean()), len(enough), True
    sums = lattice.roll_up(study.schema, study.profiles, totals)
    return float((sums >= ENOUGH_ROWS).all(axis=1).mean()), len(sums), False


def _drawn_with_enough(study: Study, totals: FloatArray) -> npt.NDArray[np.bool_]:
    """Which of some queries drawn at random have enough rows; each covariate has any of its levels or is open."""
    sizes = np.array(study.schema.shape)
    queries = np.random.default_rng(0).integers(OPEN, sizes, size=(_DRAWN_QUERIES, len(sizes)))
    columns, people = np.ascontiguousarray(study.profiles.T), totals.sum(axis=1)
    rows = [np.append(np.bincount(column, people, n), np.inf) for column, n in zip(columns, sizes, strict=True)]
    rarest_first = np.argsort([level[queries[:, j]] for j, level in enumerate(rows)], axis=0).T  # open comes last
    pairs = zip(queries, rarest_first, strict=True)
    return np.array([_has_enough(query, order, columns, totals) for query, order in pairs])


def _has_enough(query: npt.NDArray[np.int64], order: CellIndex, columns: Codes, totals: FloatArray) -> bool:
    """Whether a query has enough rows, found by fixing one covariate after the other in that order, while there are."""
    covered = np.arange(len(totals))
    for j in order[: np.count_nonzero(query != OPEN)]:
        covered = covered[columns[j, covered] == query[j]]
        if totals[covered].sum(axis=0).min() < ENOUGH_ROWS:
            return False
    return bool(totals[covered].sum(axis=0).min() >= ENOUGH_ROWS)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
