"""Compatibility of the tables: whether any population fits both, by four inequalities for everyone and in subgroups.

A law is possible iff, for each treatment and each outcome, those who chose the treatment and show the outcome are no
more than those who show it when all are assigned the treatment: P(x,y) <= P(y_x), and so on (`INEQUALITIES`). How they
are compared is in `subgroup_tests`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pnsight._text import as_records
from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.diagnostics.inequalities import Inequality, two_group_inequalities
from pnsight.diagnostics.subgroup_tests import Comparisons
from pnsight.diagnostics.verdict import FAILED, OK, WARNING, Verdict, verdict
from pnsight.estimands.compiled import coherence_terms
from pnsight.estimands.limits import Limit
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import plain_counts
from pnsight.queries.query import encode


def compatibility_inequalities(structure: Structure) -> tuple[Inequality, ...]:
    """Coherence inequalities, as compiled, that compare shares of two groups: of two tables, or of two arms.

    Parameters
    ----------
    structure
        One table or two. Of one table there are some only where people do not take what they are assigned: the
        instrument inequalities (J. Pearl 1995, "On the testability of causal models with latent and instrumental
        variables").

    Returns
    -------
    In the order of the cells on the left: with two arms, of the observational table's.
    """
    found = two_group_inequalities(coherence_terms(structure), structure)
    return tuple(sorted(found, key=lambda each: [structure.column(name) for name in each.left.counted]))


INEQUALITIES = compatibility_inequalities(TWO_BY_TWO)
"""What holds in every population, in the order of the observational cells."""

BROKEN = "broken"

_MIN_COMPARED = 0.5


class Coherence(Comparisons):
    """Comparisons of the two tables, one for each subgroup and inequality."""

    @property
    def rows_experimental(self) -> FloatArray:
        """Rows of the arm, in profiles that both tables have."""
        return self.rows_right

    @property
    def rows_observational(self) -> FloatArray:
        """Rows of the observational table, in the same profiles."""
        return self.rows_left

    @property
    def between_arms(self) -> bool:
        """Whether arms of the experiment are compared, rather than the two tables."""
        return all(each.left.where == EXPERIMENTAL for each in self.inequalities)

    @property
    def verdict(self) -> Verdict:
        """Failed if some subgroup breaks an inequality; a warning if too little could be compared."""
        if self.reported:
            kind = "instrument_invalid" if self.between_arms else "no_population_fits"
            return verdict(FAILED, kind, *self._contradictions())
        if not self.queries:
            return verdict(WARNING, "nothing_compared")
        more = [Note("pairs_not_compared")] if self.pairs_left_out else []
        little = self.compared < _MIN_COMPARED
        if little:
            more.append(Note("little_compared", {"share": self.compared}, "warning"))
        values = {**self.extent, "detectable": self.minimum_detectable}
        return verdict(WARNING if little else OK, "no_contradiction", *more, **values)

    def _contradictions(self) -> Iterator[Note]:
        yield self.worst
        if self.reported[1:]:
            yield Note("also_contradicted", {"groups": self.reported_groups[1:]}, "failure")
        broken = {query for query, flag in zip(self.queries, self.broken, strict=True) if flag}
        yield Note("subgroups_contradicted", {"broken": len(broken), "subgroups": self.extent["subgroups"]}, "failure")

    @property
    def worst(self) -> Note:
        """The most certain contradiction."""
        return self.describe(0)

    def reported_columns(self) -> dict[str, list[Any]]:
        """Every inequality that a reported subgroup breaks, with the subgroup in words."""
        words = {self.queries[at]: group for at, group in zip(self.reported, self.reported_groups, strict=True)}
        rows = [row for query in words for row in np.flatnonzero(self.broken) if self.queries[row] == query]
        columns = self.columns()
        found = {name: [values[row] for row in rows] for name, values in columns.items()}
        return {"subgroup": [words[self.queries[row]] for row in rows], **found}

    def columns(self) -> dict[str, list[Any]]:
        """One row a comparison."""
        words = {"query": self.queries, "kind": self.kinds, "inequality": map(str, self.inequalities)}
        right, left = ("right", "left") if self.between_arms else ("experimental", "observational")
        rows = {f"rows_{right}": plain_counts(self.rows_right), f"rows_{left}": plain_counts(self.rows_left)}
        shares = {right: self.right, left: self.left}
        tests = ("excess", "low", "high", "score", "p_value", "adjusted")
        return {
            **{name: list(values) for name, values in words.items()},
            **rows,
            **{name: values.tolist() for name, values in shares.items()},
            **{name: getattr(self, name).tolist() for name in tests},
            "status": np.where(self.broken, BROKEN, OK).tolist(),
        }

    def looks(self) -> list[dict[str, Any]]:
        """Each comparison as a row of `Check.looks`."""
        named = {"query": "look", "inequality": "comparison", "excess": "size"}
        return as_records({named.get(name, name): values for name, values in self.columns().items()})

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        comparisons = as_records(self.columns())
        return {
            "compared": self.compared,
            "pairs_left_out": self.pairs_left_out,
            "named": [comparisons[at] for at in self.reported],
            "comparisons": comparisons,
        }


def coherence_of(study: Study) -> Coherence | None:
    """Compatibility of the two tables of a study, or of the arms of an experiment in which not all do as assigned.

    Parameters
    ----------
    study
        Both tables, or an experiment alone.

    Returns
    -------
    comparisons for each subgroup and inequality; None where nothing follows, as for an experiment alone
    """
    inequalities = compatibility_inequalities(study.structure)
    return Coherence.of(study, inequalities) if inequalities else None


def contradicted_beyond(study: Study, relaxations: tuple[Limit, ...]) -> tuple[Codes, Codes]:
    """Subgroups about which the tables contradict each other by more than chance and relaxations explain.

    Parameters
    ----------
    study
        Both tables.
    relaxations
        How far the people asked about may differ from what the tables show, as `Estimand.relaxations` has them.

    Returns
    -------
    Codes of those that explain the others, and of all, each of shape (subgroups, covariates).
    """
    found = coherence_of(study)
    if found is None or not found.reported:
        none = np.empty((0, len(study.schema.names)), dtype=np.int32)
        return none, none
    codes = encode(study.schema, list(found.queries))
    still = found.broken & (found.low > _allowed(study, found, codes, relaxations))
    explaining = [at for at in found.reported if still[at]]
    return codes[explaining] if explaining else codes[still], codes[still]


def _allowed(study: Study, found: Coherence, codes: Codes, relaxations: tuple[Limit, ...]) -> FloatArray:
    """By how much relaxations let the left share of each comparison be larger than the right one."""
    structure = study.structure
    counts = lattice.sum_over(study.schema, codes, study.profiles, study.cell_evidence)
    shares = np.nan_to_num(structure.probabilities(counts[:, : structure.n_cells]))
    allowed = np.zeros(len(codes))
    for limit in relaxations:
        amount = limit.at_most + (shares @ np.array(limit.of_cells) if limit.of_cells else np.zeros(len(codes)))
        for row, each in enumerate(found.inequalities):
            left, right = ({structure.column(name) for name in side.counted} for side in (each.left, each.right))
            lowers = any(source in left and target not in left for source, target in limit.moves)
            raises = any(source not in right and target in right for source, target in limit.moves)
            allowed[row] += amount[row] * (lowers + raises)
    return allowed
