"""Reporting guidelines: which of their items an analysis can fill in, and what it says; the rest is for the authors.

Topics are paraphrased. CONSORT and STROBE items go by their numbers, those of TARGET by the section they stand in.

Sources: S. Hopewell et al. (2025), "CONSORT 2025 statement"; E. von Elm et al. (2007), "The Strengthening the Reporting
of Observational Studies in Epidemiology (STROBE) statement"; A. G. Cashin et al. (2025), "Transparent reporting of
observational studies emulating a target trial: the TARGET statement".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pnsight._text import count_text, number_of
from pnsight.errors import join_names
from pnsight.estimands.quantities import find_quantity
from pnsight.output.report.data import GuidelineItem, Guidelines, Summary
from pnsight.output.wording import share
from pnsight.wording import capitalised

Said: TypeAlias = Callable[[Summary], str | None]
"""What an analysis says to an item; None where it has nothing to say."""

TARGET, CONSORT, STROBE = "TARGET", "CONSORT", "STROBE"

CITATIONS = (
    "A. G. Cashin, H. J. Hansford, M. A. Hernán et al. (2025). Transparent reporting of observational studies "
    "emulating a target trial: the TARGET statement. JAMA and BMJ.",
    "S. Hopewell, A.-W. Chan, G. S. Collins et al. (2025). CONSORT 2025 statement: updated guideline for reporting "
    "randomised trials. BMJ 389.",
    "E. von Elm, D. G. Altman, M. Egger et al. (2007). The Strengthening the Reporting of Observational Studies in "
    "Epidemiology (STROBE) statement. Lancet 370, 1453–1457.",
    "A. Balke and J. Pearl (1997). Bounds on treatment effects from studies with imperfect compliance. Journal of the "
    "American Statistical Association 92, 1171–1176.",
    "G. W. Imbens and C. F. Manski (2004). Confidence intervals for partially identified parameters. Econometrica 72, "
    "1845–1857.",
)
"""The guidelines, and what the methods paragraph refers to beside what a report cites anyway."""


def guidelines(summary: Summary) -> Guidelines:
    """The items of the guidelines that are about the tables of a report, and a paragraph on methods.

    Parameters
    ----------
    summary
        All else that the report says; counts that are withheld are not in it.

    Returns
    -------
    Items in the order of each guideline; `said` is None where authors have to fill in.
    """
    alone = summary.data.observational_rows is None
    chosen = ((CONSORT, _CONSORT),) if alone else ((TARGET, _TARGET), (CONSORT, _CONSORT), (STROBE, _STROBE))
    items = tuple(
        GuidelineItem(guideline, number, topic, None if said is None else said(summary))
        for guideline, rows in chosen
        for number, topic, said in rows
    )
    return Guidelines(items, _methods(summary), CITATIONS)


# --- what an analysis says ------------------------------------------------------------------------------


def _rows(summary: Summary) -> str:
    data = summary.data
    trial = f"Experimental table: {count_text(data.experimental_rows)} rows."
    if data.observational_rows is None:
        return trial
    return f"{trial} Observational table: {count_text(data.observational_rows)} rows."


def _trial_rows(summary: Summary) -> str:
    return f"Rows of the experimental table that were analysed: {count_text(summary.data.experimental_rows)}."


def _registry_rows(summary: Summary) -> str | None:
    rows = summary.data.observational_rows
    return None if rows is None else f"Rows of the observational table that were analysed: {count_text(rows)}."


def _left_out(summary: Summary) -> str:
    data = summary.data
    found = [f"{count_text(rows)} {reason}" for reason, rows in data.dropped.items()]
    said = f"Left out: {'; '.join(found)}." if found else "No rows were left out when the tables were read."
    return _sentences(said, data.withheld)


def _strategies(summary: Summary) -> str:
    data = summary.data
    if summary.structure is not None:
        return summary.structure.lead
    return f"{data.treatment}: {data.treated}, compared with anything else that the column holds."


def _outcome(summary: Summary) -> str:
    data = summary.data
    return f"{data.outcome}." if summary.structure is not None else f"{data.outcome}; to respond means {data.success}."


def _covariates(summary: Summary) -> str:
    names = [covariate.name for covariate in summary.data.covariates]
    return f"Covariates: {join_names(names)}." if names else "No covariates were used."


def _bands(summary: Summary) -> str:
    cut = [each.name for each in summary.data.covariates if each.edges]
    merged = [each.name for each in summary.data.covariates if each.merged]
    said = [f"Cut into bands: {join_names(cut)}."] if cut else ["No covariate was cut into bands."]
    return " ".join([*said, *([f"Rare categories were merged in {join_names(merged)}."] if merged else [])])


def _contrast(summary: Summary) -> str:
    quantity = find_quantity(summary.quantity)
    whose = f", {summary.population}" if summary.population else ""
    meaning = summary.everyone[0].meaning.rstrip(".")
    return f"{quantity.title}: {meaning}{whose}. It is bounded, not estimated as one number."


def _assumptions(summary: Summary) -> str:
    return _sentences(*summary.assumed, *summary.assuming)


def _analysis(summary: Summary) -> str:
    level = "" if summary.level is None else f" Intervals at {summary.level:.0%}."
    return f"{summary.model.method}{level}"


def _estimate(summary: Summary) -> str:
    headline = summary.everyone[0]
    answer = headline.answer
    if answer is None or headline.refused or answer.lower is None or answer.upper is None:
        return f"No answer: {headline.refused or headline.trial}"
    said = f"{headline.name}: {answer.lower:.3f} to {answer.upper:.3f}"
    if summary.level is None or answer.lower_low is None or answer.upper_high is None:
        return f"{said}."
    return f"{said} ({summary.level:.0%} intervals of the ends from {answer.lower_low:.3f} to {answer.upper_high:.3f})."


def _both_arms(summary: Summary) -> str:
    return f"{summary.net.sentence} {_estimate(summary)}".strip()


def _harms(summary: Summary) -> str | None:
    found = next((one for one in summary.everyone if one.quantity == "harm" and one.sentence), None)
    return None if found is None else f"Bounds on harm as the outcome defines it: {found.sentence}"


def _checked(summary: Summary) -> str:
    return f"The tables were found {summary.check.verdict}: see how they were checked, above."


def _subgroups(summary: Summary) -> str:
    shown = len(summary.levels.answers[1:])
    return (
        f"{shown} single categories are shown, and groups were searched for those with the highest bounds; none of "
        "them was named beforehand unless the protocol says so."
    )


_SLACK = "If people respond otherwise than in the trial, the decision for everyone:"


def _sensitivity(summary: Summary) -> str | None:
    tip = summary.everyone[0].tip
    return None if tip is None else f"{_SLACK} {tip.sentence}"


def _rule(summary: Summary) -> str:
    return f"{summary.rule} {_sensitivity(summary) or ''}".strip()


def _limits(summary: Summary) -> str:
    said = len(summary.warnings) + len(summary.caveats)
    above = [f"{number_of(said, 'caveat')} at the head of the report"] if said else []
    return _sentences(*above, _checked(summary))


def _sentences(*parts: str) -> str:
    """What is said, each with a capital letter and a full stop."""
    return " ".join(f"{capitalised(part)}{'' if part.endswith('.') else '.'}" for part in parts if part)


Rows: TypeAlias = tuple[tuple[str, str, Said | None], ...]

_TARGET: Rows = (
    ("Abstract", "that a target trial is emulated, and with which data", None),
    ("Introduction", "the causal question, and why a trial is emulated", None),
    ("Methods", "where the data come from, and what they were collected for", None),
    ("Methods", "who is eligible, in the target trial and in the data", None),
    ("Methods", "treatment strategies that are compared", _strategies),
    ("Methods", "how people are assigned to strategies, and what is adjusted for", _covariates),
    ("Methods", "when follow-up begins and ends", None),
    ("Methods", "outcomes", _outcome),
    ("Methods", "causal contrast and effect measure", _contrast),
    ("Methods", "assumptions that identify it", _assumptions),
    ("Methods", "how the data are analysed", _analysis),
    ("Results", "how many people were selected and analysed", _rows),
    ("Results", "missing data, and what was done about them", _left_out),
    ("Results", "estimates with their precision", _estimate),
    ("Results", "additional analyses, and sensitivity", _sensitivity),
    ("Discussion", "interpretation in the light of other evidence", None),
    ("Discussion", "limitations, of the emulation and of the data", _limits),
    ("Other information", "ethics, registration, sharing of data and code, funding, conflicts of interest", None),
)

_CONSORT: Rows = (
    ("1", "title and abstract that say it is a randomised trial", None),
    ("2–5", "registration, protocol, sharing of data, funding and conflicts of interest", None),
    ("6–7", "background, and objectives for benefits and harms", None),
    ("9", "trial design and allocation ratio", None),
    ("11–12", "setting, and who was eligible", None),
    ("13", "intervention and comparator", _strategies),
    ("14", "outcomes", _outcome),
    ("16", "how the size of the sample was determined", None),
    ("17–19", "randomisation, concealment, and who carried it out", None),
    ("20", "who was blinded", None),
    ("21a", "how groups are compared", _analysis),
    ("21b", "who is in the analysis, and in which group", _trial_rows),
    ("21c", "missing data", _left_out),
    ("21d", "additional analyses", _subgroups),
    ("22", "flow of participants, with losses and exclusions", None),
    ("23", "dates of recruitment and follow-up", None),
    ("25", "characteristics of each group at baseline", _covariates),
    ("26", "numbers analysed, results of each group, and effects with their precision", _both_arms),
    ("27", "harms", _harms),
    ("28", "other analyses, those planned told from those that were not", _rule),
    ("29", "interpretation", None),
    ("30", "limitations", _limits),
)

_STROBE: Rows = (
    ("1", "title and abstract that name the design", None),
    ("2–3", "background and objectives", None),
    ("4–5", "design, setting, places and dates", None),
    ("6", "who was eligible, and how people were selected and followed", None),
    ("7", "outcomes, exposures and covariates", lambda summary: f"{_outcome(summary)} {_covariates(summary)}"),
    ("8", "where each variable comes from and how it was measured", None),
    ("9", "what was done about bias", _checked),
    ("10", "how the size of the study came about", None),
    ("11", "how numbers were handled, and why so", _bands),
    ("12a", "statistical methods", _analysis),
    ("12b", "how subgroups were examined", _subgroups),
    ("12c", "how missing data were handled", _left_out),
    ("12e", "sensitivity analyses", _sensitivity),
    ("13", "numbers of people at each stage", _registry_rows),
    ("14", "characteristics of the people, and missing data in each variable", _covariates),
    ("15–16", "outcomes, and main results with their precision", _estimate),
    ("17", "other analyses", _rule),
    ("18", "key results", None),
    ("19", "limitations, with direction and size of bias", _limits),
    ("20–21", "interpretation, and to whom results apply", None),
    ("22", "funding", None),
)


_TIPPING = "Beside a decision stands by how much people may respond otherwise than in the trial before it changes."


def _methods(summary: Summary) -> str:
    """A paragraph on methods, with what it cites in brackets."""
    quantity, headline = find_quantity(summary.quantity), summary.everyone[0]
    both = summary.data.observational_rows is not None
    names = [covariate.name for covariate in summary.data.covariates]
    sentences = [
        f"The estimand is {quantity.title}: {headline.meaning.rstrip('.')}. It was bounded from "
        f"{'a randomised table and an observational one' if both else 'a randomised table'}"
        f"{f', by {join_names(names)}' if names else ''}.",
        "The tables do not identify it; the bounds are the tightest that they allow (Balke and Pearl 1997; Tian and "
        "Pearl 2000).",
        *summary.assuming,
        f"They were computed with pnsight {summary.version} and a {summary.model.kind} model.",
    ]
    if summary.level is not None:
        sentences.append(
            f"Confidence intervals are at {summary.level:.0%}, of each bound and of the quantity itself (Imbens and "
            "Manski 2004)."
        )
    sentences += [
        "Before, the tables were checked for randomisation, overlap and contradictions, and found "
        f"{summary.check.verdict}.",
        f"A group was to be treated where the lower bound was at least {share(summary.threshold)}.",
        *([] if headline.tip is None else [_TIPPING]),
    ]
    return " ".join(sentences)
