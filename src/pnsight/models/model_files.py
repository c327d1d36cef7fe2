"""The two files of a stored model: `model.json`, sealed with a digest, and the arrays that it names.

The JSON names the arrays' file with its size and digest, and carries a digest of all else that it says. So nothing of a
model can change unseen: not by a bit that flips, and not by half a copy. It is no signature: whoever changes a model on
purpose can seal it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safetensors_numpy

from pnsight._files import read_regular, replacing
from pnsight.errors import OutputError
from pnsight.models.stored import StoredArrays

Arrays = Mapping[str, np.ndarray[Any, Any]]

DESCRIPTION = "model.json"
_DIGEST = "digest"

MAX_DESCRIPTION_BYTES = 2**28
MAX_ARRAYS_BYTES = 2**33
"""A model has far fewer; what claims to be larger is not read into memory."""


def seal(description: Mapping[str, Any]) -> dict[str, Any]:
    """A description with the digest of all that it says.

    Parameters
    ----------
    description
        Plain data; a digest that is there is replaced.

    Returns
    -------
    dict
        The same, with ``digest``.
    """
    return {**description, _DIGEST: _digest_of(description)}


def is_sealed(description: Mapping[str, Any]) -> bool:
    """Whether a description is what was sealed.

    Parameters
    ----------
    description
        Plain data, as read.

    Returns
    -------
    bool
    """
    return description.get(_DIGEST) == _digest_of(description)


def _digest_of(description: Mapping[str, Any]) -> str:
    """Digest of what a description says, however it is laid out."""
    said = {name: value for name, value in description.items() if name != _DIGEST}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_description(folder: Path) -> Any:
    """The plain data of a model's JSON.

    Parameters
    ----------
    folder
        Of the model.

    Returns
    -------
    Plain data of any kind, which are not checked yet.

    Raises
    ------
    OSError
        If it cannot be read, or is no regular file of a fitting size.
    ValueError, RecursionError
        If it is no JSON.
    """
    content = read_regular(folder / DESCRIPTION, MAX_DESCRIPTION_BYTES)
    return json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it has {name}, which is no number of JSON")


def write_description(description: Mapping[str, Any], folder: Path) -> None:
    """Replace a model's JSON in one step.

    Parameters
    ----------
    description
        Plain data, sealed.
    folder
        Of the model.
    """
    with replacing(folder / DESCRIPTION) as scratch:
        scratch.write_text(json.dumps(description, indent=2, ensure_ascii=False), encoding="utf-8")


def pack(arrays: Arrays) -> tuple[bytes, dict[str, Any]]:
    """The content of an arrays' file, and what a description says of it.

    Parameters
    ----------
    arrays
        By name.

    Returns
    -------
    bytes, dict
        The dictionary is plain data of `StoredArrays`.
    """
    # safetensors writes an array as it lies in memory, whatever its strides say
    content = safetensors_numpy.save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    if len(content) > MAX_ARRAYS_BYTES:
        raise OutputError(
            f"the model's arrays have {len(content):,} bytes, more than the {MAX_ARRAYS_BYTES:,} that can be read "
            "again; fit it to fewer covariates, or merge rare levels."
        )
    digest = hashlib.sha256(content).hexdigest()
    return content, {"file": f"arrays-{digest[:16]}.safetensors", "bytes": len(content), "sha256": digest}


def write_arrays(content: bytes, file: str, folder: Path) -> None:
    """Write an arrays' file in one step.

    Parameters
    ----------
    content, file
        From `pack`.
    folder
        Of the model.
    """
    with replacing(folder / file) as scratch:
        scratch.write_bytes(content)


def remove_other_arrays(file: str, folder: Path) -> None:
    """Remove arrays of former models; only for a writer who is alone.

    Parameters
    ----------
    file
        What to keep.
    folder
        Of the model.
    """
    for old in folder.iterdir():
        if is_arrays_file(old.name) and old.name != file:
            old.unlink()


def is_arrays_file(name: str) -> bool:
    """Whether a file is called as arrays are.

    Parameters
    ----------
    name
        Without the folder.

    Returns
    -------
    bool
    """
    plain = name == Path(name).name and "\\" not in name and "\0" not in name
    return plain and name.startswith("arrays-") and name.endswith(".safetensors")


def read_arrays(stored: StoredArrays, folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays that a description names.

    Parameters
    ----------
    stored
        What the description says of them.
    folder
        Of the model.

    Returns
    -------
    dict
        Arrays by name.

    Raises
    ------
    OSError
        If they cannot be read, or are no regular file of a fitting size.
    ValueError
        If they are not those that were written.
    """
    if not is_arrays_file(stored.file):
        raise ValueError(f"arrays.file is {stored.file!r}; expected the name of a file in it, arrays-....safetensors")
    path = folder / stored.file
    content = read_regular(path, MAX_ARRAYS_BYTES)
    if len(content) != stored.bytes or hashlib.sha256(content).hexdigest() != stored.sha256:
        raise ValueError(f"its arrays {str(path)!r} are not those that were written")
    try:
        return safetensors_numpy.load(content)
    except SafetensorError as error:
        raise ValueError(f"its arrays {str(path)!r} cannot be read ({error})") from None
