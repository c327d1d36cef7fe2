"""The page of the case study: the example, and what it printed when it was last run."""

from __future__ import annotations

from pages import RESULTS, ROOT, command

from pnsight_experiments.paper import CASE_PROFILE

SCRIPT = "examples/case_study.py"
PRINTED = RESULTS / "case_study.txt"


def page() -> str:
    """The whole page."""
    script = (ROOT / SCRIPT).read_text(encoding="utf-8")
    printed = PRINTED.read_text(encoding="utf-8")
    return f"""# The case study: from two tables to the next question

The paper ends with a person who has a rare profile, one part of which may be unknown: what should be decided? This
example works through the case with the response-type model, and goes one step further: what to ask. It can be run with
any number of rows, and takes about a minute with its 200,000 per table:

{command(f"python {SCRIPT}")}

What it printed (`{PRINTED.relative_to(ROOT)}`; the last digits may differ on another machine):

```text
{printed}```

**The profile and its variants.** `pnsight oracle mediator {CASE_PROFILE}` says that four people in a million have this
profile, so hardly any row is about them; the model predicts their answers from all other rows. `truth` and `so` are
what unlimited data would answer and decide; `model` and `decision` are what the model does. `with caution` decides only
where the whole 90% confidence interval of the bound agrees. [The paper's experiment](experiment.md#the-case-study)
compares it with plug-in, Exact-MLP and Mask-MLP. The paper's own digits do not follow from its printed population.

**What to ask** (value of information). Where a decision is uncertain, one more answer may settle it. `changes` is the
probability that it would, for a person about whom only this much is known, under the distribution of the covariates
that the model has learned.

**Until nothing would change it.** Ask what is most likely to change the decision, take the answer, and go on. Stop when
no single further answer would matter, even if much is still unknown.
[Deciding](deciding.md#what-would-knowing-more-change) shows the same on the command line, as `pnsight ask`.

The whole example:

```python
{script}```
"""
