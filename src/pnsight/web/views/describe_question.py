"""What was asked and how, in words: beside an answer, and above it in print."""

from __future__ import annotations

from collections.abc import Sequence

from pnsight.estimands.payoffs import Payoffs
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options
from pnsight.web.words import ASSUMPTIONS, PAYOFFS, PEOPLE, QUANTITIES


def asked(explorer: Explorer, options: Options) -> tuple[str, ...]:
    """The quantity and what it means, the threshold, and every option that holds, in sentences."""
    quantity, must_reach = QUANTITIES[options.quantity], "Cost per person" if options.payoffs else "Threshold"
    said = [f"{quantity.short}: {quantity.meaning}", f"{must_reach}: {options.reach:g}."]
    if options.payoffs:
        said.append(f"{_worth(options.payoffs)}.")
    if explorer.ability.intervals:
        said.append(f"Intervals: {confidence(options.level)}.")
    if options.cautious:
        said.append("Cautious: decided only where the whole interval agrees.")
    said += [f"Assumed, {name}: {ASSUMPTIONS[name]}" for name in options.assume]
    if options.refine != "none":
        said.append("Refined: every profile bounded first, then averaged.")
    if options.population:
        said.append(f"Averaged over the people of {PEOPLE[options.population]}.")
    return tuple(said)


def confidence(level: float) -> str:
    """A confidence in per cent, with as many digits as it was given."""
    return f"{100 * level:.12g}%"


def in_words(notes: Sequence[str], options: Options) -> tuple[str, ...]:
    """Notes of an answer, with payoffs in the words of the form."""
    if options.payoffs is None:
        return tuple(notes)
    payoffs = f"payoffs: {Payoffs.of(options.payoffs)}"
    return tuple(_worth(options.payoffs) if note == payoffs else note for note in notes)


def _worth(payoffs: Sequence[float]) -> str:
    kinds = zip(payoffs, PAYOFFS.values(), strict=True)
    return "Treating is worth " + ", ".join(f"{worth:g} for a person who {words}" for worth, words in kinds)
