"""The same columns in every engine that can hold a table; each takes the columns and a path it may write to."""

from __future__ import annotations

import datetime
import gzip
import sqlite3

import dask
import dask.dataframe
import duckdb
import ibis
import pandas
import polars
import pyarrow
import pyarrow.parquet

from postgres_server import quoted


def as_csv(columns, path):
    pandas.DataFrame(columns).to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def as_zipped_csv(columns, path):
    with gzip.open(f"{path}.csv.gz", "wt", encoding="utf-8") as file:
        pandas.DataFrame(columns).to_csv(file, index=False)
    return f"{path}.csv.gz"


def as_tsv(columns, path):
    pandas.DataFrame(columns).to_csv(path.with_suffix(".tsv"), index=False, sep="\t")
    return path.with_suffix(".tsv")


def as_parquet(columns, path):
    pyarrow.parquet.write_table(pyarrow.table(columns), path.with_suffix(".parquet"))
    return str(path.with_suffix(".parquet"))


def in_pieces(write):
    """Many files, of which the second has its columns in another order, and the pattern they match."""

    def written(columns, path):
        names = list(columns)
        for piece, order in enumerate((names, names[::-1], names)):
            whole = write({name: columns[name][piece::3] for name in order}, path.with_name(f"{path.name}-{piece}"))
        return str(whole).replace("-2.", "-*.")

    return written


CONNECTIONS: list[duckdb.DuckDBPyConnection] = []
"""Held for good: before DuckDB 1.5 a connection that nobody holds is closed, and its relations with it."""


def as_relation(columns, path):
    connection = duckdb.connect()
    CONNECTIONS.append(connection)
    connection.register("people", pyarrow.table(columns))
    return connection.table("people")


def as_categories(columns, path):
    frame = pandas.DataFrame(columns)
    return frame.astype({name: "category" for name in frame if frame[name].dtype in (object, "str")})


def as_nullable(columns, path):
    return pandas.DataFrame(columns).convert_dtypes()


def as_polars_categories(columns, path):
    frame = polars.DataFrame(columns)
    return frame.with_columns(polars.col(polars.String).cast(polars.Categorical))


def as_arrow_dictionary(columns, path):
    table = pyarrow.table(columns)
    words = [name for name in columns if table.schema.field(name).type == pyarrow.string()]
    for name in words:
        table = table.set_column(table.column_names.index(name), name, table[name].dictionary_encode())
    return table


def as_database(columns, path):
    """A table of SQLite, by its address."""
    kinds = {bool: "BOOLEAN", int: "INTEGER", float: "REAL"}
    declared = ", ".join(f"{quoted(name)} {kinds.get(_kind(values), 'TEXT')}" for name, values in columns.items())
    with sqlite3.connect(path.with_suffix(".db")) as connection:
        connection.execute(f"CREATE TABLE people ({declared})")
        marks = ", ".join("?" for _ in columns)
        rows = zip(*(map(_plain, values) for values in columns.values()), strict=True)
        connection.executemany(f"INSERT INTO people VALUES ({marks})", rows)
    connection.close()
    return f"sqlite:///{path.with_suffix('.db')}::people"


def as_database_query(columns, path):
    """A query, which must put into words what SQLite has no type for."""
    chosen = [
        f"CASE {quoted(n)} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS {quoted(n)}" if _kind(v) is bool else quoted(n)
        for n, v in columns.items()
    ]
    return as_database(columns, path).replace("::people", f"::SELECT {', '.join(chosen)} FROM people")


def _kind(values):
    return next((type(value) for value in values if value is not None), None)


def _plain(value):
    return value.isoformat() if hasattr(value, "isoformat") else value


def as_dask(columns, path):
    with dask.config.set({"dataframe.convert-string": False}):
        return dask.dataframe.from_pandas(pandas.DataFrame(columns), npartitions=2)


def as_spark(session, columns, path):
    """A frame of a running Spark."""
    kinds = {bool: "boolean", int: "long", float: "double", str: "string"}
    declared = ", ".join(f"`{name}` {kinds.get(_kind(values), 'date')}" for name, values in columns.items())
    return session.createDataFrame(list(zip(*columns.values(), strict=True)), schema=declared)


def as_postgres(server, columns, path):
    """A table of a running PostgreSQL, in a schema of its own, by the address of a user who may only read."""
    kinds = {bool: "boolean", int: "bigint", float: "double precision", datetime.date: "date"}
    declared = {name: kinds.get(_kind(values), "text") for name, values in columns.items()}
    schema, table = f"{path.parent.name}.Schéma", f'{path.name} of "SELECT" 100%'
    server.create_table(schema, table, declared, list(zip(*columns.values(), strict=True)))
    return server.address(f"{schema}.{table}")


def as_postgres_query(server, columns, path):
    """A query of the same table."""
    url, _, name = as_postgres(server, columns, path).partition("::")
    schema, table = name.removesuffix(f'.{path.name} of "SELECT" 100%'), f'{path.name} of "SELECT" 100%'
    return f"{url}::SELECT * FROM {quoted(schema)}.{quoted(table)} WHERE 'a:b' LIKE '%:b' -- all"


ENGINES = {
    "CSV": as_csv,
    "CSV, compressed": as_zipped_csv,
    "CSV, in pieces": in_pieces(as_csv),
    "TSV": as_tsv,
    "Parquet": as_parquet,
    "Parquet, in pieces": in_pieces(as_parquet),
    "pandas": lambda columns, path: pandas.DataFrame(columns),
    "pandas, categorical": as_categories,
    "pandas, nullable": as_nullable,
    "Polars": lambda columns, path: polars.DataFrame(columns),
    "Polars, lazy": lambda columns, path: polars.LazyFrame(columns),
    "Polars, lazy file": lambda columns, path: polars.scan_parquet(as_parquet(columns, path)),
    "Polars, categorical": as_polars_categories,
    "Arrow": lambda columns, path: pyarrow.table(columns),
    "Arrow, dictionary": as_arrow_dictionary,
    "DuckDB": as_relation,
    "SQL table": as_database,
    "SQL query": as_database_query,
    "Dask": as_dask,
    "Ibis": lambda columns, path: ibis.memtable(pyarrow.table(columns)),
}
"""By name; Spark and PostgreSQL are apart, since they have to be running."""
