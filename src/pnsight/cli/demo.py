"""`pnsight demo`: from two tables to a report and an explorer, on a population whose truth is known."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pnsight
from pnsight._text_table import fit_table, text_column
from pnsight.cli.options import within
from pnsight.cli.output import put, put_data, say
from pnsight.cli.progress_bar import bar
from pnsight.cli.screen import screen_width
from pnsight.cli.shown_command import typed
from pnsight.cli.simulate import TableFormat, simulate

if TYPE_CHECKING:
    from pnsight._typing import FloatArray

POPULATION = "toxic-drug"
PROFILE = (
    "age_group=65+,sex=male,severity=mild,diabetes=yes,kidney_disease=yes,heart_failure=yes,smoker=yes,"
    "treated_before=no"
)
GROUPS = (
    "",
    "sex=female",
    "sex=male",
    "sex=female,severity=severe,kidney_disease=no",
    "sex=male,kidney_disease=yes",
    PROFILE,
)
"""Everyone, groups whom the drug helps and groups whom it harms, and people so rare that hardly a row has them."""

LABELS = """\
[columns]
treatment = "the treatment"
outcome = "recovery"
age_group = "Age"
sex = "Sex"
severity = "Severity"
diabetes = "Diabetes"
kidney_disease = "Kidney disease"
heart_failure = "Heart failure"
smoker = "Smoker"
treated_before = "Treated before"

[values.treatment]
drug = "the drug"

[values.age_group]
under-65 = "under 65"
"65+" = "65 or older"
"""
"""Words for columns and values, as people should read them."""

_INTERVALS = ("90% of lower", "90% of upper")
"""Columns that a narrow screen has no room for."""

ROWS = 20_000
THRESHOLD = 0.3


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the tables, the model and the report.")] = Path("demo"),
    rows: Annotated[int, typer.Option("--rows", help="Rows of each table.", callback=within(1000))] = ROWS,
) -> None:
    """Simulate a study, check it, fit it, set the answers beside the truth, and write a report."""
    data, model, page = out / "data", out / "model", out / "report.html"
    files = [str(data / f"{name}.csv") for name in ("experimental", "observational")]
    reading = pnsight.simulation.get(POPULATION).reading
    tables = shlex.join([*files, *(word for name, value in reading.items() for word in (f"--{name}", value))])
    pnsight.models.persistence.check_place(model)

    _step(
        "Two tables about an invented drug whose truth is known: a trial in which a coin decided who got it, "
        "and a registry in which people and their doctors chose"
    )
    size = f"--experimental {rows} --observational {rows} --seed 1 --format csv"
    _command(f"pnsight simulate {POPULATION} {size} --out {data}")
    simulate(POPULATION, data, rows, rows, 1, format=TableFormat.CSV)
    labels = data / "labels.toml"
    put_data(LABELS, labels)
    say(f"{labels}: words for columns and values")

    _step("Are they usable?")
    _command(f"pnsight check {tables}")
    study = pnsight.read_study(*files, **reading).with_labels(pnsight.data.labels.read_labels(labels))
    print(pnsight.check(study).summary)

    _step("Learn from both, which takes less than a minute")
    _command(f"pnsight fit {tables} --labels {labels} --out {model}")
    with bar("training") as progress:
        fitted = pnsight.ResponseTypeModel().fit(study, progress)
    pnsight.save(fitted, model)

    _step(
        "For how many does the drug make the difference: they recover with it, and would not without (PNS)? And how "
        "many does it harm: they recover without it, and would not with it? Bounds on both, for everyone, for four "
        "groups, and for a rare profile, older men with mild disease and all the other illnesses"
    )
    queries = list(GROUPS)
    for quantity, beside in (("pns", ""), ("harm", " --quantity harm")):
        _command(f"pnsight query {model} {shlex.join(queries)}{beside}")
        columns = _beside_the_truth(queries, study, fitted, quantity)
        shown = [text_column(name, values) for name, values in columns.items()]
        print(f"{fit_table(shown, screen_width(), [_INTERVALS])}\n")
    put(
        "Beside the model's answers stand the truth, and what a group's own rows say (the plug-in): right for large "
        "groups, no use for rare ones. The response-type model, the default of `pnsight fit`, learns from all rows.\n",
        None,
    )

    _step("A report to send")
    _command(f"pnsight report {model} --threshold {THRESHOLD} --out {page}")
    with bar("report") as progress:
        summary = pnsight.output.report.summarise(fitted, THRESHOLD, progress=progress)
    put_data(pnsight.output.report.render(summary), page)
    say(f"wrote {page}")

    put(
        f"\nRead {page} in a browser. To describe a person and see the answer change, start the explorer; the address "
        "that it shows for a person can be copied and sent to others:\n",
        None,
    )
    _command(f"pnsight serve {model} --threshold {THRESHOLD} --open")


def _step(words: str) -> None:
    put(f"\n{words}\n", None)


def _command(text: str) -> None:
    """Show a command as it can be typed: by the program's place where the shell does not find its name."""
    print(f"$ {typed(shlex.split(text)[1:])}", flush=True)


def _beside_the_truth(
    queries: list[str], study: pnsight.Study, model: pnsight.Model, quantity: str
) -> dict[str, list[object]]:
    """Truth, answers with intervals, and what the rows alone would say."""
    truth = pnsight.simulation.get(POPULATION).bounds(queries, quantity)
    answer = model.bounds(queries, quantity)
    names = pnsight.output.naming.labelled_names(study, queries) or queries
    return {
        "group": ["the rare profile" if query == PROFILE else name for query, name in zip(queries, names, strict=True)],
        "truth": _pairs(truth),
        "response types": _pairs(answer),
        **dict(zip(_INTERVALS, map(_intervals, (answer.interval("lower"), answer.interval("upper"))), strict=True)),
        "plug-in": _pairs(pnsight.PlugIn().fit(study).bounds(queries, quantity)),
        "rows": (answer.support_experimental + answer.support_observational).astype(int).tolist(),
    }


def _pairs(table: pnsight.BoundTable) -> list[object]:
    """Both ends of each answer, or why there is none."""
    rows = zip(table.lower, table.upper, table.status, strict=True)
    return [f"{lower:.3f}-{upper:.3f}" if status == "ok" else str(status) for lower, upper, status in rows]


def _intervals(ends: tuple[FloatArray, FloatArray]) -> list[object]:
    return [f"{low:.3f}-{high:.3f}" for low, high in zip(*ends, strict=True)]
