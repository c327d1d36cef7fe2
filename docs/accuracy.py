"""The page on what the response-type model was measured to do, written from the results in the repository."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from pages import FIGURES, RESULTS, Columns, command, markdown, pictures

import pnsight_experiments as benchmark
from pnsight.output import plots
from pnsight_experiments import (
    decision_tables,
    figures,
    interval_coverage,
    numeric_accuracy,
    policy_values,
    response_type_tables,
    second_opinion,
    structure_accuracy,
    summary,
    validate_oracle,
)
from pnsight_experiments.resumable import read

SMALL_STUDIES = "interval_coverage.csv"
STRUCTURES = "structure_accuracy.csv"
NUMBERS = "numeric_accuracy.csv"
OPINIONS = "second_opinion.csv"
POLICIES = "policy_values.csv"
VALIDATION = "validate_oracle.csv"
FLOOR_POPULATION = "interaction:101"
FLOOR_FIGURE = "error-by-budget.svg"


def page() -> str:
    """The whole page."""
    rows = benchmark.Results(RESULTS).rows()
    decided = benchmark.Results(RESULTS, benchmark.DECISIONS).rows()
    parts = [
        _opening(),
        _paper(rows),
        _random(rows),
        _rivals(),
        _transformer(rows),
        _floor(rows),
        _intervals(rows),
        _small_studies(),
        _promised(),
        _structures(),
        _numbers(),
        _large_tables(),
        _opinions(),
        _validation(),
        _agreement(rows),
        _acting(decided),
        _policies(),
    ]
    return "\n".join(part for part in parts if part)


def headline() -> str:
    """One line a population, for the README."""
    return markdown(response_type_tables.headline(benchmark.Results(RESULTS).rows())) + "\n"


def draw() -> None:
    """The figure of error against rows."""
    rows = benchmark.Results(RESULTS).rows()
    if _floor(rows):
        plots.save(figures.error_by_budget(rows, FLOOR_POPULATION), FIGURES / FLOOR_FIGURE)


def _opening() -> str:
    return """# How accurate the response-type model is

