"""A report on a model: summarised to plain data first, then written as a page or as JSON."""

from __future__ import annotations

from pnsight.report.page import render
from pnsight.report.summary import as_plain, summarise
from pnsight.report.values import Summary

__all__ = ["Summary", "as_plain", "render", "summarise"]
