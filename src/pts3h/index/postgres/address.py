"""Where a table is: ``postgresql://user:password@host:port/database/table``."""

import re
from dataclasses import dataclass, field

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from ...errors import UserError
from ...util.addresses import shown_address

SHAPE = "postgresql://user:password@host:port/database/table"
# Lower case, so that nobody has to quote it; Postgres cuts names after 63 bytes.
_NAME = r"[a-z_][a-z0-9_]{0,62}"
_ADDRESS = re.compile(r"postgres(?:ql)?://([^/?#]*)/([^/?#@]+)/([^/?#@]*)(\?[^#]*)?")
_PORT = re.compile(r"[0-9]{1,5}")
_TABLE = re.compile(rf"(?:({_NAME})\.)?({_NAME})")


@dataclass(frozen=True)
class Address:
    """A table, and how its database is reached.

    Attributes:
        table: its name, after that of its schema if one was given.
        server: ``host:port``, for messages.
        parameters: libpq's, as in the address, its password too.
    """

    table: tuple[str, ...]
    server: str
    parameters: dict[str, str] = field(repr=False)

    @classmethod
    def parse(cls, address: str) -> "Address":
        """Read an address, or raise an error that says what is wrong with it."""
        encode = "; in a password, write / ? # @ % as %2F %3F %23 %40 %25" if "@" in address else ""
        wrong = UserError(f"cannot read the address {shown_address(address)!r}; write {SHAPE}{encode}")
        found = _ADDRESS.fullmatch(address) if address.isprintable() else None
        if found is None:
            raise wrong
        host, database, table, query = found.groups(default="")
        name = _TABLE.fullmatch(table)
        if name is None:
            raise UserError(
                "the name of a table is up to 63 lower-case letters, digits and underscores, does not start "
                f"with a digit, and may follow that of a schema and a dot; got {table!r}, write {SHAPE}"
            )
        try:
            parts = conninfo_to_dict(f"postgresql://{host}/{database}{query}")
        except (psycopg.ProgrammingError, UnicodeError):  # what libpq says of it may quote a password
            raise wrong from None
        parameters = {key: str(value) for key, value in parts.items()}
        defaults = {
            one.keyword.decode(): (one.val or b"").decode(errors="replace")
            for one in pq.Conninfo.get_defaults()
        }
        at, port = (parameters.get(key) or defaults[key] for key in ("host", "port"))
        if not all(_PORT.fullmatch(one) and 0 < int(one) < 2**16 for one in port.split(",")):
            raise wrong
        server = f"[{at}]:{port}" if ":" in at else f"{at or 'localhost'}:{port}"
        return cls(tuple(part for part in name.groups() if part), server, parameters)
