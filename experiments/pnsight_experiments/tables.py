"""The tables that `pnsight bench show` prints, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pnsight_experiments import decision_tables, response_type_tables, summary
from pnsight_experiments.result_schemas import DECISIONS, FITS, RIVAL_FITS, Sheet
from pnsight_experiments.summary import Row

TABLES: Mapping[str, Callable[[Sequence[Row]], dict[str, list[Any]]]] = {
    "accuracy": response_type_tables.headline,
    "response-types": response_type_tables.against_paper,
    "random": response_type_tables.on_random_populations,
    "rivals": response_type_tables.beside_rivals,
    "transformer": summary.transformer_table,
    "intervals": response_type_tables.interval_table,
    "baseline": summary.baseline_table,
    "claims": summary.claims_table,
    "auto": summary.gap_to_oracle,
    "thresholds": summary.preferred_thresholds,
    "crossings": summary.crossing_table,
    "agreement": summary.agreement_table,
    "held-out": summary.held_out_table,
    "runs": summary.runs_table,
    "decisions": decision_tables.decision_table,
    "selection": decision_tables.selection_table,
    "top": decision_tables.top_table,
}
"""All but Table 1, which depends on who chooses the threshold."""


_SHEETS = {**dict.fromkeys(("decisions", "selection", "top"), DECISIONS), "rivals": RIVAL_FITS}
"""Tables, and the preset, whose rows are in another sheet than the paper's."""


def sheet_of(what: str) -> Sheet:
    """The sheet whose rows the table of that name is made of, and the preset of that name writes."""
    return _SHEETS.get(what, FITS)


def table_of(what: str, rows: Sequence[Row], rule: str = summary.ORACLE) -> dict[str, list[Any]]:
    """The table of that name; empty if the rows hold nothing for it."""
    return summary.table(summary.cells(rows, rule)) if what == "table-1" else TABLES[what](rows)
