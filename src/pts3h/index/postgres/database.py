"""What a database must have before it can hold an index: UTF-8, and the extension pgvector."""

import re

from psycopg import errors
from psycopg.sql import SQL, Identifier

from ...errors import UserError
from .connection import Connection

EXTENSION = "vector"
OLDEST, OLDEST_FOR_GRAPHS = (0, 7), (0, 8)  # the first that compares bits; that goes on until it has k hits


def check_database(connection: Connection, *, graphs: bool, create: bool) -> str:
    """The schema in which pgvector lies; raises if the database cannot hold an index.

    Args:
        connection: to the database.
        graphs: whether HNSW is to be used.
        create: whether pgvector may be made known to the database, where the server has it.
    """
    info = connection.info
    database = f"the database {info.dbname!r} on {info.host}:{info.port}"
    encoding = info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise UserError(f"{database} has the encoding {encoding}; pts3h needs one with ENCODING 'UTF8'")
    found = _extension(connection)
    if found is None and create:
        _create(connection, database)
        found = _extension(connection)
    if found is None:
        raise UserError(f"{database} does not have pgvector; run CREATE EXTENSION {EXTENSION} in it")
    schema, version = found
    needed = OLDEST_FOR_GRAPHS if graphs else OLDEST
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < needed:
        raise UserError(
            f"{database} has pgvector {version}, and {'HNSW here' if graphs else 'pts3h'} needs "
            f"{'.'.join(map(str, needed))} or newer; install it, then run ALTER EXTENSION {EXTENSION} UPDATE"
        )
    return schema


def _extension(connection: Connection) -> tuple[str, str] | None:
    """Schema and version of pgvector."""
    found = connection.execute(
        "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace "
        "WHERE extname = %s",
        [EXTENSION],
    ).fetchone()
    return None if found is None else (str(found[0]), str(found[1]))


def _create(connection: Connection, database: str) -> None:
    try:
        connection.execute(SQL("CREATE EXTENSION IF NOT EXISTS {}").format(Identifier(EXTENSION)))
    except errors.UniqueViolation:  # another process does so at the same time
        pass
    except (errors.FeatureNotSupported, errors.UndefinedFile):
        raise UserError(
            f"the server of {database} does not have pgvector; install it (github.com/pgvector/pgvector), "
            f"then run CREATE EXTENSION {EXTENSION} in the database"
        ) from None
    except errors.InsufficientPrivilege:
        raise UserError(
            f"{database} does not have pgvector, and the user {connection.info.user!r} may not add it; ask "
            f"an administrator to run CREATE EXTENSION {EXTENSION} in it"
        ) from None
