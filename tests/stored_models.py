"""Models on disk as somebody could have changed them: on purpose, sealed again, or by accident, and not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from pnsight.models import model_files


def description_of(folder: Path) -> dict[str, Any]:
    """What the model's JSON says."""
    return json.loads((folder / "model.json").read_text(encoding="utf-8"))


def write_sealed(folder: Path, description: Mapping[str, Any]) -> None:
    """Write another description, with its digest."""
    text = json.dumps(model_files.seal(description)).replace("Infinity", "1e999")  # as JSON can say it
    (folder / "model.json").write_text(text, encoding="utf-8")


def write_unsealed(folder: Path, description: Mapping[str, Any]) -> None:
    """Write another description, with the digest that is in it."""
    (folder / "model.json").write_text(json.dumps(description), encoding="utf-8")


def changed(folder: Path, **changes: Any) -> None:
    """Change parts of the description on purpose."""
    write_sealed(folder, description_of(folder) | changes)


def arrays_of(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a model."""
    return load_file(folder / description_of(folder)["arrays"]["file"])


def change_arrays(folder: Path, **changes: np.ndarray[Any, Any]) -> None:
    """Change arrays on purpose."""
    content, stored = model_files.pack(arrays_of(folder) | changes)
    (folder / stored["file"]).write_bytes(content)
    changed(folder, arrays=stored)
