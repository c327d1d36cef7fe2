"""A report on a model: summarised to plain data first, then written as a page, as tables or as JSON."""

from __future__ import annotations

from pnsight.output.report.data import Summary
from pnsight.output.report.page import render
from pnsight.output.report.summary import as_plain, summarise
from pnsight.output.report.tables import ReportTable, as_markdown, as_xlsx, report_tables

__all__ = [
    "ReportTable",
    "Summary",
    "as_markdown",
    "as_plain",
    "as_xlsx",
    "render",
    "report_tables",
    "summarise",
]
