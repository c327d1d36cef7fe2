"""Figures hold what they should, whatever the names, the settings of the notebook and the number of threads."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import pnsight
from cases import INCOHERENT, MEN, WOMEN, half_contradicted
from pnsight import PlugIn, ResponseTypeModel
from pnsight import simulation as populations
from pnsight._palette import DECISIONS
from pnsight.data.labels import Labels
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.decisions import threshold_curve
from pnsight.diagnostics import coherence_of
from pnsight.errors import ModelError, OutputError, QueryError
from pnsight.output import plots
from pnsight.output.plots.forest import MOST_ROWS
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import encode
from quick_config import QUICK

POPULATION = populations.random_population("index", 1, covariates=3)
QUERIES = ["", "1XX", "0XX", "X1X", "110"]


def bounds(lower, upper, queries=None, **more) -> BoundTable:
    lower, upper = np.array(lower, float), np.array(upper, float)
    status = np.where(np.isnan(lower), "undefined", "ok")
    rows = np.full(len(lower), 50.0)
    return BoundTable("pns", queries or [f"q={k}" for k in range(len(lower))], lower, upper, rows, rows, status, **more)


def sexes(women=WOMEN, men=MEN) -> Study:
    schema = Schema((Covariate("sex", ("F", "M")),))
    counts = np.array([[*case.experimental, *case.observational] for case in (women, men)], float)
    return Study.from_tables(schema, np.array([[0], [1]], np.int32), counts[:, :4], counts[:, 4:])


@pytest.fixture(scope="module")
def plug_in() -> PlugIn:
    return PlugIn().fit(POPULATION.sample(20_000, 20_000, seed=1))


@pytest.fixture(scope="module")
def fitted() -> ResponseTypeModel:
    return ResponseTypeModel(config=QUICK).fit(POPULATION.sample(5_000, 5_000, seed=1))


def bars(figure: Figure) -> list[tuple[float, float]]:
    """Ends of the thick lines, one a row."""
    return [tuple(line.get_xdata()) for line in figure.axes[0].lines if line.get_linewidth() == 6]


def marks(figure: Figure) -> list[tuple[str, str, str]]:
    """Marker, colour and filling of each mark that is not a cap."""
    found = [line for line in figure.axes[0].lines if line.get_marker() in "osDx"]
    return [
        (line.get_marker(), to_hex(line.get_color()).upper(), to_hex(line.get_markerfacecolor()).upper())
        for line in found
    ]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


# --- forest plots ---------------------------------------------------------------------------------------


def test_bars_reach_from_the_lower_to_the_upper_bound_in_the_order_given(plug_in):
    answer = plug_in.bounds(QUERIES)
    figure = pnsight.plot(plug_in, QUERIES)
    assert bars(figure) == list(zip(answer.lower, answer.upper, strict=True))
    named = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    first, second, third = plug_in.schema.names
    assert named[:4] == ["everyone", f"{first} = 1", f"{first} = 0", f"{second} = 1"]
    assert named[4].replace("\n", " ") == f"{first} = 1, {second} = 1, {third} = 0"
    places = figure.axes[0].get_yticks()
    assert (np.diff(places) > 0).all()
    assert figure.axes[0].yaxis_inverted()


def test_the_numbers_stand_beside_the_bars():
    figure = pnsight.plot(bounds([0.25, np.nan], [0.5, np.nan]))
    assert "0.250 – 0.500" in texts(figure)
    assert "undefined" in texts(figure)


def test_intervals_are_thin_lines_with_caps(fitted):
    answer = fitted.bounds(QUERIES, level=0.8)
    figure = pnsight.plot(fitted, QUERIES, level=0.8)
    capped = [tuple(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() == "|"]
    lower, upper = zip(*answer.interval("lower"), strict=True), zip(*answer.interval("upper"), strict=True)
    assert capped == [pair for both in zip(lower, upper, strict=True) for pair in both]
    assert "80% interval" in figure.axes[0].get_xlabel()


def test_a_decision_shows_by_colour_and_shape():
    found = bounds([0.6, 0.1, 0.3, np.nan], [0.8, 0.2, 0.7, np.nan])
    shown = marks(pnsight.plot(found, threshold=0.5))
    looks = [DECISIONS[word] for word in ("treat", "treat", "not", "not", "uncertain", "uncertain", "")]
    assert [(marker, colour) for marker, colour, _ in shown] == [(look.marker, look.colour) for look in looks]
    assert shown[0][2] == DECISIONS["treat"].colour
    assert shown[2][2] == "#FFFFFF"
    for one, other in [("treat", "not"), ("treat", "uncertain"), ("not", "uncertain")]:
        assert DECISIONS[one].marker != DECISIONS[other].marker
        assert DECISIONS[one].sign != DECISIONS[other].sign


def test_a_contradicted_answer_is_a_marked_row_without_a_bar(plug_in):
    found = replace(bounds([0.6, np.nan], [0.8, np.nan]), status=np.array(["ok", "contradicted"]))
    for figure in (pnsight.plot(found), pnsight.plot(found, threshold=0.5)):
        assert bars(figure) == [(0.6, 0.8)]
        assert marks(figure)[-1][0] == "x"
        assert "contradicted" in texts(figure)


def test_an_answer_on_which_nothing_is_decided_keeps_its_bar_and_is_told_apart_from_none():
    found = bounds([0.6, 0.6, np.nan], [0.8, 0.8, np.nan], basis=np.array(["rows", "extrapolated", ""]))
    figure = pnsight.plot(found, threshold=0.5)
    assert len(bars(figure)) == 2
    key = [text.get_text() for text in figure.legends[0].get_texts()]
    assert key == ["treat", "no answer", "no decision", "threshold 0.5"]


def test_the_rows_stand_beside_every_decision_and_small_numbers_of_them_are_exact():
    few = replace(bounds([0.6, 0.6], [0.8, 0.8]), support_experimental=np.array([3.0, 200_000]))
    assert {"3 + 50", "200k + 50"} <= set(texts(pnsight.plot(few, threshold=0.5)))
    assert not any("+" in text for text in texts(pnsight.plot(few)))
    alone = replace(few, support_observational=np.zeros(2))
    assert {"3", "200k"} <= set(texts(pnsight.plot(alone, threshold=0.5)))
    found = pnsight.decisions.Ranking(few, "lower", np.ones(2), np.full(2, np.nan), None, ())
    assert "3 + 50" in texts(pnsight.plot(found, threshold=0.5))


def test_a_ranking_is_decided_on_with_caution_if_asked_for(fitted):
    found = pnsight.rank(fitted, 5, margin=0)
    threshold = float(found.answers.lower[0]) - 1e-6
    plain, cautious = (marks(pnsight.plot(found, threshold=threshold, cautious=each))[0] for each in (False, True))
    assert (plain[0], cautious[0]) == (DECISIONS["treat"].marker, DECISIONS["uncertain"].marker)


def test_the_threshold_is_a_line_and_named_in_the_key():
    figure = pnsight.plot(bounds([0.6], [0.8]), threshold=0.35)
    assert any(line.get_linestyle() == "--" and set(line.get_xdata()) == {0.35} for line in figure.axes[0].lines)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["treat", "threshold 0.35"]


def test_without_a_threshold_nothing_is_decided():
    figure = pnsight.plot(bounds([0.6], [0.8]))
    assert not figure.legends
    assert {colour for _, colour, _ in marks(figure)} == {"#000000"}


def test_names_are_drawn_as_they_are_written_and_wrapped_when_long():
    long = ",".join(f"covariate {k}=level {k}" for k in range(3))
    figure = pnsight.plot(bounds([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], ["price=$5$", "<b>=&", long]))
    labels = figure.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels[:2]] == ["price = $5$", "<b> = &"]
    assert not any(label.get_parse_math() for label in labels)
    assert labels[2].get_text().count("\n") >= 1
    assert labels[2].get_text().splitlines() == [
        "covariate 0 = level 0,",
        "covariate 1 = level 1,",
        "covariate 2 = level 2",
    ]


HARD = [
    "région de résidence\\, selon l'assurance=Île-de-France\\, Paris,sexe=femme",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenfarbe=blau",
    "a\\=b=c\\\\d,age>=65,bmi<30",
    ",".join(f"comorbidity number {k}=yes" for k in range(12)),
]
"""Queries with long and accented names, escapes, numbers, one long word, and many terms."""


def test_groups_are_written_as_names_without_escapes():
    figure = pnsight.plot(bounds(np.full(4, 0.1), np.full(4, 0.2), HARD))
    named = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert named[0].replace("\n", " ") == "région de résidence, selon l'assurance = Île-de-France, Paris, sexe = femme"
    assert named[2].replace("\n", " ") == "a=b = c\\d, age >= 65, bmi < 30"
    assert named[3].endswith(" …")
    assert all(max(map(len, name.splitlines())) <= 36 for name in named)


def test_names_do_not_overlap_each_other_or_leave_the_figure():
    count = 40
    figure = pnsight.plot(bounds(np.full(count, 0.1), np.full(count, 0.2), (HARD * 10)[:count]), threshold=0.15)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0


def test_the_axis_is_as_long_as_the_bounds_need():
    low, high = pnsight.plot(bounds([0.31, 0.33], [0.36, 0.39])).axes[0].get_xlim()
    assert 0.28 < low < 0.31
    assert 0.39 < high < 0.42


def test_a_notebook_shows_a_figure_by_itself(plug_in):
    study = plug_in.study
    for found in (bounds([0.1], [0.2]), pnsight.select(plug_in, 0.2), study, pnsight.check(study)):
        figure = pnsight.plot(found)
        assert figure._repr_png_().startswith(b"\x89PNG")
        assert "<svg" in figure._repr_svg_()


def test_long_titles_are_in_several_lines():
    figure = pnsight.plot(bounds([0.1], [0.2]), title="a very long title " * 10)
    assert figure.get_suptitle().count("\n") >= 1


def test_groups_of_a_ranking_are_called_by_the_labels_of_the_model_they_are_of(plug_in):
    names = {name: f"Covariate {name}" for name in plug_in.schema.names}
    labelled = PlugIn().fit(plug_in.study.with_labels(Labels(names)))
    found = pnsight.rank(labelled, 3)
    named = [label.get_text() for label in pnsight.plot(found, of=labelled).axes[0].get_yticklabels()]
    assert all("Covariate " in name for name in named)


def test_more_queries_than_a_figure_holds_are_cut_off():
    figure = pnsight.plot(bounds(np.full(100, 0.1), np.full(100, 0.2)))
    assert len(bars(figure)) == MOST_ROWS


def test_benefits_have_an_axis_as_long_as_they_need():
    answer = replace(bounds([-80.0, 10.0], [-20.0, 60.0]), quantity="benefit")
    low, high = pnsight.plot(answer, threshold=100).axes[0].get_xlim()
    assert low < -80
    assert high > 100


def test_a_ranking_is_numbered_and_tells_how_many_people_each_group_has(plug_in):
    found = pnsight.rank(plug_in, 3)
    figure = pnsight.plot(found)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [label[:2] for label in labels] == [f"{k}." for k in range(1, len(found) + 1)]
    assert f"{found.share[0]:.1%}" in texts(figure)
    assert marks(pnsight.plot(found, threshold=0.0))[0][0] == "o"


def test_people_too_few_for_a_tenth_of_a_percent_are_not_said_to_be_none():
    found = pnsight.decisions.Ranking(bounds([0.3], [0.4]), "lower", np.array([0.0002]), np.array([np.nan]), None, ())
    assert "<0.1%" in texts(pnsight.plot(found))


def test_a_narrow_forest_shows_the_same_in_less_room():
    found = bounds([0.1, 0.2], [0.4, 0.5], ["sex=F", "a long name=a long level"])
    wide, narrow = plots.forest(found), plots.forest(found, narrow=True)
    assert narrow.get_figwidth() < wide.get_figwidth()
    assert bars(narrow) == bars(wide)
    assert texts(narrow) == texts(wide)
    names = [[label.get_text() for label in figure.axes[0].get_yticklabels()] for figure in (wide, narrow)]
    assert [name.replace("\n", " ") for name in names[1]] == names[0]


def test_an_empty_table_makes_an_empty_figure():
    assert not bars(pnsight.plot(bounds([], [])))


# --- gains, support, coherence --------------------------------------------------------------------------


def test_the_lines_of_gains_are_those_of_the_selection(plug_in):
    found = pnsight.select(plug_in, 0.2)
    found = replace(found, net=found.net - 0.05)
    lines = {line.get_label(): line for line in pnsight.plot(found).axes[0].lines}
    curve = found.curve()
    for name, label in (("guaranteed", "at least"), ("best_case", "at most"), ("net", "net of those harmed")):
        np.testing.assert_array_equal(lines[label].get_xdata(), curve["treated"])
        np.testing.assert_array_equal(lines[label].get_ydata(), curve[name])
    dots = [line for line in pnsight.plot(found).axes[0].lines if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == pytest.approx([0.2] * 3)


def test_a_net_gain_that_is_the_gain_at_least_shares_its_line(plug_in):
    found = pnsight.select(plug_in, 0.2)
    axes = pnsight.plot(replace(found, net=found.guaranteed)).axes[0]
    named = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
    assert named == ["at most", "at least, and net of those harmed"]
    assert len([line for line in axes.lines if line.get_marker() == "o"]) == 2


def test_gains_at_a_price_are_drawn_against_what_is_spent(plug_in):
    found = pnsight.select(plug_in, 500, people=1_000, cost=2)
    axes = pnsight.plot(found).axes[0]
    assert axes.get_xlabel() == "spent"
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), found.curve()["spent"])


def test_the_support_map_holds_the_rows_of_every_level_and_pair():
    study = sexes().with_counts(np.full((2, 8), 60.0) * [[1], [3]])
    figure = pnsight.plot(study)
    shown = np.ma.getdata(figure.axes[0].images[0].get_array())
    assert shown[0, 0] == 240
    assert shown[1, 1] == 720
    assert np.isnan(shown[1, 0])
    assert np.isnan(shown[0, 1])
    assert len(figure.axes[0].patches) == 1  # women have fewer than 300 rows


def test_the_support_map_of_pairs_takes_the_table_with_fewer_rows(plug_in):
    study = plug_in.study
    shown = np.ma.getdata(pnsight.plot(study).axes[0].images[0].get_array())
    counts = plug_in.counts(encode(study.schema, {study.schema.names[0]: "1", study.schema.names[1]: "0"}))[0]
    assert shown[2, 1] == min(counts[:4].sum(), counts[4:].sum())


def test_levels_of_a_covariate_with_a_long_name_are_told_apart_on_the_support_map():
    long = "age at inclusion into the study, in bands of equally many people"
    levels = ("under 40", "from 40 to below 65 years", "65 or older")
    schema = Schema((Covariate(long, levels), Covariate("sex", ("f", "m"))))
    study = Study.from_tables(schema, np.array([[0, 0], [1, 1], [2, 0]], np.int32), np.full((3, 4), 50.0), None)
    named = [label.get_text() for label in pnsight.plot(study).axes[0].get_yticklabels()]
    assert len(set(named)) == 5
    assert named[0].endswith(" = under 40")
    assert max(map(len, named)) <= 26


def test_a_support_map_that_leaves_levels_out_says_so():
    schema = Schema(tuple(Covariate(f"z{k}", ("0", "1")) for k in range(31)))
    study = Study.from_tables(schema, np.zeros((1, 31), np.int32), np.full((1, 4), 50.0), None)
    assert pnsight.plot(study).get_suptitle() == "Rows behind the first 60 of 62 levels, and every pair of levels"


def test_a_legend_that_is_too_long_for_a_line_stays_inside_the_figure():
    figure = pnsight.plot(threshold_curve(PlugIn().fit(half_contradicted())))
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_a_study_without_covariates_has_an_empty_map():
    study = Study.from_tables(Schema(), np.zeros((1, 0), np.int32), np.array([WOMEN.experimental], float), None)
    assert "no covariates" in texts(pnsight.plot(study))


def test_contradictions_are_marked_and_the_rest_is_not():
    found = coherence_of(sexes(men=INCOHERENT))
    figure = pnsight.plot(found)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[0] == "everyone"
    shown = dict(zip(labels, [marker for marker, _, _ in marks(figure)], strict=True))
    assert shown["M"] == "s"
    assert shown["F"] == "o"


def test_points_of_coherence_are_the_largest_excess_of_each_subgroup():
    found = coherence_of(sexes())
    figure = pnsight.plot(pnsight.check(sexes()))
    points = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() in "os"]
    worst: dict[str, int] = {}
    for row, query in enumerate(found.queries):
        worst[query] = max(row, worst.get(query, row), key=lambda k: found.score[k])
    assert sorted(points) == pytest.approx(sorted(found.excess[list(worst.values())]))


def test_an_experiment_alone_has_nothing_to_compare():
    study = sexes().with_tables(observational=None)
    assert "nothing to compare: an experiment alone" in texts(pnsight.plot(pnsight.check(study)))


# --- beside the truth -----------------------------------------------------------------------------------


def test_calibration_is_the_share_of_true_bounds_within_their_intervals(fitted):
    codes = lattice.all_queries(POPULATION.schema)
    truth = POPULATION.bounds(codes)
    figure = plots.calibration(fitted, truth, codes, levels=(0.5, 0.9))
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    answer = fitted.bounds(codes, level=0.9)
    low, high = answer.interval("lower")
    assert lines["lower end"][1] == pytest.approx(((low <= truth.lower) & (truth.lower <= high)).mean())
    assert lines["lower end"][0] <= lines["lower end"][1]


def test_a_model_without_intervals_cannot_be_calibrated():
    model = ResponseTypeModel(intervals=False, config=QUICK).fit(POPULATION.sample(5_000, 5_000, seed=1))
    with pytest.raises(ModelError, match="gives no intervals"):
        plots.calibration(model, POPULATION.bounds(QUERIES), QUERIES)


def test_true_against_predicted_has_both_ends_of_each_model():
    known = POPULATION.bounds(lattice.all_queries(POPULATION.schema))
    ends = known.lower, known.upper
    drawn = plots.true_against_predicted(ends, {"truth": ends, "again": ends}, "title")
    assert [axes.get_title() for axes in drawn.axes] == [
        f"{name}: {end} end" for name in ("truth", "again") for end in ("lower", "upper")
    ]


# --- manners --------------------------------------------------------------------------------------------


def test_queries_are_for_models_only():
    with pytest.raises(QueryError, match="queries are for a model to answer, but a BoundTable"):
        pnsight.plot(bounds([0.1], [0.2]), ["sex=F"])


def test_matplotlib_is_loaded_for_drawing_only_and_pyplot_never():
    program = (
        "import sys, pnsight, pnsight.cli.main; assert 'matplotlib' not in sys.modules\n"
        "from pnsight import PlugIn, simulation\n"
        "pnsight.plot(PlugIn().fit(simulation.get('mediator').sample(500, 500, seed=1)), threshold=0.5)\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_notebooks_own_settings_neither_matter_nor_change():
    with matplotlib.rc_context({"axes.facecolor": "black", "text.color": "white", "axes.labelcolor": "white"}):
        before = dict(matplotlib.rcParams)
        figure = pnsight.plot(bounds([0.1], [0.2]), threshold=0.5)
        plots.svg(figure, "a", "title")
        assert dict(matplotlib.rcParams) == before
    assert to_hex(figure.get_facecolor()) == "#ffffff"
    assert to_hex(figure.axes[0].get_facecolor()) == "#ffffff"
    assert to_hex(figure.axes[0].xaxis.label.get_color()) == "#000000"


def test_threads_draw_the_same_as_one_after_the_other(plug_in):
    tables = [plug_in.bounds(lattice.all_queries(plug_in.schema)[k : k + 5]) for k in range(6)]

    def drawn(table):
        return plots.svg(pnsight.plot(table, threshold=0.2), "a", "title")

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(drawn, tables)) == [drawn(table) for table in tables]


def test_an_element_for_a_page_is_whole_and_sets_its_identifiers_apart():
    figure = pnsight.plot(bounds([0.1], [0.2], ["sex=<b>"]), threshold=0.5)
    shown = plots.svg(figure, "first", 'a "title" <b>')
    element = ElementTree.fromstring(shown)
    assert element.get("aria-label") == 'a "title" <b>'
    assert "<script" not in shown
    assert "sex = &lt;b&gt;" in shown
    assert all(name.startswith("first-") for name in re.findall(r'\bid="([^"]*)"', shown))
    named = set(re.findall(r'\bid="([^"]*)"', shown))
    assert set(re.findall(r"url\(#([^)]*)\)", shown)) <= named
    assert not re.search(r"https?://(?!www\.w3\.org)", shown)


def test_letters_that_the_font_lacks_are_left_to_the_reader():
    assert "性別 = 女" in plots.svg(pnsight.plot(bounds([0.1], [0.2], ["性別=女"])), "a", "title")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_figure_is_written_where_it_should_be(ending, tmp_path):
    plots.save(pnsight.plot(bounds([0.1], [0.2])), tmp_path / "new" / f"a.{ending}")
    assert (tmp_path / "new" / f"a.{ending}").stat().st_size > 1_000


def test_an_ending_that_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"its ending is '.gif'; expected .svg, .png or .pdf"):
        plots.save(pnsight.plot(bounds([0.1], [0.2])), tmp_path / "a.gif")
