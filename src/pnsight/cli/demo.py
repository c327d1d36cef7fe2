"""`pnsight demo`: from two tables to a report and an explorer, on a population whose truth is known."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pnsight
from pnsight._text import format_table
from pnsight.cli.options import within
from pnsight.cli.output import put_data, say
from pnsight.cli.progress_bar import bar
from pnsight.cli.shown_command import typed
from pnsight.cli.simulate import simulate

if TYPE_CHECKING:
    from pnsight._typing import FloatArray

POPULATION = "mediator"
PROFILE = "1101001110"
ROWS = 200_000
THRESHOLD = 0.3


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the tables, the model and the report.")] = Path("demo"),
    rows: Annotated[int, typer.Option("--rows", help="Rows of each table.", callback=within(1000))] = ROWS,
) -> None:
    """Simulate a study, check it, fit it, set the answers beside the truth, and write a report."""
    data, model, page = out / "data", out / "model", out / "report.html"
    tables = f"{data}/experimental.parquet {data}/observational.parquet --treatment x --outcome y"
    pnsight.models.persistence.check_place(model)

    _step("Two tables of a population whose truth is known: a trial, and a registry where people chose")
    _command(f"pnsight simulate {POPULATION} --experimental {rows} --observational {rows} --seed 1 --out {data}")
    simulate(POPULATION, data, rows, rows, 1)

    _step("Are they usable?")
    _command(f"pnsight check {tables}")
    study = pnsight.read_study(
        str(data / "experimental.parquet"), str(data / "observational.parquet"), treatment="x", outcome="y"
    )
    print(pnsight.check(study).summary)

    _step("Learn from both, which takes about half a minute on two free cores")
    _command(f"pnsight fit {tables} --out {model}")
    with bar("training") as progress:
        fitted = pnsight.ResponseTypeModel().fit(study, progress)
    pnsight.save(fitted, model)

    _step(
        "PNS is the share of a group for whom the treatment makes the difference: they respond if treated, and would\n"
        f"not if untreated. Bounds on it for everyone, for the rare profile {PROFILE}, and for that with one\n"
        "covariate left open (X). Beside the model's answers the demo sets the truth, and what the rows alone say:"
    )
    queries = ["", *pnsight.queries.lattice.profile_and_parents(PROFILE)]
    _command(f"pnsight query {model} {shlex.join(queries)}")
    print(format_table(_beside_the_truth(queries, study, fitted)))
    print(
        "\nA group's rows alone (the plug-in) are right for everyone, wild or undefined for rare groups.\n"
        "The response-type model, the default of `pnsight fit`, learns from all rows of both tables."
    )

    _step("A report to send")
    _command(f"pnsight report {model} --threshold {THRESHOLD} --out {page}")
    with bar("report") as progress:
        summary = pnsight.output.report.summarise(fitted, THRESHOLD, progress=progress)
    put_data(pnsight.output.report.render(summary), page)
    say(f"wrote {page}")

    print(
        f"\nRead {page} in a browser. To describe a person and see the answer change, start the explorer;\n"
        "the address that it shows for a person can be copied and sent to others:"
    )
    _command(f"pnsight serve {model} --threshold {THRESHOLD} --open")


def _step(words: str) -> None:
    print(f"\n{words}")


def _command(text: str) -> None:
    """Show a command as it can be typed: by the program's place where the shell does not find its name."""
    print(f"$ {typed(shlex.split(text)[1:])}", flush=True)


def _beside_the_truth(queries: list[str], study: pnsight.Study, model: pnsight.Model) -> dict[str, list[object]]:
    """Truth, answers with intervals, and what the rows alone would say."""
    truth, answer = pnsight.simulation.get(POPULATION).bounds(queries), model.bounds(queries)
    return {
        "query": list(answer.queries),
        "truth": _pairs(truth),
        "response types": _pairs(answer),
        "90% interval of lower": _intervals(answer.interval("lower")),
        "and of upper": _intervals(answer.interval("upper")),
        "plug-in": _pairs(pnsight.PlugIn().fit(study).bounds(queries)),
        "rows": (answer.support_experimental + answer.support_observational).astype(int).tolist(),
    }


def _pairs(table: pnsight.BoundTable) -> list[object]:
    """Both ends of each answer, or why there is none."""
    rows = zip(table.lower, table.upper, table.status, strict=True)
    return [f"{lower:.3f} - {upper:.3f}" if status == "ok" else str(status) for lower, upper, status in rows]


def _intervals(ends: tuple[FloatArray, FloatArray]) -> list[object]:
    return [f"{low:.3f} - {high:.3f}" for low, high in zip(*ends, strict=True)]
