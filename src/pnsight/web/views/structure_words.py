"""What the pages call arms, outcomes and quantities, and which controls a structure has."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.structure import Structure
from pnsight.estimands.assumptions import ASSUMPTIONS, EXOGENOUS
from pnsight.estimands.contrast import resolve_contrast, write_contrast
from pnsight.estimands.estimand import Estimand
from pnsight.output.naming import named, payoff_names
from pnsight.web.explorer import Explorer
from pnsight.web.views.describe_question import compared
from pnsight.web.words import PAYOFFS, assumption_words


def of_structure(structure: Structure) -> dict[str, Any]:
    """What all pages about a structure share: the contrasts and horizons there are to choose from."""
    described = structure.description
    arms = described.arms
    pairs = sorted(permutations(arms, 2), key=lambda pair: (arms.index(pair[1]), -arms.index(pair[0])))
    return {
        "structured": not structure.is_two_by_two,
        "contrasts": {write_contrast(pair): f"{pair[0]} against {pair[1]}" for pair in pairs},
        "horizons": described.horizons,
        "assigned": described.kind == NONCOMPLIANCE,
    }


def words_of(explorer: Explorer, estimand: Estimand) -> dict[str, Any]:
    """What a page calls the quantities and payoffs, which goes by the arms that are compared; and the contrast."""
    study, quantities = explorer.model.study, explorer.ability.quantities
    plain = study.structure.is_two_by_two
    return {
        "quantities": {name: named(quantity, study, estimand) for name, quantity in quantities.items()},
        "payoffs": PAYOFFS if plain else payoff_names(study, estimand),
        "treating": " ".join(compared(study, estimand)),
        "contrast": "" if plain else write_contrast(resolve_contrast(study.structure, estimand.contrast)),
    }


def assumptions_of(structure: Structure) -> Mapping[str, str]:
    """The assumptions that mean something for a structure, each in a sentence."""
    assigned = structure.description.kind == NONCOMPLIANCE
    found = assumption_words()
    left_out = [name for name, each in ASSUMPTIONS.items() if each.of_assignment and not assigned]
    left_out += [] if structure.is_two_by_two else [EXOGENOUS]
    return {name: words for name, words in found.items() if name not in left_out}
