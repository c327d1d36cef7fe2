"""A model on disk: a folder with `model.json` and one safetensors file. No pickle, so loading runs no code.

The JSON names the arrays file, which carries a digest of its content in its name; replacing the JSON is the one
step that makes a new model visible, so a reader finds the old model or the new one, never half of either.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from pnsight._version import __version__
from pnsight.errors import ModelError, OutputError, listed
from pnsight.files import replacing
from pnsight.models import ExactMLP, MaskMLP, Model, PlugIn, ResponseTypeModel
from pnsight.schema import Covariate, Schema
from pnsight.study import Study, Withheld

FORMAT = "pnsight-model"
FORMAT_VERSION = 1

MODELS: dict[str, type[Model]] = {model.name: model for model in (ResponseTypeModel, MaskMLP, ExactMLP, PlugIn)}
"""Models by the name the command line gives them."""


def check_place(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that `save_model` would refuse, before the work of fitting; nothing is made yet."""
    path = Path(folder)
    try:
        _refuse_foreign(path)
        nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    except OSError as error:
        raise OutputError(f"cannot write the model to {str(path)!r}: {error.strerror}.") from None
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise OutputError(f"cannot write the model to {str(path)!r}: {str(nearest)!r} is no folder to write to.")


def save_model(model: Model, folder: str | os.PathLike[str]) -> None:
    """Write a fitted model to a folder, which must be new, empty or already hold a model."""
    path = Path(folder)
    study, study_arrays = _study_out(model.study)
    parameters = dict(model.parameters())
    data, arrays = model.state()
    learned = {f"model.{key}": value for key, value in arrays.items()}
    # safetensors writes an array as it lies in memory, whatever its strides say
    content = save({name: np.ascontiguousarray(array) for name, array in {**study_arrays, **learned}.items()})
    file = _name_of(content)
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "pnsight_version": __version__,
        "model": model.name,
        "parameters": parameters,
        "learned": dict(data),
        "study": study,
        "arrays": file,
    }
    check_place(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with replacing(path / file) as scratch:
            scratch.write_bytes(content)
        with replacing(path / "model.json") as scratch:
            scratch.write_text(json.dumps(description, indent=2, ensure_ascii=False), encoding="utf-8")
        for old in path.glob("arrays-*.safetensors"):
            if old.name != file:
                old.unlink()
    except OSError as error:
        raise OutputError(f"cannot write the model to {str(path)!r}: {error.strerror}.") from None


def load_model(folder: str | os.PathLike[str]) -> Model:
    """Read a model that `save_model` wrote."""
    path = Path(folder)
    description = _description(path)
    if not (path / str(description.get("arrays"))).exists():  # replaced since the line above, or damaged
        description = _description(path)
    try:
        return _restored(path, description)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelError(
            f"model {str(path)!r} is damaged: a part is missing or not what it should be "
            f"({type(error).__name__}: {error}); fit the model again."
        ) from None


def _restored(path: Path, description: dict[str, Any]) -> Model:
    kind = MODELS.get(description["model"])
    if kind is None:
        raise ModelError(
            f"{str(path)!r} holds a model of kind {description['model']!r}; this pnsight {__version__} knows "
            f"{listed(MODELS)}. Upgrade pnsight or fit the model again."
        )
    arrays = _arrays(path / description["arrays"])
    learned = {key.removeprefix("model."): value for key, value in arrays.items() if key.startswith("model.")}
    study = _study_in(description["study"], arrays)
    return kind(**description["parameters"]).restore(study, description["learned"], learned)


def _description(path: Path) -> dict[str, Any]:
    expected = "expected a folder written by `pnsight fit --out`"
    if not path.is_dir():
        raise ModelError(f"no model folder {str(path)!r}; {expected}.")
    try:
        description = json.loads((path / "model.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"folder {str(path)!r} is not a model: it has no model.json; {expected}.") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"folder {str(path)!r} has an unreadable model.json ({error}); {expected}.") from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelError(f"folder {str(path)!r} has a model.json that is not pnsight's; {expected}.")
    if description.get("format_version") != FORMAT_VERSION:
        writer = description.get("pnsight_version", "version")
        raise ModelError(
            f"model {str(path)!r} has format {description.get('format_version')}, this pnsight {__version__} reads "
            f"format {FORMAT_VERSION}; fit the model again, or use the pnsight {writer} that wrote it."
        )
    return description


def _name_of(arrays: bytes) -> str:
    """The file name of arrays, by their content."""
    return f"arrays-{hashlib.sha256(arrays).hexdigest()[:16]}.safetensors"


def _arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    try:
        content = path.read_bytes()
        found = load(content)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"the model's arrays {str(path)!r} cannot be read ({error}); fit the model again.") from None
    if path.name != _name_of(content):
        raise ModelError(f"the model's arrays {str(path)!r} are not those that were written; fit the model again.")
    return found


def _refuse_foreign(path: Path) -> None:
    """Never write into somebody's folder of other things."""
    if path.exists() and not path.is_dir():
        raise OutputError(f"cannot write the model to {str(path)!r}: it is a file; name a folder.")
    others = [entry for entry in path.iterdir() if not _ours(entry.name)] if path.is_dir() else []
    if others and not _is_model(path):
        raise OutputError(f"cannot write the model to {str(path)!r}: the folder holds other files; name a new one.")


def _ours(name: str) -> bool:
    """What a save that was cut short leaves behind, and files that a desktop hides in any folder."""
    return name.startswith(".") or (name.startswith("arrays-") and name.endswith(".safetensors"))


def _is_model(path: Path) -> bool:
    try:
        description = json.loads((path / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(description, dict) and description.get("format") == FORMAT


def _study_out(study: Study) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    description = {
        "treatment": study.treatment,
        "outcome": study.outcome,
        "treated": study.treated,
        "success": study.success,
        "covariates": [_covariate_out(covariate) for covariate in study.schema.covariates],
        "dropped": study.dropped,
        "ignored": list(study.ignored),
        "notes": list(study.notes),
        "experiment_alone": study.observational is None,
    }
    if study.withheld is not None:
        description["withheld"] = asdict(study.withheld)
    return description, {"profiles": study.profiles, "counts": study.counts}


def _study_in(description: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> Study:
    schema = Schema(tuple(_covariate_in(covariate) for covariate in description["covariates"]))
    profiles, counts = arrays["profiles"], arrays["counts"]
    width = 4 if description["experiment_alone"] else 8
    if profiles.shape != (len(profiles), len(schema.names)) or counts.shape != (len(profiles), width):
        raise ValueError(f"arrays of shape {profiles.shape} and {counts.shape} do not fit the covariates")
    return Study(
        schema,
        profiles,
        counts[:, :4],
        None if description["experiment_alone"] else counts[:, 4:],
        description["treatment"],
        description["outcome"],
        description["dropped"],
        tuple(description["ignored"]),
        tuple(description.get("notes", ())),
        treated=description.get("treated", "1"),
        success=description.get("success", "1"),
        withheld=_withheld_in(description.get("withheld")),
    )


def _withheld_in(description: dict[str, Any] | None) -> Withheld | None:
    if description is None:
        return None
    (trial, registry), (of_trial, of_registry) = description["rows"], description["profiles"]
    return Withheld(description["min_cell"], (trial, registry), (of_trial, of_registry))


def _covariate_out(covariate: Covariate) -> dict[str, Any]:
    """JSON has no infinity: a band that is open at one end has no edge there."""
    description: dict[str, Any] = {"name": covariate.name, "levels": list(covariate.levels)}
    if covariate.edges is not None:
        description["edges"] = [edge if math.isfinite(edge) else None for edge in covariate.edges]
    if covariate.merged:
        description["merged"] = list(covariate.merged)
    return description


def _covariate_in(description: dict[str, Any]) -> Covariate:
    edges = description.get("edges")
    if edges is not None:
        outer = (-math.inf, *[math.inf] * (len(edges) - 1))
        edges = tuple(far if edge is None else float(edge) for edge, far in zip(edges, outer, strict=True))
    return Covariate(description["name"], tuple(description["levels"]), edges, tuple(description.get("merged", ())))
