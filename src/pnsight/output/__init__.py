"""Presentation: figures, reports, and the words that pages and reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from pnsight.output import about_answers, formulas, naming, per_hundred, plots, report, tables_verdict

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__, submodules=["about_answers", "formulas", "naming", "per_hundred", "plots", "report", "tables_verdict"]
)

__all__ = ["about_answers", "formulas", "naming", "per_hundred", "plots", "report", "tables_verdict"]
