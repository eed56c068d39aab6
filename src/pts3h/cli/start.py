"""Where ``pts3h`` starts: what must be settled before anything large is imported."""

import gc
import os


def main() -> None:
    """Run the command line."""
    # Threads of OpenBLAS, which numpy starts, wait for work by trying again and again, on a core of others.
    # After 2^20 cycles, less than a millisecond, they sleep.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    gc.disable()  # nothing that is imported becomes garbage; the command itself runs with it
    from .app import main  # not before: it brings numpy

    main()
