"""A PostgreSQL server of the tests' own: a new cluster in a folder of its own, reached by a socket in that folder."""

from __future__ import annotations

import csv
import io
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pg8000.dbapi

OWNER, READER = "owner", "reader"
PASSWORDS = {OWNER: "owner's own", READER: "r/e@d:er"}
_SETTINGS = {"listen_addresses": "", "fsync": "off", "shared_buffers": "16MB", "max_connections": "20"}


def find_postgres() -> Path | None:
    """The folder of the server's programs: on the path, or where Debian puts them; None if there is none."""
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))[-1:]
    found = shutil.which("postgres") or next(map(str, newest), None)
    return None if found is None else Path(found).resolve().parent


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class PostgresServer:
    """A running server with two users: one who owns everything, and one who may only read."""

    folder: Path

    @property
    def socket(self) -> str:
        """The socket at which it listens."""
        return f"{self.folder}/.s.PGSQL.5432"

    def url(self, user: str = READER) -> str:
        """URL of its database for a user."""
        return f"postgresql://{user}:{quote(PASSWORDS[user], safe='')}@/postgres?unix_sock={self.socket}"

    def address(self, what: str) -> str:
        """The address of a table or a query for the user who may only read."""
        return f"{self.url()}::{what}"

    def execute(self, *statements: str, rows: str = "") -> None:
        """Run statements as the owner, the last of which may copy rows, as CSV, into a table."""
        signed = {"user": OWNER, "password": PASSWORDS[OWNER], "database": "postgres", "unix_sock": self.socket}
        with closing(pg8000.dbapi.connect(**signed)) as connection, closing(connection.cursor()) as cursor:
            for statement in statements:
                cursor.execute(statement, stream=io.StringIO(rows))
            connection.commit()

    def create_table(self, schema: str, table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Make a table of columns with their types, in a schema that may be new, and let the other user read it."""
        where, text = f"{quoted(schema)}.{quoted(table)}", io.StringIO()
        csv.writer(text).writerows(rows)
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
        self.execute(
            f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}",
            f"CREATE TABLE {where} ({declared})",
            f"GRANT USAGE ON SCHEMA {quoted(schema)} TO {READER}",
            f"GRANT SELECT ON {where} TO {READER}",
            f"COPY {where} FROM STDIN WITH (FORMAT csv)",
            rows=text.getvalue(),
        )


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Make a cluster, start it, and stop and remove it at the end.

    PostgreSQL refuses to run as root, who therefore starts it as another user.
    """
    programs = find_postgres()
    assert programs is not None, "there is no PostgreSQL server (on Debian: postgresql)"
    folder = Path(tempfile.mkdtemp(prefix="pnsight-postgres-"))
    who: dict[str, Any] = {}
    if os.getuid() == 0:
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        nothing = subprocess.DEVNULL
        subprocess.run(command, check=True, cwd=folder, stdin=nothing, stdout=nothing, **who)

    try:
        password = folder / "password"
        password.write_text(PASSWORDS[OWNER])
        run("initdb", "-U", OWNER, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N", "--pwfile", str(password))
        settings = " ".join(f"-c {name}='{value}'" for name, value in _SETTINGS.items())
        run("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", f"-k {folder} {settings}")
        try:
            server = PostgresServer(folder)
            server.execute(
                f"CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORDS[READER]}'",
                f"ALTER ROLE {READER} SET default_transaction_read_only = on",
                "REVOKE CREATE, TEMPORARY ON DATABASE postgres FROM PUBLIC",
                "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
            )
            yield server
        finally:
            run("pg_ctl", "stop", "-w", "-m", "immediate")
    finally:
        shutil.rmtree(folder)
