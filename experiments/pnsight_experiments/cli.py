"""`pnsight bench`: the paper's experiment, run in pieces and shown beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
import pnsight_experiments
from pnsight.cli.options import FormatOption, OutOption, SeedOption, within
from pnsight.cli.output import check_output, emit, say
from pnsight.cli.progress_bar import bar
from pnsight.errors import PnsightError

app = typer.Typer(
    help="Run the paper's experiment and show it beside the paper.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Preset(StrEnum):
    """Named experiments."""

    SMOKE = "smoke"
    BASELINE = "baseline"
    QUICK = "quick"
    PAPER = "paper"
    RESPONSE_TYPES = "response-types"
    RANDOM = "random"
    RIVALS = "rivals"
    BIAS = "bias"
    LEARNERS = "learners"
    TRANSFORMER = "transformer"
    HONEST = "honest"
    HELD_OUT = "held-out"


class Backend(StrEnum):
    """Where fits run."""

    LOKY = "loky"
    DASK = "dask"


class Rule(StrEnum):
    """Who chooses the threshold."""

    ORACLE = "oracle"
    FIXED = "fixed"
    AUTO = "auto"


class What(StrEnum):
    """Tables of results."""

    TABLE_1 = "table-1"
    ACCURACY = "accuracy"
    RESPONSE_TYPES = "response-types"
    RANDOM = "random"
    RIVALS = "rivals"
    TRANSFORMER = "transformer"
    INTERVALS = "intervals"
    BASELINE = "baseline"
    CLAIMS = "claims"
    AUTO = "auto"
    THRESHOLDS = "thresholds"
    CROSSINGS = "crossings"
    AGREEMENT = "agreement"
    HELD_OUT = "held-out"
    RUNS = "runs"
    DECISIONS = "decisions"
    SELECTION = "selection"
    TOP = "top"


ResultsOption = Annotated[Path, typer.Option("--results", help="Folder with the results.")]
ListOption = str | None
PopulationsOption = Annotated[
    ListOption, typer.Option("--populations", help="Comma-separated, instead of the preset's.")
]
BudgetsOption = Annotated[ListOption, typer.Option("--budgets", help="Rows of each table, comma-separated.")]
SeedsOption = Annotated[ListOption, typer.Option("--seeds", help="Comma-separated.")]
ThresholdsOption = Annotated[ListOption, typer.Option("--thresholds", help="Numbers or auto, comma-separated.")]
LearnersOption = Annotated[ListOption, typer.Option("--learners", help="Comma-separated.")]
ValidationsOption = Annotated[ListOption, typer.Option("--validations", help="queries, rows or both.")]
JobsOption = Annotated[int, typer.Option("--jobs", help="Fits at a time, one thread each.", callback=within(1))]
BackendOption = Annotated[Backend, typer.Option("--backend", help="Where fits run.")]
DEFAULT_RESULTS = Path("experiments/results")


@app.command("run")
def run(
    preset: Annotated[Preset, typer.Option("--preset", help="Which experiment.")] = Preset.QUICK,
    populations: PopulationsOption = None,
    budgets: BudgetsOption = None,
    seeds: SeedsOption = None,
    thresholds: ThresholdsOption = None,
    learners: LearnersOption = None,
    validations: ValidationsOption = None,
    jobs: JobsOption = 2,
    backend: BackendOption = Backend.LOKY,
    results: ResultsOption = DEFAULT_RESULTS,
) -> None:
    """Fit what is missing of an experiment; a run that was stopped goes on where it was."""
    settings = _settings(
        pnsight_experiments.PRESETS[preset], populations, budgets, seeds, thresholds, learners, validations
    )
    _run(settings, pnsight_experiments.Results(results, pnsight_experiments.sheet_of(preset)), jobs, backend)


@app.command("decide")
def decide(
    populations: PopulationsOption = None,
    budgets: BudgetsOption = None,
    seeds: SeedsOption = None,
    thresholds: ThresholdsOption = None,
    learners: LearnersOption = None,
    validations: ValidationsOption = None,
    jobs: JobsOption = 2,
    backend: BackendOption = Backend.LOKY,
    results: ResultsOption = DEFAULT_RESULTS,
) -> None:
    """Fit what is missing, then decide, spend budgets and rank by each model, and score that against the oracle."""
    settings = _settings(pnsight_experiments.DECIDED, populations, budgets, seeds, thresholds, learners, validations)
    pnsight_experiments.refuse_exact_learners(settings)
    _run(settings, pnsight_experiments.Results(results, pnsight_experiments.DECISIONS), jobs, backend)


def _settings(
    grids: Sequence[pnsight_experiments.Grid],
    populations: ListOption,
    budgets: ListOption,
    seeds: ListOption,
    thresholds: ListOption,
    learners: ListOption,
    validations: ListOption,
) -> list[pnsight_experiments.Setting]:
    """All settings of the grids, with the choices made on the command line."""
    chosen = {
        "populations": _words(populations),
        "budgets": _numbers("--budgets", budgets),
        "seeds": _numbers("--seeds", seeds),
        "thresholds": _words(thresholds),
        "learners": _words(learners),
        "validations": _words(validations),
    }
    changes: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    changed = [replace(grid, **changes) for grid in grids]
    settings = list(dict.fromkeys(setting for grid in changed for setting in grid.settings()))
    if not settings:
        raise PnsightError("these choices leave nothing to fit; threshold auto, for one, needs --validations rows.")
    return settings


def _run(
    settings: list[pnsight_experiments.Setting], store: pnsight_experiments.Results, jobs: int, backend: Backend
) -> None:
    with bar("fits") as progress:
        fitted = pnsight_experiments.run(settings, store, jobs, backend, progress)
    say(f"{fitted} fitted, {len(settings) - fitted} were there; results in {store.path}")


@app.command("show")
def show(
    what: Annotated[What, typer.Argument(help="Which table.")] = What.TABLE_1,
    results: ResultsOption = DEFAULT_RESULTS,
    rule: Annotated[Rule, typer.Option("--rule", help="Who chooses the threshold, in table-1.")] = Rule.ORACLE,
    figures: Annotated[Path | None, typer.Option("--figures", help="Folder to draw threshold sweeps into.")] = None,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Show what the runs found: Table 1 with ours beside the paper's, or one of the other tables."""
    sheet = pnsight_experiments.sheet_of(what)
    rows = pnsight_experiments.Results(results, sheet).rows()
    if not rows:
        command = "decide" if sheet == pnsight_experiments.DECISIONS else "run"
        raise PnsightError(
            f"no results in {str(results)!r}; make some with: pnsight bench {command} --results {results}"
        )
    columns = pnsight_experiments.table_of(what, rows, rule)
    if not columns:
        raise PnsightError(f"the results in {str(results)!r} hold no fits for {what}; see pnsight bench run --help.")
    emit(columns, format, out)
    if figures is not None:
        _draw_sweeps(pnsight_experiments.Results(results).rows(), figures)


