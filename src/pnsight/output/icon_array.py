"""An icon array: a hundred people as ten rows of ten signs, drawn as inline SVG without script or style sheet.

Those helped are circles, those harmed squares, others small rings; who is helped or harmed for sure is filled, and who
possibly is hatched. So it reads in grey, in print and in dark. Colours are attributes, which a style sheet may replace
by the class of each part.
"""

from __future__ import annotations

from html import escape

from pnsight._palette import BLUE, GREY, PURPLE, VERMILION
from pnsight.output.per_hundred import PerHundred
from pnsight.wording import PARTS

_STEP = 20
"""Distance of two signs."""

_HELPED, _HARMED = ("helped", "maybe_helped"), ("harmed", "maybe_harmed")
_COLOURS = {**dict.fromkeys(_HELPED, BLUE), **dict.fromkeys(_HARMED, VERMILION), "maybe_either": PURPLE}


def icon_array(found: PerHundred, name: str = "hundred") -> str:
    """A hundred people as signs, and below what each sign stands for and how often it is there.

    Parameters
    ----------
    found
        What is known of them.
    name
        Begins the identifiers in the picture, so that a page can have several.

    Returns
    -------
    HTML: a ``figure`` of class ``per-hundred``; empty where there is nothing to draw.
    """
    if not found.parts:
        return ""
    people = [part for part, count in found.parts.items() for _ in range(count)]
    signs = "".join(
        f'<g transform="translate({_STEP * (place % 10)} {_STEP * (place // 10)})">{_sign(part, name)}</g>'
        for place, part in enumerate(people)
    )
    words = escape(found.picture_words)
    picture = (
        f'<svg class="icons" viewBox="0 0 {10 * _STEP} {10 * _STEP}" width="{10 * _STEP}" height="{10 * _STEP}" '
        f'role="img" aria-labelledby="{name}-title"><title id="{name}-title">{words}</title>'
        f"<defs>{_hatching(name)}</defs>{signs}</svg>"
    )
    kind = "per-hundred extrapolated" if found.extrapolated else "per-hundred"
    return f'<figure class="{kind}">{picture}{_legend(found, name)}</figure>'


def _legend(found: PerHundred, name: str) -> str:
    lines = "".join(
        f'<li><svg class="icons" viewBox="0 0 {_STEP} {_STEP}" width="{_STEP}" height="{_STEP}" aria-hidden="true">'
        f"{_sign(part, name)}</svg> <b>{count}</b> {PARTS[part]}</li>"
        for part, count in found.parts.items()
        if count
    )
    return f"<figcaption><ul>{lines}</ul></figcaption>"


def _hatching(name: str) -> str:
    """Diagonal lines in the colour of each part that is not sure."""
    return "".join(
        f'<pattern id="{name}-{part}" width="4" height="4" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect class="{part}" width="1.6" height="4" fill="{_COLOURS[part]}"/></pattern>'
        for part in ("maybe_helped", "maybe_either", "maybe_harmed")
    )


def _sign(part: str, name: str) -> str:
    if part == "unaffected":
        return f'<circle class="{part} ring" cx="10" cy="10" r="4" fill="none" stroke="{GREY}" stroke-width="1.5"/>'
    colour = _COLOURS[part]
    filled = f'fill="url(#{name}-{part})"' if part.startswith("maybe") else f'fill="{colour}"'
    look = f'{filled} stroke="{colour}" stroke-width="1.5"'
    sure = "" if part.startswith("maybe") else " sure"
    if part in _HELPED:
        return f'<circle class="{part} ring{sure}" cx="10" cy="10" r="7" {look}/>'
    if part in _HARMED:
        return f'<rect class="{part} ring{sure}" x="3.5" y="3.5" width="13" height="13" {look}/>'
    return f'<path class="{part} ring" d="M10 2 18 10 10 18 2 10Z" {look}/>'
