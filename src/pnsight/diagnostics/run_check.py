"""All parts of the check together, and the report on them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from pnsight import _markup as markup
from pnsight._text_table import fit_table, text_column
from pnsight.data.study import Study
from pnsight.diagnostics.balance import Balance, balance_of
from pnsight.diagnostics.coding import Coding, CodingNotChecked, coding_of
from pnsight.diagnostics.columns import Columns, columns_of
from pnsight.diagnostics.compatibility import Coherence, coherence_of
from pnsight.diagnostics.compliance import Compliance, compliance_of
from pnsight.diagnostics.covariate_differences import Contrast
from pnsight.diagnostics.covariate_shift import Shift, shift_of
from pnsight.diagnostics.missing_outcomes import MissingOutcomes, missing_outcomes_of
from pnsight.diagnostics.overlap import Overlap, overlap_of
from pnsight.diagnostics.sampling_check import Sampling, sampling_of
from pnsight.diagnostics.sites import Sites, sites_of
from pnsight.diagnostics.support import Support, support_of
from pnsight.diagnostics.verdict import (
    FAILED,
    FAMILYWISE_ALPHA,
    NOT_USABLE,
    SIGNS,
    USABLE,
    WARNING,
    WITH_WARNINGS,
    Verdict,
)
from pnsight.notes import Note

LOOKS = (
    "part",
    "kind",
    "look",
    "comparison",
    "rows_experimental",
    "rows_observational",
    "size",
    "low",
    "high",
    "p_value",
    "adjusted",
    "status",
)
"""Columns of the table of looks."""

_WIDTH = 100

_ARMS_TITLE = {False: "Treated against untreated, in the experiment", True: "Between the arms of the experiment"}


@dataclass(frozen=True)
class Check:
    """What an experimental and an observational table are good for; print it for a report.

    Attributes
    ----------
    support : how many people and queries have enough rows
    balance : whether treatment in the experiment was randomised
    shift : how the tables' mixes of covariates differ; None for an experiment alone
    coherence : whether any population fits both tables; None for an experiment alone
    overlap : whether the experiment has people like those of the other table, and both arms for all of them
    attrition : whose outcomes are missing; None where that is not known
    coding : whether treatment and outcome seem to mean the same in both tables; None for an experiment alone
    columns : covariates that should be coarser
    sampling : what unequal weights and clusters leave of the rows; None where every row counts once
    compliance : who did not take the arm they were assigned; None where nobody was assigned one
    sites : whether sites agree; None where the tables are of one site
    several_arms : whether the arms are others than treated and untreated
    """

    support: Support
    balance: Balance
    shift: Shift | None
    coherence: Coherence | None
    overlap: Overlap
    attrition: MissingOutcomes | None
    coding: Coding | CodingNotChecked | None
    columns: Columns
    sampling: Sampling | None
    compliance: Compliance | None = None
    sites: Sites | None = None
    several_arms: bool = False

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Each part's verdict, by its name; parts that do not apply have none."""
        parts = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "several_arms"}
        return {name: part.verdict for name, part in parts.items() if part is not None}

    @property
    def ok(self) -> bool:
        """Whether no part fails; warnings do not count."""
        return all(verdict.status != FAILED for verdict in self.verdicts.values())

    @property
    def verdict(self) -> str:
        """The overall verdict: ``usable``, ``usable with warnings`` or ``not usable``."""
        found = {verdict.status for verdict in self.verdicts.values()}
        return NOT_USABLE if FAILED in found else WITH_WARNINGS if WARNING in found else USABLE

    @property
    def warnings(self) -> tuple[Note, ...]:
        """What every part warns of, as notes: whoever reads an answer should know it."""
        return tuple(note for verdict in self.verdicts.values() for note in verdict.warnings)

    @property
    def conclusion(self) -> Note:
        """The overall verdict: which parts failed and which warn."""
        found = {name: verdict.status for name, verdict in self.verdicts.items()}
        failed, warned = ([name for name in found if found[name] == status] for status in (FAILED, WARNING))
        return Note("check_summary", {"failed": failed, "warned": warned}, "failure" if failed else "info")

    @property
    def summary(self) -> str:
        """The overall verdict, in one sentence."""
        return str(self.conclusion)

    def looks(self) -> dict[str, list[Any]]:
        """Everything that was tested, one row a look, as lists by column name."""
        parts = {
            "balance": self.balance.contrast,
            "shift": None if self.shift is None else self.shift.contrast,
            "coherence": self.coherence,
            "attrition": self.attrition,
            "sites": self.sites,
        }
        rows = [{"part": name, **look} for name, part in parts.items() if part is not None for look in part.looks()]
        return {name: [row.get(name) for row in rows] for name in LOOKS}

    def details(self) -> dict[str, Any]:
        """All there is to know, as plain data: what ``--format json`` writes."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            "summary": self.summary,
            "warnings": [note.plain() for note in self.warnings],
            "verdicts": {name: verdict.details() for name, verdict in self.verdicts.items()},
            "false_alarms": FAMILYWISE_ALPHA,
            "support": asdict(self.support),
            "balance": self.balance.details(),
            "shift": None if self.shift is None else self.shift.contrast.details(),
            "coherence": None if self.coherence is None else self.coherence.details(),
            "overlap": self.overlap.details(),
            "attrition": None if self.attrition is None else self.attrition.details(),
            "coding": None if self.coding is None else self.coding.details(),
            "columns": self.columns.details(),
            "sampling": None if self.sampling is None else self.sampling.details(),
            **({} if self.compliance is None else {"compliance": self.compliance.details()}),
            **({} if self.sites is None else {"sites": self.sites.details()}),
        }

    def __str__(self) -> str:
        """The overall verdict, each part's, and what they rest on where there is something to show."""
        return self.text()

    def text(self, width: int = _WIDTH) -> str:
        """The same in lines of a given width.

        Parameters
        ----------
        width
            How long lines may be.

        Returns
        -------
        str
            Several lines.
        """
        summary = textwrap.fill(self.summary, width, break_on_hyphens=False)
        return "\n".join([summary, "", *_paragraphs(self.verdicts, width), *self._tables(width)])

    def _repr_html_(self) -> str:
        """The verdicts, for a notebook."""
        found = {
            name: f"{SIGNS[verdict.status]} {verdict.status}: {verdict.text}" for name, verdict in self.verdicts.items()
        }
        return markup.facts(self.summary, found)

    def _tables(self, width: int) -> Iterator[str]:
        yield from _differing(_ARMS_TITLE[self.several_arms], self.balance.contrast, width)
        if self.shift is not None:
            yield from _differing("Experimental against observational table", self.shift.contrast, width)
        if self.coherence is not None and self.coherence.reported:
            sides = ("left", "right") if self.coherence.between_arms else ("observational", "experimental")
            shown = ("subgroup", "inequality", *sides, "excess", "low", "high", "adjusted")
            columns = self.coherence.reported_columns()
            yield _table("Contradictions", {name: columns[name] for name in shown}, width)


