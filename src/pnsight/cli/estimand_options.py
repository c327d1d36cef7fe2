"""The options that say what is asked, once for all commands: a command that takes an estimand is decorated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.option_group import expand_options
from pnsight.cli.options import Among, People, Refine, TrialAloneOption, confidence, four_numbers
from pnsight.estimands.quantities import known_quantities

OF_INTERVALS = ("level", "simultaneous", "median_unbiased")
"""Fields that are about sampling error, which known populations and formulas do not have."""

OF_SENSITIVITY = ("slack", "misread_outcome")
"""Fields that let the people asked about differ from what the tables show."""

OF_STRUCTURES = ("contrast", "statement", "given", "horizon", "among")
"""Fields that speak of arms and outcomes, which a command that shows two arms and two outcomes has no use for."""

QUANTITY_NAMES = f"<{'|'.join(known_quantities())}>"
"""As a choice is shown in help."""


def quantity_name(name: str | None) -> str | None:
    """The name of a quantity, whichever there are when the command is run."""
    if name is not None and name not in known_quantities():
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, known_quantities()))}.")
    return name


def complete_quantity() -> list[str]:
    """Names for a shell to complete."""
    return list(known_quantities())


@dataclass(frozen=True)
class EstimandOptions:
    """What the options say, before a model says what is usual.

    Each field is an option of every command that `estimand_options` decorates.
    """

    quantity: Annotated[
        str | None,
        typer.Option(
            "--quantity",
            metavar=QUANTITY_NAMES,
            callback=quantity_name,
            autocompletion=complete_quantity,
            help="What to bound; by default what the model was fitted for, or pns.",
        ),
    ] = None
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.", callback=confidence)] = 0.9
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous", help="Widen the intervals until all of the table hold together with that confidence."
        ),
    ] = False
    median_unbiased: Annotated[
        bool,
        typer.Option(
            "--median-unbiased",
            help="Move ends outwards until each claims too much at most half of the time: the largest of several noisy "
            "estimates is too large, the smallest too small.",
        ),
    ] = False
    population: Annotated[
        People | None,
        typer.Option(
            "--population", help="Whose people an open covariate is averaged over; by default as the model was fitted."
        ),
    ] = None
    payoffs: Annotated[
        str | None,
        typer.Option(
            "--payoffs",
            metavar="HELPED,ALWAYS,NEVER,HARMED",
            help="Bound the benefit: what treating a person is worth who is helped, who always responds, who never "
            "does, and who is harmed.",
        ),
    ] = None
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="ASSUMPTION",
            help="Assume monotone (nobody is harmed), exogenous (given the covariates, the treatment chosen is as good "
            "as random), or both: comma-separated or repeated. How much, of the group asked about: 'harm<=0.05' (at "
            "most so many are harmed), 'correlation>=0.2' (of the outcomes with and without treatment). Where people "
            "were assigned an arm: no-defiers (nobody takes the treatment only if not assigned to it) or one-sided "
            "(nobody takes it without). Refused where the tables contradict it.",
        ),
    ] = None
    refine: Annotated[
        Refine,
        typer.Option(
            "--refine",
            help="Bound the average law of a query's people, or average the bounds of their profiles, which is "
            "tighter.",
        ),
    ] = Refine.NONE
    trial_alone: TrialAloneOption = False
    contrast: Annotated[
        str | None,
        typer.Option(
            "--contrast",
            metavar="ARM:ARM",
            help="Which arm is compared with which, as high:placebo; needed with more arms than two.",
        ),
    ] = None
    statement: Annotated[
        str | None,
        typer.Option(
            "--statement",
            help="Bound the share of whom a statement holds, as 'Y[high] >= mild and Y[placebo] == none'.",
        ),
    ] = None
    given: Annotated[
        str | None,
        typer.Option("--given", help="With --statement: among whom, as 'X == placebo and Y == none'."),
    ] = None
    horizon: Annotated[
        float | None, typer.Option("--horizon", help="Of times to an event: when to look, one of the horizons.")
    ] = None
    among: Annotated[
        Among,
        typer.Option("--among", help="Of everyone, or of compliers, who take either arm as assigned."),
    ] = Among.EVERYONE
    slack: Annotated[
        str | None,
        typer.Option(
            "--slack",
            metavar="D",
            help="By how much P(y_x) of the people asked about may differ from the trial's: 0.05 in both arms and "
            "either way, +0.05 only more, -0.05 only less, treated=0.05,control=0.02 by arm. Contradictions between "
            "the tables are judged at that slack.",
        ),
    ] = None
    misread_outcome: Annotated[
        float,
        typer.Option(
            "--misread-outcome",
            metavar="P",
            help="Up to this share of the outcomes of each arm and table may be recorded wrongly, in any pattern.",
        ),
    ] = 0.0

    def arguments(self) -> dict[str, Any]:
        """What `Estimand.parse` and `Model.estimand` take."""
        return {
            "quantity": self.quantity,
            "level": self.level,
            "simultaneous": self.simultaneous,
            "median_unbiased": self.median_unbiased,
            "population": None if self.population is None else self.population.value,
            "payoffs": four_numbers(self.payoffs),
            "assume": ",".join(self.assume or []),
            "refine": self.refine.value,
            "trial_alone": self.trial_alone,
            "contrast": self.contrast,
            "statement": self.statement,
            "given": self.given,
            "horizon": self.horizon,
            "among": self.among.value,
            "slack": self.slack,
            "misread_outcome": self.misread_outcome,
        }

    def of(self, model: pnsight.Model) -> pnsight.Estimand:
        """The estimand, with the model's own quantity if none is named."""
        return model.estimand(**self.arguments())


def estimand_options(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of an estimand in place of its parameter `asking`.

    Parameters
    ----------
    left_out
        Fields of `EstimandOptions` that are no options of this command.

    Returns
    -------
    A decorator.
    """
    return expand_options(EstimandOptions, "asking", left_out)
