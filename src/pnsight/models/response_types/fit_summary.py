"""What a fit of the response-type model chose, and on what evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from pnsight._text_table import format_table
from pnsight.models.response_types.marginalise import Representation


class CapacityScore(NamedTuple):
    """A capacity in words, how far its cross-validation score is behind the best, and its weight in the ensemble."""

    capacity: str
    gap: float
    weight: float


class CovariateSummary(NamedTuple):
    """How the covariates of one table are distributed."""

    table: str
    classes: int
    """Latent classes within which they are independent."""
    empirical_weight: float
    """Weight of the profiles as counted."""
    pooled: bool
    """Whether the other table's rows were counted in."""
    scores: tuple[tuple[int, float], ...]
    """Numbers of classes tried, and the score of each."""


@dataclass(frozen=True)
class PlainSummary:
    """`FitSummary` as data that JSON can hold; a stored model is checked against these types."""

    representation: Representation
    capacities: list[tuple[str, float, float]]
    prior_rows: float | Literal["infinite"]
    prior_rows_scores: list[tuple[float | Literal["infinite"], float]]
    networks: int
    interval_inflation: float | None
    covariates: list[tuple[str, int, float, bool, list[tuple[int, float]]]]
    decay: list[float]
    no_network: bool
    trial: PlainSummary | None


@dataclass(frozen=True)
class FitSummary:
    """What was chosen by cross-validation, and on what evidence: scores are log-likelihoods of a held-out row.

    In those of capacities and prior rows a profile counts by the square root of its rows: more than its share, since
    rare ones are asked about as well, and less than as much as any other, since a row or two tell little.

    Attributes
    ----------
    capacities : tuple of CapacityScore
    prior_rows : float
        Rows that the networks are worth as a prior against a profile's own; infinite if they always win.
    prior_rows_scores : tuple of (prior rows, score)
    networks : int
        How many networks the estimate is the mean of.
    interval_inflation : float or None
        By what standard errors are multiplied; None without intervals.
    covariates : tuple of CovariateSummary
        One a table.
    decay : tuple of float
        By what the correlation of errors falls with each covariate that differs, one a group; none without intervals.
    no_network : bool
        Whether no network told people apart better than chance, so that random effects take its place.
    """

    capacities: tuple[CapacityScore, ...]
    prior_rows: float
    prior_rows_scores: tuple[tuple[float, float], ...]
    networks: int
    interval_inflation: float | None
    covariates: tuple[CovariateSummary, ...]
    decay: tuple[float, ...]
    no_network: bool

    def plain(self) -> Mapping[str, Any]:
        """The summary as data that JSON can hold."""
        return {
            **asdict(self),
            "prior_rows": _infinity_as_text(self.prior_rows),
            "prior_rows_scores": [(_infinity_as_text(rows), score) for rows, score in self.prior_rows_scores],
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Self:
        """The summary that `plain` described."""
        return cls(
            tuple(CapacityScore(*each) for each in data["capacities"]),
            _infinity_from_text(data["prior_rows"]),
            tuple((_infinity_from_text(rows), score) for rows, score in data["prior_rows_scores"]),
            data["networks"],
            data["interval_inflation"],
            tuple(
                CovariateSummary(table, classes, weight, pooled, tuple((tried, score) for tried, score in scores))
                for table, classes, weight, pooled, scores in data["covariates"]
            ),
            tuple(map(float, data["decay"])),
            data["no_network"],
        )

    def __str__(self) -> str:
        tried = {
            "network": [each.capacity for each in self.capacities],
            "behind the best": [f"{each.gap:.6f}" for each in self.capacities],
            "weight": [f"{each.weight:.1%}" for each in self.capacities],
        }
        lines = [
            "Networks tried, by the log-likelihood of a held-out row, and their weight "
            "(a profile counts by the root of its rows):",
            format_table(tried),
            "",
            _RANDOM_EFFECTS if self.no_network else f"Shrinkage: {_shrinkage(self.prior_rows)}.",
            *map(_covariates, self.covariates),
        ]
        if self.interval_inflation is not None and not self.no_network:
            lines.append(f"Intervals: standard errors from simulated studies, times {self.interval_inflation:.2f}.")
        return "\n".join(lines)


_RANDOM_EFFECTS = (
    "No network told people apart better than chance: each covariate, and each combination, has a random effect "
    "instead, whose size was fitted. Groups differ by what their own rows and those of people like them show."
)


def _infinity_as_text(rows: float) -> float | str:
    return "infinite" if np.isinf(rows) else rows


def _infinity_from_text(rows: float | str) -> float:
    return np.inf if rows == "infinite" else float(rows)


def _shrinkage(prior_rows: float) -> str:
    if np.isinf(prior_rows):
        return "none; beside the networks, a profile's own rows did not help to predict those left out"
    return f"a profile's own rows are weighed against the networks, which are worth {prior_rows:,.0f} rows"


def _covariates(found: CovariateSummary) -> str:
    kind = "independent" if found.classes == 1 else f"independent within {found.classes} latent classes"
    also = ", with the other table's rows, which help to predict its own" if found.pooled else ""
    weight = f"profiles as counted weigh {found.empirical_weight:.1%}"
    return f"Covariates of the {found.table} table: {kind}; {weight}{also}."
