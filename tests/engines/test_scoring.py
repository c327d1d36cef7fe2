"""People are scored by Spark's own workers, with the same results."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import pnsight
from engine_tables import as_spark
from pnsight import simulation as populations


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_Spark_scores_as_pandas_does(spark):
    study = populations.get("mediator").sample(experimental=20_000, observational=20_000, seed=301)
    model = pnsight.PlugIn().fit(study)
    rng = np.random.default_rng(304)
    columns = {name: [str(level) for level in rng.integers(0, 2, 60)] for name in ("z1", "z4", "z9")}
    columns = {"person": list(range(60)), **columns, "status": ["given"] * 60}
    columns["z4"][7] = "unheard of"
    columns["z9"][8] = None
    expected = pnsight.score(model, pandas.DataFrame(columns), 0.3)
    found = pnsight.score(model, as_spark(spark, columns, None), 0.3)
    assert found.columns == list(expected.columns)
    rows = sorted((row.asDict() for row in found.collect()), key=lambda row: row["person"])
    for row, want in zip(rows, expected.to_dict("records"), strict=True):
        assert {name: None if value != value else value for name, value in want.items()} == row