This page is written from the rows in `experiments/results`, like [the paper's experiment](experiment.md). Errors are
mean absolute errors of the PNS bounds against the exact oracle. A fit never sees the oracle: everything it chooses, it
chooses on held-out rows (cross-validation). What is fixed in the model, such as the capacities it tries, how it weights
held-out rows and the usual size of its errors ([more](#intervals)), was set with the oracle on samples
other than those shown here: seeds 11 to 30 of the catalog, and random populations with seeds 1 to 5.
"""


def _paper(rows: Sequence[summary.Row]) -> str:
    ratios = response_type_tables.paper_ratios(rows)
    if not ratios:
        return ""
    table = markdown(_by_place(response_type_tables.against_paper(rows)))
    return f"""## Beside the paper's Mask-MLP

The paper's Mask-MLP had its threshold chosen with the oracle, and so had our own rerun of it. Over {len(ratios)} cells
the model's error is on average {fmean(ratios):.2f} times the error the paper reports; the largest ratio is
{max(ratios):.2f}, and {sum(ratio <= 1 / 3 for ratio in ratios)} cells are at a third or below.

The table shows the model's mean error over the seeds, and in brackets its ratio to the paper's.

{command("pnsight bench run --preset response-types")}
{command("pnsight bench show response-types")}

{table}
"""


def _by_place(columns: Columns) -> Columns:
    """One line for each population and budget, with error and ratio of both ends in both spaces."""
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    for population, budget, space, end, error, seeds, ratio in zip(
        *(columns[name] for name in ("population", "budget", "space", "end", "error", "seeds", "ratio")), strict=True
    ):
        lines.setdefault((population, f"{budget:,}", seeds), {})[f"{space} {end}"] = f"{error} ({ratio})"
    places = dict(zip(("population", "rows a table", "seeds"), zip(*lines, strict=True), strict=True))
    ends = next(iter(lines.values()))
    return {**places, **{end: [line[end] for line in lines.values()] for end in ends}}


def _random(rows: Sequence[summary.Row]) -> str:
    columns = response_type_tables.on_random_populations(rows)
    if not columns:
        return ""
    return f"""## On random populations

There are six kinds of random population (see [Populations](populations.md)), ten of each, with 200,000 rows per table
and one sample each; the table covers those that all three models have been fitted to so far. Mask-MLP has a threshold
of 300 and the paper's protocol; the plug-in is scored on the queries it answers. The columns are the mean error of both
ends, and where the response-type model lost.

{command("pnsight bench run --preset random")}
{command("pnsight bench show random")}

{markdown(columns)}
"""


def _rivals() -> str:
    columns = response_type_tables.beside_rivals(benchmark.Results(RESULTS, benchmark.RIVAL_FITS).rows())
    if not columns:
        return ""
    return f"""## Beside other methods

Methods of the field in place of the response-type model, with 20,000 rows per table and one sample each: boosted trees
(LightGBM), Bayesian additive regression trees (BART, of stochtree) and a Gaussian process. Each estimates five shares
by itself: who responds in either arm, who chooses the treatment, and who responds among those who did and who did not.
The nearest law that is possible takes the place of what the five say, and bounds follow from that. The Gaussian process
is fitted to the 1,000 profiles with most rows. Settings were chosen with sample 7 of `mediator` and `interaction:7`.
The columns are the mean error of both ends over all queries, the plug-in's over those that it answers, and the smallest
of the rivals' over ours. A blank is a fit that has not been run yet; the first command goes on where it was.

{command("pnsight bench run --preset rivals")}
{command("pnsight bench show rivals")}

{markdown(columns)}
"""


def _transformer(rows: Sequence[summary.Row]) -> str:
    columns = summary.transformer_table(rows)
    if not columns:
        return ""
    return f"""## A Transformer in Mask-MLP's place

The paper's outlook asks whether a Transformer over tokens of covariate and value would do better than Mask-MLP's
network. Both have the same training queries (threshold 300), batches, epochs and early stopping, with 200,000 rows per
table.

{command("pnsight bench run --preset transformer")}
{command("pnsight bench show transformer")}

{markdown(columns)}
"""


def _floor(rows: Sequence[summary.Row]) -> str:
    budgets = {row["budget"] for row in summary.fits(rows) if row["population"] == FLOOR_POPULATION}
    if len(budgets) < 3:
        return ""
    return f"""## No floor under the error

A population made of interactions, from {min(budgets):,} to {max(budgets):,} rows per table.

{command("pnsight bench run --preset bias")}

{pictures([(FLOOR_FIGURE, "error against rows of each table, plug-in and response types")])}
"""


def _intervals(rows: Sequence[summary.Row]) -> str:
    columns = response_type_tables.interval_table(rows)
    if not columns:
        return ""
    return f"""## Intervals

Coverage: the share of the oracle's ends that lie inside their nominal 90% confidence interval, over the exact and over
all queries, with the mean width; then by the number of rows that a query has in both tables together. 200,000 rows per
table; the catalog's populations with seeds 1 to 5 and 61 to 75, random populations with one sample each.

These rows, and those of the sections above and below, were measured with the model as it was before its intervals
came in closed form and before a group's own rows were set against what the model learned; they have not been run
again. Networks and their choice are the same at this size. The intervals of the model as it is, at this size too, are
in the next section.

In direct-positive everybody has the same PNS, so a sample covers all queries or none: its coverage is a share of fits,
not of queries. The way the variance was computed came from other samples of the catalog (seeds 11 to 16) and other
random populations (seeds 1 to 3). Seeds 61 to 75 had never been fitted before, except in the two Direct populations.

{command("pnsight bench show intervals")}

{markdown(columns)}
"""


def _small_studies() -> str:
    rows = read(RESULTS / SMALL_STUDIES)
    if not rows:
        return ""
    often = interval_coverage.cells_with_wrong_decisions(rows, 0.001)
    return f"""## Small, unequal and large studies

Rows of the trial and of the registry. Coverage of nominal 90% intervals, mean of both ends, over all 1,024 exact
queries and over 6,000 drawn from all, with the standard error over samples; mean widths and errors; and the share of
cautious decisions at 0.1, 0.3 and 0.5 that the truth contradicts. `marked` counts samples in which any answer is
refused because the tables seem to contradict each other. For groups with 1,000 rows in both tables, errors and widths
stand beside those of the plug-in. `trial moved` says by how many of its own standard errors P(y_x) of all people of the
trial, the larger of both arms, moved from what the trial's rows say, and in how many of the groups that one covariate
tells apart it moved by more than 1.645 of them. Settings were chosen on seeds 301 to 352; the seeds shown here, from
211 on, had not been looked at then, but for the first sample of each cell: its share of wrong decisions was a reason to
ask for a margin where others taught an answer, and how large that is was set on seeds 331 and 332.

More than one cautious decision in a thousand is wrong in: {", ".join(often) or "none"}. (In direct-positive everybody's
PNS is .5023, just above one of the thresholds: where an interval misses by chance, the decision is wrong by .0023.)

{command(_sweep("interval_coverage", SMALL_STUDIES, "--seeds 211-220"))}
{command(_sweep("interval_coverage", SMALL_STUDIES, "--show"))}

{markdown(interval_coverage.table_columns(rows))}
"""


PROMISES = {
    "contradictions": "In how many coherent studies is any answer refused because the tables seem to contradict each "
    "other?",
    "trial": "How far do both tables together move what the trial says about its own people, in its own standard "
    "errors, and is that nearer the truth than a fit to the trial alone? The same with a registry that lost some of "
    "its successes.",
    "seeds": "How much do half-widths vary over ten seeds of one fit (coefficient of variation)?",
    "weights": "Random survey weights of mean one, 400 rows that are worth 150: coverage of 90% intervals.",
    "clusters": "Trials randomised by household: coverage of 90% intervals with and without `--cluster`.",
    "wide": "Thirty covariates, 20,000 rows per table: the model beside the plug-in.",
}
"""Parts of a benchmark whose output is kept as `honest_intervals_PART.txt`, and what each asks."""


def _promised() -> str:
    """What was printed about the intervals beside coverage on plain samples."""
    kept = {part: RESULTS / f"honest_intervals_{part}.txt" for part in PROMISES}
    shown = [
        f"{PROMISES[part]}\n\n{command(f'python experiments/benchmarks/honest_intervals.py {part}')}\n\n"
        f"```text\n{file.read_text(encoding='utf-8').rstrip()}\n```\n"
        for part, file in kept.items()
        if file.exists()
    ]
    return "\n".join(["## What else intervals promise\n", *shown]) if shown else ""


def _structures() -> str:
    rows = read(RESULTS / STRUCTURES)
    if not rows:
        return ""
    return f"""## More arms, grades, times, and noncompliance

Random trials of other structures (see [Populations](populations.md)) with eight yes/no covariates and
{int(rows[0]["rows"]):,} rows per table; populations with seeds {structure_accuracy.seeds(rows)}, one sample each, that
nothing was chosen on. Errors are means over both ends, of the response-type model before those of the plug-in, as are
the shares of queries answered; errors of the plug-in are over the queries that it answers. Exact queries are the 256
profiles, all are 6,561. Coverage is the share of true ends inside their nominal 90% interval, with the standard error
over samples, then that of the plug-in over the exact and over all queries. `crossed` counts answers with ends that
cross or lie outside their intervals, and `referee` is the largest difference between the compiled bounds and the linear
program at 1,000 queries of each sample. The fit's processor time is set against a fit to two arms and two outcomes of
the same size in the same run, and `answering` is that of all 6,561 queries with intervals, compiling included.

The intervals were calibrated on two arms and two outcomes, and once more for more than two outcomes: there the shares
of cells err as expected, but a network is wrong about how far a profile's outcomes are shifted as a whole, so that the
errors of several outcomes add up in an end. Errors of ends are taken to be a fifth larger for it, which was set on
populations with seeds 1 to 4 of the first three kinds. Coverage differs by several per cent from sample to sample; read
intervals with care where the table shows that they hold fewer than nine in ten of the true ends.

{command(_sweep("structure_accuracy", STRUCTURES, "--seeds 101-105"))}
{command(_sweep("structure_accuracy", STRUCTURES, "--show"))}

{markdown(structure_accuracy.table_columns(rows))}
"""


def _numbers() -> str:
    rows = read(RESULTS / NUMBERS)
    if not rows:
        return ""
    return f"""## Numbers as numbers

Random populations with six numbers and four yes/no covariates (see [Populations](populations.md)), with
{int(rows[0]["rows"]):,} rows per table and seeds that nothing was chosen on. `numeric` is the default model, `bands4`
and `bands10` the same model where each number was cut into so many bands of equally many rows; `lightgbm` and `bart`
estimate each share by itself and are brought to the nearest law that is possible. Errors are means over both ends of
the bounds on the PNS: of 400 single people, and of 60 ranges of one or two numbers. A ratio is the mean error of
`numeric` over that of the method, on the samples that both were fitted to. Coverage is the share of true ends inside
their nominal 90% interval. Seconds are of the processor; only `numeric` makes intervals in them.

Two methods that nobody has say how far one can get with so many rows. `told` is told every curve, step and product
that the law is made of, and has only their weights to learn. `efficient` has the errors within ranges of an estimator
that is as good as any can be without taking a shape for granted (the semiparametric efficiency bound); a model that
takes laws to be smooth may do better.

{command(_sweep("numeric_accuracy", NUMBERS, "--seeds 101-103 --methods numeric,bands4,bands10"))}
{command(_sweep("numeric_accuracy", NUMBERS, "--seeds 101-103 --methods lightgbm,told,efficient"))}
{command(_sweep("numeric_accuracy", NUMBERS, "--seeds 101-101 --methods bart"))}
{command(_sweep("numeric_accuracy", NUMBERS, "--show"))}

{markdown(numeric_accuracy.table_columns(rows))}
"""


LARGE_TABLES = {
    "numeric_times.txt": "python -m pnsight_experiments.numeric_accuracy --times",
    "large_numbers.txt": "python experiments/benchmarks/large_numbers.py",
}
"""Files with what commands printed, and the commands."""


def _large_tables() -> str:
    kept = {file: RESULTS / file for file in LARGE_TABLES}
    if not all(file.exists() for file in kept.values()):
        return ""
    times, large = (
        f"{command(LARGE_TABLES[name])}\n\n```text\n{file.read_text(encoding='utf-8').rstrip()}\n```\n"
        for name, file in kept.items()
    )
    return f"""## Time, memory and size with numbers

A table of four numbers and six categories: a fit with intervals, the folder that it is stored in, and the slowest of
five kinds of queries.

{times}
A hundred million rows of twelve numbers in single precision, half of them of a trial: a fit, and people scored beside a
plain copy of the same files by DuckDB. About a million rows are drawn for the fit ([how](numbers.md)). Megabytes are
the most that the process held; what scoring holds hardly grows with the people. `times_a_copy` says how many times the
copy's processor time scoring takes; it writes the answers beside the rows, and each person's query as text. All was run
on one core that was shared with other work.

{large}
The last line compares a million answers from the file, from Dask and from Spark, to the last digit.
"""


def _opinions() -> str:
    rows = read(RESULTS / OPINIONS)
    if not rows:
        return ""
    return f"""## A second opinion on models that are too small

Everyone's refined PNS in simulated studies of {int(rows[0]["rows"]):,} rows a table, by models that are too small on
purpose: a network of one index of the covariates, two units and 100 steps, and none at all. Coverage is how often both
ends of the true refined bounds are within the 90% interval, of the model and of the
[second opinion](second-opinion.md). The last columns say how often the two are found to differ.

{command(_sweep("second_opinion", OPINIONS, "--studies 200"))}
{command(_sweep("second_opinion", OPINIONS, "--show"))}

{markdown(second_opinion.table_columns(rows))}
"""


def _validation() -> str:
    rows = read(RESULTS / VALIDATION)
    if not rows:
        return ""
    return f"""## What held-out rows say, and what is true

`pnsight validate` estimates the error of bounds and the coverage of intervals from rows that a model has not seen
([Validation](validation.md)). Here the truth is known: {int(rows[0]["rows"]):,} rows per table, three quarters of them
for the fit, groups with many held-out rows, means over the splits. Errors are root mean squares; those from held-out
rows have the noise of these rows removed, and are followed by the interval that `validate` gives, from how the splits
differ. Seconds are of the processor.

{command(_sweep("validate_oracle", VALIDATION, "--splits 5"))}
{command(_sweep("validate_oracle", VALIDATION, "--show"))}

{markdown(validate_oracle.table_columns(rows))}
"""


def _policies() -> str:
    rows = read(RESULTS / POLICIES)
    if not rows:
        return ""
    return f"""## Values of policies

What `pnsight policies` says ([Policies](policies.md)) beside the truth, in studies that nothing was chosen on, with
{int(rows[0]["rows"]):,} rows per table. `best` is the value of the best rule of its kind, `learned` what the rule that
the model learned is truly worth, and `said` what the model says that it is worth; `error` is the mean absolute
difference of the last two. Then how often the 90% interval holds the value of the learned rule, that of the best one,
and the gain over usual care.

{command(_sweep("policy_values", POLICIES, "--studies 5"))}
{command(_sweep("policy_values", POLICIES, "--show"))}

{markdown(policy_values.table_columns(rows))}

Of the rules that go by covariates, or by covariates and choice:

{markdown(policy_values.claims(rows))}
"""


def _sweep(module: str, file: str, options: str) -> str:
    """The command of a resumable sweep whose lines are kept in a file of the results."""
    return f"python -m pnsight_experiments.{module} --out experiments/results/{file} {options}"


def _agreement(rows: Sequence[summary.Row]) -> str:
    columns = summary.agreement_table(
        [row for row in rows if row["learner"] in ("plug-in", "mask-mlp", "response-types")]
    )
    if not columns:
        return ""
    return f"""## Decisions

Over all 59,049 queries at 200,000 rows: how often the decision at 0.3 and at 0.5 agrees with the oracle's, and what
share of the confident decisions the oracle contradicts outright. The true PNS of direct-positive is .5023, close to
0.5.

{command("pnsight bench show agreement")}

{markdown(columns)}
"""


def _acting(rows: Sequence[summary.Row]) -> str:
    """The value of acting on each model, if that was measured."""
    if not rows:
        return ""
    populations = {row["population"] for row in rows}
    budgets = ", ".join(f"{budget:,}" for budget in sorted({row["budget"] for row in rows}))
    return f"""## What acting on it is worth

An error in the bounds does not say what a wrong decision costs. So the plug-in, Mask-MLP (threshold 300, the paper's
protocol) and the response-type model, plain and cautious, are used as a user would use them, on {len(populations)}
populations with {budgets} rows per table, and the outcome is computed from the true law. The tables below are
means over the catalog's populations and over the random ones; the commands print every population as well.

{command("pnsight bench decide")}

### Right and wrong decisions

Over the exact and over all queries, at 0.3 and 0.5. Of all queries: how many have an answer, a confident decision
(treat or not), and the oracle's decision. Of the confident decisions: how many the oracle contradicts outright (wrong),
and how many would be uncertain with unlimited data (oracle unsure).

{command("pnsight bench show decisions")}

{markdown(_means(decision_tables.decision_table(rows)))}

### Budgets

`pnsight select` spends a budget for a tenth, a quarter and half of the people (unit selection). Numbers are shares of
all people who certainly respond because of the treatment: the true lower bounds of those treated, weighted by their
true numbers. The oracle's choice is the best possible; `lost` is the regret, how much less the model's own choice
brings when the budget is spent in its order until it is used up, and `lost of it` is the same as a share of the
oracle's gain. `promised` is the guaranteed gain that the model reports; `kept` counts the fits that deliver at least
that.

{command("pnsight bench show selection")}

{markdown(_means(decision_tables.selection_table(rows)))}

### The best groups

The hundred groups with the highest lower bounds, among the queries that truly hold at least 1% of the people, and the
hundred best of all exact profiles. A group is right if its true lower bound reaches that of the oracle's hundredth, so
that ties are not mistakes. Many groups are nearly alike, so the table also shows how high the model's hundred truly are
on average, and the oracle's. With caution, groups are ranked by the low end of the interval. The last columns are about
the list of `pnsight rank`, up to 20 groups without near-copies: by how much its estimates exceed the truth on average
(the winner's curse), and by how much it predicts that they do.

{command("pnsight bench show top")}

{markdown(_means(decision_tables.top_table(rows)))}
"""


def _means(columns: Columns) -> Columns:
    """The lines that are means over many populations."""
    kept = [row for row, name in enumerate(columns["population"]) if name in decision_tables.MEANS]
    return {name: [values[row] for row in kept] for name, values in columns.items()}
