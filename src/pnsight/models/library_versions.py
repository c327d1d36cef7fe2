"""Which libraries fitted a model, and what to say where others read it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from pnsight._version import __version__
from pnsight.notes import WARNING, Note

LIBRARIES = ("numpy", "scipy", "jax")
"""Libraries on which the digits of a fit or of an answer depend."""


def installed_versions() -> dict[str, str]:
    """Versions of pnsight and of the libraries that its numbers depend on.

    Returns
    -------
    dict
        Version by name; empty for a library that does not tell.
    """
    return {"pnsight": __version__, **{name: _version_of(name) for name in LIBRARIES}}


def _version_of(name: str) -> str:
    """Asked of the installation, since loading JAX takes a second."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def notes_on_reading(fitted_with: Mapping[str, str]) -> tuple[Note, ...]:
    """What to say of a model where other libraries read it than fitted it.

    Parameters
    ----------
    fitted_with
        Versions by name, as `installed_versions` gave them when the model was fitted.

    Returns
    -------
    A note of kind ``other_versions``, or none.
    """
    here = installed_versions()
    others = [
        {"library": name, "then": fitted_with.get(name, ""), "here": found}
        for name, found in here.items()
        if fitted_with.get(name) != found
    ]
    return (Note("other_versions", {"others": others}, WARNING),) if others else ()
