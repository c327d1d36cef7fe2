"""A model on disk: a folder with `model.json` and one safetensors file. No pickle, so loading runs no code.

The JSON names the arrays file; replacing the JSON is the one step that makes a new model visible, so a reader finds the
old model or the new one, never half of either. Whoever writes holds the folder's lock: of two, the later one's model is
there in the end.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from pnsight._locks import locked
from pnsight._version import __version__
from pnsight.data.attrition import LevelAttrition, TableAttrition
from pnsight.data.labels import NO_LABELS, Labels
from pnsight.data.number_scale import NumberScale
from pnsight.data.sampling import SamplingDesign, TableSampling
from pnsight.data.schema import Covariate, Schema
from pnsight.data.sources import TableSource
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Description, Structure
from pnsight.data.structures import KINDS, structure_of
from pnsight.data.study import MAX_ROWS, Study, Withheld
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import ModelError, OutputError, PnsightError, join_names
from pnsight.models import model_files
from pnsight.models.base import Model
from pnsight.models.library_versions import installed_versions
from pnsight.models.registry import MODELS, find_model
from pnsight.models.stored import (
    StoredAttrition,
    StoredCovariate,
    StoredDesign,
    StoredModel,
    StoredNote,
    StoredNumber,
    StoredStructure,
    StoredStudy,
    parse,
)
from pnsight.models.stored_profiles import counts_in, counts_out, profiles_in, profiles_out
from pnsight.models.stored_rows import rows_in, rows_out
from pnsight.notes import Note

FORMAT = "pnsight-model"
FORMAT_VERSION = 7
"""Raised whenever what is stored changes."""

_LOCK = ".lock"


def check_place(folder: str | os.PathLike[str]) -> None:
    """Raise OutputError for a folder that `save` would refuse, before the work of fitting; nothing is made yet.

    Parameters
    ----------
    folder : path
        Where a model is to be written.
    """
    path = Path(folder)
    try:
        _check_not_foreign(path)
        nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    except OSError as error:
        raise OutputError(f"cannot write the model to {str(path)!r}: {error.strerror}.") from None
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise OutputError(f"cannot write the model to {str(path)!r}: {str(nearest)!r} is no folder to write to.")


def save(model: Model, folder: str | os.PathLike[str]) -> None:
    """Write a fitted model to a folder.

    Parameters
    ----------
    model : Model
        What to store.
    folder : path
        Must be new, empty or already hold a model.
    """
    path = Path(folder)
    description, content = _packed(model)
    check_place(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with locked(path / _LOCK) as lock:
            model_files.write_arrays(content, description["arrays"]["file"], path)
            model_files.write_description(description, path)
            if lock.exclusive:  # else another writer's arrays may be waiting for their description
                model_files.remove_other_arrays(description["arrays"]["file"], path)
    except OSError as error:
        raise OutputError(f"cannot write the model to {str(path)!r}: {error.strerror}.") from None


def _packed(model: Model) -> tuple[dict[str, Any], bytes]:
    """The sealed description of a model, and the content of its arrays' file."""
    study, study_arrays = _study_out(model.study)
    parameters = dict(model.parameters())
    data, learned = model.state()
    content, arrays = model_files.pack({**study_arrays, **{f"model.{key}": value for key, value in learned.items()}})
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "pnsight_version": __version__,
        "libraries": dict(model.libraries) or installed_versions(),
        "model": model.name,
        "parameters": parameters,
        "learned": dict(data),
        "study": study,
        "warnings": [note.plain() for note in model.warnings],
        "arrays": arrays,
    }
    return model_files.seal(description), content


def load(folder: str | os.PathLike[str]) -> Model:
    """Read a model that `save` wrote.

    Parameters
    ----------
    folder : path
        Where the model is.

    Returns
    -------
    Model
    """
    path = Path(folder)
    try:
        description, kind, arrays = _read(path)
        return _restored(kind, description, arrays)
    except OSError as error:
        raise ModelError(f"model {str(path)!r} cannot be read ({error}); check that you may read all of it.") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelError(f"model {str(path)!r} is damaged: {_describe(error)}; {_MEND}.") from None


_MEND = "fit the model again, or take it from a copy that is whole"


