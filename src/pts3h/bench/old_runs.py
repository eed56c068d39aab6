"""Runs of another version of the code, or of other settings: never beside those of today in silence."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..data.splits import Split
from ..errors import UserError
from ..settings.defaults import ADDED_LATER
from ..systems.table import SYSTEMS
from .cells import read_result
from .plan import Cell, Old, Plan
from .provenance import code_digest, counts_as, made_by
from .sources import load_data, split_of
from .tasks import task_of
from .tuning import SEED, Try, chosen_settings, read_tries, read_try, tuning_split


def settle_runs(plan: Plan, tries: Sequence[Try], folder: Path, old: Old) -> None:
    """Refuse, keep or delete what other code or other settings made, and what would not be tried today."""
    jobs: list[Cell | Try] = [*tries, *plan.cells()]
    done = [job for job in jobs if (folder / job.file).is_file()]
    stale = [job for job in done if not is_of_today(job, folder)]
    settle(stale, folder, old)
    left = [one for one in tries if (folder / one.file).is_file() and one not in stale]
    drawn = [one for one in left if read_try(folder / one.file)[0].settings != one.settings]
    settle(drawn, folder, old)
    today = [job for job in done if job not in stale and job not in drawn]
    used_now = settings_now(plan, folder)
    settle([job for job in today if used_now(job) != used_then(job, folder)], folder, old)


def is_of_today(job: Cell | Try, folder: Path) -> bool:
    """Whether today's code made a run, or code that is proven to give the same figures."""
    return counts_as(made_by(folder / job.file), job.method) == code_digest(job.method)


def used_then(job: Cell | Try, folder: Path) -> dict[str, Any]:
    """The settings that a run was made with. A setting that was not known then was off."""
    path = folder / job.file
    used = read_try(path)[1].used if isinstance(job, Try) else read_result(path).get("settings", {})
    return ADDED_LATER | used


def settings_now(plan: Plan, folder: Path) -> Callable[[Cell | Try], dict[str, Any]]:
    """A function that says which settings a run would have if it were made today."""
    setup = plan.setup
    data = load_data(setup.data_name, setup.place, setup.labels, setup.images)

    @cache
    def split(labels: int, seed: int) -> Split:
        return tuning_split(data, labels, plan.runs) if seed == SEED else split_of(data, labels, seed)

    def used_now(job: Cell | Try) -> dict[str, Any]:
        if isinstance(job, Try):
            cell, tuned = job.cell, job.settings
        else:
            cell, tuned = job, read_result(folder / job.file).get("tuned", {})
        task = task_of(setup, cell, data, split(cell.labels, cell.seed), folder, tuned)
        as_stored: dict[str, Any] = json.loads(json.dumps(SYSTEMS.find(cell.method).record(task)))
        return ADDED_LATER | as_stored

    return used_now


def settle_choices(cells: Sequence[Cell], folder: Path, old: Old) -> None:
    """Refuse, keep or delete cells of other settings than the tries choose."""
    tries, done = read_tries(folder), [cell for cell in cells if (folder / cell.file).is_file()]
    tuned = {cell: read_result(folder / cell.file).get("tuned", {}) for cell in done}
    settle([cell for cell in done if tuned[cell] != chosen_settings(tries, cell)], folder, old)


def settle(stale: Sequence[Cell | Try], folder: Path, old: Old) -> None:
    """Do what is asked with runs that are not of today."""
    if old == "again":
        for job in stale:
            (folder / job.file).unlink()
    elif old == "refuse" and stale:
        runs = "a run" if len(stale) == 1 else f"{len(stale)} runs"
        raise UserError(
            f"{folder} holds {runs} of another version of the code: choose another --out, "
            "run again what is old by --old again, or keep it by --old keep"
        )
