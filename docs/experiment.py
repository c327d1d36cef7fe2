"""The page on the paper's experiment, written from the results in the repository."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence

from pages import FIGURES, RESULTS, command, markdown, pictures

import pnsight_experiments as benchmark
from pnsight.models.bound_networks.regressor import AUTO_MIN_ROWS, MIN_EXAMPLES
from pnsight.output import plots
from pnsight.simulation import NAMES, get
from pnsight_experiments import figures, summary


def page() -> str:
    """The whole page."""
    rows = benchmark.Results(RESULTS).rows()
    sections = [
        _opening(rows),
        _table_1(rows),
        _baseline(rows),
        _sweeps(rows),
        _leak(),
        _choosing(rows),
        _learners(rows),
        _scatter(),
        _coherence(rows),
        _without_oracle(rows),
        _case(),
        _against_the_paper(rows),
        _what_was_run(rows),
    ]
    return "\n".join(sections)


def draw() -> None:
    """The figures that need no fitting: threshold sweeps of the results, and diagrams of the populations."""
    rows = benchmark.Results(RESULTS).rows()
    for population, budget in _swept(rows):
        plots.save(figures.threshold_sweep(rows, population, budget), FIGURES / _sweep_name(population, budget))
    for name in NAMES:
        plots.save(figures.diagram(get(name)), FIGURES / f"diagram-{name}.svg")


def _opening(rows: Sequence[summary.Row]) -> str:
    count = sum(row["dropped"] != "infeasible" for row in rows)
    return f"""# The paper's experiment, rerun

