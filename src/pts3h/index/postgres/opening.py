"""How a Postgres index is opened. Here alone psycopg may be missing."""

from typing import TYPE_CHECKING

from ...codes import Layout
from ...errors import UserError
from ..patience import Patience

if TYPE_CHECKING:
    from .index import PostgresIndex


def open_postgres(
    address: str,
    *,
    layout: Layout | None = None,
    model: str | None = None,
    read_only: bool = False,
    password: str | None = None,
    timeout: float = 30.0,
    retries: int = 4,
    ef_search: int | None = None,
) -> "PostgresIndex":
    """Open a table, or create it if there is none yet.

    Args:
        address: ``postgresql://user:password@host:port/database/table``.
        layout: what the bits of the codes are; see ``bits`` of :func:`pts3h.open_index`.
        model: as in :func:`pts3h.open_index`.
        read_only: never write.
        password: by default the one in the address, in ``$PGPASSWORD`` or in libpq's password file.
        timeout: seconds per request.
        retries: how often to try again when the server cannot be reached.
        ef_search: search approximately, through an HNSW index of the table, among this many candidates. By
            default, answers are exact.
    """
    patience = Patience(timeout, retries)
    if ef_search is not None and (type(ef_search) is not int or not 1 <= ef_search <= 1000):
        raise UserError(f"ef_search must be a whole number from 1 to 1000, got {ef_search!r}")
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise UserError("a Postgres index needs psycopg: pip install 'pts3h[postgres]'") from None
    from .connection import Connections
    from .index import PostgresIndex

    settings = {"default_transaction_read_only": "on"} if read_only else {}
    if ef_search is not None:  # and go on until there are k hits, if a filter leaves some out
        settings |= {"hnsw.ef_search": str(ef_search), "hnsw.iterative_scan": "strict_order"}
    connections = Connections(address, patience, password, settings)
    try:
        return PostgresIndex(
            connections, address, layout, model, read_only=read_only, graphs=ef_search is not None
        )
    except BaseException:
        connections.close()
        raise
