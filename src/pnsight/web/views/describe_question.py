"""What was asked and how, in words: beside an answer, and above it in print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pnsight.data.study import Study
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.payoffs import Payoffs
from pnsight.notes import Note
from pnsight.output.about_answers import people_averaged
from pnsight.output.naming import arm_names, named
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options
from pnsight.wording import assumption_meaning, capitalised, sentence

CAUTIOUS = "Cautious: decided only where the whole interval agrees."
PLAIN = "Plain: decided by the bounds alone."


def asked(explorer: Explorer, options: Options) -> tuple[str, ...]:
    """The quantity and what it means, the threshold, and every option that holds, in sentences."""
    estimand, quantity = options.estimand, options.estimand.quantity
    must_reach = "Cost per person" if quantity.has_payoffs else "Threshold"
    study = explorer.model.study
    said = [
        f"{quantity.label}: {named(quantity, study, estimand).meaning}",
        *compared(study, estimand),
        f"{must_reach}: {options.reach:g}.",
    ]
    if estimand.payoffs:
        said.append(f"{_payoffs(estimand.payoffs)}.")
    if explorer.ability.intervals:
        said.append(f"Intervals: {confidence(estimand.level)}.")
        said.append(CAUTIOUS if options.cautious else PLAIN)
    said += [f"Assumed, {name}: {capitalised(assumption_meaning(name))}." for name in estimand.assume]
    if estimand.slack is not None:
        said.append(f"Slack: {estimand.slack}.")
    if estimand.misread_outcome:
        said.append(f"Outcomes that may be misread: {estimand.misread_outcome:.12g} of each arm and table.")
    if estimand.refine != "none":
        said.append("Refined: every profile bounded first, then averaged.")
    if estimand.trial_alone:
        said.append("From the trial alone.")
    return tuple(said)


def compared(study: Study, estimand: Estimand) -> list[str]:
    """What treating means, where there are not just two arms and two outcomes."""
    if estimand.is_statement or (study.structure.is_two_by_two and estimand.contrast is None):
        return []
    arm, other = arm_names(study, estimand)
    return [f"To treat means {arm} in place of {other}."]


def population_words(explorer: Explorer, options: Options) -> str:
    """Whose people an answer is about; empty where a note says so, or nobody is averaged over."""
    people = people_averaged(explorer.model, options.estimand)
    if people is None or options.estimand.trial_alone:
        return ""
    return f"{capitalised(sentence('people_averaged', {'population': people}, 'page'))}."


def told_beside(explorer: Explorer, notes: Sequence[Note]) -> list[Note]:
    """Notes to be read beside answers: not the model's warnings, which every page has at its head.

    That answers are contradicted is said of each of them.
    """
    return [note for note in notes if note not in explorer.model.warnings and note.kind != "answers_contradicted"]


def _payoffs(payoffs: Payoffs) -> str:
    return sentence("payoffs", asdict(payoffs), "page")


def confidence(level: float) -> str:
    """A confidence in per cent, with as many digits as it was given."""
    return f"{100 * level:.12g}%"