This page is written from the rows in `experiments/results/fits.csv`, the scores of {count:,} fits by this project's own
code; what was run, and what was not, is [at the end](#what-was-run). Errors are mean absolute errors (MAE) of the lower
and upper PNS bound against the exact oracle, over the 1,024 exact and over all 59,049 queries. The command above a
table prints it again, from the same rows unless it says otherwise; `pnsight bench run` adds what is missing.

The causal diagrams of the populations, drawn from the model objects (Z stands for both observed and hidden covariates):

{pictures([(f"diagram-{name}.svg", f"diagram of {name}") for name in NAMES], width="18%")}
"""


def _table_1(rows: Sequence[summary.Row]) -> str:
    cells = [cell for cell in summary.cells(rows) if cell.paper is not None]
    learned = [cell for cell in cells if cell.learner != "plug-in" and cell.population != "direct"]
    ratio = summary.mean_ratio(learned)
    return f"""## Table 1: ours beside the paper's

The threshold, the minimum number of rows of a training query, is a hyperparameter. The paper's rule takes the mean over
seeds for each threshold, then the smallest, separately by space and end. That is a choice made with the oracle, which
nobody has on real data. `threshold` is the one that won (lower/upper), among those tried with the same number of seeds;
`ratio` is ours over the paper's. The paper says "from 100 to 2000"; which thresholds lie between is our choice. A
threshold that leaves fewer than {MIN_EXAMPLES} training queries for some seed does not compete.

{command("pnsight bench show table-1")}

Below are the rows for which the paper has a number; Direct as printed and Direct with a positive coefficient are both
compared with the paper's Direct.

{markdown(summary.table(cells))}

Over the {len(learned)} cells of the learners for which the paper has a number, with Direct's coefficient positive, our
error is on average {ratio:.2f} times the paper's. With the paper's settings, up to 2000 epochs and the best validation
error, training goes on until the leak described below has done its harm; stopping after a few hundred epochs would give
a lower error.
"""


def _baseline(rows: Sequence[summary.Row]) -> str:
    return f"""## The plug-in baseline, two conventions

The paper removes bounds "that are not feasible" without saying which those are. Dropping only queries whose bounds
are undefined comes closer to its numbers than dropping crossed ones too; neither reproduces them. Direct as printed is
degenerate (its bounds are 0 everywhere), so the paper's Direct column cannot come from it.

{command("pnsight bench show baseline")}

{markdown(summary.baseline_table(rows))}
"""


def _sweeps(rows: Sequence[summary.Row]) -> str:
    sweeps = [
        (_sweep_name(population, budget), f"error against threshold, {population}, {budget:,} rows")
        for population, budget in _swept(rows)
    ]
    return f"""## Which threshold each learner prefers

Mean absolute error against the minimum number of rows that a query needs in both tables to be a training example.

{pictures(sweeps)}

{command("pnsight bench show thresholds")}

{markdown(summary.preferred_thresholds(rows))}
"""


def _leak() -> str:
    with (RESULTS / "curves.csv").open(encoding="utf-8") as file:
        curve = list(csv.DictReader(file))
    found = {way: _kept_and_best([row for row in curve if row["validated_by"] == way]) for way in ("queries", "rows")}
    lines = [
        f"- validation by {way}: the checkpoint kept is epoch {kept['epoch']}, with an oracle error of "
        f"{float(kept['oracle_exact']):.4f} on exact and {float(kept['oracle_mask']):.4f} on all queries; the best the "
        f"same training passed through was {float(best['oracle_mask']):.4f} on all queries, at epoch {best['epoch']}."
        for way, (kept, best) in found.items()
    ]
    return f"""## The validation split leaks

Mask queries share rows. A query held out of training is nearly a mixture of queries that were not, so its label repeats
their noise, and the validation error keeps falling while the error against the truth rises (overfitting that the
validation set cannot see). Setting rows aside first and labelling the validation queries from those rows alone gives a
stopping rule that sees the difference.

{pictures([("leak.svg", "training, validation and oracle error against epochs, for both ways to validate")])}

{command("pnsight bench curves covariate --out experiments/results/curves.csv --figure docs/figures/leak.svg")}

For the lower bound, population covariate, 200,000 rows, threshold 300, seed 1:

{chr(10).join(lines)}
"""


def _kept_and_best(curve: list[dict[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
    lower = [row for row in curve if row["end"] == "lower"]
    return min(lower, key=lambda row: float(row["validation"])), min(lower, key=lambda row: float(row["oracle_mask"]))


def _choosing(rows: Sequence[summary.Row]) -> str:
    columns = summary.gap_to_oracle(rows)
    if not columns:
        return ""
    ratios = [float(text) for text in columns["ratio"] if text]
    return f"""## Choosing the threshold without an oracle

`validation="rows"` with `min_rows="auto"` is what a user of `pnsight fit --model mask-mlp` gets: a fifth of the rows
is held out, and the threshold and the epoch are chosen on it. It is compared with the oracle's choice with the paper's
validation, on the same seeds. A ratio below one means that the choice without the oracle did better. It has less to go
by: it trains on four fifths of the rows, and scores on queries with at least 100 held-out rows in both tables, which
says little about rare groups. It chooses among {len(AUTO_MIN_ROWS)} thresholds, the oracle among those in Table 1.

{command("pnsight bench show auto")}

{markdown(columns)}

Mean ratio: {sum(ratios) / len(ratios):.2f}.
"""


def _learners(rows: Sequence[summary.Row]) -> str:
    seed_1 = [row for row in rows if row["seed"] == 1]
    fixed = [cell for cell in summary.cells(seed_1, summary.FIXED) if cell.budget == 200_000]
    return f"""## Other regressors in the same place; Mish against ReLU

All at a threshold of 300 rows, 200,000 rows per table, seed 1 (the command shows all seeds and budgets available).

{command("pnsight bench show table-1 --rule fixed")}

{markdown(summary.table(fixed))}
"""


def _scatter() -> str:
    names = [name for name in NAMES if (FIGURES / f"true-predicted-{name}-200000.png").exists()]
    clouds = [(f"true-predicted-{name}-200000.png", f"true against predicted bounds, {name}") for name in names]
    return f"""## True against predicted

Every query is a dot in the density; 200,000 rows per table, threshold 300, the paper's protocol.

{command("pnsight bench scatter POPULATION --figure docs/figures/true-predicted-POPULATION-200000.png")}

{pictures(clouds, width="48%")}
"""


def _coherence(rows: Sequence[summary.Row]) -> str:
    return f"""## Lower above upper

Lower and upper bound come from two separate regressors, and nothing keeps the first below the second. `pnsight query`
leaves such an answer empty (`status` is `crossed`); `repair="sort"` puts the ends in order instead and is off in the
paper's protocol. The table shows the mean share of answers that crossed, over all queries or, for a learner of exact
ones, over those:

{command("pnsight bench show crossings")}

{markdown(summary.crossing_table(rows))}

## Decisions

At a threshold of 0.3 or 0.5 on PNS, over all 59,049 queries, 200,000 rows: how often the decision (treat, do not,
uncertain) agrees with the oracle's, and what share of the confident decisions the oracle contradicts outright. A
crossed or undefined answer counts as disagreement and is not confident. The true PNS of direct-positive is .5023, close
to the threshold of 0.5.

{command("pnsight bench show agreement")}

{markdown(summary.agreement_table(rows))}
"""


def _without_oracle(rows: Sequence[summary.Row]) -> str:
    columns = summary.held_out_table(rows)
    if not columns:
        return ""
    pairs = list(zip(columns["held-out rank"], columns["oracle rank"], strict=True))
    same = sum(a == b for a, b in pairs)
    return f"""## Scoring without an oracle

On real data nobody has the oracle. What one can do is hold rows out and score a learner on their well-supported
queries (300 held-out rows in both tables). The learners here saw 80% of 200,000 rows, seed 1. Of {len(pairs)} ranks
within a population, {same} agree with the oracle's over all queries. Note the limits of such a score: it covers only
well-supported queries, where the plug-in is at its best, and the plug-in's oracle error is over the queries it answers.

{command("pnsight bench show held-out")}

{markdown(columns)}
"""


def _case() -> str:
    with (RESULTS / "case.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return f"""## The case study

A rare profile of the mediator population and its ten variants with one covariate open, 200,000 rows: bounds as
lower/upper and decisions at 0.5 in the order of the columns (T treat, N do not, U uncertain, - no answer). This is the
shape of the paper's study, not its digits: those do not follow from the printed population (opening the fifth
covariate, which is 1 for 1.7% of people, cannot move its bounds from [.223, .275] to [.324, .528]).

