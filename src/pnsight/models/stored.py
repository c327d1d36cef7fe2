"""Stored data: what `model.json` holds, as pydantic models, and the one sentence that says what is wrong with it."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from pnsight.notes import Severity

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True, defer_build=True)
"""Data classes inside a model follow it too: no text is taken for a number, and no part is passed over in silence."""

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "none_required": "null",
    "list_type": "a list",
    "tuple_type": "a list",
    "named_tuple_type": "a list",
    "arguments_type": "a list",  # of a named tuple, in some versions of pydantic
    "dict_type": "an object",
    "model_type": "an object",
    "dataclass_type": "an object",
    "extra_forbidden": "no part of this name",
    "unexpected_keyword_argument": "no part of this name",
}

_ANY_NUMBER = "a whole number or a number"


class StoredNumber(BaseModel):
    """The scale of a numeric covariate."""

    model_config = _STRICT

    knots: list[float]
    ranks: list[float]
    centre: float
    scale: float
    edges: list[float]
    whole: bool
    origin: str | None
    missing: bool


class StoredCovariate(BaseModel):
    """A covariate of `model.json`; an edge that is infinite is null, since JSON has no infinity."""

    model_config = _STRICT

    name: str
    levels: list[str]
    edges: list[float | None] | None = None
    merged: list[str] = []
    number: StoredNumber | None = None


class StoredSuppression(BaseModel):
    """People withheld from the experimental and from the observational table, and people left in either."""

    model_config = _STRICT

    min_cell: int
    rows: tuple[float, float]
    left: tuple[float, float]


class StoredNote(BaseModel):
    """A note; its kind says which values its sentence needs."""

    model_config = _STRICT

    kind: str
    values: dict[str, Any]
    severity: Severity


class StoredLeftOut(BaseModel):
    """Rows that were left out, and why."""

    model_config = _STRICT

    reason: StoredNote
    rows: int | float


class StoredTableSampling(BaseModel):
    """How the rows of one table were sampled."""

    model_config = _STRICT

    table: str
    rows: float
    effective_rows: float
    unequal: bool
    largest_weight: float | None
    clusters: int | None
    fewest_clusters: int | None
    largest_cluster: float
    split_clusters: int
    unclustered: float


class StoredDesign(BaseModel):
    """What the counts of a study are worth, without the folds."""

    model_config = _STRICT

    row_worth: list[float]
    tables: list[StoredTableSampling]
    arm_worth: list[float]
    mix_worth: list[float]


class StoredLevelAttrition(BaseModel):
    """Rows of either arm by level of a covariate, and those of them without an outcome."""

    model_config = _STRICT

    covariate: str
    rows: list[tuple[float, ...]]
    missing: list[tuple[float, ...]]


class StoredAttrition(BaseModel):
    """Rows of either arm of a table, and those of them without an outcome."""

    model_config = _STRICT

    table: str
    rows: tuple[float, ...]
    missing: tuple[float, ...]
    arm_worth: tuple[float, ...]
    worth: float
    levels: list[StoredLevelAttrition]


class StoredStructure(BaseModel):
    """What a structure is made of; its response types and cells are built again from that."""

    model_config = _STRICT

    kind: str
    arms: list[str]
    outcomes: list[str]
    ordered: bool
    tried: list[str]
    horizons: list[float]
    event_is_bad: bool
    missing: str


class StoredLabels(BaseModel):
    """Words for columns and values."""

    model_config = _STRICT

    columns: dict[str, str]
    values: dict[str, dict[str, str]]


class StoredSource(BaseModel):
    """The files that a table was read from."""

    model_config = _STRICT

    table: str
    name: str
    files: int
    changed: str


class StoredStudy(BaseModel):
    """A study but for its arrays."""

    model_config = _STRICT

    treatment: str
    outcome: str
    treated: str = "1"
    success: str = "1"
    covariates: list[StoredCovariate]
    dropped: list[StoredLeftOut]
    ignored: list[str]
    notes: list[StoredNote]
    experiment_alone: bool
    structure: StoredStructure | None = None
    withheld: StoredSuppression | None = None
    design: StoredDesign | None = None
    attrition: list[StoredAttrition] | None = None
    labels: StoredLabels | None = None
    sources: list[StoredSource] = []


class StoredArrays(BaseModel):
    """The file with a model's arrays: its name in the folder, its size and its digest."""

    model_config = _STRICT

    file: str
    bytes: int
    sha256: str


