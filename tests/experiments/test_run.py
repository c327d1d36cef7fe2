"""The experiment runs in pieces, loses nothing, and means the same wherever it runs."""

import os
import subprocess
import sys

import pytest

from pnsight.errors import OutputError, PnsightError
from pnsight_experiments import Grid, Results, Setting, run

GRID = Grid(("direct-positive", "mediator"), (5_000,), (1, 2), ("plug-in",))


def comparable(rows):
    """Rows without what differs between runs: time taken and the run's name."""
    plain = [{name: value for name, value in row.items() if name not in ("seconds", "run")} for row in rows]
    return sorted(plain, key=lambda row: (row["population"], row["learner"], row["seed"], row["dropped"]))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    results = Results(tmp_path_factory.mktemp("finished"))
    run(GRID.settings(), results)
    return results


def test_the_plug_in_has_a_row_for_each_convention(finished):
    rows = finished.rows()
    assert [row["dropped"] for row in rows] == ["undefined", "infeasible"] * 4
    assert all(row["exact_lower_mae"] is not None and row["mask_wrong_0.5"] is not None for row in rows)
    assert all(row["mask_lower_mae"] >= 0 for row in rows)


def test_a_learner_has_one_row_with_what_it_chose(tmp_path):
    results = Results(tmp_path)
    run([Setting("direct-positive", 5_000, 1, "mask-nearest", "50", "queries", held_out=0.2)], results)
    (row,) = results.rows()
    assert (row["learner"], row["dropped"], row["chosen_threshold"]) == ("mask-nearest", "", 50)
    assert row["examples"] > 20
    assert row["held_out_queries"] > 0
    assert 0 < row["mask_lower_mae"] < row["held_out_lower_mae"] + 0.5


def test_what_is_there_is_not_fitted_again(finished):
    before = finished.path.read_bytes()
    assert run(GRID.settings(), finished) == 0
    assert finished.path.read_bytes() == before


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.55, 0.999])
def test_a_run_killed_in_the_middle_of_a_write_resumes_and_ends_the_same(finished, tmp_path, kept):
    content = finished.path.read_bytes()
    killed = Results(tmp_path)
    killed.path.write_bytes(content[: int(kept * len(content))])
    run(GRID.settings(), killed)
    assert comparable(killed.rows()) == comparable(finished.rows())


def test_a_local_dask_cluster_gives_the_same_rows(finished, tmp_path):
    code = (
        "from pathlib import Path\n"
        "from pnsight_experiments import Grid, Results, run\n"
        f"if __name__ == '__main__':\n"
        f"    run({GRID!r}.settings(), Results(Path({str(tmp_path)!r})), jobs=1, backend='dask')\n"
    )
    script = tmp_path / "through_dask.py"
    script.write_text(code)
    subprocess.run([sys.executable, str(script)], check=True, capture_output=True)
    assert comparable(Results(tmp_path).rows()) == comparable(finished.rows())


def test_workers_use_one_thread(monkeypatch):
    from pnsight_experiments.run import ONE_THREAD, _one_thread

    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("NPROC", raising=False)
    with _one_thread():
        assert all(os.environ[name] == "1" for name in ONE_THREAD)
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "NPROC" not in os.environ


def test_each_run_notes_command_machine_and_versions(finished):
    import json

    runs = [json.loads(line) for line in (finished.folder / "runs.jsonl").read_text().splitlines()]
    assert {"run", "command", "machine", "versions", "cores"} <= set(runs[0])
    assert {row["run"] for row in finished.rows()} <= {noted["run"] for noted in runs}


def test_too_few_examples_become_a_row_with_a_note(tmp_path):
    results = Results(tmp_path)
    run([Setting("direct-positive", 1_000, 1, "exact-mlp", "900", "queries")], results)
    (row,) = results.rows()
    assert "training needs" in row["note"]
    assert row["exact_lower_mae"] is None


def test_results_of_other_columns_are_not_touched(tmp_path):
    (tmp_path / "fits.csv").write_text("a,b\n1,2\n")
    with pytest.raises(OutputError, match="other columns"):
        run(GRID.settings(), Results(tmp_path))
    assert (tmp_path / "fits.csv").read_text() == "a,b\n1,2\n"


def test_an_unknown_learner_is_named():
    with pytest.raises(PnsightError, match="mask-mlp"):
        Grid(learners=("mask-mpl",)).settings()


@pytest.mark.parametrize("choice", [{"budgets": (1000, 0)}, {"seeds": (-1,)}, {"thresholds": ("0",)}])
def test_numbers_that_nothing_can_be_fitted_with_are_refused_before_fitting(choice):
    with pytest.raises(PnsightError, match=r"a (budget|seed|threshold) is .*at least"):
        Grid(**choice).settings()


def test_auto_is_only_combined_with_validation_by_rows():
    grid = Grid(("direct",), (1000,), (1,), ("mask-mlp",), ("auto", "300"), ("queries", "rows"))
    found = {(setting.threshold, setting.validation) for setting in grid.settings()}
    assert found == {("auto", "rows"), ("300", "rows"), ("300", "queries")}


def test_a_row_that_is_there_twice_counts_once(finished, tmp_path):
    twice = Results(tmp_path)
    content = finished.path.read_text()
    twice.path.write_text(content + content.split("\n", 1)[1])
    assert twice.rows() == finished.rows()


@pytest.mark.parametrize("change", [{"thresholds": ("abc",)}, {"validations": ("foo",)}, {"populations": ("nowhere",)}])
def test_a_grid_of_unknown_choices_is_refused(change):
    from dataclasses import replace

    with pytest.raises(PnsightError, match=next(iter(change.values()))[0]):
        replace(Grid(), **change).settings()