{command("pnsight bench case --out experiments/results/case.csv")}

{markdown(columns)}
"""


def _against_the_paper(rows: Sequence[summary.Row]) -> str:
    return f"""## The paper's other claims

The abstract claims errors of about .03 on the main tasks and 80% below the baseline. Here is the same, recomputed over
the learners' cells that were run, with the paper's own numbers for the same cells beside ours:

{command("pnsight bench show claims")}

{markdown(summary.claims_table(rows))}

The introduction says that about 17% of mask and 99% of exact queries lack support. With the printed distribution of
the covariates and 300 rows in both tables (sampled again, not read from the rows):

{command("pnsight bench support")}

{markdown(benchmark.without_support())}
"""


def _what_was_run(rows: Sequence[summary.Row]) -> str:
    with (RESULTS / "runs.jsonl").open(encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    commands = list(dict.fromkeys(run["command"] for run in runs))
    last = runs[-1]
    machines = " or ".join(sorted({run["processor"] for run in runs}))
    versions = ", ".join(f"{name} {number}" for name, number in last["versions"].items())
    return f"""## What was run

{command("pnsight bench show runs")}

{markdown(summary.runs_table(rows))}

Whatever is not in this table was not run. On {last["cores"]} cores ({machines}), Python {last["python"]},
{versions}. The commands, stopped and resumed:

```sh
{chr(10).join(commands)}
```
"""


def _swept(rows: Sequence[summary.Row]) -> list[tuple[str, int]]:
    """Populations and budgets of which Mask-MLP was fitted at several thresholds."""
    found: dict[tuple[str, int], set[str]] = {}
    for row in summary.fits(rows):
        if row["learner"] == "mask-mlp" and row["validation"] == "queries":
            found.setdefault((row["population"], row["budget"]), set()).add(row["threshold"])
    return sorted(key for key, thresholds in found.items() if len(thresholds) > 2)


def _sweep_name(population: str, budget: int) -> str:
    return f"sweep-{population}-{budget}.svg"
