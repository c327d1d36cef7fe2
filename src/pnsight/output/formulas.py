"""Compiled bounds as formulas to read: in plain text and in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.structure import Structure
from pnsight.estimands.compiled import CurvedTerms, LinearTerms
from pnsight.estimands.estimand import Estimand

_CURVE = "K"
"""What the least mean of the product of two outcomes is called, which a correlation sets."""


def formula_text(estimand: Estimand, structure: Structure) -> str:
    """The bounds on an estimand, and what makes a law coherent, as plain text.

    Parameters
    ----------
    estimand
        What is bounded.
    structure
        Which tables there are.

    Returns
    -------
    Several lines.
    """
    compiled = estimand.compiled(structure)
    over = "" if compiled.event is None else f", divided by {_sums(compiled.event, structure, latex=False)[0]}"
    parts = [f"{estimand.quantity.label} = {estimand.quantity.symbol}"]
    if compiled.is_point:
        parts.append(f"both ends are one number, this{over}\n{_listed(compiled.numerator.lower, structure)}")
    else:
        parts.append(f"lower end: the largest of these{over}\n{_listed(compiled.numerator.lower, structure)}")
        parts.append(f"upper end: the smallest of these{over}\n{_listed(compiled.numerator.upper, structure)}")
    parts.append(f"A law is coherent if none of these is negative:\n{_listed(compiled.numerator.coherence, structure)}")
    if isinstance(compiled.numerator.coherence, CurvedTerms):
        curve = compiled.numerator.coherence.curve
        parts.append(
            f"{_CURVE} = E[Y_x] E[Y_x'] + {curve.correlation:.12g} sd(Y_x) sd(Y_x'): the least mean of Y_x Y_x' that "
            "the correlation allows, from the shares of the trial"
        )
    return "\n\n".join(parts)


def formula_latex(estimand: Estimand, structure: Structure) -> str:
    """The same as an aligned display in LaTeX.

    Parameters
    ----------
    estimand
        What is bounded.
    structure
        Which tables there are.

    Returns
    -------
    Several lines.
    """
    compiled = estimand.compiled(structure)
    whole = estimand.quantity.latex
    divisor = "" if compiled.event is None else _sums(compiled.event, structure, latex=True)[0]
    lower, upper = compiled.numerator.lower, compiled.numerator.upper
    if compiled.is_point:
        lines = [f"{whole} &= {_over(_sums(lower, structure, latex=True)[0], divisor)}"]
    else:
        lines = [
            f"{whole} &\\ge {_over(_braced('max', _sums(lower, structure, latex=True)), divisor)}",
            f"{whole} &\\le {_over(_braced('min', _sums(upper, structure, latex=True)), divisor)}",
        ]
    if isinstance(lower, CurvedTerms):
        lines.append(f"{_CURVE} &= E[Y_x] E[Y_{{x'}}] + {lower.curve.correlation:.12g}\\, sd(Y_x)\\, sd(Y_{{x'}})")
    body = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _listed(terms: LinearTerms, structure: Structure) -> str:
    return "\n".join(f"  {text}" for text in _sums(terms, structure, latex=False))


def _braced(name: str, terms: Sequence[str]) -> str:
    listed = ",\\; ".join(terms)
    return f"\\{name}\\left\\{{{listed}\\right\\}}"


def _over(above: str, below: str) -> str:
    return f"\\frac{{{above}}}{{{below}}}" if below else above


def _sums(terms: LinearTerms, structure: Structure, latex: bool) -> list[str]:
    """Each term as a sum of probabilities, the shortest first."""
    order = np.argsort(np.count_nonzero(terms.coefficients, axis=1), kind="stable")
    bends = -terms.weights if isinstance(terms, CurvedTerms) else np.zeros(len(order))
    return [
        _sum(terms.coefficients[row], float(terms.constant[row]), structure, latex, float(bends[row])) for row in order
    ]


def _sum(coefficients: FloatArray, constant: float, structure: Structure, latex: bool, bend: float = 0.0) -> str:
    numbers = zip(coefficients, structure.cells, strict=True)
    parts = [(value, f"P({(cell.latex or cell.name) if latex else cell.name})") for value, cell in numbers if value]
    parts += [(bend, _CURVE)] if bend else []
    positive_first = sorted(parts, key=lambda part: part[0] < 0)
    if constant or not parts:
        positive_first.append((constant, ""))
    text = "".join(_signed(value, name) for value, name in positive_first)
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text.startswith(" - ") else text.removeprefix(" + ")


def _signed(value: float, name: str) -> str:
    size = f"{abs(value):.12g}"
    shown = name if name and size == "1" else f"{size} {name}".strip()
    return f" {'-' if value < 0 else '+'} {shown}"
