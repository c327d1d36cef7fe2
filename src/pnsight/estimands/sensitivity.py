"""Sensitivity: how far the registry's people may respond otherwise than the trial's, and outcomes be misread.

Slack D: P(y_x) and P(y_x') of the people whom the bounds are about may differ from the trial's by up to D, in either
arm, or in one, or to one side. With more outcomes than two, up to a share D of the people under an arm has another
outcome (the total variation distance is at most D); to one side, a better or a worse one.

Misread outcomes P: up to a share P of the outcomes of each arm, in either table, is recorded wrongly, in any pattern.

Both are limits on moves between the cells of an arm (`limits`), so that bounds stay the largest and smallest of a few
functions that are linear in the law, in D and in P. Sources: I. J. Dahabreh et al. (2023), "Sensitivity analysis using
bias functions for studies extending inferences from a randomized trial to a target population"; J. L. Horowitz and
C. F. Manski (1995), "Identification and robustness with contaminated and corrupted data".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

import numpy as np

from pnsight._typing import IndexArray
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, WORST_CASE, Group, Structure
from pnsight.data.two_by_two import CONTROL, TREATED
from pnsight.errors import AssumptionError, did_you_mean, join_names, percent_hint
from pnsight.estimands.contrast import Contrast, contrast_people, resolve_contrast
from pnsight.estimands.limits import Limit

SlackLike: TypeAlias = "Slack | float | str | Mapping[str, float | str] | None"
"""Slack, a number, text such as ``treated=0.05,control=+0.02``, or the same as a mapping; None for none."""

EVERY_ARM = ""
"""In place of the name of an arm."""

TREATED_ARM, CONTROL_ARM = "treated", "control"
"""What the arms of the contrast may be called, whatever their names are."""

_AMOUNT = re.compile(r"([+-]?)(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)")
_EXPECTED = (
    "expected a share such as 0.05, +0.05 (only more than in the trial) or -0.05 (only less), for both arms or one, "
    "as in treated=0.05,control=-0.02"
)


@dataclass(frozen=True)
class Slack:
    """By how much P(y_x) of the people asked about may differ from the trial's.

    Attributes
    ----------
    arms : for each arm by name, or `EVERY_ARM`, by how much it may be less, and by how much more
    """

    arms: tuple[tuple[str, float, float], ...]

    @classmethod
    def parse(cls, given: SlackLike) -> Slack | None:
        """Slack as it was given.

        Parameters
        ----------
        given
            ``0.05`` for both arms and either way; ``+0.05`` if people may respond more often than in the trial, but not
            less, ``-0.05`` the other way round; ``treated=0.05,control=0.02`` by arm.

        Returns
        -------
        The slack; None where there is none.
        """
        if given is None or isinstance(given, Slack):
            return given
        found: dict[str, dict[str, float]] = {}
        for arm, sign, size in _items(given):
            sides = found.setdefault(arm, {})
            for side in sign or "-+":
                if side in sides:
                    raise AssumptionError(f"the slack {given!r} says twice how far {arm or 'each arm'} goes; say once.")
                sides[side] = size
        if EVERY_ARM in found and len(found) > 1:
            raise AssumptionError(f"the slack {given!r} is for every arm and for one; {_EXPECTED}.")
        arms = tuple((arm, sides.get("-", 0.0), sides.get("+", 0.0)) for arm, sides in found.items())
        return cls(arms) if any(less or more for _, less, more in arms) else None

    def __str__(self) -> str:
        named = ((name.replace(",", "\\,"), _amounts(less, more)) for name, less, more in self.arms)
        return ",".join(f"{name}={each}" if name else each for name, amounts in named for each in amounts)

    def times(self, factor: float) -> Slack | None:
        """So many times as much; None where nothing is left."""
        arms = tuple((arm, min(1.0, factor * less), min(1.0, factor * more)) for arm, less, more in self.arms)
        return Slack(arms) if factor > 0 else None

    @property
    def largest(self) -> float:
        """The most that any arm may differ by."""
        return max(max(less, more) for _, less, more in self.arms)

    def by_group(self, structure: Structure, contrast: Contrast | None) -> Iterator[tuple[int, float, float]]:
        """Positions of the trial's groups, with how much less and more each may be."""
        arms = _trial_arms(structure)
        names = dict.fromkeys([*arms])
        if len(structure.description.arms) <= 2 or contrast is not None:
            treated, reference = resolve_contrast(structure, contrast)
            aliases = {TREATED_ARM: treated, CONTROL_ARM: reference}
        else:
            aliases = {}
        for given, less, more in self.arms:
            arm = given if given in arms or given not in aliases else aliases[given]
            if given and arm not in arms:
                known = [*aliases, *names]
                raise AssumptionError(
                    f"slack was given for {given!r}, which is no arm of the trial; the arms are {join_names(known)}."
                    + did_you_mean(given, known)
                )
            yield from ((group, less, more) for name, group in arms.items() if not given or name == arm)


def _amounts(less: float, more: float) -> list[str]:
    if less == more:
        return [f"{more:.12g}"]
    return [*([f"-{less:.12g}"] if less else []), *([f"+{more:.12g}"] if more else [])]


def _items(given: float | str | Mapping[str, float | str]) -> Iterator[tuple[str, str, float]]:
    """The arm, the sign if there is one, and the size of each part of a slack."""
    if isinstance(given, Mapping):
        pairs = [(str(arm), _written(amount)) for arm, amount in given.items()]
    else:
        parts = [part.replace("\0", ",") for part in _written(given).replace("\\,", "\0").split(",")]
        pairs = [(arm.strip(), amount) for arm, _, amount in (part.rpartition("=") for part in parts)]
    for arm, amount in pairs:
        for one in amount.split(","):
            found = _AMOUNT.fullmatch(one.strip())
            size = math.nan if found is None else float(found[2])
            if found is None or not 0 <= size <= 1:
                hint = "." if found is None else percent_hint(size)
                raise AssumptionError(f"the slack is {given!r}; {_EXPECTED}{hint}")
            yield arm, found[1], size


