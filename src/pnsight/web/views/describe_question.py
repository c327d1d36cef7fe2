"""What was asked and how, in words: beside an answer, and above it in print."""

from __future__ import annotations

from dataclasses import asdict

from pnsight.estimands.payoffs import Payoffs
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options
from pnsight.web.words import PEOPLE, assumption_words
from pnsight.wording import sentence


def asked(explorer: Explorer, options: Options) -> tuple[str, ...]:
    """The quantity and what it means, the threshold, and every option that holds, in sentences."""
    estimand, quantity = options.estimand, options.estimand.quantity
    must_reach = "Cost per person" if quantity.has_payoffs else "Threshold"
    said = [f"{quantity.label}: {quantity.meaning}", f"{must_reach}: {options.reach:g}."]
    if estimand.payoffs:
        said.append(f"{_payoffs(estimand.payoffs)}.")
    if explorer.ability.intervals:
        said.append(f"Intervals: {confidence(estimand.level)}.")
    if options.cautious:
        said.append("Cautious: decided only where the whole interval agrees.")
    said += [f"Assumed, {name}: {assumption_words()[name]}" for name in estimand.assume]
    if estimand.refine != "none":
        said.append("Refined: every profile bounded first, then averaged.")
    if estimand.population:
        said.append(f"Averaged over the people of {PEOPLE[estimand.population]}.")
    return tuple(said)


def _payoffs(payoffs: Payoffs) -> str:
    return sentence("payoffs", asdict(payoffs), "page")


def confidence(level: float) -> str:
    """A confidence in per cent, with as many digits as it was given."""
    return f"{100 * level:.12g}%"
