"""What readers of a report or a page are told about a second opinion beside the model's refined bounds."""

from __future__ import annotations

from collections.abc import Sequence

from pnsight._text import number_of
from pnsight.data.study import Study
from pnsight.decisions.second_opinion import AGREE, DIFFER, IN_STEP, TIGHTER, WIDER, SecondOpinion
from pnsight.notes import Note
from pnsight.output.naming import group_terms

WORDS = {
    AGREE: "agree",
    TIGHTER: "the model claims too much: go by the second opinion",
    WIDER: "both hold: the rows allow more than the model says",
    "": "not compared",
}
"""By agreement, what it means for a reader."""

EVERYONE = "everyone"

_FIRST = "A second opinion, which holds whatever the model is worth,"
_MOST_NAMED = 5


def verdict(found: SecondOpinion, names: Sequence[str]) -> str:
    """In a sentence or two, whether a second opinion bears out the model's refined bounds.

    Parameters
    ----------
    found
        Both opinions.
    names
        What readers call the groups.

    Returns
    -------
    The sentences; empty where nothing could be compared.
    """
    of = {
        word: [name for name, one in zip(names, found.agreement, strict=True) if one == word]
        for word in (AGREE, TIGHTER, WIDER)
    }
    said = []
    if of[TIGHTER]:
        said.append(
            f"{_FIRST} does not bear out the model's refined bounds of {_groups(of[TIGHTER])}: the model claims more "
            "than the rows do. Go by the second opinion there."
        )
    if of[WIDER]:
        first = "It" if said else _FIRST
        said.append(f"{first} is tighter than the model's refined bounds of {_groups(of[WIDER])}: both hold there.")
    if said and of[AGREE]:
        said.append(f"The two agree on {_groups(of[AGREE])}.")
    elif of[AGREE]:
        said.append(f"{_FIRST} agrees, within chance, with the model's refined bounds of {_groups(of[AGREE])}.")
    return " ".join(said)


def _groups(names: Sequence[str]) -> str:
    """Groups by name as long as they are few; everyone is named in any case."""
    if len(names) <= _MOST_NAMED:
        return "; ".join(names)  # a name may have commas of its own
    rest = len(names) - (names[0] == EVERYONE)
    return f"{EVERYONE} and {number_of(rest, 'group')}" if rest < len(names) else number_of(rest, "group")


def group_names(study: Study, found: SecondOpinion) -> list[str]:
    """What readers call the groups.

    Parameters
    ----------
    study
        Its covariates, and their labels.
    found
        Both opinions.

    Returns
    -------
    A name for each.
    """
    return [", ".join(terms) or EVERYONE for terms in group_terms(study, found.queries)]


def other_notes(found: SecondOpinion) -> tuple[Note, ...]:
    """Notes that say something else than `verdict`.

    Parameters
    ----------
    found
        Both opinions.

    Returns
    -------
    Those that are left.
    """
    return tuple(note for note in found.notes if note.kind not in (IN_STEP, DIFFER))
