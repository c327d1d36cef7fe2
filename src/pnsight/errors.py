"""What can go wrong because of what the user gave; the command line turns each into exit code 2.

A message says what was given, what was expected and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PnsightError(Exception):
    """Base of all mistakes that a user can make and correct."""


class TableError(PnsightError):
    """A table cannot be read or does not hold what was asked of it."""


class QueryError(PnsightError):
    """A query does not fit the covariates it is asked about."""


class QuantityError(PnsightError):
    """A quantity is unknown, or the data at hand cannot bound it."""


class AssumptionError(PnsightError):
    """An assumption is unknown, means nothing for the data at hand, or is contradicted by them."""


class PopulationError(PnsightError):
    """No population goes by that name."""


class IncoherentError(PnsightError):
    """No population can have produced both tables."""


class LimitError(PnsightError):
    """The request would need more memory than is reasonable."""


class ModelError(PnsightError):
    """A model folder is missing, damaged or of another version, or a model is used before it is fitted."""


class OutputError(PnsightError):
    """A result cannot be written where or how it was asked for."""


def join_names(words: Iterable[str], most: int = 12) -> str:
    """Names for a message: ``a, b, c``, and the number of the rest if there are many.

    Parameters
    ----------
    words
        The names.
    most
        How many names are written out.

    Returns
    -------
    str
        The names separated by commas, as in ``a, b and 3 more``; empty if there are none.
    """
    words = list(words)
    head = ", ".join(words[:most])
    return f"{head} and {len(words) - most} more" if len(words) > most else head


_LONGEST_MISSPELT = 200
"""Characters of a word for which a suggestion is looked for: comparing long ones takes time that grows with both."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggestion for a misspelt word.

    Parameters
    ----------
    word
        What was given.
    known
        What could have been meant.

    Returns
    -------
    str
        A sentence, after a space, with the nearest known word; empty if none is near.
    """
    if len(word) > _LONGEST_MISSPELT:
        return ""
    by_letters = {each.casefold(): each for each in known}  # upper or lower case is no difference
    near = get_close_matches(word.casefold(), list(by_letters), n=1, cutoff=0.5)
    return f" Did you mean {by_letters[near[0]]!r}?" if near else ""


def percent_hint(number: float) -> str:
    """End of a message about a number that should be a proportion: what was meant, if it was given in per cent.

    Parameters
    ----------
    number
        What was given.

    Returns
    -------
    str
        ``; did you mean 0.9?`` for 90, and a full stop for numbers that are not a percentage.
    """
    return f"; did you mean {number / 100:g}?" if 1 < number <= 100 else "."
