"""What is said about decisions, rankings, budgets and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._text import count_text, large_number, number_of, percent

EXTRAPOLATED = "extrapolated: nobody like this was seen"
"""What is said of an answer that rests on nobody like the people asked about."""

# --- decisions --------------------------------------------------------------------------------------------


def _decision(decision: str, rows: Sequence[float], **values: Any) -> str:
    head = {"treat": "treat", "not": "do not treat", "uncertain": "uncertain", "": "no decision"}[decision]
    return f"{head}: {_reason(decision, **values)} ({_rows(rows)})."


def _rows(rows: Sequence[float]) -> str:
    experimental, observational = map(count_text, rows)
    return f"rows: {experimental} experimental, {observational} observational"


def apart(value: float, threshold: float) -> str:
    """A number with three decimals, or as many more as tell it from a threshold that it does not equal.

    Parameters
    ----------
    value, threshold
        Two numbers.

    Returns
    -------
    ``0.1999`` beside 0.2, and ``0.200`` where the two differ by rounding errors only.
    """
    if abs(value - threshold) <= _ROUNDING * max(1.0, abs(threshold)):
        return f"{value:.3f}"
    decimals = range(3, _MAX_DECIMALS + 1)
    return next(text for k in decimals if float(text := f"{value:.{k}f}") != threshold or k == _MAX_DECIMALS)


_ROUNDING = 1e-9
_MAX_DECIMALS = 10
"""Numbers that differ by less than the first are the same; more decimals than the second are never shown."""


def _reason_on_page(decision: str, rows: Sequence[float], **values: Any) -> str:
    return f"{_reason(decision, **values)}."


def _reason(
    decision: str,
    quantity: str,
    lower: float | None,
    upper: float | None,
    threshold: float,
    status: str,
    interval: Mapping[str, Any] | None,
    basis: str,
    trial: Sequence[float] | None,
    worth: float | None = None,
) -> str:
    """Why this is the decision; `interval` is that of the deciding bound, which a cautious decision may hang on.

    `worth` are the rows that the answer is worth, where they are too few to decide.
    """
    bound = _deciding_bound(lower, threshold) if decision == "uncertain" else "that bound"
    sure = "" if interval is None else _interval(bound, threshold=threshold, **interval)
    if worth is not None:
        sure += f", but the answer is worth {number_of(round(worth), 'row')} of its own, too few to decide with caution"
    least, most = (None if end is None else apart(end, threshold) for end in (lower, upper))
    if decision == "treat":
        return f"{quantity} is at least {least}, not below {threshold:g}{sure}"
    if decision == "not":
        return f"{quantity} is at most {most}, below {threshold:g}{sure}"
    if decision == "uncertain":
        return f"{quantity} is between {least} and {most}{sure or f', on both sides of {threshold:g}'}"
    if status != "ok":
        return _contradicted(quantity, trial) if status == "contradicted" else f"the answer is {status}"
    if basis == "extrapolated":
        return f"{EXTRAPOLATED}, and that {quantity} is between {lower:.3f} and {upper:.3f} is guessed from others"
    return f"{quantity} is between {lower:.3f} and {upper:.3f}, but how far these bounds may be off is not known"


def _contradicted(quantity: str, trial: Sequence[float] | None) -> str:
    return f"the tables contradict each other here beyond chance; {trial_says(quantity, trial)}"


def trial_says(quantity: str, trial: Sequence[float] | None) -> str:
    """What the experiment alone says of a quantity: both ends, if it bounds it."""
    if trial is None:
        return f"the trial alone does not bound {quantity}"
    lower, upper = trial
    if f"{lower:.3f}" == f"{upper:.3f}":
        return f"by the trial alone {quantity} is {lower:.3f}"
    return f"by the trial alone {quantity} is between {lower:.3f} and {upper:.3f}"


def _deciding_bound(lower: float | None, threshold: float) -> str:
    """The bound on which a decision hangs that its interval does not bear out: both are on one side."""
    return "the upper bound" if lower is None or lower < threshold - _ROUNDING else "the lower bound"


def _interval(bound: str, level: float, reaches: float, agrees: bool, threshold: float, stretched: bool = False) -> str:
    wider = ", made wider as others taught it," if stretched else ""
    reach = f"the {level:.0%} interval of {bound}{wider} reaches {apart(reaches, threshold)}"
    return f", and {reach}, on the same side" if agrees else f", but {reach}, on the other side"


def _arm_decision(
    decision: str,
    between: Sequence[str],
    quantity: str,
    reference: str,
    threshold: float,
    bounds: Sequence[Mapping[str, Any]],
) -> str:
    known = [f"{one['arm']} {one['lower']:.3f} to {one['upper']:.3f}" for one in bounds if one["lower"] is not None]
    why = f"{quantity} against {reference}, which must reach {threshold:g}: {', '.join(known) or 'no answer'}"
    if not decision:
        return f"no decision ({why})."
    if decision == "uncertain":
        *others, last = between
        return f"uncertain between {', '.join(others)} and {last} ({why})."
    return f"{decision} ({why})."


def _arms_counted(decisions: Sequence[Mapping[str, Any]], of: int) -> str:
    counted = ", ".join(f"{one['decision'] or 'no answer'} {one['queries']:,}" for one in decisions)
    return f"{of:,} decisions: {counted}"


def _decisions_counted(treat: int, not_: int, uncertain: int, unanswered: int) -> str:
    named = {"treat": treat, "not": not_, "uncertain": uncertain, "no answer": unanswered}
    counted = ", ".join(f"{name} {count:,}" for name, count in named.items() if count)
    return f"{sum(named.values()):,} decisions: {counted}"


def _choices_counted(treat: int, not_: int, leave: int, uncertain: int, unanswered: int) -> str:
    named = {"treat": treat, "not": not_, "leave": leave, "uncertain": uncertain, "no answer": unanswered}
    counted = ", ".join(f"{name} {count:,}" for name, count in named.items() if count)
    return f"{sum(named.values()):,} decisions: {counted}"


def _choice_decision(
    decision: str,
    usual: float | None,
    if_treated: float | None,
    if_untreated: float | None,
    rows: Sequence[float],
) -> str:
    return f"{_CHOICES[decision]}: {_choice_reason(decision, usual, if_treated, if_untreated, rows)} ({_rows(rows)})."


_CHOICES = {
    "treat": "treat",
    "not": "do not treat",
    "leave": "leave it to them",
    "uncertain": "uncertain",
    "": "no decision",
}


def _choice_reason(
    decision: str,
    usual: float | None,
    if_treated: float | None,
    if_untreated: float | None,
    rows: Sequence[float],
) -> str:
    if usual is None:
        return "how many respond is not known"
    return f"{usual:.3f} respond if they choose for themselves, {if_treated:.3f} if treated, {if_untreated:.3f} if not"


def _usual_care_better(groups: int, of: int, query: str, group: str, treat: bool, fewer: float) -> str:
    which = "" if of == 1 else f"for {groups:,} of {number_of(of, 'group')}, most for {group}, "
    if_so = "all are treated" if treat else "none is treated"
    return (
        f"{which}usual care is better: {fewer:.3f} fewer respond if {if_so} than if they choose for "
        "themselves; decide --leave (leave=True) weighs that too"
    )


def _usual_care_better_on_page(**values: Any) -> str:
    return _usual_care_better(**values).partition("; decide --leave")[0]


def _people_scored(people: int, decisions: Sequence[Mapping[str, Any]]) -> str:
    counted = ", ".join(f"{one['decision'] or 'no decision'} {one['people']:,}" for one in decisions)
    return f"{number_of(people, 'row')} scored" + (f": {counted}" if counted else "")


def _people_extrapolated(people: int, of: int) -> str:
    return (
        f"no decision for {people:,} of {number_of(of, 'row')}: {EXTRAPOLATED}; --extrapolate (extrapolate=True) "
        "decides all the same"
    )


def _people_contradicted(people: int, of: int) -> str:
    return (
        f"no answer from both tables for {people:,} of {number_of(of, 'row')}: no population fits both. What the "
        "trial alone says is in trial_lower and trial_upper; --trial-alone goes on with that"
    )


def _people_invalid(people: int, of: int, row: int, problem: str) -> str:
    return (
        f"{people:,} of {number_of(of, 'row')} cannot be read: their status is invalid, and the column problem says "
        f"why. The first is row {row:,}: {problem}"
    )


def _people_invalid_on_page(people: int, of: int, row: int, problem: str) -> str:
    return f"{people:,} of {number_of(of, 'row')} cannot be read, and nothing is decided about them; each says why"


def _extrapolated_undecided(queries: int, of: int) -> str:
    which = "" if of == 1 else f" for {queries:,} of {of:,} queries"
    return f"no decision{which}: {EXTRAPOLATED}; --extrapolate (extrapolate=True) decides all the same"


def _ask_first(covariate: str, probability: float, always: bool, effect: str) -> str:
    often = "it always" if always else f"in {percent(probability)} of cases it"
    does = {
        "settles": "settles the decision",
        "unsettles": "makes the decision uncertain",
        "changes": "changes the decision",
    }[effect]
    return f"ask for {covariate} first: {often} {does}"


# --- rankings and budgets ---------------------------------------------------------------------------------


def _groups_ranked(
    groups: int,
    of: int,
    all_fixing: int | None,
    most_fixed: int | None,
    enough: int,
    least_share: float,
    least_support: float,
) -> str:
    looked_at = f"all {of:,} groups were looked at"
    if most_fixed is not None:
        fixing = f"all that fix up to {number_of(all_fixing or 0, 'covariate')}"
        searched = f"and the best narrowed down to at most {most_fixed}"
        looked_at = f"of {large_number(of)} groups {groups:,} were looked at, {fixing} {searched}"
    return (
        f"{looked_at}; {enough:,} of them describe at least {100 * least_share:.4g}% of the people and have at least "
        f"{least_support:g} rows in each table"
    )


def _short_list(listed: int, top: int, others: int, margin: float) -> str:
    more = "a smaller --margin, --least-share or --least-support (margin, least_share, least_support) lets in more"
    return f"{_why_short(listed, top, others, margin)}; {more}"


def _why_short(listed: int, top: int, others: int, margin: float) -> str:
    asked = f"{number_of(listed, 'group')} listed of the {top:,} asked for"
    if not others:
        return f"{asked}: no other is large enough and has an answer"
    none = "the other one is not" if others == 1 else f"none of the {others:,} others that were compared is"
    return f"{asked}: {none} above every more general group by {margin:g}, so naming it would add nothing"


def _ranked_cautiously(end: str, level: float, below: float, too_high: float | None) -> str:
    where = f"where the {level:.0%} interval of the {end} bound begins"
    by = f"ranked with caution: by {where}, on average {below:.3f} below it"
    if too_high is None:
        return by
    return f"{by}; being the best of many, the bounds listed are about {too_high:.3f} too high on average"


def _contradicted_left_out(groups: int, of: int, trial_can_answer: bool) -> str:
    instead = "; --trial-alone (trial_alone=True) goes by the trial alone" if trial_can_answer else ""
    return f"left out: {groups:,} of {number_of(of, 'group')}, about which the tables contradict each other{instead}"


_NOT_CONSIDERED = {
    "contradicted": "about which the tables contradict each other (--trial-alone goes by the trial alone)",
    "extrapolated": "like nobody seen (--extrapolate takes them in)",
    "no_answer": "without an answer",
    "few_rows": "with too few rows",
    "too_much_harm": "in which more may be harmed than allowed",
    "no_rows": "without any row",
}


def _not_considered(share: float, why: str) -> str:
    return f"{percent(share)} of the people have a profile {_NOT_CONSIDERED[why]} and are not considered"


# --- policies ---------------------------------------------------------------------------------------------


def _usual_care_beats_rule(
    queries: int, of: int, query: str, group: str, usual: float, rule: float, choice: float, surely: bool
) -> str:
    who = "" if of == 1 else f"for {queries:,} of {number_of(of, 'group')}, as for {group}, "
    chance = "" if surely else ", though that may be chance"
    return (
        f"{who}usual care has more respond ({usual:.4f}) than the best rule by covariates ({rule:.4f}){chance}: people "
        "know something that the covariates do not show. A rule that also goes by what they would choose has "
        f"{choice:.4f}"
    )


# --- plans ------------------------------------------------------------------------------------------------


def _groups_compared(groups: int, most_fixed: int, least_share: float) -> str:
    fixing = f"{number_of(groups, 'group')} that fix up to {number_of(most_fixed, 'covariate')}"
    return f"{fixing} and hold at least {least_share:.1%} of the people were compared"


def _slack_of(amount: str, along: str, plain: bool) -> str:
    """By how much, in words."""
    return amount if plain else f"{amount} times {along}"


_TIPPED = {"treat": "to treat", "not": "not to treat"}


def _tipping_point(decision: str, tip: float | None, along: str, plain: bool, reconciled_at: float | None) -> str:
    """When a decision changes; `reconciled_at` is the least slack at which some population fits the tables."""
    if not decision:
        if reconciled_at:
            least = _slack_of(f"{reconciled_at:.3g}", along, plain)
            return f"no decision; the shares of both tables fit together from a slack of {least} on"
        return "no decision"
    if decision not in _TIPPED:
        return "uncertain, and so with any slack"
    if tip is None:
        return f"the decision {_TIPPED[decision]} holds however differently these people respond from the trial's"
    return (
        f"the decision {_TIPPED[decision]} holds as long as the shares who respond with and without treatment differ "
        f"from the trial's by {_slack_of(f'{tip:.3g}', along, plain)} at most; beyond that it is uncertain"
    )


def _tipping(along: str, plain: bool) -> str:
    unit = "in either arm and to either side" if plain else f"times {along}"
    return (
        f"slack: by how much the shares who respond with and without treatment may differ from the trial's, {unit}; "
        "a decision is uncertain beyond its tip"
    )


def _size_of_subgroups(subgroups: int, simultaneous: bool) -> str:
    together = ", with intervals that hold together (Bonferroni)" if simultaneous else ""
    return f"rows of all {number_of(subgroups, 'subgroup')} together, which are equally large{together}"


DECISIONS: dict[str, Any] = {
    "tipping": _tipping,
    "tipping_point": _tipping_point,
    "decision": _decision,
    "decisions_counted": _decisions_counted,
    "choice_decision": _choice_decision,
    "choices_counted": _choices_counted,
    "usual_care_better": _usual_care_better,
    "arm_decision": _arm_decision,
    "arms_counted": _arms_counted,
    "everything_known": "every covariate is known: there is nothing to ask",
    "nobody_described": "nobody fits this description, so how likely an answer is cannot be said",
    "no_question_helps": "no single question would change the decision",
    "nothing_decided_whatever_known": (
        "the tables contradict each other about these people, whatever else is known; --trial-alone "
        "(trial_alone=True) goes by the trial alone"
    ),
    "ask_first": _ask_first,
    "extrapolated_undecided": _extrapolated_undecided,
    "people_scored": _people_scored,
    "people_extrapolated": _people_extrapolated,
    "people_contradicted": _people_contradicted,
    "people_invalid": _people_invalid,
    "contradicted_left_out": _contradicted_left_out,
    "groups_ranked": _groups_ranked,
    "short_list": _short_list,
    "ranked_cautiously": _ranked_cautiously,
    "overestimation_unknown": (
        "this model gives no intervals: how far the best of many are overestimated is not known"
    ),
    "nobody_known_harmed": (
        "No group has a lower bound on harm above 0: the tables do not show that anybody is harmed, nor that nobody is."
    ),
    "not_considered": _not_considered,
    "usual_care_beats_rule": _usual_care_beats_rule,
    "winners_curse": (
        "being the best of many, the lower bounds of those treated are about {too_high:.3f} too high on average, "
        "{in_all:,.4g} in all"
    ),
    "harm_among_treated": (
        "of the profiles treated, {profiles:,} would have fewer respond than untreated: more are harmed"
    ),
    "size_of_subgroups": _size_of_subgroups,
    "size_worst_only": (
        "in the worst case only: give guesses (--prevalence, prevalence=) or a pilot (--pilot, pilot=) for what is "
        "expected"
    ),
    "groups_compared": _groups_compared,
    "uncertain_now": (
        "uncertain now: {uncertain:.1%} of the people; {stays:.1%} are expected to stay so with unlimited rows of both "
        "tables, as their bounds lie on both sides of the threshold"
    ),
    "rows_from_everyone": "if {rows:,.0f} rows from everyone were added instead: {change:+.6f}",
    "rarer_levels_not_shown": "{levels:,} rarer levels are not shown",
    "covariates_not_shown": "{covariates:,} more covariates are not shown",
    "smaller_groups_not_listed": "{groups:,} smaller ones are not listed",
}

PAGE_DECISIONS: dict[str, Any] = {
    "people_invalid": _people_invalid_on_page,
    "short_list": _why_short,
    "decision": _reason_on_page,
    "choice_decision": _choice_reason,
    "usual_care_better": _usual_care_better_on_page,
}
