"""Bit flips: each bit of a stored model in turn. The model is refused, or answers as before in every respect."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pnsight.errors import ModelError
from pnsight.models.base import Model
from pnsight.models.persistence import load, save
from soaks.models import described
from soaks.soak import Findings, Soak


def run(sample: int, seed: int) -> Findings:
    """Flip bits of each file of a model.

    Parameters
    ----------
    sample
        How many bits of each file to flip; 0 for all.
    seed
        Of the model, and of the bits that are chosen.

    Returns
    -------
    Findings
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        save(described(seed), folder)
        expected = _all_it_says(load(folder))
        figures: dict[str, int] = {}
        failures: list[str] = []
        for path in sorted(folder.iterdir(), reverse=True):
            bits = _bits(path, sample, seed)
            outcomes = _flip_each(path, bits, expected)
            kind = path.name if path.suffix == ".json" else "the arrays"
            figures |= {
                f"bits of {kind} flipped, of {8 * path.stat().st_size:,}": len(bits),
                f"of them refused with a ModelError, in {kind}": outcomes.count("refused"),
                f"harmless, in {kind}": outcomes.count("harmless"),
            }
            failures += _tell(path.name, bits, outcomes)
        return Findings(figures, failures)


def _bits(path: Path, sample: int, seed: int) -> Sequence[int]:
    every = range(8 * path.stat().st_size)
    return sorted(random.Random(seed).sample(every, sample)) if 0 < sample < len(every) else every


def _flip_each(path: Path, bits: Sequence[int], expected: Any) -> list[str]:
    """What becomes of the model for each bit; the file is as before in the end."""
    content = path.read_bytes()
    outcomes = []
    for bit in bits:
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        outcomes.append(_outcome(path.parent, expected))
    path.write_bytes(content)
    return outcomes


def _outcome(folder: Path, expected: Any) -> str:
    try:
        model = load(folder)
    except ModelError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "harmless" if _all_it_says(model) == expected else "another answer"


def _all_it_says(model: Model) -> Any:
    """All that anybody can learn from the model."""
    study = model.study
    return (
        model.parameters(),
        study.schema,
        [
            (name, str(getattr(study, name)))
            for name in ("treatment", "outcome", "treated", "success", "notes", "dropped")
        ],
        [model.bounds(study.profiles, quantity).columns() for quantity in ("pns", "harm")],
        model.bounds("").columns(),
        model.explain(),
        list(map(str, (*model.warnings, *model.read_notes))),
    )


def _tell(name: str, bits: Sequence[int], outcomes: Sequence[str]) -> list[str]:
    """What went wrong, the first bit of each kind."""
    wrong = {outcome: bit for bit, outcome in reversed([*zip(bits, outcomes, strict=True)])}
    counted = Counter(outcomes)
    return [
        f"{counted[outcome]:,} flips in {name}, the first of bit {bit}: {outcome}"
        for outcome, bit in wrong.items()
        if outcome not in ("refused", "harmless")
    ]


SOAK = Soak(
    "a model in which any bit has changed is refused, or answers as before",
    {"sample": 0, "seed": 1},
    run,
)