def _describe(error: Exception) -> str:
    """What is wrong: in our words, or what Python makes of a part that is missing or not what it should be."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _read(path: Path) -> tuple[StoredModel, type[Model], dict[str, np.ndarray[Any, Any]]]:
    """The description, the class that it names and the arrays, which fit neither each other nor the class yet."""
    description = _description(path)
    while True:
        if description.model not in MODELS:
            raise ModelError(
                f"{str(path)!r} holds a model of kind {description.model!r}; this pnsight {__version__} knows "
                f"{join_names(MODELS)}. Upgrade pnsight or fit the model again."
            )
        try:
            return description, find_model(description.model), model_files.read_arrays(description.arrays, path)
        except FileNotFoundError:
            before, description = description, _description(path)
            if description == before:  # they are missing, and not replaced since the JSON was read
                raise


def _restored(kind: type[Model], description: StoredModel, arrays: dict[str, np.ndarray[Any, Any]]) -> Model:
    model = _unfitted(kind, description.parameters)
    parse(description.learned, kind.learns, "learned")
    learned = {key.removeprefix("model."): value for key, value in arrays.items() if key.startswith("model.")}
    _check_finite(learned, kind.unknown_as_nan)
    restored = model.restore(_study_in(description.study, arrays), description.learned, learned)
    restored.keep_warnings(_notes_in(description.warnings))
    restored.libraries = description.libraries
    return restored


def _check_finite(arrays: dict[str, np.ndarray[Any, Any]], unknown_as_nan: tuple[str, ...]) -> None:
    """Refuse what is no number, but where it says that nothing is known."""
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"array {name!r} holds {array.dtype}; expected numbers")
        known = array[~np.isnan(array)] if name.rpartition(".")[2] in unknown_as_nan else array
        if not np.isfinite(known).all():
            raise ValueError(f"array {name!r} has values that are not finite")


def _unfitted(kind: type[Model], parameters: dict[str, Any]) -> Model:
    """A model with these parameters, as strict as `fit`."""
    hints = get_type_hints(kind.__init__)
    unknown = parameters.keys() - hints.keys()
    if unknown:
        raise ValueError(f"parameters has {join_names(sorted(unknown))}, which a {kind.name} model has not")
    model = kind(**{name: parse(value, hints[name], f"parameters.{name}") for name, value in parameters.items()})
    try:
        model.validate_parameters()
        missing = model.parameters().keys() - parameters.keys()
    except PnsightError as error:
        raise ValueError(str(error).rstrip(".")) from None
    if missing:
        raise ValueError(f"parameters.{min(missing)} is missing")
    return model


def _description(path: Path) -> StoredModel:
    expected = "expected a folder written by `pnsight fit --out`"
    if not path.is_dir():
        raise ModelError(f"no model folder {str(path)!r}; {expected}.")
    try:
        description = model_files.read_description(path)
    except FileNotFoundError:
        raise ModelError(f"folder {str(path)!r} is not a model: it has no model.json; {expected}.") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"folder {str(path)!r} has an unreadable model.json ({error}); {expected}.") from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelError(f"folder {str(path)!r} has a model.json that is not pnsight's; {expected}.")
    if description.get("format_version") != FORMAT_VERSION:
        raise ModelError(
            f"model {str(path)!r} has format {description.get('format_version')!r}, this pnsight {__version__} reads "
            f"format {FORMAT_VERSION}; fit the model again{_writer(description.get('pnsight_version'))}."
        )
    if not model_files.is_sealed(description):
        raise ValueError("its model.json is not what was written (the digest in it is another)")
    found: StoredModel = parse(description, StoredModel, "model.json")
    return found


def _writer(version: Any) -> str:
    """Which other version could read a model, if another version wrote it."""
    return "" if version in (None, __version__) else f", or use the pnsight {version} that wrote it"


def _check_not_foreign(path: Path) -> None:
    """Never write into somebody's folder of other things."""
    if path.exists() and not path.is_dir():
        raise OutputError(f"cannot write the model to {str(path)!r}: it is a file; name a folder.")
    others = [entry for entry in path.iterdir() if not _ours(entry.name)] if path.is_dir() else []
    if others and not _is_model(path):
        raise OutputError(f"cannot write the model to {str(path)!r}: the folder holds other files; name a new one.")


