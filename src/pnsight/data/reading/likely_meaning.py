"""What columns and values are likely to mean, by their names: a proposal for people to confirm, never a decision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TREATMENT_COLUMNS = _words(
    "treatment treated treat arm trt therapy drug intervention exposure exposed group grp allocation allocated "
    "assigned assignment randomised randomized dose training program programme campaign offer vaccine vaccinated "
    "surgery x"
)
_GOOD_OUTCOMES = _words(
    "outcome response responded responder result success recovered recovery recover cured cure improved well healthy "
    "alive survived passed pass employed converted bought purchase voted retained status endpoint y"
)
_BAD_OUTCOMES = _words(
    "died dead death mortality deceased relapse relapsed readmitted readmission failure failed churn churned left "
    "dropout infected infection complication hospitalised hospitalized event adverse sick ill worse lost"
)

_NO = _words("no not none never 0 false")
_YES = _words("yes 1 true")
_UNTREATED = _words(
    "control controls placebo sham standard usual care untreated without reference baseline conventional comparator"
)
_TREATED = _words("treated treatment drug active intervention new exposed experimental therapy")
_FAILURE = _words(
    "failed fail failure bad poor worse died dead death sick ill lost unemployed unchanged negative relapsed"
)
_SUCCESS = _words(
    "success recovered cured good passed pass improved well healthy alive survived better employed positive responded "
    "response"
)


_MISSING = _words("na n/a #n/a nan null . ?")


_PERHAPS_COMMA = re.compile(r"[+-]?\d+(,\d+)?")


def numbers_with_commas(values: Iterable[str]) -> bool:
    """Whether values are numbers, some of them with a comma in place of the point."""
    listed = list(values)
    return any("," in value for value in listed) and all(map(_PERHAPS_COMMA.fullmatch, listed))


def comma_hint(values: Iterable[str]) -> str:
    """What to do about such values, as a sentence to add to a message; nothing where they are none."""
    return " Write the numbers with a point, not with a comma." if numbers_with_commas(values) else ""


def missing_marker(values: Iterable[str]) -> str | None:
    """The value that other programs write where there is none, if there is one.

    Parameters
    ----------
    values
        Of a column.

    Returns
    -------
    str or None
        Such as ``NA``.
    """
    return next((value for value in values if value.strip().casefold() in _MISSING), None)


def missing_hint(values: Iterable[str]) -> str:
    """What to do about such a value, as a sentence to add to a message; nothing where there is none."""
    found = missing_marker(values)
    return "" if found is None else f" If {found!r} stands for a missing value, leave the field empty."


def words_of(text: str) -> list[str]:
    """The words of a name in lower case: ``Recovered_by6M`` is ``recovered``, ``by``, ``6``, ``m``."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return re.findall(r"[^\W\d_]+|\d+", apart.casefold())


def treatment_score(column: str, values: Iterable[str]) -> int:
    """How much the name of a column and its values suggest a treatment; 0 for nothing."""
    return _score(column, _TREATMENT_COLUMNS) + _value_score(values, _UNTREATED | _TREATED)


def outcome_score(column: str, values: Iterable[str]) -> int:
    """How much the name of a column and its values suggest an outcome; 0 for nothing."""
    return _score(column, _GOOD_OUTCOMES | _BAD_OUTCOMES) + _value_score(values, _FAILURE | _SUCCESS)


def _score(column: str, known: frozenset[str]) -> int:
    """Three for a name that is a known word, two for one that begins or ends in one, one for one that has one."""
    words = words_of(column)
    if len(words) == 1 and words[0] in known:
        return 3
    if words and {words[0], words[-1]} & known:
        return 2
    return 1 if set(words) & known else 0


def _value_score(values: Iterable[str], known: frozenset[str]) -> int:
    return 2 if any(set(words_of(value)) & known for value in values) else 0


def likely_true(what: str, column: str, values: Sequence[str]) -> str | None:
    """Which of two values is likely to mean treated, or success.

    Parameters
    ----------
    what
        ``treatment``, ``outcome`` or ``event``.
    column
        Its name: of a column that is called after something bad, such as ``died``, no is the success.
    values
        Its two values.

    Returns
    -------
    str or None
        The value; None where nothing suggests one of them rather than the other.
    """
    if len(values) != 2 or (set(values) != {"0", "1"} and any(value.isdecimal() for value in values)):
        return None  # of 1 and 2 nobody knows
    false, true = (_UNTREATED, _TREATED) if what == "treatment" else (_FAILURE, _SUCCESS)
    scores = [_leaning(value, true | _YES) - 2 * _leaning(value, false | _NO) for value in values]
    if scores[0] == scores[1]:
        return None
    bad = what == "outcome" and is_bad_outcome(column) and all(map(_is_plain, values))
    return values[scores.index(min(scores) if bad else max(scores))]


def _leaning(value: str, known: frozenset[str]) -> int:
    return int(bool(set(words_of(value)) & known))


def _is_plain(value: str) -> bool:
    """Whether a value says no more than yes or no."""
    return set(words_of(value)) <= _NO | _YES


def is_bad_outcome(column: str) -> bool:
    """Whether a column is called after something that nobody wishes for."""
    return _score(column, _BAD_OUTCOMES) > _score(column, _GOOD_OUTCOMES)