def _written(amount: float | str) -> str:
    return amount if isinstance(amount, str) else f"{float(amount)!r}"


def read_misread(share: float | None) -> float:
    """The share of outcomes that may be misread.

    Parameters
    ----------
    share
        From 0 to 1; None for none.

    Returns
    -------
    The share.
    """
    found = 0.0 if share is None else float(share)
    if not 0 <= found <= 1:
        raise AssumptionError(
            f"the share of misread outcomes is {found:g}; expected a number from 0 to 1{percent_hint(found)}"
        )
    return found


def slack_limits(structure: Structure, contrast: Contrast | None, slack: Slack) -> Iterator[Limit]:
    """How far the outcomes of each arm of the trial may be moved.

    Parameters
    ----------
    structure
        Arms and outcomes.
    contrast
        Which arms are meant by ``treated`` and ``control``.
    slack
        By how much.

    Yields
    ------
    Limits on moves.
    """
    _check_structure(structure, "slack (--slack, slack=)")
    for group, less, more in slack.by_group(structure, contrast):
        columns = np.arange(structure.n_cells)[structure.group_slices[group]]
        if less == more:
            yield Limit(moves=tuple(permutations(columns.tolist(), 2)), at_most=more)
            continue
        ranks = _outcome_ranks(structure, group, columns)
        for size, sign in ((less, -1), (more, 1)):
            pairs = permutations(range(len(columns)), 2)
            moves = tuple(
                (int(columns[i]), int(columns[j])) for i, j in pairs if sign * (int(ranks[j]) - int(ranks[i])) > 0
            )
            if size:
                yield Limit(moves=moves, at_most=size)


def misread_limits(structure: Structure, share: float) -> Iterator[Limit]:
    """How far the outcomes of each arm of each table may be moved: by a share of the arm's people.

    Parameters
    ----------
    structure
        Arms and outcomes.
    share
        Of outcomes that may be recorded wrongly.

    Yields
    ------
    Limits on moves.
    """
    _check_structure(structure, "misread outcomes (--misread-outcome, misread_outcome=)")
    for group in structure.groups_of(EXPERIMENTAL):
        columns = np.arange(structure.n_cells)[structure.group_slices[group]]
        yield Limit(moves=tuple(permutations(columns.tolist(), 2)), at_most=share)
    chosen = np.arange(structure.n_cells)[structure.columns_of(OBSERVATIONAL)]
    for arm in np.unique(structure.chosen_arms) if len(chosen) else ():
        columns = chosen[structure.chosen_arms == arm]
        of_cells = np.zeros(structure.n_cells)
        of_cells[columns] = share
        yield Limit(moves=tuple(permutations(columns.tolist(), 2)), of_cells=tuple(of_cells.tolist()))


def _check_structure(structure: Structure, what: str) -> None:
    described = structure.description
    if described.kind == NONCOMPLIANCE:
        raise AssumptionError(
            f"{what} cannot be heeded where people do not do as assigned: the trial then does not show how people "
            "respond to the arm itself; leave it out."
        )
    if described.missing == WORST_CASE:
        raise AssumptionError(
            f"{what} cannot be heeded where missing outcomes may be anything (--missing worst-case); leave it out, or "
            "read the tables otherwise."
        )


def _trial_arms(structure: Structure) -> dict[str, int]:
    """Positions of the trial's groups by the names of their arms."""
    arms = structure.description.arms
    named = {TREATED: arms[1], CONTROL: arms[0]} if structure.is_two_by_two else {}
    groups: list[tuple[int, Group]] = [
        (number, structure.groups[number]) for number in structure.groups_of(EXPERIMENTAL)
    ]
    return {named.get(group.name, group.name): number for number, group in groups}


def trial_group(structure: Structure, arm: str) -> int:
    """Position of the group of an arm of the trial.

    Parameters
    ----------
    structure
        Arms by name.
    arm
        One of them.

    Returns
    -------
    Its position among the structure's groups; an error says so if the trial lacks the arm.
    """
    arms = _trial_arms(structure)
    if arm not in arms:
        raise AssumptionError(f"{arm!r} is no arm of the trial, which has {join_names(arms)}.")
    return arms[arm]


def _outcome_ranks(structure: Structure, group: int, columns: IndexArray) -> IndexArray:
    """How good the outcome of each cell of an arm is."""
    described = structure.description
    if not described.ordered and len(described.outcomes) > 2:
        raise AssumptionError(
            f"slack to one side says that outcomes are better or worse, but {join_names(described.outcomes)} have no "
            "order; give it without a sign."
        )
    (arm,) = (name for name, number in _trial_arms(structure).items() if number == group)
    return outcome_scores(structure, arm, None)[columns]


def outcome_scores(structure: Structure, arm: str, horizon: float | None) -> IndexArray:
    """Of each cell of an arm of the trial, how good its outcome is, the worst being 0.

    Parameters
    ----------
    structure
        Arms and outcomes.
    arm
        Name of the arm.
    horizon
        Of times to an event, when to look; None for the intervals themselves.

    Returns
    -------
    Shape (cells,); zero for cells of other groups.
    """
    other = next(name for name in structure.description.arms if name != arm)
    under = contrast_people(structure, (arm, other), horizon)["Y1"]
    found = np.zeros(structure.n_cells, dtype=np.intp)
    some = structure.group_slices[trial_group(structure, arm)]
    found[some] = [under[types][0] for types in structure.incidence[some] == 1]
    return found