def _draw_sweeps(rows: list[dict[str, Any]], folder: Path) -> None:
    figures = pnsight_experiments.figures
    for population, budget in sorted({(row["population"], row["budget"]) for row in rows if row["validation"]}):
        path = folder / f"sweep-{population.replace(':', '-')}-{budget}.svg"
        pnsight.output.plots.save(figures.threshold_sweep(rows, population, budget), path)
        say(f"wrote {path}")


@app.command("case")
def case(
    budget: Annotated[int, typer.Option("--budget", help="Rows of each table.", callback=within(1000))] = 200_000,
    threshold: Annotated[
        int, typer.Option("--threshold", help="Rows a training query needs.", callback=within(1))
    ] = 300,
    seed: SeedOption = 1,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Fit and show the paper's case study: a rare profile and its one-open variants, with decisions."""
    check_output(format, out)
    with bar("training") as progress:
        columns = pnsight_experiments.case_study(budget, seed, threshold, progress)
    emit(columns, format, out)


@app.command("curves")
def curves(
    population: Annotated[str, typer.Argument(help="A population by name.")] = "covariate",
    budget: Annotated[int, typer.Option("--budget", help="Rows of each table.", callback=within(1000))] = 200_000,
    threshold: Annotated[
        int, typer.Option("--threshold", help="Rows a training query needs.", callback=within(1))
    ] = 300,
    seed: SeedOption = 1,
    figure: Annotated[Path | None, typer.Option("--figure", help="File to draw them into, .svg or .png.")] = None,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Train Mask-MLP both ways to validate and follow training, validation and oracle error by epoch."""
    check_output(format, out)
    pnsight.output.plots.check_place(figure)
    with bar("training") as progress:
        rows = pnsight_experiments.learning_curves(population, budget, threshold, seed, progress)
    emit({name: [row[name] for row in rows] for name in rows[0]}, format, out)
    if figure is not None:
        title = f"Mask-MLP's lower bound: {population}, {budget:,} rows, threshold {threshold}"
        pnsight.output.plots.save(pnsight_experiments.figures.learning_curves(rows, title), figure)


@app.command("support")
def support(format: FormatOption = None, out: OutOption = None) -> None:
    """Share of queries with fewer than 300 rows in one of the tables, beside the paper's."""
    emit(pnsight_experiments.without_support(), format, out)


@app.command("scatter")
def scatter(
    population: Annotated[str, typer.Argument(help="A population by name.")],
    figure: Annotated[Path, typer.Option("--figure", help="File to draw into, .svg or .png.")],
    budget: Annotated[int, typer.Option("--budget", help="Rows of each table.", callback=within(1000))] = 200_000,
    threshold: Annotated[
        int, typer.Option("--threshold", help="Rows a training query needs.", callback=within(1))
    ] = 300,
    seed: SeedOption = 1,
) -> None:
    """Fit the learners and draw true against predicted bounds of all queries."""
    pnsight.output.plots.check_place(figure)
    with bar("training") as progress:
        drawn = pnsight_experiments.true_against_predicted(population, budget, threshold, seed, progress)
    pnsight.output.plots.save(drawn, figure)
    say(f"wrote {figure}")


def _words(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(pnsight.queries.query.split_names(text))


def _numbers(option: str, text: str | None) -> tuple[int, ...] | None:
    words = _words(text)
    if words is None:
        return None
    try:
        return tuple(int(word.removesuffix("k")) * (1000 if word.endswith("k") else 1) for word in words)
    except ValueError:
        raise PnsightError(f"{option} is {text!r}; give whole numbers separated by commas, such as 50k,200k.") from None
