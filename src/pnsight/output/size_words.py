"""What readers of a report or a page call the rows of a study's size."""

from __future__ import annotations

from pnsight.estimands.quantities import Quantity

CASES = {"worst": "Whatever the truth is", "expected": "As expected from this study"}
"""By case, what it is called."""


def of_words(of: str, quantity: Quantity) -> str:
    """What is estimated, in words.

    Parameters
    ----------
    of
        ``effect``, ``lower`` or ``upper``.
    quantity
        Whose bounds the latter two are.

    Returns
    -------
    Its name.
    """
    return "the effect, from the trial alone" if of == "effect" else f"the {of} bound on {quantity.label}"
