"""A report on a model: summarised to plain data first, then written as a page or as JSON."""

from __future__ import annotations

from pnsight.output.report.data import Summary
from pnsight.output.report.page import render
from pnsight.output.report.summary import as_plain, summarise

__all__ = ["Summary", "as_plain", "render", "summarise"]
