"""From items and known pairs to a trained student and teacher."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from ..data.batches import Batches
from ..data.images import Positions
from ..data.inputs import Inputs, VectorInputs
from ..data.known_pairs import KnownPairs
from ..errors import UserError
from ..losses.table import pairwise_loss
from ..nets.hash_network import HashNetwork
from ..nets.teacher import Teacher
from ..objectives.objective import Objective
from ..objectives.pts3h import PTS3H
from ..settings import Config
from .loop import Record, Run, Watcher, train


@dataclass(frozen=True)
class Task:
    """What is learned from.

    Attributes:
        inputs: items as tensors.
        known: what is known of which pair.
        pool: positions of the unlabelled items.
        network: makes an untrained network; called for student and teacher alike.
    """

    inputs: Inputs
    known: KnownPairs
    pool: Positions
    network: Callable[[], HashNetwork]


@dataclass(frozen=True)
class Learned:
    """What came out: both networks in evaluation mode, and a record a step."""

    student: HashNetwork
    teacher: HashNetwork
    history: list[Record]


def learn(
    task: Task,
    config: Config,
    *,
    objective: Objective | None = None,
    folder: Path | None = None,
    resume: bool = False,
    start: HashNetwork | None = None,
    watch: Watcher | None = None,
    name: str = "training",
    show: bool | None = None,
) -> Learned:
    """Train on a task.

    Args:
        task: what is learned from.
        config: resolved settings.
        objective: what is minimised; None for what the settings ask for.
        folder: for checkpoint and history.
        resume: go on from the folder's checkpoint.
        start: a trained head to begin from.
        watch: called with each step's record.
        name: for the progress bar.
        show: whether to draw a progress bar.
    """
    objective = objective or build_objective(config, task.known)
    batches = Batches(
        task.known,
        task.pool,
        labelled=config.labelled_per_batch,
        unlabelled=config.unlabelled_per_batch if objective.needs_unlabelled else 0,
        seed=config.seed,
    )
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        student, network = task.network(), task.network()
    if start is not None:
        student.load_state_dict(start.state_dict(), strict=False)  # all but the backbone
    if isinstance(task.inputs, VectorInputs):
        student.standardize(task.inputs.center, task.inputs.spread)
    device = pick_device(config.device)
    student, network = student.to(device), network.to(device)
    run = Run(
        student,
        Teacher(student, network),
        task.inputs,
        batches,
        objective,
        config,
        steps=count_steps(config, batches),
        folder=folder,
        name=name,
        watch=watch,
    )
    history = train(run, resume=resume, show=show)
    return Learned(student.eval().cpu(), network.eval().cpu(), history)


def build_objective(config: Config, known: KnownPairs) -> PTS3H:
    """The loss that the settings ask for."""
    assert config.omega is not None and config.gamma is not None and config.eta is not None
    return PTS3H(
        pairwise=pairwise_loss(config.loss, config.bits, divide=config.divide, reading=config.pseudo),
        omega=config.omega,
        gamma=config.gamma,
        eta=config.eta,
        consistency=config.consistency,
        similar_share=known.similar_share if config.similar_share is None else config.similar_share,
    )


def count_steps(config: Config, batches: Batches) -> int:
    """Optimiser steps of a run."""
    if config.steps is not None:
        return config.steps
    assert config.epochs is not None, "settings are resolved before training"
    return max(round(config.epochs * batches.steps_per_epoch), 1)


def pick_device(name: str) -> torch.device:
    """The device to train on."""
    try:
        device = torch.device(name if name != "auto" else "cuda" if torch.cuda.is_available() else "cpu")
        torch.empty(0, device=device)  # a device can have a name and not be there
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"there is no device {name!r} here ({str(error).splitlines()[0]})") from error
    return device
