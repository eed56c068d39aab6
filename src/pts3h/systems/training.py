"""How a deep system is trained: by the same stages as a hasher."""

from pathlib import Path

from ..model.folder import load_model
from ..model.model import Model
from ..settings.used import Used
from ..training.output_folder import claim_folder, is_finished, is_unfinished
from ..training.stages import ObjectiveMaker, Trainer
from .system import Task


def train_or_load(name: str, objective: ObjectiveMaker, used: Used, task: Task) -> Model:
    """A trained model.

    Args:
        name: for the progress bar.
        objective: makes what is minimised.
        used: the settings.
        task: what to learn from, and where to keep what takes hours.
    """
    folder = task.folder if used.fine_tunes else None
    if folder is not None and is_finished(folder) and not is_unfinished(folder):
        return load_model(folder)
    resume = folder is not None and is_unfinished(folder)
    if folder is not None:
        claim_folder(Path(folder), resume=resume, overwrite=not resume)
    trainer = Trainer(objective, folder=folder, resume=resume, name=name, progress=task.progress)
    return trainer.fit(task.training, used).model
