"""Differencing attacks recover no withheld count; that they would if counts were not withheld, they show themselves."""

from __future__ import annotations

import numpy as np
import pytest
from disclosure_attacks import ATTACKS, Secrets, recovered
from published_outputs import FOLDER, Published
from rare_people import TRIALS, WAYS, rare_tables, read

import pnsight
from pnsight.queries import lattice
from quick_config import QUICK

MIN_CELL = 10
MODELS = {"plug-in": pnsight.PlugIn, "response types": lambda: pnsight.ResponseTypeModel(config=QUICK)}


VICTIMS = [(model, way) for model in MODELS for way in ("unweighted", "survey weights")]
TRIAL = "three arms and three outcomes"


@pytest.fixture(scope="module", params=[*VICTIMS, ("plug-in", TRIAL)])
def victim(request, tmp_path_factory) -> tuple[Published, Secrets]:
    """A model that was handed on, and what is behind it."""
    model, way = request.param
    study = read(rare_tables(2, 4000 if way in TRIALS else 800), **{**WAYS, **TRIALS}[way])
    place = tmp_path_factory.mktemp("place")
    pnsight.save(pnsight.suppress(MODELS[model]().fit(study), MIN_CELL), place / FOLDER)
    return Published(place), Secrets(study, MIN_CELL)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_recovers_a_withheld_count(victim, attack):
    found, secrets = victim
    assert len(secrets.small_cells) > 20
    assert len(secrets.level_counts) > 10
    assert recovered(found, secrets, attack) == []


@pytest.mark.parametrize("victim", [(model, "unweighted") for model in MODELS], indirect=True)
def test_no_number_of_rows_is_small_nor_any_difference_along_the_lattice(victim):
    found, _ = victim
    answers = found.model.bounds(found.lattice)
    place = {query.tobytes(): row for row, query in enumerate(found.lattice)}
    for rows in (answers.support_experimental, answers.support_observational):
        parents = [
            rows[place[parent.tobytes()]] - rows[row]
            for row, query in enumerate(found.lattice)
            for parent in lattice.query_and_parents(query)
        ]
        numbers = np.concatenate([rows, parents])
        assert not ((numbers > 0) & (numbers < MIN_CELL)).any()


@pytest.mark.parametrize("attack", ["counts_in_the_folder", "shares_times_totals", "scores"])
def test_without_suppression_the_same_attacks_succeed(attack, tmp_path):
    """An attack that never succeeds would prove nothing."""
    study = read(rare_tables(2))
    pnsight.save(pnsight.PlugIn().fit(study), tmp_path / FOLDER)
    secrets = Secrets(study, MIN_CELL)
    found = recovered(Published(tmp_path), secrets, attack)
    wanted = secrets.small_cells if attack == "counts_in_the_folder" else secrets.level_counts
    assert len(found) >= len(wanted) / 3


def test_known_totals_would_give_a_small_cell_away_if_nothing_else_were_withheld():
    """Without complementary suppression three people are all that is missing in the total of their cell."""
    counts = np.array([[50.0, 50, 50, 50], [3, 50, 50, 50], [60, 60, 60, 60]])
    town = pnsight.Schema((pnsight.Covariate("town", ("Aix", "Brest", "Cluny")),))
    study = pnsight.Study.from_tables(town, np.arange(3, dtype=np.int32)[:, None], counts)
    secrets, careless = Secrets(study, MIN_CELL), Secrets(study, MIN_CELL)
    vars(careless)["hidden"] = {"experimental": np.array([False, True, False])}
    assert [one.people for one in recovered(None, careless, "complements")] == [3]
    assert recovered(None, secrets, "complements") == []
