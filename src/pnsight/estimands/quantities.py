"""Quantities: what can be bounded, one row each. A new quantity is a new row, and nothing else.

Each is the probability of an event given another, or the mean of a difference, all of them statements about response
types (`expressions` says how they are written): X is the treatment people choose, Y what they then show, Y0 and Y1 the
outcome untreated and treated, or under the two arms of a contrast; outcomes count from 0, the worst, to `top`
(`contrast`), and with two outcomes the quantities are those of the literature. Bounds, formulas, truths of known
populations, the command line, the page, the report and the JSON interface all derive from the row.
Sources: J. Tian and J. Pearl (2000), "Probabilities of causation: bounds and identification" (PNS, PN, PS);
J. Pearl (1999), "Probabilities of causation: three counterfactual interpretations and their identification" (PD, PE);
A. Li and J. Pearl (2019), "Unit selection based on counterfactual logic" (benefit);
J. Pearl (2009), "Causality", section 8.2.5, and I. Shpitser and J. Pearl (2009), "Effects of treatment on the treated"
(ETT, which a trial beside a registry identifies).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pnsight.errors import QuantityError, did_you_mean, join_names

Scale: TypeAlias = Literal["share", "difference", "time"]
"""What its values are: a share of people, a difference of two shares, or a time."""

Direction: TypeAlias = Literal["gain", "harm", "measure"]
"""What reaching a threshold speaks for: treating, not treating, or nothing by itself."""


@dataclass(frozen=True)
class Quantity:
    """One quantity, and all that is said about it.

    Attributes
    ----------
    name : in the command line, the JSON interface and columns
    label : the short name that readers see
    title : the name in full
    symbol, latex : in mathematical notation
    phrase : the event in a few words, as "treating makes the difference"
    meaning : a sentence: of whom, and what share
    holds_for : whom it counts, to follow "for 12% of people"; where it conditions on an event, "of those who ..., would
        ...", between which the share is put
    event : statement about response types; None if payoffs are given instead, when asking
    given : the event conditioned on; None for everyone
    direction : what a large value speaks for
    gained : what those it counts do, to follow "at least 12 and at most 30", if a budget can be spent for them
    scale : what its values are; of a share the event is counted, of others the mean of what the statement says is taken
    by_order : whether it asks which of two outcomes is better
    """

    name: str
    label: str
    title: str
    symbol: str
    latex: str
    phrase: str
    meaning: str
    holds_for: str
    event: str | None
    given: str | None = None
    direction: Direction = "measure"
    gained: str = ""
    scale: Scale = "share"
    by_order: bool = True

    @property
    def has_payoffs(self) -> bool:
        """Whether it is a mean of payoffs rather than a probability."""
        return self.event is None

    @property
    def default_threshold(self) -> float:
        """What it must reach unless another number is given: one half, and any benefit or difference at all."""
        return 0.5 if self.is_share else 0.0

    @property
    def is_share(self) -> bool:
        """Whether it is a share of people, and so between 0 and 1."""
        return not self.has_payoffs and self.scale == "share"


PNS = Quantity(
    name="pns",
    label="PNS",
    title="Necessity and sufficiency (PNS)",
    symbol="P(y_x, y'_x')",
    latex=r"P(y_x, y'_{x'})",
    phrase="treating makes the difference",
    meaning="Of all these people, the share who respond if treated and would not if untreated.",
    holds_for="the treatment makes the difference: they respond if treated, and would not if untreated",
    event="Y1 > Y0",
    direction="gain",
    gained="respond because of it",
)
PN = Quantity(
    name="pn",
    label="PN",
    title="Necessity (PN)",
    symbol="P(y'_x' | x, y)",
    latex=r"P(y'_{x'} \mid x, y)",
    phrase="treating was needed",
    meaning="Of those who were treated and responded, the share who needed the treatment to do so.",
    holds_for="of those who took the treatment and responded, would not have responded without it",
    event="Y0 < Y",
    given="X == 1 and Y > 0",
)
PS = Quantity(
    name="ps",
    label="PS",
    title="Sufficiency (PS)",
    symbol="P(y_x | x', y')",
    latex=r"P(y_x \mid x', y')",
    phrase="treating would be enough",
    meaning="Of those who were not treated and did not respond, the share whom the treatment would have made respond.",
    holds_for="of those who went untreated and did not respond, would have responded if treated",
    event="Y1 > Y",
    given="X == 0 and Y < top",
)
PD = Quantity(
    name="pd",
    label="PD",
    title="Disablement (PD)",
    symbol="P(y'_x' | y)",
    latex=r"P(y'_{x'} \mid y)",
    phrase="no response without treating",
    meaning="Of all who responded, the share who would not have if untreated.",
    holds_for="of those who responded, would not have responded without the treatment",
    event="Y0 < Y",
    given="Y > 0",
)
PE = Quantity(
    name="pe",
    label="PE",
    title="Enablement (PE)",
    symbol="P(y_x | y')",
    latex=r"P(y_x \mid y')",
    phrase="a response with treating",
    meaning="Of all who did not respond, the share who would have if treated.",
    holds_for="of those who did not respond, would have responded with the treatment",
    event="Y1 > Y",
    given="Y < top",
)
HARM = Quantity(
    name="harm",
    label="harm",
    title="Harm",
    symbol="P(y'_x, y_x')",
    latex=r"P(y'_x, y_{x'})",
    phrase="treating prevents the response",
    meaning="Of all these people, the share who respond only if they are not treated.",
    holds_for="the treatment does harm: they would respond if untreated, but do not if treated",
    event="Y1 < Y0",
    direction="harm",
)
BENEFIT = Quantity(
    name="benefit",
    label="benefit",
    title="Benefit",
    symbol="E[payoff]",
    latex=r"E[\text{payoff}]",
    phrase="what treating is worth",
    meaning="What treating one of these people is worth on average, from what it is worth for each kind of person.",
    holds_for="the mean worth of treating one person, by the payoffs given",
    event=None,
    direction="gain",
)

EFFECT = Quantity(
    name="effect",
    label="effect",
    title="Effect",
    symbol="P(y_x) - P(y_x')",
    latex=r"P(y_x) - P(y_{x'})",
    phrase="more respond than without",
    meaning="By how much more of these people respond if treated than if not: those helped less those harmed.",
    holds_for="the share helped by the treatment less the share harmed by it",
    event="(Y1 > Y0) - (Y1 < Y0)",
    direction="gain",
    gained="more respond because of it than are harmed",
    scale="difference",
)
ETT = Quantity(
    name="ett",
    label="ETT",
    title="Effect on the treated (ETT)",
    symbol="P(y_x | x) - P(y_x' | x)",
    latex=r"P(y_x \mid x) - P(y_{x'} \mid x)",
    phrase="more respond than without, of those who choose treatment",
    meaning="By how much more of those who choose the treatment respond than would if they went without.",
    holds_for="of those who choose the treatment, the share helped by it less the share harmed",
    event="(Y1 > Y0) - (Y1 < Y0)",
    given="X == 1",
    scale="difference",
)
ETU = Quantity(
    name="etu",
    label="ETU",
    title="Effect on the untreated (ETU)",
    symbol="P(y_x | x') - P(y_x' | x')",
    latex=r"P(y_x \mid x') - P(y_{x'} \mid x')",
    phrase="more would respond with treating, of those who go without",
    meaning="By how much more of those who go without the treatment would respond if they were treated.",
    holds_for="of those who go without the treatment, the share it would help less the share it would harm",
    event="(Y1 > Y0) - (Y1 < Y0)",
    given="X == 0",
    scale="difference",
)
TREATED_IF_UNTREATED = Quantity(
    name="treated-if-untreated",
    label="P(y_x' | x)",
    title="Response of the treated, were they untreated",
    symbol="P(y_x' | x)",
    latex=r"P(y_{x'} \mid x)",
    phrase="those treated would respond without",
    meaning="Of those who choose the treatment, the share who would respond without it.",
    holds_for="of those who choose the treatment, would respond without it",
    event="Y0 == top",
    given="X == 1",
)
UNTREATED_IF_TREATED = Quantity(
    name="untreated-if-treated",
    label="P(y_x | x')",
    title="Response of the untreated, were they treated",
    symbol="P(y_x | x')",
    latex=r"P(y_x \mid x')",
    phrase="those untreated would respond if treated",
    meaning="Of those who go without the treatment, the share who would respond if they were treated.",
    holds_for="of those who go without the treatment, would respond if treated",
    event="Y1 == top",
    given="X == 0",
)
TIME = Quantity(
    name="time",
    label="time gained",
    title="Time gained",
    symbol="E[min(T_x, t)] - E[min(T_x', t)]",
    latex=r"E[\min(T_x, t)] - E[\min(T_{x'}, t)]",
    phrase="time gained until the horizon",
    meaning="By how much longer these people are without the event, until the horizon, if treated than if not.",
    holds_for="the mean time gained by treating one person, until the horizon",
    event="gained",
    direction="gain",
    gained="is the time gained",
    scale="time",
)
STATEMENT = Quantity(
    name="statement",
    label="share",
    title="Share of whom a statement holds",
    symbol="P(statement)",
    latex=r"P(\text{statement})",
    phrase="the statement holds",
    meaning="Of all these people, the share of whom the statement holds.",
    holds_for="the statement holds",
    event="Y1 > Y0",
    by_order=False,
)
"""What a statement of the user's is made of: `STATEMENT` with the user's event and what is given."""

_OF_EVERYONE = (PNS, PN, PS, PD, PE, HARM, BENEFIT)
_OF_THOSE_WHO_CHOOSE = (ETT, ETU, TREATED_IF_UNTREATED, UNTREATED_IF_TREATED)

QUANTITIES: dict[str, Quantity] = {one.name: one for one in (*_OF_EVERYONE, *_OF_THOSE_WHO_CHOOSE)}
"""The quantities by name, in the order in which they are listed."""

DIFFERENCES: dict[str, Quantity] = {one.name: one for one in (EFFECT, TIME)}
"""Differences of everyone, which the command line and Python answer; pages have a line of its own for the effect."""


def known_quantities() -> dict[str, Quantity]:
    """All quantities by name, in the order in which they are listed."""
    return {**QUANTITIES, **DIFFERENCES}


def find_quantity(name: str) -> Quantity:
    """The quantity of that name.

    Parameters
    ----------
    name
        One of `known_quantities`.

    Returns
    -------
    Its row; raises `QuantityError` with a suggestion where there is none.
    """
    if name == STATEMENT.name:
        return STATEMENT
    known = known_quantities()
    if name not in known:
        raise QuantityError(f"no quantity is called {name!r}; known: {join_names(known)}." + did_you_mean(name, known))
    return known[name]