def check(study: Study) -> Check:
    """Is this pair of tables usable? Support, balance, overlap, compatibility and more, each with a verdict.

    Parameters
    ----------
    study
        Both tables, or an experiment alone.

    Returns
    -------
    all parts; print it for a report
    """
    study = study.grouped
    return Check(
        support=support_of(study),
        balance=balance_of(study),
        shift=shift_of(study),
        coherence=coherence_of(study),
        overlap=overlap_of(study),
        attrition=missing_outcomes_of(study),
        coding=coding_of(study),
        columns=columns_of(study),
        sampling=sampling_of(study),
        compliance=compliance_of(study),
        sites=sites_of(study),
        several_arms=not study.structure.is_two_by_two,
    )


def _paragraphs(verdicts: Mapping[str, Verdict], width: int) -> Iterator[str]:
    names, states = max(map(len, verdicts)), max(len(verdict.status) for verdict in verdicts.values())
    for name, verdict in verdicts.items():
        line = f"{name:{names}}  {verdict.status:{states}}  {verdict.text}"
        indent = " " * (names + states + 4)
        yield textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _differing(title: str, contrast: Contrast, width: int) -> Iterator[str]:
    if contrast.differing:
        shown = ("covariate", "difference", "total_variation", "adjusted")
        columns = contrast.columns()
        yield _table(title, {name: [columns[name][j] for j in contrast.differing] for name in shown}, width)


def _table(title: str, columns: Mapping[str, Sequence[Any]], width: int) -> str:
    rounded = {name: [_rounded(name, value) for value in values] for name, values in columns.items()}
    shown = [text_column(name, values) for name, values in rounded.items()]
    fitted = fit_table(shown, width, (("low", "high"), ("observational", "experimental", "left", "right")))
    return f"\n{title}\n{fitted}"


def _rounded(name: str, value: Any) -> Any:
    return (f"{value:.2g}" if name == "adjusted" else f"{value:.4f}") if isinstance(value, float) else value
