"""Figures: bounds, rankings, gains, what tables are good for, and answers beside the truth."""

from __future__ import annotations

from pnsight.output.plots.canvas import check_place, save, svg
from pnsight.output.plots.coherence import coherence
from pnsight.output.plots.dispatch import plot
from pnsight.output.plots.forest import forest, ranking
from pnsight.output.plots.gains import gain_curve
from pnsight.output.plots.over_time import over_time
from pnsight.output.plots.slack import SlackCurve, bounds_against_slack, draw_slack
from pnsight.output.plots.support import support_map
from pnsight.output.plots.thresholds import threshold_plot
from pnsight.output.plots.truth import calibration, true_against_predicted

__all__ = [
    "SlackCurve",
    "bounds_against_slack",
    "calibration",
    "check_place",
    "coherence",
    "draw_slack",
    "forest",
    "gain_curve",
    "over_time",
    "plot",
    "ranking",
    "save",
    "support_map",
    "svg",
    "threshold_plot",
    "true_against_predicted",
]
