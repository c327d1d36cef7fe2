"""The options that say what is asked, once for all commands: a command that takes an estimand is decorated."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

import pnsight
from pnsight.cli.options import People, Refine, TrialAloneOption, confidence, four_numbers
from pnsight.estimands.quantities import QUANTITIES

OF_INTERVALS = ("level", "simultaneous", "median_unbiased")
"""Fields that are about sampling error, which known populations and formulas do not have."""

QUANTITY_NAMES = f"<{'|'.join(QUANTITIES)}>"
"""As a choice is shown in help."""


def quantity_name(name: str | None) -> str | None:
    """The name of a quantity, whichever there are when the command is run."""
    if name is not None and name not in QUANTITIES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, QUANTITIES))}.")
    return name


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
            metavar="C,A,N,D",
            help="Bound the benefit: what treating a complier, an always-taker, a never-taker and a defier is worth.",
        ),
    ] = None
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="ASSUMPTION",
            help="Assume monotone (nobody is harmed), exogenous (given the covariates, the treatment chosen is as good "
            "as random), or both: comma-separated or repeated. Refused where the tables contradict it.",
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
    hints = get_type_hints(EstimandOptions, include_extras=True)
    taken = [each for each in fields(EstimandOptions) if each.name not in left_out]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            asking = EstimandOptions(**{each.name: given.pop(each.name) for each in taken})
            command(**given, asking=asking)

        kind = inspect.Parameter.KEYWORD_ONLY
        own = inspect.signature(command, eval_str=True).parameters
        added = [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name]
            )
            for each in taken
        ]
        shown: list[inspect.Parameter] = []
        for name, parameter in own.items():
            shown += added if name == "asking" else [parameter.replace(kind=kind)]
        run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
        return run

    return decorate
