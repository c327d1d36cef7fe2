"""The tables of a report as a spreadsheet and as Markdown: the page's numbers, and no name that acts."""

from __future__ import annotations

import io
import re
import zipfile

import numpy as np
import pytest

from pnsight import PlugIn
from pnsight.data.labels import Labels
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.output.report import as_markdown, as_xlsx, report_tables, summarise
from pnsight.queries import lattice
from web_structures import MODELS

FORMULA = '=HYPERLINK("http://evil.example";"click")'


def evil() -> PlugIn:
    schema = Schema((Covariate(FORMULA, ("@SUM(1|2)", "+1")), Covariate("a|b", ("<b>", "[x](y)\nnew"))))
    counts = np.random.default_rng(1).integers(200, 400, size=(4, 8)).astype(float)
    names = {"treatment": "-2+3", "outcome": FORMULA}
    labels = Labels({FORMULA: "=1+1"})
    study = Study.from_tables(schema, lattice.all_profiles(schema), counts[:, :4], counts[:, 4:], **names)
    return PlugIn().fit(study.with_labels(labels))


def parts(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return {name: book.read(name).decode() for name in book.namelist()}


def test_no_text_in_the_spreadsheet_is_a_formula_or_a_link():
    found = parts(as_xlsx(summarise(evil(), 0.1, payoffs=(1, 0, 0, -1), title=FORMULA)))
    sheets = [text for name, text in found.items() if name.startswith("xl/worksheets/sheet")]
    assert len(sheets) > 8
    assert not any("<f>" in sheet or "hyperlink" in sheet.lower() for sheet in sheets)
    assert 'quotePrefix="1"' in found["xl/styles.xml"]
    assert "=1+1" in found["xl/sharedStrings.xml"]


def test_no_text_in_markdown_is_markup():
    text = as_markdown(summarise(evil(), 0.1))
    assert "<b>" not in text
    assert not re.search(r"(?<!\\)\[x\]\(", text)
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        lines = table.strip().splitlines()
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(cells) == 1  # no name adds a column
    assert "\\\\nnew" in text  # the end of a line within a name is shown


def test_numbers_in_the_spreadsheet_keep_all_digits_and_in_markdown_those_of_the_page(plug_in):
    summary = summarise(plug_in, 0.3)
    lower = summary.everyone[0].answer.lower
    sheets = parts(as_xlsx(summary))
    assert any(f"<v>{lower:.16G}</v>" in sheet for sheet in sheets.values())
    assert f"| {lower:.3f} |" in as_markdown(summary)


@pytest.mark.parametrize("name", MODELS)
def test_every_structure_has_its_tables(name):
    summary = summarise(MODELS[name](), 0.3)
    tables = {table.name: table for table in report_tables(summary)}
    assert {"Tables", "Table 1", "Everyone", "Each level", "Who benefits"} <= tables.keys()
    assert all(len(row) == len(table.columns) for table in tables.values() for row in table.rows)
    assert len(tables["Each level"].rows) == len(summary.levels.answers)
    assert as_xlsx(summary) == as_xlsx(summary)


def test_every_kind_of_model_has_tables(model):
    tables = report_tables(summarise(model))
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    assert len({table.name for table in tables}) == len(tables)
