"""Training curves for TensorBoard, written while training; the extra ``tensorboard`` brings it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError
from ..model.model import Record
from .loop import Watcher


@contextmanager
def watcher(folder: Path | str | None, other: Watcher | None = None) -> Iterator[Watcher | None]:
    """Something that writes each step's record into ``folder``, besides what another one does with it."""
    if folder is None:
        yield other
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise UserError("TensorBoard is not installed: pip install 'pts3h[tensorboard]'") from error

    writer = SummaryWriter(str(folder))

    def write(record: Record) -> None:
        if other is not None:
            other(record)
        for name, value in record.items():
            if name != "step":
                writer.add_scalar(name, value, int(record["step"]))

    try:
        yield write
    finally:
        writer.close()
