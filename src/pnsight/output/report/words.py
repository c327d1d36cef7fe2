"""What only the report says: how to read bounds, what is assumed, and sources."""

from __future__ import annotations

from pnsight._text import number_of
from pnsight._version import __version__
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.sources import TableSource
from pnsight.data.structure import Structure
from pnsight.estimands.estimand import Estimand
from pnsight.output.wording import share
from pnsight.wording import assumption_meaning, capitalised

BOUNDS = (
    "Nobody is seen both treated and untreated, so the share of people for whom the treatment makes the difference "
    "cannot be counted. The two tables together confine it. The bounds of a group are the tightest that follow from "
    "its average law, the shares that the tables show for the group as a whole (Tian and Pearl 2000). The covariates "
    "of its members can tighten them: bounds on each profile, averaged, are never wider. That is what pnsight query "
    "--refine covariates gives, and what a budget is reckoned with. The gap between the bounds stays however many rows "
    "there are; an interval around a bound is what more rows would tell."
)
BOUNDS_OF_TYPES = (
    "Nobody is seen under two arms, so the share of people for whom one of them makes the difference cannot be "
    "counted. The tables together confine it. Every person is of one response type: what they choose, and what they "
    "would have under each arm. The bounds of a group are the tightest that follow from the shares that the tables "
    "show for the group as a whole: the least and the largest share of such types that fits them. The covariates of "
    "its members can tighten them: that is what pnsight query --refine covariates gives, and what a budget is reckoned "
    "with. The gap between the bounds stays however many rows there are; an interval around a bound is what more rows "
    "would tell."
)
EXPERIMENT_ALONE = (
    "There is no observational table, so the bounds come from the experiment alone. They are wider, and there are none "
    "on quantities that ask about people who chose their treatment."
)
NOT_USED = EXPERIMENT_ALONE.replace("There is no observational table", "The observational table is not used")
TRIAL_ALONE = (
    "This report goes by the experiment alone, and is about its people. The observational table is not used, which "
    "leaves out what those who chose their treatment show."
)
CONTRADICTED = "The tables contradict each other beyond chance: no population fits both."
WHAT_TO_DO = (
    "Find out why the tables differ: do they describe the same people, and do their columns mean the same? Until then "
    "go by the trial alone: pnsight report --trial-alone."
)
BY_BOUNDS = "This model gives no intervals, so decisions go by the bounds alone and do not say how sure they are."
ASSUMED = (
    "Treatment in the experimental table was randomised, in each profile.",
    "Both tables describe the same population, or populations in which people of the same profile are alike.",
    "A person's outcome depends on their own treatment and not on that of others, however they came by it.",
    "Not assumed: that people in the observational table chose at random, or that nobody is harmed.",
)
"""What the answers take for granted."""

ASSIGNED = (
    "What people were assigned in the experimental table was randomised, in each profile, and matters only through "
    "what they take.",
    *ASSUMED[1:],
)
CENSORED = (
    "People who were followed for a shorter time are, given their covariates and their arm, no different from others: "
    "when they were last seen says nothing about when their event comes."
)

CITATIONS = (
    f"The pnsight authors. pnsight, version {__version__}: bounds on the probability of necessity and sufficiency, and "
    "its relatives, for every subpopulation. Software, Apache-2.0.",
    "S. Wang, Y. Sun, J. Pearl and A. Li. Learning Probabilities of Causation with Mask-Augmented Data.",
    "J. Tian and J. Pearl (2000). Probabilities of causation: Bounds and identification. Annals of Mathematics and "
    "Artificial Intelligence 28, 287–313.",
)
"""The software, the paper it builds on, and where the bounds are from."""


MOST_KNOWN = (
    "A verdict is about a group as a whole. It can turn round when more is known about a person: so go by the most "
    "that is known, and not by one level alone."
)
SAME_NET = (
    "Net of those harmed, the gain is the same as the gain at least: in no profile do the tables show that anybody is "
    "harmed, so there is nothing to subtract."
)


def assumed(structure: Structure) -> tuple[str, ...]:
    """What the answers take for granted about a structure."""
    described = structure.description
    found = ASSIGNED if described.kind == NONCOMPLIANCE else ASSUMED
    return (*found, CENSORED) if described.horizons else found


def assuming(estimand: Estimand) -> tuple[str, ...]:
    """What was assumed of people in all answers, and how far they may differ from those of the trial."""
    found = [f"Assumed, {name}: {assumption_meaning(name)}." for name in estimand.assume]
    return (*found, *(f"{capitalised(str(note))}." for note in estimand.sensitivity_notes))


def source(found: TableSource) -> str:
    """The file of a table, and its day."""
    several = f", {number_of(found.files, 'file')}" if found.files > 1 else ""
    return f"{found.name}{several}, of {found.changed}"


def about_threshold(threshold: float) -> str:
    """Where a threshold comes from."""
    return (
        f"The threshold, here {threshold:g}, is not found in the data. It is the share of people who must be helped "
        "for the treatment to be worth what it costs, its side effects and its trouble; those who answer for these set "
        "it."
    )


def rule(threshold: float, level: float | None) -> str:
    """When a group is treated; with a level, the whole interval of the bound has to agree."""
    plain = (
        f"Treat where the lower bound is at least {threshold:g}, do not where the upper bound is below it; in between "
        "the tables cannot tell."
    )
    return plain if level is None else f"{plain} The whole {100 * level:.4g}% interval of the bound has to agree."


def by_trial(sentence: str) -> str:
    """What the experiment alone says, where there is no answer from both tables."""
    return f"By the trial alone: {sentence[:1].lower()}{sentence[1:]}"


def turned(level: str, inside: int, best: int) -> str:
    """That groups to treat lie within a level not to treat."""
    have, are = ("has", "is") if inside == 1 else ("have", "are")
    return (
        f"Here {level} by itself is not to be treated, but {inside} of the {number_of(best, 'best group')} {have} "
        f"{level} too, and {are} to be treated."
    )


def added_up(whole: tuple[float, float], parts: tuple[float, float]) -> str:
    """Why treating everyone brings something else by profiles than by the average."""
    return (
        f"With everyone treated the bounds are {parts[0]:.3f} to {parts[1]:.3f} here, but {whole[0]:.3f} to "
        f"{whole[1]:.3f} for everyone above. Both hold. Those above bound the average of all people; here each profile "
        "is bounded by itself and the results are added up, which makes use of the covariates and is narrower."
    )


def net_sentence(treated: float, untreated: float) -> str:
    """What treating everybody would change."""
    more = treated - untreated
    change = "as many" if share(abs(more)) == share(0) else f"{share(abs(more))} {'more' if more > 0 else 'fewer'}"
    both = f"If all were treated {share(treated)} would respond, and if none were {share(untreated)}"
    return f"{both}: {change} on balance, those helped less those harmed."
