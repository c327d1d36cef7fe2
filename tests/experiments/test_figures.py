"""Figures hold what they should; how they look is for eyes."""

import numpy as np

from fit_rows import fit_row
from pnsight import simulation as populations
from pnsight.output import plots
from pnsight_experiments import figures, without_support

SCORES = {f"{space}_{end}_mae": 0.02 for space in ("exact", "mask") for end in ("lower", "upper")}


def test_a_sweep_has_a_panel_for_each_space_and_a_line_for_each_learner_and_end(tmp_path):
    rows = [
        fit_row(**SCORES),
        fit_row(**SCORES, threshold="300"),
        fit_row(**SCORES, learner="plug-in", threshold="", validation="", dropped="undefined"),
    ]
    figure = figures.threshold_sweep(rows, "mediator", 200_000)
    assert [len(axes.lines) for axes in figure.axes] == [4, 4]
    plots.save(figure, tmp_path / "a.svg")
    plots.save(figures.threshold_sweep(rows, "mediator", 200_000), tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_learning_curves_mark_the_checkpoint_kept():
    rows = [
        {
            "validated_by": way,
            "end": "lower",
            "epoch": epoch,
            "training": 0.1,
            "validation": abs(epoch - 20) + 0.1,
            "oracle_exact": 0.1,
            "oracle_mask": 0.1,
        }
        for way in ("queries", "rows")
        for epoch in (10, 20, 30)
    ]
    for axes in figures.learning_curves(rows, "title").axes:
        assert np.allclose(axes.lines[-1].get_xdata(), 20)


def test_a_diagram_draws_every_arrow_of_the_population():
    for name in populations.NAMES:
        population = populations.get(name)
        nodes = {"Z", *(node for arrow in population.arrows for node in arrow)}
        assert len(figures.diagram(population).axes[0].patches) == len(population.arrows) + len(nodes)


def test_shares_without_support_at_200k_are_those_of_the_printed_law():
    columns = without_support()
    at = columns["rows a table"].index(200_000)
    assert columns["exact queries without"][at] == "91%"
    assert columns["all queries without"][at] == "61%"
