"""Run the cells that are missing, one core each: two runs on two cores gain more than one run on both."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from ..util import progress
from ..util.cores import usable_cores
from .plan import Cell, Plan, Setup

if TYPE_CHECKING:
    from ..data.datasets.dataset import Dataset

MOST_WORKERS = 8


def run_matrix(plan: Plan, folder: Path, *, workers: int | None = None, show: bool | None = None) -> int:
    """Run what has no file yet, and return how many cells failed.

    A cell that fails costs that cell alone: the reason is said, the others go on, and running the same
    command again tries it again.

    Args:
        plan: the matrix.
        folder: for one file a cell.
        workers: processes; None for one a core.
        show: whether to draw a progress bar.
    """
    from .cells import run_cell
    from .sources import load_data

    cells = plan.cells()
    missing = [cell for cell in cells if not (folder / cell.file).is_file()]
    if not missing:
        return 0
    setup = plan.setup
    data = load_data(setup.dataset, setup.place, setup.classes, setup.images)
    fill_feature_cache(plan.setup, data, missing, show)
    cores = usable_cores()
    workers = min(workers or cores, len(missing), MOST_WORKERS)
    run = partial(run_cell, setup, folder=folder, threads=max(cores // workers, 1))
    failed = 0
    with progress.bar("runs", len(cells), unit="runs", show=show) as advance:
        advance(len(cells) - len(missing))
        for cell, error in run_all(missing, run, workers):
            advance(1)
            if error is not None:
                failed += 1
                reason = " ".join(str(error).split()) or type(error).__name__
                print(f"failed {cell.file.removesuffix('.json')}: {reason}", file=sys.stderr, flush=True)
    if failed == len(missing) and failed == len(cells):
        raise UserError(f"all {failed} runs failed, the reasons stand above")
    return failed


def fill_feature_cache(setup: Setup, data: "Dataset", cells: Sequence[Cell], show: bool | None) -> None:
    """Compute features once, on all cores, before the runs share them."""
    from .cells import build_inputs, resolved

    if data.items.images is None:
        return
    for cell in {repr(setup.settings_of(cell)): cell for cell in cells}.values():
        config = resolved(data, cell, setup.settings_of(cell))
        if config.freeze or config.warm_start:
            build_inputs(data, config, show=show)


def run_all(
    cells: Sequence[Cell], run: Callable[[Cell], None], workers: int
) -> Iterator[tuple[Cell, Exception | None]]:
    """Run cells in processes; yield each with what went wrong.

    A process that dies takes its pool with it, and it cannot be told which cell it was: those that were
    under way then run once more, each in a pool of its own.
    """
    waiting, suspects = list(reversed(cells)), list[Cell]()
    while waiting:
        with pool_of(workers) as pool:
            under_way: dict[Future[None], Cell] = {}
            broken = False
            while (waiting and not broken) or under_way:
                while waiting and not broken and len(under_way) < workers:
                    cell = waiting.pop()
                    try:
                        under_way[pool.submit(run, cell)] = cell
                    except BrokenProcessPool:
                        waiting.append(cell)
                        broken = True
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    cell = under_way.pop(future)
                    error = future.exception()
                    if isinstance(error, BrokenProcessPool):
                        suspects.append(cell)
                        broken = True
                    elif error is None or isinstance(error, Exception):
                        yield cell, error
                    else:
                        raise error
    for cell in suspects:
        with pool_of(1) as pool:
            error = pool.submit(run, cell).exception()
            died = isinstance(error, BrokenProcessPool)
            yield cell, UserError("its process died, perhaps for want of memory") if died else error  # type: ignore[misc]


def pool_of(workers: int) -> ProcessPoolExecutor:
    """Fresh processes: forked ones would inherit threads of torch in the middle of something."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=die_with_parent)


def die_with_parent() -> None:
    """Leave no process behind where the one that asked for the work was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
