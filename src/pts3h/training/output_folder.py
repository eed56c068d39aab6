"""The output folder of a training run: claimed before the work, so that hours are not lost to a name."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from ..model.described import CHECKPOINT, WEIGHTS
from ..model.replacing import current
from ..util.files import explain_os_errors

if TYPE_CHECKING:  # to claim a folder takes no torch
    from .ranks import Ranks


def is_unfinished(folder: Path) -> bool:
    """Whether a stopped run lies in ``folder``."""
    return (folder / CHECKPOINT).is_file()


def is_finished(folder: Path) -> bool:
    """Whether ``folder`` holds a model."""
    return current(folder, WEIGHTS).is_file()


def claim_folder(folder: Path, *, resume: bool, overwrite: bool) -> Path:
    """Make ``folder`` ready for a run, or say why not.

    Args:
        folder: where checkpoints and the model will go.
        resume: whether a stopped run in it should go on.
        overwrite: whether a model or run in it may be replaced.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: choose a folder")
    if folder.is_dir() and any(folder.iterdir()):
        if resume and is_unfinished(folder):
            return folder
        if not overwrite:
            raise UserError(refusal(folder, resume))
        with explain_os_errors(folder):  # a model in it stays until the new one takes its place
            (folder / CHECKPOINT).unlink(missing_ok=True)
    with explain_os_errors(folder):
        folder.resolve().mkdir(parents=True, exist_ok=True)  # a link may lead to what is not there yet
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write into {folder}: choose another folder")
    return folder


def claim_once(
    out: Path | str | None, ranks: "Ranks | None", *, resume: bool, overwrite: bool
) -> tuple[Path | None, bool]:
    """Claim the folder that was asked for, once for all ranks; whether a stopped run in it is to go on."""
    if out is None:
        return None, False
    folder = Path(out)
    if ranks is None or ranks.first:
        claim_folder(folder, resume=resume, overwrite=overwrite)
    going_on = resume and is_unfinished(folder)
    return folder, going_on if ranks is None else bool(ranks.first_says(going_on))


def refusal(folder: Path, resume: bool) -> str:
    """Why a folder with something in it is not taken."""
    if is_finished(folder):
        return (
            f"{folder} already holds a finished model: choose another folder, or replace it with --overwrite"
        )
    if is_unfinished(folder):
        return f"{folder} holds an unfinished run: go on with --resume, or start anew with --overwrite"
    if resume:
        return f"{folder} holds no run to resume"
    return f"{folder} exists and is not empty: choose another folder, or replace it with --overwrite"
