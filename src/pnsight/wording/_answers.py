"""What is said about answers: payoffs, refinement, assumptions, and whom an answer leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._text import count_text, percent
from pnsight.errors import join_names
from pnsight.wording._diagnostics import contradiction, extent, minimum_detectable

ASSUMPTIONS = {
    "monotone": "nobody is harmed by the treatment",
    "exogenous": "given the covariates, the treatment chosen is as good as random",
    "no-defiers": "nobody takes the treatment only if not assigned to it",
    "one-sided": "nobody takes the treatment who was not assigned to it",
}
"""The assumptions there are, in words."""

GRADED_ASSUMPTIONS = {
    "harm<=": "at most {amount:.12g} of these people are harmed by the treatment",
    "correlation>=": "the outcomes with and without treatment are correlated by at least {amount:.12g}",
}
"""Assumptions that say how much, by what stands before the amount."""


def assumption_meaning(name: str) -> str:
    """What an assumption says, in words.

    Parameters
    ----------
    name
        As `read_assumptions` gives it, such as ``monotone`` or ``harm<=0.05``.

    Returns
    -------
    The meaning, without a full stop.
    """
    for start, words in GRADED_ASSUMPTIONS.items():
        if name.startswith(start):
            return words.format(amount=float(name.removeprefix(start)))
    return ASSUMPTIONS[name]


PERSON_TYPES = {
    "complier": "responds because of it",
    "always": "responds either way",
    "never": "responds neither way",
    "defier": "responds only without it",
}
"""The kinds of people that payoffs are for, in the order of `Payoffs`."""


KINDS_OF_PEOPLE = {"complier": "helped", "always": "always", "never": "never", "defier": "harmed"}
"""What the kinds of people that payoffs are for are called, since those who do as assigned are compliers too."""


def _payoffs(**payoffs: float) -> str:
    return "payoffs: " + ", ".join(f"{KINDS_OF_PEOPLE[name]} {worth:g}" for name, worth in payoffs.items())


def _payoffs_on_page(**payoffs: float) -> str:
    worths = (f"{worth:g} for a person who {PERSON_TYPES[name]}" for name, worth in payoffs.items())
    return "Treating is worth " + ", ".join(worths)


def _assumed(names: Sequence[str]) -> str:
    return "assumed: " + " and ".join(f"{name} ({assumption_meaning(name)})" for name in names)


def _untestable(assumed: Sequence[str]) -> str:
    return f"{_assumed(assumed)}; nothing in the tables could contradict it, as no profile has rows on both sides"


def _consistent(assumed: Sequence[str], subgroups: int, comparisons: int, detectable: float) -> str:
    found = f"not contradicted in {extent(subgroups, comparisons)}; {minimum_detectable(detectable)}"
    return f"{_assumed(assumed)}; {found}"


def _consistent_here(assumed: Sequence[str], subgroups: int, comparisons: int, elsewhere: Sequence[str]) -> str:
    among = f"among {extent(subgroups, comparisons)}, but for {'; '.join(elsewhere)}"
    return f"{_assumed(assumed)}; not contradicted for those asked about, {among}"


def _contradicted(
    assumed: Sequence[str],
    implies: str,
    found: Mapping[str, Any],
    comparisons: int,
    adjusted: float,
    also: Sequence[str],
    more: bool,
    others_may_be_asked: bool,
) -> str:
    p_value = f"{adjusted:.2g}" if adjusted > 0 else "below 1e-300"
    others = "; ".join([*also, *(["more subgroups"] if more else [])])
    return (
        f"{_assumed(assumed)}. The tables contradict it, as it implies {implies}. {contradiction(**found)} P-value, "
        f"corrected for {comparisons:,} comparisons: {p_value}.{f' Also: {others}.' if others else ''} "
        f"Leave the assumption out{', or ask about other people' if others_may_be_asked else ''}."
    )


def _impossible(assumed: Sequence[str], cells: Sequence[str], rows: float) -> str:
    return (
        f"{_assumed(assumed)}. The tables contradict it: {count_text(rows)} rows are where nobody would be then, at "
        f"{', '.join(cells)}. Leave the assumption out, or check how those rows are coded."
    )


_AT_LEAST = {
    "harm": "at least {value:.3f} of them are harmed",
    "correlation": "their correlation is {value:.3f} at most",
    "monotone": "at least {value:.3f} of them are harmed",
    "no-defiers": "at least {value:.3f} of them are defiers",
    "one-sided": "at least {value:.3f} of them take it without",
}
"""What a law says of what is assumed, by the kind of the assumption."""


def _off(kind: str, value: float, errors: float) -> str:
    return f"{_AT_LEAST[kind].format(value=value)}, which is off by {errors:.1f} standard errors"


def _limit_contradicted(
    assumed: Sequence[str],
    group: str,
    kind: str,
    value: float,
    errors: float,
    comparisons: int,
    adjusted: float,
    also: Sequence[str],
    more: int,
) -> str:
    p_value = f"{adjusted:.2g}" if adjusted > 0 else "below 1e-300"
    others = "; ".join([*also, *([f"{more:,} more groups"] if more else [])])
    listed = f" Also: {others}." if others else ""
    return (
        f"{_assumed(assumed)}. The tables contradict it. For {group}, {_off(kind, value, errors)}: more than chance "
        f"explains. P-value, corrected for {comparisons:,} comparisons: {p_value}.{listed} Leave "
        "the assumption out, or assume less."
    )


def _limit_within_chance(
    assumed: Sequence[str], group: str, kind: str, value: float, errors: float, groups: int, of: int
) -> str:
    which = f"for {group}" if of == 1 else f"for {groups:,} of {of:,} groups, such as {group}"
    return (
        f"{_assumed(assumed)}. By the estimates it does not hold {which}: {_off(kind, value, errors)}. That is within "
        "chance, so the nearest shares are taken under which it holds"
    )


def _limit_not_contradicted(assumed: Sequence[str], groups: int) -> str:
    which = "the group" if groups == 1 else f"any of the {groups:,} groups"
    return f"{_assumed(assumed)}; the estimates of {which} do not contradict it"


def _assumption_buys(width: float, without: float, answers: int) -> str:
    average = "" if answers == 1 else f" on average over {answers:,} answers"
    return f"the bounds are {width:.4f} wide{average}, and without what is assumed {without:.4f}"


def _simultaneous(answers: int, level: float) -> str:
    which = "this answer" if answers == 1 else f"these {answers:,} answers"
    return f"the intervals of {which} hold together with a confidence of {level:.0%} (Bonferroni), and so are wider"


def _noisy_profiles(share: float, rows: int) -> str:
    return (
        f"{percent(share)} of people have a profile with fewer than {rows} rows in an arm or table: its noise makes "
        "refined bounds look tighter than they are; use a response-types model"
    )


def _lacking(refined: bool) -> str:
    return f"have a profile that lacks rows in one arm or table{', or whose bounds cross' if refined else ''}"


def _people_left_out(answers: int, of: int, share: float, refined: bool) -> str:
    return (
        f"{answers:,} of {of:,} answers leave out people who {_lacking(refined)}, at most {share:.1%} of those asked "
        "about"
    )


def _queries_unanswered(queries: int, of: int, share: float, refined: bool) -> str:
    return (
        f"{queries:,} of {of:,} queries have no answer: more than {share:.0%} of those asked about "
        f"{_lacking(refined)}; use fewer or coarser covariates"
    )


def _answers_contradicted(contradicted: int, of: int) -> str:
    which = "this group" if of == 1 else f"{contradicted:,} of {of:,} groups asked about"
    return (
        f"no answer from both tables for {which}: no population fits both. What the trial alone says is in trial_lower "
        "and trial_upper; --trial-alone goes on with that"
    )


def _answers_impossible(contradicted: int, of: int) -> str:
    which = "this group" if of == 1 else f"{contradicted:,} of {of:,} groups asked about"
    return f"no answer for {which}: no population fits the experiment"


PEOPLE = {
    "observational": "the people of the observational table",
    "experimental": "the people of the experimental table",
    "pooled": "the people of both tables",
    "each": "each table's own people: their rows are added up",
}
"""Whose people an open covariate is averaged over, in words."""


def _people_averaged(population: str) -> str:
    return f"averaged over {PEOPLE[population]}"


def _contradicted_on_page(contradicted: int, of: int) -> str:
    which = "these people" if of == 1 else f"{contradicted:,} of {of:,} groups asked about"
    return f"no answer from both tables for {which}: no population fits both"


def _averaged_near(widths: Sequence[Mapping[str, Any]]) -> str:
    near = [f"{one['covariate']} within {one['within']:.3g}" for one in widths]
    return (
        "a number with other covariates left open is averaged over people near it, as if they had it: "
        f"{join_names(near)} of the number asked about"
    )


ANSWERS: dict[str, Any] = {
    "averaged_near": _averaged_near,
    "contrast": "{treated} against {reference}",
    "horizon": "at the horizon {horizon:g}",
    "time_convention": (
        "time gained until {horizon:g}: the area between two curves that are straight between horizons, so that events "
        "within an interval are taken to be spread evenly over it"
    ),
    "among_compliers": "among those who take {treated} if assigned to it, and {reference} if assigned to that",
    "statement": "{statement}",
    "statement_given": "{statement}, given {given}",
    "people_averaged": _people_averaged,
    "answers_contradicted": _answers_contradicted,
    "answers_impossible": _answers_impossible,
    "same_for_everyone": (
        "the rows gave no reason to tell people apart: the estimate is the same for everyone, and the intervals allow "
        "for differences that so few rows cannot rule out"
    ),
    "random_effects": (
        "no network told people apart better than chance; groups differ only as far as their own rows and those of "
        "people like them show, and the intervals allow for differences that the rows cannot rule out"
    ),
    "trial_alone": "from the experiment alone, and of its people: the observational table is not used",
    "payoffs": _payoffs,
    "refined": "refined: the average of the profiles' own bounds",
    "no_experiment": (
        "no experimental row says what treatment does; an observational table alone answers under assume='exogenous' "
        "(--assume exogenous) only"
    ),
    "assumption_untestable": _untestable,
    "assumption_not_contradicted": _consistent,
    "assumption_contradicted_elsewhere": _consistent_here,
    "assumption_contradicted": _contradicted,
    "assumption_impossible": _impossible,
    "limit_contradicted": _limit_contradicted,
    "limit_within_chance": _limit_within_chance,
    "limit_not_contradicted": _limit_not_contradicted,
    "assumption_buys": _assumption_buys,
    "slack": (
        "slack {slack}: the shares who respond with and without treatment may differ from the trial's by so much"
    ),
    "misread_outcome": (
        "up to a share of {share:.12g} of the outcomes of each arm and table may be recorded wrongly, in any pattern"
    ),
    "slack_needs_rows": (
        "slack does not reconcile the tables here: this {model} model learned as if both showed people who respond "
        "alike. A plug-in model (--model plug-in) judges the contradiction at the slack that is given"
    ),
    "median_unbiased": (
        "ends are moved outwards until each claims too much at most half of the time (half-median-unbiased): the "
        "largest of several noisy estimates is too large, the smallest too small"
    ),
    "simultaneous": _simultaneous,
    "noisy_profiles": _noisy_profiles,
    "people_left_out": _people_left_out,
    "queries_unanswered": _queries_unanswered,
}

PAGE_ANSWERS: dict[str, Any] = {"payoffs": _payoffs_on_page, "answers_contradicted": _contradicted_on_page}
