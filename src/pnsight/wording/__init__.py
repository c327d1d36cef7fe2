"""Wording: the sentence for each kind of note, from the note's values. Every message that is data becomes English here.

Each table maps a kind to a template: text with the values' names in braces, or a function of the values. Another
language would be another set of such tables. Nothing here knows the domain's types: values are plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from pnsight.wording._answers import ANSWERS, ASSUMPTIONS, PAGE_ANSWERS, PERSON_TYPES, assumption_meaning
from pnsight.wording._decisions import DECISIONS, EXTRAPOLATED, PAGE_DECISIONS, apart
from pnsight.wording._diagnostics import DIAGNOSTICS
from pnsight.wording._per_hundred import PAGE_PER_HUNDRED, PARTS, PER_HUNDRED, people_of_hundred, range_of_hundred
from pnsight.wording._studies import STUDIES

__all__ = [
    "ASSUMPTIONS",
    "EXTRAPOLATED",
    "KINDS",
    "PARTS",
    "PERSON_TYPES",
    "Form",
    "apart",
    "assumption_meaning",
    "capitalised",
    "people_of_hundred",
    "range_of_hundred",
    "sentence",
]

Template: TypeAlias = str | Callable[..., str]

Form: TypeAlias = Literal["text", "page"]
"""Where a sentence stands: in a terminal, a report or a file; or on a page, beside the form that asked."""

_ENGLISH: Mapping[str, Template] = {**STUDIES, **DIAGNOSTICS, **ANSWERS, **DECISIONS, **PER_HUNDRED}
_ENGLISH_PAGE: Mapping[str, Template] = {**_ENGLISH, **PAGE_ANSWERS, **PAGE_DECISIONS, **PAGE_PER_HUNDRED}
_FORMS: Mapping[Form, Mapping[str, Template]] = {"text": _ENGLISH, "page": _ENGLISH_PAGE}

KINDS = frozenset(_ENGLISH)
"""Every kind of note there is."""


def sentence(kind: str, values: Mapping[str, Any], form: Form = "text") -> str:
    """What a note of a kind says.

    Parameters
    ----------
    kind
        One of `KINDS`.
    values
        The values that the kind's template names.
    form
        Where the sentence stands.

    Returns
    -------
    the sentence, without a capital letter where it may stand after a colon
    """
    template = _FORMS[form][kind]
    return template.format(**values) if isinstance(template, str) else template(**values)


def capitalised(text: str) -> str:
    """The text with a capital letter, as the beginning of a paragraph.

    Parameters
    ----------
    text
        A sentence.

    Returns
    -------
    the same with its first letter in upper case
    """
    return text[:1].upper() + text[1:]
