"""What a fit of the response-type model chose, and on what evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Self, TypedDict

import numpy as np

from pnsight._text import format_table


class CovariateChoice(NamedTuple):
    """How the covariates of one table are distributed."""

    table: str
    classes: int
    """Latent classes within which they are independent."""
    seen: float
    """Weight of the profiles as counted."""
    borrowed: bool
    """Whether the other table's rows were counted in."""
    evidence: tuple[tuple[int, float], ...]
    """Numbers of classes tried, and the score of each."""


class PlainChoices(TypedDict):
    """`Choices` as data that JSON can hold."""

    rungs: list[tuple[str, float, float]]
    strength: float | Literal["infinite"]
    strengths: list[tuple[float | Literal["infinite"], float]]
    networks: int
    factor: float | None
    covariates: list[tuple[str, int, float, bool, list[tuple[int, float]]]]


@dataclass(frozen=True)
class Choices:
    """What was chosen, and on what evidence: scores are log-likelihoods of a held-out row.

    In those of rungs and strengths a profile counts by the square root of its rows: more than its share, since rare
    ones are asked about as well, and less than as much as any other, since a row or two tell little.

    Attributes
    ----------
    rungs : tuple of (rung in words, how far its score is behind the best, weight)
    strength : rows that the network is worth against a profile's own; infinite if it always wins
    strengths : tuple of (strength, score)
    networks : how many networks the estimate is the mean of
    factor : by what standard errors are multiplied; None without intervals
    covariates : one a table
    """

    rungs: tuple[tuple[str, float, float], ...]
    strength: float
    strengths: tuple[tuple[float, float], ...]
    networks: int
    factor: float | None
    covariates: tuple[CovariateChoice, ...]

    def plain(self) -> Mapping[str, Any]:
        """The choices as data that JSON can hold."""
        return {
            **asdict(self),
            "strength": _finite(self.strength),
            "strengths": [(_finite(strength), score) for strength, score in self.strengths],
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Self:
        """The choices that `plain` described."""
        return cls(
            tuple((text, behind, weight) for text, behind, weight in data["rungs"]),
            _infinite(data["strength"]),
            tuple((_infinite(strength), score) for strength, score in data["strengths"]),
            data["networks"],
            data["factor"],
            tuple(
                CovariateChoice(table, classes, seen, borrowed, tuple((tried, score) for tried, score in evidence))
                for table, classes, seen, borrowed, evidence in data["covariates"]
            ),
        )

    def __str__(self) -> str:
        tried = {
            "network": [text for text, _, _ in self.rungs],
            "behind the best": [f"{behind:.6f}" for _, behind, _ in self.rungs],
            "weight": [f"{weight:.1%}" for _, _, weight in self.rungs],
        }
        lines = [
            "Networks tried, by the log-likelihood of a held-out row, and their weight "
            "(a profile counts by the root of its rows):",
            format_table(tried),
            "",
            f"Shrinkage: {_shrinkage(self.strength)}.",
        ]
        for table, classes, seen, borrowed, _ in self.covariates:
            kind = "independent" if classes == 1 else f"independent within {classes} latent classes"
            also = ", with the other table's rows, which help to foretell its own" if borrowed else ""
            lines.append(f"Covariates of the {table} table: {kind}; profiles as counted weigh {seen:.1%}{also}.")
        if self.factor is not None:
            lines.append(f"Intervals: standard errors from simulated studies, times {self.factor:.2f}.")
        return "\n".join(lines)


def _finite(strength: float) -> float | str:
    return "infinite" if np.isinf(strength) else strength


def _infinite(strength: float | str) -> float:
    return np.inf if strength == "infinite" else float(strength)


def _shrinkage(strength: float) -> str:
    if np.isinf(strength):
        return "none; beside the networks, a profile's own rows did not help to foretell those left out"
    return f"a profile's own rows are weighed against the networks, which are worth {strength:,.0f} rows"
