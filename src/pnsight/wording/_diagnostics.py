"""What the diagnostics say: support, balance, covariate shift, compatibility of the tables, and pooling of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._text import number_of, percent
from pnsight.errors import join_names

# --- subgroup tests ---------------------------------------------------------------------------------------


def extent(subgroups: int, comparisons: int) -> str:
    """How much was compared."""
    return f"{number_of(subgroups, 'subgroup')} ({number_of(comparisons, 'comparison')})"


def minimum_detectable(size: float) -> str:
    """How large a contradiction would have been noticed."""
    return f"for everyone, a contradiction of {size:.3f} would have been noticed"


def contradiction(
    group: str, pooled: bool, left: Mapping[str, Any], right: Mapping[str, Any], excess: float, low: float, high: float
) -> str:
    """One inequality that a subgroup breaks; each side has `text`, `where` and `value`."""
    return (
        f"For {group}{', profile by profile,' if pooled else ','} {left['text']} is {left['value']:.3f} "
        f"{_TABLES[left['where']]}, but {right['text']} only {right['value']:.3f} {_TABLES[right['where']]}: "
        f"{excess:.3f} too much ({low:.3f} to {high:.3f})."
    )


_TABLES = {
    "experimental": "in the experiment",
    "observational": "in the observational table",
    "both": "in both tables together",
}


def _no_contradiction(subgroups: int, comparisons: int, detectable: float) -> str:
    return f"no contradiction in {extent(subgroups, comparisons)}; {minimum_detectable(detectable)}."


def _also_contradicted(groups: Sequence[str]) -> str:
    return f"Also: {'; '.join(groups)}."


def _little_compared(share: float) -> str:
    shared = f"{percent(share)} of the rows are in profiles that both tables have"
    return f"But only {shared}: check again with fewer covariates."


# --- support ----------------------------------------------------------------------------------------------


def _support(people: float, profiles: float, queries: float, rows: int, alone: bool, drawn: int | None) -> str:
    table = "the experiment" if alone else "each table"
    sampled = "" if drawn is None else f" (of {drawn:,} drawn at random)"
    return (
        f"{percent(people)} of people have a profile with at least {rows} rows in {table}, as have {percent(profiles)} "
        f"of possible profiles and {percent(queries)} of all groups that can be asked about{sampled}."
    )


def _profiles_in_one_table(
    experimental: int, observational: int, of_experimental: float, of_observational: float
) -> str:
    return (
        f"In one table only: {number_of(experimental, 'profile')} of the experimental table "
        f"({percent(of_experimental)} of its rows), {observational:,} of the observational one "
        f"({percent(of_observational)})."
    )


# --- balance and covariate shift --------------------------------------------------------------------------


def _evidence(tests: int, smallest: float) -> str:
    return f"smallest p-value of {number_of(tests, 'look')}, corrected: {smallest:.2g}"


def _treatment_unpredictable(tests: int, smallest: float) -> str:
    return f"covariates do not predict treatment ({_evidence(tests, smallest)})."


def _treatment_chosen(stratification: Sequence[str], unexplained: Sequence[str]) -> str:
    return (
        f"treatment depends on {join_names(stratification)} and, among people alike in those, on "
        f"{join_names(unexplained)}: it looks chosen, not randomised. Are the tables in the right order?"
    )


def _positivity_violated(share: float, stratification: Sequence[str]) -> str:
    levels = f"{percent(share)} of people are at levels of {join_names(stratification)}"
    return f"{levels} where all have the same treatment: it was not randomised."


def _allocation_by_combinations(p_value: float) -> str:
    return (
        f"allocation seems to differ between combinations of covariates (p = {p_value:.2g}, corrected), though by none "
        "alone."
    )


def _allocation_differs(
    stratification: Sequence[Mapping[str, Any]], unexplained: Sequence[str], explained: bool, one_armed: float
) -> str:
    shares = [f"{one['covariate']} (share treated {one['least']:.2f} to {one['most']:.2f})" for one in stratification]
    text = f"allocation differs by {join_names(shares)}"
    if unexplained:
        text += f", and a little by {join_names(unexplained)}"
    if explained:
        text += "; given that, covariates do not predict treatment"
    if one_armed:
        text += f"; {percent(one_armed)} of people are at levels where all have the same treatment"
    names = join_names(one["covariate"] for one in stratification)
    return f"{text}. Fix {names} in queries: rows pooled over it mislead."


def _same_mix(tests: int, smallest: float) -> str:
    return f"both tables have the same mix of covariates ({_evidence(tests, smallest)})."


def _differing(covariates: Sequence[Mapping[str, Any]]) -> str:
    names = [f"{one['covariate']} ({one['difference']:.2f})" for one in covariates]
    return f"in {join_names(names)}" if names else "in combinations of covariates, though in none alone"


def _small_shift(covariates: Sequence[Mapping[str, Any]]) -> str:
    return f"the tables differ {_differing(covariates)}, but by little."


def _covariate_shift(covariates: Sequence[Mapping[str, Any]]) -> str:
    return (
        f"the tables differ {_differing(covariates)}. Answers that leave these open depend on whose mix of people is "
        "meant."
    )


# --- fitting ----------------------------------------------------------------------------------------------


def _assignment_varies(variation: float) -> str:
    return f"the experiment treats some profiles more often than others (shares vary by {variation:.0%})"


def _mix_varies(variation: float) -> str:
    return f"the two tables mix the covariates differently (shares vary by {variation:.0%})"


def _rows_pooled(assignment: float | None, mix: float | None) -> str:
    found = [] if assignment is None else [_assignment_varies(assignment)]
    found += [] if mix is None else [_mix_varies(mix)]
    return (
        f"{' and '.join(found)}; this model adds up rows, so its answers mislead where a query leaves covariates open. "
        "Use --model response-types, or plug-in with --mix profiles, and --population to say whose mix; against the "
        "first --assignment helps too, where the probability of treatment is known."
    )


def _tables_contradict(
    found: Mapping[str, Any] | None = None,
    codes: Sequence[Sequence[int]] = (),
    also: Sequence[Sequence[int]] = (),
) -> str:
    detail = "" if found is None else f" {contradiction(**found)}"
    return f"the tables contradict each other.{detail} See: pnsight check"


def _check_summary(failed: Sequence[str], warned: Sequence[str]) -> str:
    warnings = f"{number_of(len(warned), 'warning')} ({', '.join(warned)})"
    if failed:
        return f"Not usable as it is: {' and '.join(failed)} failed{f'; {warnings}' if warned else ''}."
    return f"Usable{f', with {warnings}' if warned else ''}."


DIAGNOSTICS: dict[str, Any] = {
    "check_summary": _check_summary,
    "support": _support,
    "scarce_support": "Fewer rows say little by themselves: use a model that learns across profiles.",
    "profiles_in_one_table": _profiles_in_one_table,
    "balance_without_covariates": "no covariates, so nothing that could predict treatment.",
    "treatment_unpredictable": _treatment_unpredictable,
    "treatment_chosen": _treatment_chosen,
    "positivity_violated": _positivity_violated,
    "allocation_by_combinations": _allocation_by_combinations,
    "allocation_differs": _allocation_differs,
    "shift_without_covariates": "no covariates, so nothing the tables could mix differently.",
    "same_mix": _same_mix,
    "small_covariate_shift": _small_shift,
    "covariate_shift": _covariate_shift,
    "no_population_fits": "no population fits both tables.",
    "contradiction": contradiction,
    "also_contradicted": _also_contradicted,
    "subgroups_contradicted": "Subgroups that break an inequality: {broken:,} of {subgroups:,}.",
    "nothing_compared": "nothing could be compared: no profile has rows in both tables.",
    "no_contradiction": _no_contradiction,
    "pairs_not_compared": "Pairs of covariates were too many to look at.",
    "little_compared": _little_compared,
    "assignment_varies": _assignment_varies,
    "mix_varies": _mix_varies,
    "rows_pooled": _rows_pooled,
    "tables_contradict": _tables_contradict,
}
