"""Files that are damaged, or something else than their name says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError


@contextmanager
def refused_as(path: Path | str, kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn what a library says of a file that it cannot read into one line.

    Args:
        path: the file.
        kind: what it should be: "Parquet".
        errors: what the library raises.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if not isinstance(error, (*errors, TypeError, ValueError, MemoryError)):  # it may name any size
            raise
        raise UserError(f"{path} cannot be read as {kind} ({error})") from error
