"""What can be asked: quantities, payoffs and assumptions, and the bounds that they compile to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from pnsight.estimands.assumptions import ASSUMPTIONS, Assumption, project_onto_assumptions
    from pnsight.estimands.compiled import CompiledBounds, LinearTerms, coherence_terms, compile_bounds, incompatibility
    from pnsight.estimands.confidence import (
        Intervals,
        end_intervals,
        linear_standard_error,
        median_unbiased_ends,
        standard_errors,
    )
    from pnsight.estimands.estimand import Estimand, bounds, validate_fitted_quantity
    from pnsight.estimands.payoffs import Payoffs
    from pnsight.estimands.quantities import QUANTITIES, Quantity, find_quantity

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "assumptions": ["ASSUMPTIONS", "Assumption", "project_onto_assumptions"],
        "compiled": ["CompiledBounds", "LinearTerms", "coherence_terms", "compile_bounds", "incompatibility"],
        "confidence": [
            "Intervals",
            "end_intervals",
            "linear_standard_error",
            "median_unbiased_ends",
            "standard_errors",
        ],
        "estimand": ["Estimand", "bounds", "validate_fitted_quantity"],
        "payoffs": ["Payoffs"],
        "quantities": ["QUANTITIES", "Quantity", "find_quantity"],
    },
)

__all__ = [
    "ASSUMPTIONS",
    "QUANTITIES",
    "Assumption",
    "CompiledBounds",
    "Estimand",
    "Intervals",
    "LinearTerms",
    "Payoffs",
    "Quantity",
    "bounds",
    "coherence_terms",
    "compile_bounds",
    "end_intervals",
    "find_quantity",
    "incompatibility",
    "linear_standard_error",
    "median_unbiased_ends",
    "project_onto_assumptions",
    "standard_errors",
    "validate_fitted_quantity",
]
