"""The tables of a report, to paste into a paper or to work on: as a spreadsheet and as Markdown."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

import xlsxwriter
from xlsxwriter.format import Format

from pnsight._foreign_text import printable_cell
from pnsight._text import count_text, share_text
from pnsight.output.about_answers import RESTS_ON
from pnsight.output.report.data import Answer, Groups, Quartiles, Summary
from pnsight.wording import PARTS, capitalised

Kind: TypeAlias = Literal["text", "rows", "share", "bound"]
"""What a column holds: words, numbers of rows, shares of people, or bounds and the like."""

Value: TypeAlias = str | float | None

_IN_SPREADSHEETS: dict[Kind, str] = {"text": "@", "rows": "#,##0.##", "share": "0.0%", "bound": "0.000"}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&^=-])")
_MAX_CELL = 32_767  # letters that a spreadsheet's cell can hold
_WIDEST = 60


@dataclass(frozen=True)
class ReportTable:
    """One table of a report.

    Attributes
    ----------
    name : short, and unlike those of the other tables
    title : what it shows
    columns : what they are called, and what they hold
    rows : values, with None for what is missing
    """

    name: str
    title: str
    columns: tuple[tuple[str, Kind], ...]
    rows: tuple[tuple[Value, ...], ...]


def report_tables(summary: Summary) -> list[ReportTable]:
    """The tables of a report, in its order; those that would be empty are left out.

    Parameters
    ----------
    summary
        What the report says.

    Returns
    -------
    list of ReportTable
    """
    found = [
        _hundred(summary),
        _data(summary),
        *_counts(summary),
        _table_one(summary),
        _check(summary),
        _everyone(summary),
        _groups(summary, "Each level", "Each level by itself", summary.levels),
        _groups(summary, "Who benefits", "Who benefits most", summary.best),
        _groups(summary, "Who is harmed", "Who is harmed most: bounds on harm", summary.harmed),
        *_benefit(summary),
        _doubts(summary),
        _gains(summary),
        _thresholds(summary),
        _policies(summary),
        *_opinion(summary),
        _size(summary),
    ]
    return [table for table in found if table.rows]


def as_markdown(summary: Summary) -> str:
    """The tables of a report as Markdown, each below its title.

    Parameters
    ----------
    summary
        What the report says.

    Returns
    -------
    str
        In which no name acts as markup.
    """
    parts = [f"# {_escaped(summary.title)}", *map(_escaped, summary.first)]
    for table in report_tables(summary):
        heads = [_escaped(name) for name, _ in table.columns]
        lines = ["---" if kind == "text" else "---:" for _, kind in table.columns]
        rows = [[_shown(value, kind) for value, (_, kind) in _with_kinds(row, table)] for row in table.rows]
        parts += [f"## {_escaped(table.title)}", "\n".join(f"| {' | '.join(row)} |" for row in (heads, lines, *rows))]
    return "\n\n".join(parts) + "\n"


def as_xlsx(summary: Summary) -> bytes:
    """The tables of a report as a spreadsheet, a sheet each, with all digits.

    Parameters
    ----------
    summary
        What the report says.

    Returns
    -------
    bytes
        An .xlsx file, the same for the same summary; every text in it is text, whatever it begins with.
    """
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        book.set_properties({"title": summary.title, "created": datetime.fromisoformat(summary.made)})
        formats = {kind: _format(book, kind) for kind in _IN_SPREADSHEETS}
        bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "quote_prefix": True})
        for table in report_tables(summary):
            _write_sheet(book.add_worksheet(table.name), table, formats, bold)
    return buffer.getvalue()


def _format(book: xlsxwriter.Workbook, kind: Kind) -> Format:
    """Text is marked as such, so that it stays text where somebody edits it."""
    look = {"num_format": _IN_SPREADSHEETS[kind], "valign": "top"}
    return book.add_format({**look, "text_wrap": True, "quote_prefix": True} if kind == "text" else look)


def _write_sheet(
    sheet: xlsxwriter.worksheet.Worksheet, table: ReportTable, formats: dict[Kind, Format], bold: Format
) -> None:
    sheet.write_string(0, 0, _cell(table.title), bold)
    for column, (name, kind) in enumerate(table.columns):
        sheet.write_string(1, column, _cell(name), bold)
        texts = [_plain(row[column], kind) for row in table.rows]
        sheet.set_column(column, column, min(_WIDEST, 3 + max(map(len, [*texts, name[:18]]))))
    for line, row in enumerate(table.rows, start=2):
        for column, (value, (_, kind)) in enumerate(_with_kinds(row, table)):
            if isinstance(value, str):
                sheet.write_string(line, column, _cell(value), formats["text"])
            elif value is not None:
                sheet.write_number(line, column, value, formats[kind])
    sheet.freeze_panes(2, 1)


def _with_kinds(row: Sequence[Value], table: ReportTable) -> Iterator[tuple[Value, tuple[str, Kind]]]:
    return zip(row, table.columns, strict=True)


def _cell(text: str) -> str:
    return printable_cell(text)[:_MAX_CELL]


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", printable_cell(text))


def _shown(value: Value, kind: Kind) -> str:
    return _escaped(value) if isinstance(value, str) else _plain(value, kind)


def _plain(value: Value, kind: Kind) -> str:
    """A value as the page of the report shows it."""
    if value is None or isinstance(value, str):
        return value or ""
    return {"rows": count_text, "share": share_text}.get(kind, "{:.3f}".format)(value)


# --- what the tables hold ---------------------------------------------------------------------------------


def _hundred(summary: Summary) -> ReportTable:
    parts = {} if summary.hundred is None else summary.hundred.parts
    rows = tuple((capitalised(PARTS[part]), float(count)) for part, count in parts.items())
    return ReportTable("Of 100 people", "Of 100 people", (("People", "text"), ("Number", "rows")), rows)


def _data(summary: Summary) -> ReportTable:
    data = summary.data
    rows = (("Experimental", data.experimental_rows), ("Observational", data.observational_rows))
    found = tuple((name, number, data.sources.get(name.lower())) for name, number in rows if number is not None)
    return ReportTable("Tables", "The tables", (("Table", "text"), ("Rows", "rows"), ("File", "text")), found)


def _counts(summary: Summary) -> Iterator[ReportTable]:
    for counts, name in zip(summary.counts, ("Experiment", "Observational"), strict=False):
        columns: list[tuple[str, Kind]] = [(head, "text") for head in counts.names]
        columns += [(head, "rows") for head in counts.heads]
        rows: list[tuple[Value, ...]] = []
        for row in counts.rows:
            numbers = [float(text.replace(",", "")) for text in row[len(counts.names) :]]
            rows.append((*row[: len(counts.names)], *numbers))
        yield ReportTable(f"{name} by arm", counts.caption, tuple(columns), tuple(rows))


def _table_one(summary: Summary) -> ReportTable:
    one = summary.table_one
    columns: list[tuple[str, Kind]] = [("Covariate", "text"), ("Level", "text")]
    for column in one.columns:
        name = f"{column.table}, {column.arm}"
        columns += [(f"{name}: rows", "rows"), (f"{name}: share of {count_text(column.rows)}", "share")]
    rows: list[tuple[Value, ...]] = []
    for covariate in one.covariates:
        if covariate.quartiles:
            texts = [part for found in covariate.quartiles for part in (_quartiles(found), None)]
            rows.append((covariate.covariate, "median (quartiles)", *texts))
        for level in covariate.levels:
            shares = zip(level.rows, one.columns, strict=True)
            numbers = [part for count, column in shares for part in (count, count / column.rows)]
            rows.append((covariate.covariate, level.level, *numbers))
    return ReportTable("Table 1", "Table 1. Rows of each arm, with the share of the arm", tuple(columns), tuple(rows))


def _quartiles(found: Quartiles) -> str | None:
    if found.low is None or found.median is None or found.high is None:
        return None
    return f"{found.median:.4g} ({found.low:.4g} to {found.high:.4g})"


def _check(summary: Summary) -> ReportTable:
    rows = tuple((capitalised(part.name), part.status, capitalised(part.text)) for part in summary.check.parts)
    columns: tuple[tuple[str, Kind], ...] = (("Part", "text"), ("Verdict", "text"), ("Why", "text"))
    return ReportTable("Check", f"How the tables were checked: {summary.check.verdict}", columns, rows)


def _everyone(summary: Summary) -> ReportTable:
    rows = [
        (one.name, *_ends(summary, one.answer), one.sentence or one.trial or one.refused) for one in summary.everyone
    ]
    net = summary.net
    if net.treated is not None and net.untreated is not None:
        effect = net.treated - net.untreated
        ends = (effect, effect, *((net.low, net.high) * 2 if summary.level is not None else ()))
        rows.append(("Net effect", *ends, net.sentence))
    columns: tuple[tuple[str, Kind], ...] = (("Quantity", "text"), *_end_columns(summary), ("In words", "text"))
    return ReportTable("Everyone", "For everyone", columns, tuple(rows))


def _end_columns(summary: Summary) -> tuple[tuple[str, Kind], ...]:
    names = ["Lower", "Upper"]
    if summary.level is not None:
        level = f"{100 * summary.level:.4g}% interval"
        names += [f"{level} of {end}, {side}" for end in ("lower", "upper") for side in ("from", "to")]
    return tuple((name, "bound") for name in names)


def _ends(summary: Summary, answer: Answer | None) -> tuple[float | None, ...]:
    names = ["lower", "upper"]
    if summary.level is not None:
        names += ["lower_low", "lower_high", "upper_low", "upper_high"]
    return tuple(None if answer is None else getattr(answer, name) for name in names)


def _groups(summary: Summary, name: str, title: str, groups: Groups) -> ReportTable:
    decided = not summary.undecided and groups is not summary.harmed
    columns: list[tuple[str, Kind]] = [("Group", "text"), ("People", "share")]
    if summary.events is not None:
        for arm in summary.events.arms:
            columns += [(f"{arm}: {summary.events.event}", "rows"), (f"{arm}: rows of the trial", "rows")]
    columns += [("Experimental rows", "rows"), ("Observational rows", "rows"), *_end_columns(summary)]
    if decided:
        columns.append(("Decision", "text"))
    columns += [("Status", "text"), ("Rests on", "text")]
    rows = tuple(_group(summary, answer, decided) for answer in groups.answers)
    return ReportTable(name, title, tuple(columns), rows)


def _group(summary: Summary, answer: Answer, decided: bool) -> tuple[Value, ...]:
    events = [part for pair in zip(answer.events, answer.arm_rows, strict=True) for part in pair]
    few = ", few rows" if answer.status == "ok" and summary.rests_on_few(answer) else ""
    decision = [f"{summary.decision(answer) or 'no decision'}{few}"] * decided
    rows = (answer.support_experimental, answer.support_observational)
    ends = _ends(summary, answer)
    return (answer.name, answer.share, *events, *rows, *ends, *decision, answer.status, RESTS_ON[answer.basis])


def _benefit(summary: Summary) -> Iterable[ReportTable]:
    if summary.benefit is not None:
        yield _groups(summary, "Worth for everyone", "The mean worth of treating everyone", summary.benefit.everyone)
        yield _groups(summary, "Worth by group", "Groups with the highest lower bound on benefit", summary.benefit.best)


def _doubts(summary: Summary) -> ReportTable:
    rows = [
        (doubt.group.name, doubt.group.share, question.covariate, question.changes, question.treat, question.not_)
        for doubt in summary.doubts.groups
        for question in doubt.questions
    ]
    columns: tuple[tuple[str, Kind], ...] = (
        ("Group", "text"),
        ("People", "share"),
        ("Ask for", "text"),
        ("Changes the decision", "share"),
        ("to treat", "share"),
        ("to do not treat", "share"),
    )
    return ReportTable("In doubt", "Who is in doubt, and what to ask", columns, tuple(rows))


def _gains(summary: Summary) -> ReportTable:
    gains = summary.gains
    names: tuple[tuple[str, Kind], ...] = (("Treated", "share"), ("At least", "bound"), ("At most", "bound"))
    numbers = (gains.treated, gains.guaranteed, gains.best_case, gains.net)
    rows = tuple(zip(*numbers, strict=True)) if len(gains.treated) > 1 else ()
    return ReportTable("Budget", "What a budget brings, as shares of all people", (*names, ("Net", "bound")), rows)


def _thresholds(summary: Summary) -> ReportTable:
    names = {"treat": "Treat", "not": "Do not treat", "uncertain": "Uncertain", "unanswered": "No decision"}
    names["harmed"] = "Of those treated: harmed, at most"
    rows = tuple((at, *(shares[name] for name in names)) for at, shares in summary.thresholds.shown)
    columns: list[tuple[str, Kind]] = [("Threshold", "bound"), *((name, "share") for name in names.values())]
    return ReportTable("Thresholds", "At other thresholds", tuple(columns), rows)


def _policies(summary: Summary) -> ReportTable:
    columns: tuple[tuple[str, Kind], ...] = (
        ("Policy", "text"),
        ("Respond", "bound"),
        ("from", "bound"),
        ("to", "bound"),
        ("More than usual care", "bound"),
        ("gain from", "bound"),
        ("gain to", "bound"),
        ("Treated", "share"),
        ("Treated against their choice", "share"),
        ("Untreated against it", "share"),
    )
    found = (
        "value",
        "low",
        "high",
        "gain",
        "gain_low",
        "gain_high",
        "treated",
        "overruled_to_treat",
        "overruled_to_not",
    )
    rows = tuple((row.name, *(getattr(row, name) for name in found)) for row in summary.usual_care.policies)
    return ReportTable("Policies", "Usual care, or a rule", columns, rows)


def _opinion(summary: Summary) -> Iterable[ReportTable]:
    if summary.opinion is not None:
        found = {
            "model_lower": "Model, lower",
            "model_upper": "Model, upper",
            "model_low": "Model, interval from",
            "model_high": "Model, interval to",
            "lower": "Second opinion, lower",
            "upper": "Second opinion, upper",
            "low": "Second opinion, interval from",
            "high": "Second opinion, interval to",
        }
        numbers: list[tuple[str, Kind]] = [(name, "bound") for name in found.values()]
        rows = tuple((row.name, *(getattr(row, name) for name in found), row.words) for row in summary.opinion.rows)
        columns: tuple[tuple[str, Kind], ...] = (("Group", "text"), *numbers, ("Agreement", "text"))
        yield ReportTable("Second opinion", "A second opinion on refined bounds", columns, rows)


def _size(summary: Summary) -> ReportTable:
    names = ("Rows in an arm", "Rows of the experiment", "Observational rows")
    columns: list[tuple[str, Kind]] = [("Interval of", "text"), ("Case", "text"), *((name, "rows") for name in names)]
    rows = tuple(
        (capitalised(row.of), row.case, row.per_arm, row.experimental, row.observational) for row in summary.size.rows
    )
    half = f"{100 * summary.size.level:.4g}% intervals of plus or minus {summary.size.margin:g}"
    return ReportTable("Study size", f"Rows that another study would need for {half}", tuple(columns), rows)
