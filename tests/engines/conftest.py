"""One small Spark for all tests, with one core, one partition after a shuffle and no web page; and one PostgreSQL."""

from __future__ import annotations

import sys
import warnings

import pytest

from postgres_server import running_server


@pytest.fixture(scope="session")
def spark():
    """A running Spark."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # its workers, too, have pnsight
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        from pyspark.sql import SparkSession

        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.log.level": "OFF",
            "spark.sql.shuffle.partitions": "1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres():
    """A running PostgreSQL with a user who may only read."""
    with running_server() as server:
        yield server
