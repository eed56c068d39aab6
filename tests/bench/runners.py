"""Stand-ins for a run, importable by the processes of a pool."""

import os
import time


def run(cell, folder):
    """Count the call; bits 13 fail with a reason, bits 14 kill their process, bits 15 take a minute."""
    with (folder / f"{cell.file}.calls").open("a") as calls:
        calls.write("x")
    if cell.bits == 13:
        raise ValueError("thirteen bits\nare unlucky")
    if cell.bits == 14:
        os._exit(9)
    if cell.bits == 15:
        (folder / "pid").write_text(str(os.getpid()))
        time.sleep(60)
    (folder / cell.file).write_text("{}")
