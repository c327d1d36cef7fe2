"""Sites are compared among people who are alike: the error rate holds, also where small counts are withheld."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from pnsight.data.site_counts import add_sites, site_counts
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.diagnostics.sites import sites_of

PROFILES = 8
SCHEMA = pnsight.Schema((pnsight.Covariate("z", tuple(map(str, range(PROFILES)))),))
CODES = np.arange(PROFILES, dtype=np.int32)[:, None]


def site(rng, name, rows, law, min_cell):
    """Both tables of a site that has its own mix of profiles."""
    found = []
    for table in ("experimental", "observational"):
        people = rng.multinomial(rows, rng.dirichlet(np.full(PROFILES, 5.0)))
        counts = np.zeros((PROFILES, 8))
        if table == "experimental":
            arm = rng.binomial(people, 0.5)
            for first, size, share in ((0, arm, law["treated"]), (2, people - arm, law["untreated"])):
                counts[:, first] = rng.binomial(size, share)
                counts[:, first + 1] = size - counts[:, first]
        else:
            counts[:, 4:] = [rng.multinomial(size, share) for size, share in zip(people, law["chosen"], strict=True)]
        study = pnsight.Study(SCHEMA, CODES, counts, TWO_BY_TWO).drop_empty_profiles()
        found.append(site_counts(study if min_cell is None else pnsight.suppress(study, min_cell), f"{name} {table}"))
    return found


def compared(seed, min_cell, shift=0.0):
    rng = np.random.default_rng(seed)
    law = {
        "treated": rng.uniform(0.2, 0.7, PROFILES),
        "untreated": rng.uniform(0.2, 0.7, PROFILES),
        "chosen": rng.dirichlet(np.full(4, 4.0), PROFILES),
    }
    other = {**law, "treated": law["treated"] + shift}
    laws = {"north": (900, law), "south": (2500, other), "west": (1400, law)}
    return sites_of(add_sites([each for name, (n, own) in laws.items() for each in site(rng, name, n, own, min_cell)]))


@pytest.mark.parametrize("min_cell", [None, 5, 15])
def test_sites_that_agree_raise_an_alarm_in_one_of_twenty_studies_at_most(min_cell):
    studies = 80
    alarms = sum(bool(compared(seed, min_cell).differing) for seed in range(studies))
    assert alarms <= studies * 0.05 + 3 * np.sqrt(studies * 0.05 * 0.95)


@pytest.mark.parametrize("min_cell", [None, 5])
def test_a_site_that_differs_is_named_and_no_other(min_cell):
    named = [{(one.site, one.cell) for one in compared(seed, min_cell, 0.25).differing} for seed in range(12)]
    assert all(("south experimental", "y_x") in each for each in named)
    assert sum(len(each) for each in named) <= 13  # a false alarm in one study of twenty is to be expected


def test_a_study_that_was_read_has_no_sites():
    study = pnsight.simulation.get("mediator").sample(experimental=500, observational=500, seed=1)
    assert sites_of(study) is None
    assert pnsight.check(study).sites is None
