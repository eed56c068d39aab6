"""Run what is missing, one core each: two runs on two cores gain more than one run on both."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..errors import UserError
from ..model.networks import load_backbone
from ..systems.shallow.system import FEATURES as FEATURE_SETTINGS
from ..systems.table import SYSTEMS
from ..training.preparation import compute_features
from ..util.cores import network_threads, usable_cores
from ..util.progress import Progress, bar
from .cells import run_cell
from .old_runs import settle_choices, settle_runs
from .own_rows import keep_rows, own_rows
from .plan import Cell, Old, Plan, Setup, claim
from .sources import load_data, split_of
from .tasks import task_of
from .tuning import Try, refuse_other_splits, run_try, tries_of

MOST_WORKERS = 8
Job = TypeVar("Job", Cell, Try)


def run_matrix(
    plan: Plan,
    folder: Path,
    *,
    workers: int | None = None,
    progress: Progress = None,
    keep_codes: bool = False,
    models: Mapping[Cell, Path] | None = None,
    old: Old = "refuse",
) -> int:
    """Run what has no file yet, and return how many cells failed.

    A cell that fails costs that cell alone: the reason is said, the others go on, and running the same
    command again tries it again.

    Args:
        plan: the matrix.
        folder: for one file per cell, and a note of what they share.
        workers: processes; None for one per core.
        progress: whether to show a bar.
        keep_codes: also write the codes of each cell.
        models: where to write the models of some cells.
        old: what to do where cells were made by another version of the code: refuse, keep them, or run them
            again.
    """
    claim(folder, plan.setup)
    cells, tries = plan.cells(), tries_of(plan, folder)
    settle_runs(plan, tries, folder, old)
    refuse_other_splits(plan, folder)
    if missing_of(tries, folder):
        fill_feature_cache(plan.setup, cells, folder, progress)
    if lost := run_missing(
        tries, folder, "tries", partial(run_try, plan.setup, plan.runs, folder), workers, progress
    ):
        raise UserError(f"{lost} tries failed, for the reasons above: the same command tries them again")
    settle_choices(cells, folder, old)
    missing = missing_of(cells, folder)
    if not missing:
        return 0
    fill_feature_cache(plan.setup, missing, folder, progress)
    threads = threads_each(processes(workers, len(missing)))
    run = partial(run_one, plan.setup, folder, threads, keep_codes=keep_codes, models=models or {})
    failed = run_missing(cells, folder, "runs", run, workers, progress)
    if failed and failed == len(cells):
        raise UserError(f"all {failed} runs failed, for the reasons above")
    return failed


def run_missing(
    jobs: Sequence[Job],
    folder: Path,
    what: str,
    run: Callable[[Job], None],
    workers: int | None,
    progress: Progress,
) -> int:
    """Run the jobs that have no file yet, and return how many failed."""
    missing, failed = missing_of(jobs, folder), 0
    if not missing:
        return 0
    with bar(what, len(jobs), unit=what, progress=progress) as advance:
        advance(len(jobs) - len(missing))
        for job, error in run_all(missing, run, processes(workers, len(missing))):
            advance(1)
            if error is not None:
                failed += 1
                reason = " ".join(str(error).split()) or type(error).__name__
                print(f"failed {job.file.removesuffix('.json')}: {reason}", file=sys.stderr, flush=True)
    return failed


def missing_of(jobs: Sequence[Job], folder: Path) -> list[Job]:
    """Those that have no file yet."""
    return [job for job in jobs if not (folder / job.file).is_file()]


def processes(asked: int | None, jobs: int) -> int:
    """How many to use: those asked for, or one per core, but no more than there are jobs."""
    return max(min(asked or usable_cores(), jobs, MOST_WORKERS), 1)


def threads_each(count: int) -> int:
    """Threads of each process: they share the cores, and ``OMP_NUM_THREADS`` may ask for fewer."""
    return max(min(usable_cores() // count, network_threads()), 1)


def run_one(
    setup: Setup, folder: Path, threads: int, cell: Cell, *, keep_codes: bool, models: Mapping[Cell, Path]
) -> None:
    """A cell, in a process of its own."""
    run_cell(setup, cell, folder, threads, keep_codes=keep_codes, model_folder=models.get(cell))


def fill_feature_cache(setup: Setup, cells: Sequence[Cell], folder: Path, progress: Progress) -> None:
    """Compute features once, on all cores, before the runs share them."""
    data = load_data(setup.data_name, setup.place, setup.labels, setup.images)
    if data.items.images is None:
        return
    done = set[tuple[Any, ...]]()
    for cell in {(cell.method, cell.varied): cell for cell in cells}.values():
        split = split_of(data, cell.labels, cell.seed)
        used = SYSTEMS.find(cell.method).used(task_of(setup, cell, data, split, folder))
        if used is None or not (used.freeze or used.warm_start):
            continue
        key = tuple(getattr(used, name) for name in FEATURE_SETTINGS)
        if key not in done:
            done.add(key)
            compute_features(data.items.images, load_backbone(used), used, progress)


def run_all(
    jobs: Sequence[Job], run: Callable[[Job], None], workers: int
) -> Iterator[tuple[Job, Exception | None]]:
    """Run jobs in processes; yield each with what went wrong.

    A process that dies takes its pool with it, and it cannot be told which job it was: those that were
    under way then run once more, each in a pool of its own.
    """
    waiting, suspects = list(reversed(jobs)), list[Job]()
    while waiting:
        with pool_of(workers) as pool:
            under_way: dict[Future[None], Job] = {}
            broken = False
            while (waiting and not broken) or under_way:
                while waiting and not broken and len(under_way) < workers:
                    job = waiting.pop()
                    try:
                        under_way[pool.submit(run, job)] = job
                    except BrokenProcessPool:
                        waiting.append(job)
                        broken = True
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    job = under_way.pop(future)
                    error = future.exception()
                    if isinstance(error, BrokenProcessPool):
                        suspects.append(job)
                        broken = True
                    elif error is None or isinstance(error, Exception):
                        yield job, error
                    else:
                        raise error
    for job in suspects:
        with pool_of(1) as pool:
            error = pool.submit(run, job).exception()
            if isinstance(error, BrokenProcessPool):
                error = UserError("its process died, perhaps because memory ran out")
            if error is not None and not isinstance(error, Exception):
                raise error
            yield job, error


def pool_of(workers: int) -> ProcessPoolExecutor:
    """Fresh processes: forked ones would inherit threads of torch in the middle of something."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=begin, initargs=(own_rows(),))


def begin(rows: list[list[Any]]) -> None:
    """Know what users brought along, and leave no process behind if the one that asked for work is killed."""
    keep_rows(rows)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=end_with, args=(parent,), daemon=True).start()


def end_with(parent: Any) -> None:
    """Wait for the end of the parent, then end this process."""
    parent.join()
    os._exit(1)
