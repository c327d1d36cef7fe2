"""A summary as one HTML file that needs nothing else: no script, no network, and fit for paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from pnsight import _palette as palette
from pnsight._text import count_text, share_text
from pnsight._typing import FloatArray
from pnsight.diagnostics.verdict import SIGNS
from pnsight.errors import join_names
from pnsight.estimands.quantities import find_quantity
from pnsight.estimands.resolve import OK, ROUNDING
from pnsight.output import plots
from pnsight.output.about_answers import RESTS_ON
from pnsight.output.axis import Axis, fit_axis
from pnsight.output.icon_array import icon_array
from pnsight.output.plots.gains import drawn_curve, gain_name
from pnsight.output.plots.thresholds import drawn_thresholds
from pnsight.output.report import words
from pnsight.output.report.data import Curve, Described, Gains, Groups, OfStructure, Summary, Thresholds
from pnsight.queries.bound_table import BoundTable
from pnsight.wording import capitalised

BUDGETS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""Shares of the people whose treatment is told in numbers."""

_MOST_LEVELS = 24  # named for one covariate


def render(summary: Summary) -> str:
    """The whole page."""
    page = _environment().get_template("page.html")
    return page.render(
        summary=summary,
        figures=_figures(summary),
        axes=_axes(summary),
        icons="" if summary.hundred is None else icon_array(summary.hundred),
        covariates=_alike(summary.data.covariates),
        budgets=_budgets(summary.gains),
        looks=palette.DECISIONS,
        no_decision=palette.NO_DECISION,
        rests_on=RESTS_ON,
        trial_alone=words.TRIAL_ALONE,
        what_to_do=words.WHAT_TO_DO,
        by_bounds=words.BY_BOUNDS,
        signs=SIGNS,
        palette=vars(palette),
    )


def _environment() -> Environment:
    """Everything that is put into the page is escaped: names of columns and levels are the user's."""
    found = Environment(
        loader=PackageLoader("pnsight.output.report"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    found.filters |= {
        "along": _along,
        "capital": capitalised,
        "capital_if": lambda text, wanted: capitalised(text) if wanted else text,
        "label": _label,
        "listed": lambda levels: join_names(levels, _MOST_LEVELS),
        "number": lambda value: _number(value, ".3f"),
        "percent": lambda value: f"{100 * value:.4g}%",
        "plain": lambda value: f"{value:g}",
        "rows": count_text,
        "short": lambda value: f"{value:.4g}",
        "share": lambda value: "" if value is None else share_text(value),
        "signed": lambda value: f"{value:+.3f}",
        "tied": _tied,
    }
    return found


def _label(quantity: str) -> str:
    """What readers call a quantity."""
    return find_quantity(quantity).label


def _number(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def _tied(name: str) -> str:
    """A group's name that is not broken within ``name = level``."""
    return name.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _alike(covariates: Sequence[Described]) -> list[tuple[str, Described]]:
    """Covariates that follow each other and have the same levels together, by their names."""
    groups = groupby(covariates, lambda covariate: replace(covariate, name=""))
    found = [list(group) for _, group in groups]
    return [(join_names([covariate.name for covariate in group], _MOST_LEVELS), group[0]) for group in found]


def _budgets(gains: Gains) -> list[dict[str, float | None]]:
    """The curve at `BUDGETS`, as far as there is anything to gain; between its points the gain grows evenly."""
    if len(gains.treated) < 2:
        return []
    most = gains.treated[-1]
    at = [share for share in BUDGETS if share < most - ROUNDING] + [most]
    columns = {
        name: [None if np.isnan(value) else float(value) for value in np.interp(at, gains.treated, values)]
        for name, values in _curve(gains).items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _curve(gains: Gains) -> dict[str, FloatArray]:
    names = ("treated", "guaranteed", "best_case", "net")
    return {name: np.array(getattr(gains, name), dtype=np.float64) for name in names}


def _axes(summary: Summary) -> dict[str, Axis]:
    """Of the groups that are drawn: as long as their numbers need; those that are decided on alike have one."""
    benefit = summary.benefit
    found = {
        "levels": ((summary.levels, summary.best), () if summary.undecided else (summary.threshold,)),
        "harmed": ((summary.harmed,), (0.0,)),
        "benefit": ((benefit.everyone, benefit.best), (benefit.cost,)) if benefit else ((), ()),
    }
    return {name: fit_axis((*_drawn(groups), *also)) for name, (groups, also) in found.items()}


def _drawn(parts: Sequence[Groups]) -> Iterator[float | None]:
    """All numbers that bars and intervals reach to."""
    for answer in (answer for groups in parts for answer in groups.answers):
        yield from (answer.lower, answer.upper, answer.lower_low, answer.upper_high)


def _along(axis: Axis, value: float | None) -> str | None:
    """Where a number is on an axis, in the terms of SVG; None for one that is missing."""
    return None if value is None else f"{axis.share(value):.2%}"


def _figures(summary: Summary) -> dict[str, list[str]]:
    """By name; none where there is nothing to draw."""
    drawn = {
        "gains": _gains(summary.gains, summary.structure),
        "curves": _curves(summary),
        "slack": _slack(summary),
        "thresholds": _thresholds(summary.thresholds),
    }
    return {
        name: [plots.svg(figure, f"{name}-{k}", figure.get_suptitle()) for k, figure in enumerate(found)]
        for name, found in drawn.items()
    }


def _slack(summary: Summary) -> list[Figure]:
    """The bounds of the headline as slack grows."""
    found = summary.everyone[0].tip
    if found is None or not found.slacks or summary.undecided:
        return []
    lower, upper, low, high = map(_numbers, (found.lower, found.upper, found.low, found.high))
    curve = plots.SlackCurve("", lower, upper, low, high, np.nan if found.tip is None else found.tip)
    return [plots.draw_slack(np.array(found.slacks), [curve], summary.quantity, summary.threshold, summary.level)]


def _curves(summary: Summary) -> list[Figure]:
    """PNS and harm at each horizon."""
    if summary.structure is None or not summary.structure.curves:
        return []
    curves = {curve.name: _at_horizons(curve, summary.level) for curve in summary.structure.curves}
    title = "Everyone, until each horizon"
    return [plots.over_time(summary.structure.curves[0].horizons, curves, title, summary.data.outcome)]


def _at_horizons(curve: Curve, level: float | None) -> BoundTable:
    numbers: dict[str, Any] = {name: _numbers(getattr(curve, name)) for name in Curve.ENDS[: 6 if level else 2]}
    none = np.zeros(len(curve.horizons))
    status = np.full(len(curve.horizons), OK)
    queries = [f"{each:g}" for each in curve.horizons]
    return BoundTable(
        curve.quantity,
        queries,
        support_experimental=none,
        support_observational=none,
        status=status,
        level=level,
        **numbers,
    )


def _thresholds(found: Thresholds) -> list[Figure]:
    if not found.thresholds:
        return []
    at, harmed, plain, cautious = (
        np.array(found.thresholds),
        _numbers(found.harmed),
        *({name: np.array(values) for name, values in shares.items()} for shares in (found.plain, found.cautious)),
    )
    return [drawn_thresholds(at, plain, cautious, harmed, _label(found.quantity))]


def _gains(gains: Gains, structure: OfStructure | None) -> list[Figure]:
    if len(gains.treated) < 2:
        return []
    named = "helped,\nshare of all people" if structure else gain_name(gains.quantity, in_shares=True)
    names = "share of the people treated", named
    return [drawn_curve(_curve(gains), "treated", names)]


def _numbers(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
