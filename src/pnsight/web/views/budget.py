"""A budget and what it brings, as the template shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pnsight._text import percent, share_text
from pnsight.decisions import Selection, select, treated_groups
from pnsight.estimands.resolve import ROUNDING
from pnsight.notes import Note, sentences
from pnsight.queries.query import decode, encode
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options
from pnsight.web.views.describe_question import told_beside
from pnsight.web.views.format import NOTHING

SHOWN = 20
"""Profiles that the page lists."""

MOST_LISTED = 10
"""Profiles up to which a list says who they are; of more the page first says what sets them apart."""

WIDTH, HEIGHT = 300.0, 150.0
"""Of the drawing, in its own units."""


@dataclass(frozen=True)
class Spending:
    """What a budget is, and for whom: a share of the people, or of how many of them there are.

    `max_harm` caps the share of those treated who may be harmed.
    """

    budget: float = 0.2
    people: float | None = None
    max_harm: float | None = None


@dataclass(frozen=True)
class Choice:
    """One way to choose whom to treat: how many, and what that brings, in words."""

    name: str
    treated: str
    least: str
    most: str
    net: str
    harmed: str


@dataclass(frozen=True)
class Treated:
    """A profile that is treated: who they are, how many, and what treating one of them brings."""

    people: str
    number: str
    least: str
    most: str


@dataclass(frozen=True)
class Apart:
    """A value that is more common among those treated than among all, and how common it is."""

    term: str
    of_treated: str
    of_all: str


@dataclass(frozen=True)
class Curve:
    """Gain against how many are treated: lines of points, and what they say in words."""

    least: str
    most: str
    at_random: str
    at: float | None
    top: str
    right: str
    told: str


@dataclass(frozen=True)
class BudgetView:
    """Whom the budget is for, beside treating as many at random and treating all."""

    not_considered: str
    left_over: str
    choices: Sequence[Choice]
    apart: Sequence[Apart]
    profiles: Sequence[Treated]
    more: int
    curve: Curve | None
    notes: Sequence[str]

    @property
    def treated_profiles(self) -> int:
        """How many profiles are treated."""
        return len(self.profiles) + self.more


def budget_view(explorer: Explorer, options: Options, spending: Spending) -> BudgetView:
    """What a budget brings."""
    careful = options.cautious and explorer.ability.intervals
    found = select(
        explorer.model,
        spending.budget,
        spending.people,
        cautious=careful,
        quantity=options.estimand,
        max_harm=spending.max_harm,
        max_harm_each=1.0 if explorer.ability.law else None,
    )
    left_out = [note for note in found.notes if note.kind == "not_considered"]
    said = told_beside(explorer, [note for note in found.notes if note.kind != "not_considered"])
    some = [row for row, number in enumerate(found.treated) if number > 0]
    return BudgetView(
        _lead(left_out),
        _left_over(found, spending.budget),
        _choices(found),
        _apart(explorer, found, options) if len(some) > MOST_LISTED else [],
        [_profile(explorer, found, row) for row in some[:SHOWN]],
        max(0, len(some) - SHOWN),
        _curve(found),
        sentences([*left_out, *said], "page"),
    )


def _lead(left_out: Sequence[Note]) -> str:
    """How many people are not considered, which is said before anything else."""
    share = sum(note.values["share"] for note in left_out)
    if not share:
        return "All people are considered."
    return f"{percent(share)} of the people are not considered: nothing below is about them."


def _left_over(found: Selection, budget: float) -> str:
    """Why the budget is not spent, where it is not: nobody else who is considered gains for sure."""
    treated = float(found.treated.sum())
    if treated > budget - 0.0005 * (found.people or 1.0):
        return ""
    return f"Only {_amount(found, treated)} are treated: nobody else who is considered gains for sure."


def _apart(explorer: Explorer, found: Selection, options: Options) -> list[Apart]:
    """What sets those treated apart, in place of a long list of profiles."""
    columns, labels = treated_groups(explorer.model, found, options.estimand), explorer.model.study.labels
    return [
        Apart(labels.term(name, level), percent(of_treated), percent(of_all))
        for name, level, of_treated, of_all in zip(*columns.values(), strict=True)
    ]


def _choices(found: Selection) -> list[Choice]:
    own = {**found.totals()}
    if found.harm is not None:
        own["harmed"] = found.harmed_share() * own["treated"]
    baselines = found.baselines()
    named = {
        "By the bounds, best first": own,
        "As many, chosen at random": baselines["at-random"],
        "Treat all who are considered": baselines["treat-all"],
    }
    return [_choice(found, name, numbers) for name, numbers in named.items()]


def _choice(found: Selection, name: str, numbers: Mapping[str, float]) -> Choice:
    def told(key: str) -> str:
        value = numbers.get(key, math.nan)
        return NOTHING if math.isnan(value) else _amount(found, value)

    return Choice(name, told("treated"), told("guaranteed"), told("best_case"), told("net"), told("harmed"))


def _amount(found: Selection, value: float) -> str:
    """A number of people, or a share of them."""
    if found.people is not None:
        return f"{value:,.1f}"
    return share_text(min(value, 1.0)) if 0 <= value <= 1 + ROUNDING else f"{value:,.4g}"


def _profile(explorer: Explorer, found: Selection, row: int) -> Treated:
    schema, labels = explorer.schema, explorer.model.study.labels
    code = encode(schema, [found.answers.queries[row]])[0]
    fixed = decode(schema, code).fixed
    return Treated(
        labels.words(fixed),
        _amount(found, float(found.treated[row])),
        f"{float(found.guaranteed[row]):.3f}",
        f"{float(found.best_case[row]):.3f}",
    )


def _curve(found: Selection) -> Curve | None:
    """The gain if the budget were enough for more and more profiles, from the best down."""
    points = found.curve()
    treated, least, most = (points[name] for name in ("treated", "guaranteed", "best_case"))
    right, top = found.considered, max([*most, found.treat_all["guaranteed"], 0.0])
    if not right or not top or len(treated) < 2:
        return None

    def line(values: Sequence[float]) -> str:
        pairs = zip(treated, values, strict=True)
        return " ".join(
            f"{WIDTH * x / right:.1f},{HEIGHT * (1 - max(y, 0.0) / top):.1f}" for x, y in _thinned([*pairs])
        )

    everyone = max(found.treat_all["guaranteed"], 0.0)
    now = float(found.treated.sum())
    told = (
        f"At least {_amount(found, found.totals()['guaranteed'])} if {_amount(found, now)} are treated by the bounds, "
        f"and at least {_amount(found, found.baselines()['at-random']['guaranteed'])} if as many are treated at random"
    )
    return Curve(
        line(least),
        line(most),
        f"0.0,{HEIGHT:.1f} {WIDTH:.1f},{HEIGHT * (1 - everyone / top):.1f}",
        round(WIDTH * now / right, 1),
        _amount(found, top),
        _amount(found, right),
        told,
    )


def _thinned(points: list[tuple[float, float]], most: int = 200) -> list[tuple[float, float]]:
    """Enough of the points to draw a line, with the last."""
    step = max(1, len(points) // most)
    return [*points[::step], points[-1]]