def _ours(name: str) -> bool:
    """What a save that was cut short leaves behind, and files that a desktop hides in any folder."""
    return name.startswith(".") or model_files.is_arrays_file(name)


def _is_model(path: Path) -> bool:
    try:
        description = model_files.read_description(path)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(description, dict) and description.get("format") == FORMAT


def _study_out(study: Study) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    description = {
        "treatment": study.treatment,
        "outcome": study.outcome,
        "treated": study.treated,
        "success": study.success,
        "covariates": [_covariate_out(covariate) for covariate in study.schema.covariates],
        "dropped": [{"reason": reason.plain(), "rows": rows} for reason, rows in study.dropped.items()],
        "ignored": list(study.ignored),
        "notes": [note.plain() for note in study.notes],
        "experiment_alone": study.experiment_alone,
    }
    if study.structure.description != TWO_BY_TWO.description:
        description["structure"] = asdict(study.structure.description)
    if study.withheld is not None:
        description["withheld"] = asdict(study.withheld)
    if study.design is not None:
        description["design"] = _design_out(study.design)
    if study.attrition is not None:
        description["attrition"] = [asdict(one) for one in study.attrition]
    if study.labels:
        description["labels"] = asdict(study.labels)
    if study.sources:
        description["sources"] = [asdict(one) for one in study.sources]
    profiles = profiles_out("profiles", study.schema, study.profiles)
    return description, {**profiles, "counts": counts_out(study.counts), **rows_out(study.sampled)}


def _study_in(description: StoredStudy, arrays: dict[str, np.ndarray[Any, Any]]) -> Study:
    schema = Schema(tuple(_covariate_in(covariate) for covariate in description.covariates))
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"two covariates have the same name: {join_names(schema.names)}")
    profiles, counts = profiles_in("profiles", schema, arrays), counts_in(arrays["counts"])
    structure = _structure_in(description.structure).only(
        [EXPERIMENTAL] if description.experiment_alone else [EXPERIMENTAL, OBSERVATIONAL]
    )
    if counts.shape != (len(profiles), structure.n_columns):
        raise ValueError(f"arrays of shape {profiles.shape} and {counts.shape} do not fit the covariates")
    return Study(
        schema,
        profiles,
        counts,
        structure,
        description.treatment,
        description.outcome,
        {_note_in(left_out.reason): left_out.rows for left_out in description.dropped},
        tuple(description.ignored),
        _notes_in(description.notes),
        treated=description.treated,
        success=description.success,
        withheld=None if description.withheld is None else Withheld(**dict(description.withheld)),
        design=None if description.design is None else _design_in(description.design, structure, schema),
        attrition=None if description.attrition is None else _attrition_in(description.attrition, structure, schema),
        sampled=rows_in(arrays, structure, len(profiles)),
        labels=NO_LABELS if description.labels is None else Labels(**dict(description.labels)),
        sources=tuple(TableSource(**dict(one)) for one in description.sources),
    )


def _structure_in(stored: StoredStructure | None) -> Structure:
    """The structure with both tables, of two arms and two outcomes unless it says something else."""
    if stored is None:
        return TWO_BY_TWO
    if stored.kind not in KINDS:
        raise ValueError(f"study.structure.kind is {stored.kind!r}; expected {join_names(KINDS)}")
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in dict(stored).items()
    }
    return structure_of(Description(**plain), (EXPERIMENTAL, OBSERVATIONAL))


def _attrition_in(stored: list[StoredAttrition], structure: Structure, schema: Schema) -> tuple[TableAttrition, ...]:
    sizes, arms = dict(zip(schema.names, schema.shape, strict=True)), len(structure.description.arms)
    for one in stored:
        by_arm = [one.rows, one.missing, *(each for found in one.levels for each in (*found.rows, *found.missing))]
        if any(len(each) != arms or not all(0 <= rows <= MAX_ROWS for rows in each) for each in by_arm):
            raise ValueError(f"study.attrition has other than {arms} numbers of rows, one for each arm, from zero")
        if len(one.arm_worth) != arms or not all(0 < worth <= MAX_ROWS for worth in (one.worth, *one.arm_worth)):
            raise ValueError(f"study.attrition has other worths of rows than {arms} positive numbers, one for each arm")
        for found in one.levels:
            if {len(found.rows), len(found.missing)} != {sizes.get(found.covariate)}:
                raise ValueError(f"study.attrition does not fit the levels of covariate {found.covariate!r}")
    return tuple(TableAttrition(**{**dict(one), "levels": _levels_in(one)}) for one in stored)


