"""Whether any population fits both tables: four inequalities, looked at for everyone and in subgroups.

A law is possible iff, for each treatment and each outcome, those who chose the treatment and show the outcome are no
more than those who show it when all are assigned the treatment: P(x,y) <= P(y_x), and so on (`INEQUALITIES`). How they
are compared is in `comparisons`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pnsight._text import as_records, percent
from pnsight._typing import FloatArray
from pnsight.data.study import Study
from pnsight.diagnostics.inequalities import ASSIGNED, CHOSEN, Claim
from pnsight.diagnostics.subgroup_tests import Comparisons
from pnsight.diagnostics.verdict import FAILED, OK, WARNING, Verdict
from pnsight.queries.bound_table import plain_counts

INEQUALITIES = tuple(Claim(chosen, assigned) for chosen, assigned in zip(CHOSEN, ASSIGNED, strict=True))
"""What holds in every population, in the order of `law.COUNT_CELLS`."""

BROKEN = "broken"

_LEAST_COMPARED = 0.5


class Coherence(Comparisons):
    """Comparisons of the two tables, one for each subgroup and inequality."""

    @property
    def inequalities(self) -> tuple[str, ...]:
        """Which of `INEQUALITIES` is compared."""
        return tuple(map(str, self.claims))

    @property
    def rows_experimental(self) -> FloatArray:
        """Rows of the arm, in profiles that both tables have."""
        return self.rows_right

    @property
    def rows_observational(self) -> FloatArray:
        """Rows of the observational table, in the same profiles."""
        return self.rows_left

    @property
    def verdict(self) -> Verdict:
        """Failed if some subgroup breaks an inequality; a warning if too little could be compared."""
        if self.named:
            others = f" Also: {'; '.join(self.named_groups[1:])}." if self.named[1:] else ""
            return Verdict(FAILED, f"no population fits both tables. {self.worst}{others} {self._extent()}")
        if not self.queries:
            return Verdict(WARNING, "nothing could be compared: no profile has rows in both tables.")
        text = f"no contradiction in {self.extent}; {self.power}."
        if self.pairs_left_out:
            text += " Pairs of covariates were too many to look at."
        if self.compared < _LEAST_COMPARED:
            shared = f"{percent(self.compared)} of the rows are in profiles that both tables have"
            text += f" But only {shared}: check again with fewer covariates."
        return Verdict(WARNING if self.compared < _LEAST_COMPARED else OK, text)

    def _extent(self) -> str:
        broken = {query for query, flag in zip(self.queries, self.broken, strict=True) if flag}
        return f"Subgroups that break an inequality: {len(broken):,} of {len(set(self.queries)):,}."

    @property
    def worst(self) -> str:
        """The most certain contradiction, in one sentence."""
        return self.told(0)

    def named_columns(self) -> dict[str, list[Any]]:
        """Every inequality that a named subgroup breaks, with the subgroup in words."""
        words = {self.queries[at]: group for at, group in zip(self.named, self.named_groups, strict=True)}
        rows = [row for query in words for row in np.flatnonzero(self.broken) if self.queries[row] == query]
        columns = self.columns()
        found = {name: [values[row] for row in rows] for name, values in columns.items()}
        return {"subgroup": [words[self.queries[row]] for row in rows], **found}

    def columns(self) -> dict[str, list[Any]]:
        """One row a comparison."""
        words = {"query": self.queries, "kind": self.kinds, "inequality": self.inequalities}
        rows = {name: plain_counts(getattr(self, name)) for name in ("rows_experimental", "rows_observational")}
        shares = {"experimental": self.right, "observational": self.left}
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
            "named": [comparisons[at] for at in self.named],
            "comparisons": comparisons,
        }


def coherence_of(study: Study) -> Coherence | None:
    """Compare the two tables of a study; None for an experiment alone."""
    return None if study.observational is None else Coherence.of(study, INEQUALITIES)
