"""One function for the figure that goes with what one has at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.figure import Figure

from pnsight.data.study import Study
from pnsight.decisions import Decisions, Ranking, Selection, ThresholdCurve, TippingPoints, decided
from pnsight.diagnostics import Check, Coherence
from pnsight.errors import QueryError
from pnsight.models import Model
from pnsight.output.naming import group_terms
from pnsight.output.plots.coherence import coherence
from pnsight.output.plots.forest import forest, ranking
from pnsight.output.plots.gains import gain_curve
from pnsight.output.plots.slack import bounds_against_slack
from pnsight.output.plots.support import support_map
from pnsight.output.plots.thresholds import threshold_plot
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike

Drawable = (
    Model | BoundTable | Decisions | Ranking | Selection | ThresholdCurve | TippingPoints | Study | Check | Coherence
)


def plot(
    found: Drawable,
    queries: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    title: str | None = None,
    of: Model | Study | None = None,
    **options: Any,
) -> Figure:
    """A Matplotlib figure of answers, or of tables; save it with its `savefig`, or let a notebook show it.

    Parameters
    ----------
    found
        A model, of which the bounds of `queries` are drawn as a forest plot; such bounds or decisions themselves; a
        `Ranking`; a `Selection`, whose gain is drawn against the budget; a `ThresholdCurve`; `TippingPoints`, for
        bounds against slack; a `Study`, for a map of its rows; or a `Check` or its coherence, for how near the tables
        come to contradicting each other.
    queries, options
        For a model: what to ask, as `pnsight.decisions.decide` takes it, such as `quantity` and `level`.
    threshold
        Where to draw the line between treating and not; with a model or bounds and none given, nothing is decided.
    cautious
        Whether a decision needs the whole interval of the bound to agree.
    title
        Above the figure, in place of its caption.
    of
        The model or the study that bounds, decisions or a ranking are about: groups are then called by its covariates
        and labels. Without, by what their queries say.

    Returns
    -------
    Figure
        One that a notebook shows by itself; nothing of pyplot is needed.
    """
    if queries is not None and not isinstance(found, Model):
        raise QueryError(f"queries are for a model to answer, but a {type(found).__name__} was given; leave them out.")
    if isinstance(found, Model):
        decisive = threshold is not None or cautious
        extrapolate = options.pop("extrapolate", False) if decisive else False
        answers = found.bounds(queries, **options)
        names = group_terms(found.study, answers.queries)
        return forest(decided(answers, threshold, cautious, extrapolate) if decisive else answers, title, names=names)
    if isinstance(found, BoundTable) and threshold is not None:
        found = decided(found, threshold, cautious)
    if isinstance(found, Ranking):
        return ranking(found, threshold, title, cautious, _names(of, found.answers.queries))
    if isinstance(found, BoundTable | Decisions):
        answers = found.answers if isinstance(found, Decisions) else found
        return forest(found, title, names=_names(of, answers.queries))
    return _DRAWN[type(found)](found, title)


def _names(of: Model | Study | None, queries: Sequence[str]) -> list[list[str]] | None:
    """What groups are called, where it is said whose they are."""
    study = of.study if isinstance(of, Model) else of
    return None if study is None else group_terms(study, queries)


def _of_check(found: Check, title: str | None) -> Figure:
    return coherence(found.coherence, title)


_DRAWN: dict[type, Callable[..., Figure]] = {
    Selection: gain_curve,
    TippingPoints: bounds_against_slack,
    ThresholdCurve: threshold_plot,
    Study: support_map,
    Check: _of_check,
    Coherence: coherence,
}
