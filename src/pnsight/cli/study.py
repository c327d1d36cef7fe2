"""Counting the tables named on the command line, and saying what was used of them."""

from __future__ import annotations

from pathlib import Path

import pnsight
from pnsight.cli.output import say
from pnsight.errors import listed


def counted(
    experimental: Path,
    observational: Path | None,
    *,
    treatment: str,
    outcome: str,
    covariates: str | None,
    treated: str | None,
    success: str | None,
) -> pnsight.Study:
    """The study in these tables, with a message about what it holds and what was left out."""
    study = pnsight.read_study(
        experimental,
        observational,
        treatment=treatment,
        outcome=outcome,
        covariates=None if covariates is None else pnsight.schema.split_names(covariates),
        treated=treated,
        success=success,
    )
    say(repr(study))
    for reason, rows in study.dropped.items():
        say(f"left out: {rows:,} {reason}")
    if study.ignored:
        say(f"not used, since only one table has them: {listed(study.ignored)}")
    return study