class StoredModel(BaseModel):
    """What `model.json` holds; the model's class says of what types its parameters and what it learned are."""

    model_config = _STRICT

    format: str
    format_version: int
    pnsight_version: str
    libraries: dict[str, str]
    model: str
    parameters: dict[str, Any]
    learned: dict[str, Any]
    study: StoredStudy
    warnings: list[StoredNote]
    arrays: StoredArrays
    digest: str


def parse(value: Any, expected: Any, place: str) -> Any:
    """Parse plain data, as JSON holds them, strictly.

    Parameters
    ----------
    value
        Plain data.
    expected
        A type that pydantic knows: a model, a data class, or one made of plain types. Numbers must be finite, and data
        classes must be complete, since a default that is filled in would be today's.
    place
        What the value is called in the message.

    Returns
    -------
    A value of the type.

    Raises
    ------
    ValueError
        With the place, what is there and what was expected.
    """
    try:
        found = _reader(expected).model_validate_json(json.dumps({"part": value})).part  # type: ignore[attr-defined]
    except ValidationError as error:
        raise ValueError(_sentence(error, value, place)) from None
    missing = next(_left_to_defaults(value, found, place), None)
    if missing is not None:
        raise ValueError(f"{missing} is missing")
    return found


@cache
def _reader(expected: Any) -> type[BaseModel]:
    """A model whose only part is of a type, which then follows the strict configuration."""
    return create_model("Stored", __config__=_STRICT, part=(expected, ...))


def _sentence(error: ValidationError, value: Any, place: str) -> str:
    """The first mistake that pydantic found, with everything that a union would have accepted in its place."""
    mistakes = [(*_found_at(each["loc"][1:], value, place), each) for each in error.errors(include_url=False)]
    place, value, first = mistakes[0]
    here = [each for there, _, each in mistakes if there == place]
    last = first["loc"][-1]
    if first["type"] != "missing":
        expected = " or ".join(dict.fromkeys(map(_expected, here)))
    elif isinstance(last, str):
        return f"{place}.{last} is missing"
    else:  # each item that a tuple lacks is a mistake
        expected = f"a list of {len(value) + len(here)}"
    return f"{place} is {reprlib.repr(value)}; expected {expected.replace(_ANY_NUMBER, 'a number')}"


def _found_at(loc: Sequence[int | str], value: Any, place: str) -> tuple[str, Any]:
    """The place of a mistake and what is there; past it, pydantic names the members of a union."""
    for key in loc:
        try:
            value = value[key]
        except (TypeError, KeyError, IndexError):
            break
        place = f"{place}.{key}"
    return place, value


def _expected(mistake: ErrorDetails) -> str:
    """What was expected, in words."""
    context = mistake.get("ctx", {})
    if mistake["type"] == "literal_error":
        return str(context["expected"])
    if mistake["type"] == "too_long":
        return f"a list of {context['max_length']}"
    return _EXPECTED.get(mistake["type"], mistake["msg"])


def _left_to_defaults(value: Any, found: Any, place: str) -> Iterator[str]:
    """Places in which a data class or a named tuple was given less than it has."""
    if is_dataclass(found):
        for name in (each.name for each in fields(found)):
            here = f"{place}.{name}"
            yield from _left_to_defaults(value[name], getattr(found, name), here) if name in value else [here]
    elif isinstance(found, tuple):
        yield from (f"{place}.{k}" for k in range(len(value), len(found)))
        for k, (part, each) in enumerate(zip(value, found, strict=False)):
            yield from _left_to_defaults(part, each, f"{place}.{k}")
