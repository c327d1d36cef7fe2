"""The options that say what rows show beyond two arms and two outcomes, once for all commands that read tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.option_group import expand_options


class EventIs(StrEnum):
    """Whether an event is wished for."""

    GOOD = "good"
    BAD = "bad"


class MissingOutcome(StrEnum):
    """What to make of a row without an outcome."""

    DROP = "drop"
    SET = "set"
    WORST_CASE = "worst-case"


@dataclass(frozen=True)
class StructureOptions:
    """What rows show beyond two arms and two outcomes; each field is an option of every command that reads tables."""

    arms: Annotated[
        str | None,
        typer.Option(
            "--arms",
            metavar="NAME,NAME,...",
            help="All values of the treatment, the reference first: placebo,low,high.",
        ),
    ] = None
    outcomes: Annotated[
        str | None,
        typer.Option("--outcomes", metavar="NAME,NAME,...", help="All values of the outcome, the lowest first."),
    ] = None
    unordered: Annotated[bool, typer.Option("--unordered", help="The order of --outcomes means nothing.")] = False
    time: Annotated[
        str | None,
        typer.Option("--time", help="Column with the time to an event, or to the end of follow-up."),
    ] = None
    event: Annotated[
        str | None, typer.Option("--event", help="With --time: column that says whether the event happened then.")
    ] = None
    event_is: Annotated[EventIs | None, typer.Option("--event-is", help="With --time: what the event is.")] = None
    horizons: Annotated[
        str | None,
        typer.Option("--horizons", metavar="TIME,TIME,...", help="With --time: times to ask about, as 30,90,365."),
    ] = None
    assigned: Annotated[
        str | None,
        typer.Option(
            "--assigned", help="Column with the arm that was assigned, where --treatment says which was taken."
        ),
    ] = None
    missing_outcome: Annotated[
        MissingOutcome,
        typer.Option(
            "--missing-outcome",
            help="A row without an outcome is dropped, may have any as others like it have (set), or any at all.",
        ),
    ] = MissingOutcome.DROP

    def arguments(self) -> dict[str, Any]:
        """What `pnsight.read_study` takes."""
        return {
            "arms": _split(self.arms),
            "outcomes": _split(self.outcomes),
            "unordered": self.unordered,
            "time": self.time,
            "event": self.event,
            "event_is": None if self.event_is is None else self.event_is.value,
            "horizons": _numbers(self.horizons),
            "assigned": self.assigned,
            "missing_outcome": self.missing_outcome.value,
        }


def structure_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a structure in place of its parameter `structure`."""
    return expand_options(StructureOptions, "structure")(command)


def _split(names: str | None) -> list[str] | None:
    """Names separated by commas; a backslash escapes a comma."""
    if names is None:
        return None
    query = pnsight.queries.query
    return [query.unescape(name).strip() for name in query.split_unescaped(names, ",")]


def _numbers(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} was given; expected times, as in 30,90,365.", param_hint="--horizons"
        ) from None