def _levels_in(stored: StoredAttrition) -> tuple[LevelAttrition, ...]:
    return tuple(LevelAttrition(one.covariate, tuple(one.rows), tuple(one.missing)) for one in stored.levels)


def _design_out(design: SamplingDesign) -> dict[str, Any]:
    """The design without its folds, which only fitting needs."""
    found = asdict(design.without_folds())
    del found["folds"]
    return found


def _design_in(stored: StoredDesign, structure: Structure, schema: Schema) -> SamplingDesign:
    compared = (0, len(schema.names) + 1)
    expected = {"row_worth": (len(structure.groups),), "arm_worth": compared, "mix_worth": compared}
    worths = {name: tuple(getattr(stored, name)) for name in expected}
    for name, found in worths.items():
        if len(found) not in expected[name] or not all(worth > 0 for worth in found):
            raise ValueError(f"study.design.{name} is {list(found)}; expected {expected[name][-1]} positive numbers")
    tables = tuple(TableSampling(**dict(one)) for one in stored.tables)
    unknown = [one.table for one in tables if one.table not in structure.tables]
    if unknown:
        raise ValueError(f"study.design is about the tables {join_names(unknown)}, which the study has not")
    return SamplingDesign(worths["row_worth"], tables, worths["arm_worth"], worths["mix_worth"])


def _notes_in(stored: Iterable[StoredNote]) -> tuple[Note, ...]:
    return tuple(map(_note_in, stored))


def _note_in(stored: StoredNote) -> Note:
    return Note.from_plain({"kind": stored.kind, "values": stored.values, "severity": stored.severity})


def _covariate_out(covariate: Covariate) -> dict[str, Any]:
    """JSON has no infinity: a band that is open at one end has no edge there."""
    description: dict[str, Any] = {"name": covariate.name, "levels": list(covariate.levels)}
    if covariate.edges is not None:
        description["edges"] = [edge if math.isfinite(edge) else None for edge in covariate.edges]
    if covariate.rare_levels:
        description["merged"] = list(covariate.rare_levels)
    if covariate.number is not None:
        description["number"] = asdict(covariate.number)
    return description


def _covariate_in(description: StoredCovariate) -> Covariate:
    name, levels = description.name, tuple(description.levels)
    if description.number is not None:
        return Covariate.numeric(name, _number_in(description.number, name))
    if not levels or len(set(levels)) < len(levels):
        raise ValueError(f"covariate {name!r} has the levels {list(levels)}; expected one or more, each once")
    edges = None if description.edges is None else _edges_in(description.edges)
    if edges is not None and not (
        1 < len(edges) <= len(levels) + 1 and all(low < high for low, high in pairwise(edges))
    ):
        raise ValueError(f"covariate {name!r} has the edges {list(edges)}; expected rising numbers around its levels")
    return Covariate(name, levels, edges, tuple(description.merged))


def _number_in(stored: StoredNumber, name: str) -> NumberScale:
    plain: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value for field, value in dict(stored).items()
    }
    found = NumberScale(**plain)
    for part in (found.knots, found.ranks, found.edges):
        if not all(low < high for low, high in pairwise(part)):
            raise ValueError(f"covariate {name!r} has a scale that does not rise: {list(part)}")
    if len(found.knots) != len(found.ranks) or not found.knots or not found.scale > 0:
        raise ValueError(f"covariate {name!r} has {len(found.knots)} knots, {len(found.ranks)} ranks; expected as many")
    return found


def _edges_in(edges: list[float | None]) -> tuple[float, ...]:
    outer = (-math.inf, *[math.inf] * (len(edges) - 1))
    return tuple(far if edge is None else float(edge) for edge, far in zip(edges, outer, strict=True))
