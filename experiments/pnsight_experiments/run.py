"""Running a benchmark: what is missing is fitted, one thread a process, and every finished fit is kept at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed, parallel_config

from pnsight._progress import Progress, no_progress
from pnsight.errors import PnsightError
from pnsight_experiments.parent_watch import end_with_parent
from pnsight_experiments.result_schemas import Measure
from pnsight_experiments.results import Results, command_line
from pnsight_experiments.settings import Setting

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NPROC": "1",  # what XLA heeds
}
"""Set before the numerical libraries are loaded, these keep a process to one thread."""


def run(
    settings: Sequence[Setting],
    results: Results,
    jobs: int = 1,
    backend: str = "loky",
    progress: Progress = no_progress,
) -> int:
    """Fit every setting that has no rows yet and append its rows; gives how many were fitted."""
    name = results.start(command_line())
    done = results.done()
    missing = [setting for setting in settings if setting not in done]
    progress(0, len(missing), f"{len(settings) - len(missing)} were there")
    for count, (setting, rows) in enumerate(_fits(missing, results.sheet.measure, jobs, backend), start=1):
        results.add(rows, name)
        progress(count, len(missing), f"{setting.population} {setting.budget} {setting.learner}")
    return len(missing)


def _fits(
    settings: Iterable[Setting], measure: Measure, jobs: int, backend: str
) -> Iterator[tuple[Setting, list[dict[str, Any]]]]:
    with _one_thread(), _workers(backend, jobs):
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")(
            delayed(_fit)(setting, measure) for setting in settings
        )


def _fit(setting: Setting, measure: Measure) -> tuple[Setting, list[dict[str, Any]]]:
    """Run in the worker, where the numerical libraries are loaded after the limits are set."""
    return setting, measure(setting)


@contextmanager
def _one_thread() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


@contextmanager
def _workers(backend: str, jobs: int) -> Iterator[None]:
    """Joblib's workers: processes of its own, or a Dask cluster on this machine."""
    if backend == "loky":
        watch = {"initializer": end_with_parent, "initargs": (os.getpid(),)}  # Dask's workers watch by themselves
        with parallel_config("loky", inner_max_num_threads=1, **watch):
            yield
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise PnsightError("--backend dask needs Dask; install it with: pip install 'pnsight[dask]'.") from None
    with (
        LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster),
        parallel_config("dask"),
    ):
        yield
