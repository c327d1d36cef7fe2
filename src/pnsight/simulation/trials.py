"""Named populations of trials that are not two arms and two outcomes, with covariates that a study could have.

The people are invented: effects were written down to be plausible, and differ between people in size and direction.
Each has eight yes/no covariates and two hidden causes that move what people choose as well as what happens to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.noncompliance import noncompliance
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.time_to_event import time_to_event
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.log_linear import LogLinearPopulation, log_linear_population
from pnsight.simulation.table_design import FollowUp, TableDesign

Chances: TypeAlias = Mapping[str, float | Mapping[str, tuple[float, float]]]
"""By covariate, how likely it is or, for one that depends on an earlier one, without that one and with it."""


def _three_doses() -> LogLinearPopulation:
    """Migraine: a placebo and two doses, relief in three grades."""
    return log_linear_population(
        "three-doses",
        _network(
            {
                "female": 0.7,
                "over_50": 0.35,
                "chronic": {"over_50": (0.25, 0.4)},
                "aura": {"female": (0.25, 0.3)},
                "nausea": {"aura": (0.45, 0.65)},
                "anxious": {"female": (0.2, 0.35)},
                "overuse": {"chronic": (0.1, 0.45)},
                "treated_before": {"chronic": (0.4, 0.75)},
            }
        ),
        arms_and_outcomes(("placebo", "low", "high"), ("none", "partial", "complete")),
        TableDesign("dose", "relief"),
        {"frequent": 0.4, "wary": 0.5},
        {
            "X == 1": {"": 0.2, "treated_before": 0.3, "anxious": -0.2, "frequent": 0.5, "wary": -0.5},
            "X == 2": {"": 0.0, "chronic": 0.5, "treated_before": 0.3, "over_50": -0.3, "frequent": 0.9, "wary": -0.9},
            "Y0 + Y1 + Y2": {
                "": -0.3,
                "chronic": -0.25,
                "nausea": -0.1,
                "aura*female": 0.15,
                "overuse*anxious": -0.1,
                "frequent": -0.5,
            },
            "Y1": {"": 0.3, "aura": 0.25, "overuse": -0.25, "female*over_50": 0.15, "wary": -0.15},
            "Y2": {"": 0.7, "aura": 0.35, "over_50": -0.35, "overuse*chronic": -0.25, "anxious": -0.2, "wary": -0.5},
            "Y0 == Y1": {"": 0.5},
            "Y1 == Y2": {"": 0.5},
            "Y0 == Y2": {"": 0.3},
        },
    )


def _five_grades() -> LogLinearPopulation:
    """Stroke: usual care or early rehabilitation, and five grades of recovery."""
    return log_linear_population(
        "five-grades",
        _network(
            {
                "over_75": 0.45,
                "female": {"over_75": (0.42, 0.58)},
                "severe_stroke": {"over_75": (0.3, 0.45)},
                "bleeding": 0.15,
                "diabetes": {"over_75": (0.2, 0.28)},
                "lives_alone": {"over_75": (0.2, 0.5)},
                "walked_before": {"over_75": (0.95, 0.75)},
                "speech_affected": {"severe_stroke": (0.2, 0.5)},
            }
        ),
        arms_and_outcomes(("usual", "early"), ("dead", "severe", "moderate", "slight", "full")),
        TableDesign("care", "recovery"),
        {"frail": 0.35, "motivated": 0.5},
        {
            "X == 1": {"": -0.2, "severe_stroke": -0.4, "lives_alone": -0.2, "frail": -0.4, "motivated": 0.6},
            "Y0 + Y1": {
                "": 0.1,
                "over_75": -0.15,
                "severe_stroke": -0.3,
                "bleeding": -0.15,
                "diabetes": -0.08,
                "walked_before": 0.12,
                "speech_affected*severe_stroke": -0.06,
                "frail": -0.2,
                "motivated": 0.1,
            },
            "Y1": {
                "": 0.15,
                "severe_stroke": -0.15,
                "bleeding": -0.12,
                "lives_alone": 0.08,
                "over_75*bleeding": -0.08,
                "motivated": 0.12,
                "frail": -0.12,
            },
            "Y0 == 0": {"": 0.3},
            "Y1 == 0": {"": 0.4},
            "Y0 == Y1": {"": 0.8},
        },
    )


def _survival() -> LogLinearPopulation:
    """Heart failure: medicine alone or an implanted device, and days until death, of which many are censored."""
    return log_linear_population(
        "survival",
        _network(
            {
                "over_70": 0.5,
                "female": 0.35,
                "diabetes": {"over_70": (0.25, 0.35)},
                "weak_heart": 0.4,
                "kidney_disease": {"diabetes": (0.15, 0.4)},
                "smoker": {"over_70": (0.35, 0.2)},
                "infarct_before": {"smoker": (0.35, 0.5)},
                "lives_alone": {"over_70": (0.2, 0.4)},
            }
        ),
        time_to_event(("medicine", "device"), (30, 90, 180, 365)),
        TableDesign(
            "therapy",
            "days",
            "died",
            follow_up=FollowUp(120.0, 720.0, 600.0, (0.2, 0.0, 0.0, -0.2, 0.0, 0.25, 0.0, 0.3)),
        ),
        {"unstable": 0.35, "well_off": 0.5},
        {
            "X == 1": {"": -0.4, "weak_heart": 0.6, "over_70": -0.3, "unstable": 0.8, "well_off": 0.7},
            "Y0 + Y1": {
                "": 0.1,
                "over_70": -0.12,
                "diabetes": -0.06,
                "weak_heart": -0.18,
                "kidney_disease": -0.15,
                "smoker*infarct_before": -0.08,
                "unstable": -0.4,
                "well_off": 0.15,
            },
            "Y1": {
                "": 0.2,
                "weak_heart": 0.15,
                "kidney_disease": -0.12,
                "over_70*kidney_disease": -0.08,
                "infarct_before": 0.08,
                "unstable": 0.08,
            },
            "Y1 == 0": {"": 0.3, "over_70": 0.2},
            "Y0 == 4": {"": 1.2},
            "Y1 == 4": {"": 1.2},
            "Y0 == Y1": {"": 0.6},
        },
    )


_JOB_SEEKERS: Chances = {
    "under_25": 0.3,
    "female": 0.48,
    "graduate": {"under_25": (0.35, 0.15)},
    "long_unemployed": {"under_25": (0.45, 0.2)},
    "children": {"under_25": (0.5, 0.1)},
    "city": 0.6,
    "licence": {"city": (0.85, 0.6)},
    "depressed": {"long_unemployed": (0.12, 0.3)},
}


def _noncompliance() -> LogLinearPopulation:
    """Job seekers: some are offered a course, some go without or in spite of it; a registry has those who chose."""
    return log_linear_population(
        "noncompliance",
        _network(_JOB_SEEKERS),
        noncompliance(("none", "course"), ("0", "1")),
        TableDesign("training", "employed", assigned="offered"),
        {"driven": 0.5, "busy": 0.4},
        {
            "X == 1": {"": -0.5, "graduate": 0.3, "children": -0.3, "driven": 0.6, "busy": -0.5},
            "D1 == 1": {"": 0.9, "long_unemployed": 0.3, "children*female": -0.25, "driven": 0.6, "busy": -0.6},
            "D0 == 1": {"": -1.2, "graduate": 0.25, "city": 0.2, "driven": 0.5, "busy": -0.3},
            "X == D1": {"": 0.3},
            "X == D0": {"": 0.3},
            "Y0 + Y1": {
                "": 0.0,
                "graduate": 0.3,
                "long_unemployed": -0.45,
                "licence": 0.2,
                "depressed": -0.3,
                "children*female": -0.15,
                "driven": 0.4,
            },
            "Y1": {
                "": 0.35,
                "graduate": -0.4,
                "long_unemployed": 0.35,
                "under_25*licence": 0.2,
                "city": -0.15,
                "busy": -0.3,
            },
            "Y0 == Y1": {"": 0.5},
        },
        possible="not (D1 == 0 and D0 == 1)",
    )


def _noncompliance_alone() -> LogLinearPopulation:
    """Screening: some are invited, of whom not all come, and nobody comes without; there is no registry."""
    return log_linear_population(
        "noncompliance-alone",
        _network(
            {
                "over_60": 0.5,
                "female": 0.52,
                "smoker": {"female": (0.3, 0.2)},
                "family_history": 0.15,
                "rural": 0.3,
                "symptoms": {"smoker": (0.1, 0.25)},
                "own_doctor": {"rural": (0.8, 0.6)},
                "screened_before": {"own_doctor": (0.2, 0.5)},
            }
        ),
        noncompliance(("none", "screening"), ("0", "1"), (EXPERIMENTAL,)),
        TableDesign("came_to", "healthy", assigned="invited_to"),
        {"cautious": 0.5, "at_risk": 0.3},
        {
            "D1 == 1": {"": 0.5, "screened_before": 0.5, "rural": -0.3, "family_history*female": 0.2, "cautious": 0.7},
            "Y0 + Y1": {
                "": 0.3,
                "over_60": -0.3,
                "smoker": -0.35,
                "family_history": -0.2,
                "symptoms": -0.25,
                "cautious": 0.2,
                "at_risk": -0.6,
            },
            "Y1": {"": 0.6, "family_history": 0.3, "over_60*smoker": 0.2, "symptoms": 0.2, "at_risk": 0.3},
            "Y0 == Y1": {"": 0.9},
        },
        possible="D0 == 0",
    )


def _untried_arm() -> LogLinearPopulation:
    """Back pain: the trial compares rest and exercise, of those who choose some have surgery."""
    return log_linear_population(
        "untried-arm",
        _network(
            {
                "over_55": 0.4,
                "female": 0.55,
                "office_work": {"female": (0.4, 0.55)},
                "heavy_work": {"office_work": (0.5, 0.05)},
                "leg_pain": 0.35,
                "long_pain": {"over_55": (0.35, 0.5)},
                "overweight": {"over_55": (0.3, 0.4)},
                "low_mood": {"long_pain": (0.15, 0.35)},
            }
        ),
        arms_and_outcomes(("rest", "exercise", "surgery"), ("worse", "same", "better"), tried=("rest", "exercise")),
        TableDesign("therapy", "pain"),
        {"disc_damage": 0.3, "sporty": 0.4},
        {
            "X == 1": {"": 0.3, "overweight": -0.3, "long_pain": 0.2, "low_mood": -0.25, "sporty": 0.7},
            "X == 2": {"": -0.8, "leg_pain": 0.5, "long_pain": 0.4, "over_55": -0.2, "disc_damage": 0.7},
            "Y0 + Y1 + Y2": {
                "": 0.2,
                "long_pain": -0.3,
                "low_mood": -0.2,
                "heavy_work": -0.15,
                "office_work*overweight": -0.1,
                "disc_damage": -0.3,
            },
            "Y1": {"": 0.35, "leg_pain": -0.35, "over_55*overweight": -0.2, "office_work": 0.15, "sporty": 0.35},
            "Y2": {"": 0.1, "leg_pain": 0.5, "over_55": -0.25, "low_mood": -0.2, "disc_damage": 0.5},
            "Y0 == Y1": {"": 0.6},
            "Y0 == Y2": {"": 0.2},
        },
    )


TRIALS: Mapping[str, Callable[[], LogLinearPopulation]] = {
    "three-doses": _three_doses,
    "five-grades": _five_grades,
    "survival": _survival,
    "noncompliance": _noncompliance,
    "noncompliance-alone": _noncompliance_alone,
    "untried-arm": _untried_arm,
}
"""By name, how each is made."""

TRIAL_NAMES = tuple(TRIALS)
"""Names of populations with more arms, more outcomes, times to an event, or noncompliance."""


def _network(chances: Chances) -> CovariateNetwork:
    names = tuple(chances)
    parents, tables = [], []
    for chance in chances.values():
        on = {} if isinstance(chance, float) else chance
        parents.append(tuple(names.index(parent) for parent in on))
        tables.append(np.array(chance if isinstance(chance, float) else next(iter(chance.values()))))
    return CovariateNetwork(names, tuple(parents), tuple(tables))
