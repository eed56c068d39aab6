"""From a problem to a trained student and teacher."""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch

from ..data.batches import Batches
from ..data.problem import Problem
from ..model.model import Record
from ..model.networks import NetworkMaker, pick_device
from ..nets.hash_network import HashNetwork
from ..nets.teacher import Teacher
from ..objectives.objective import Objective
from ..settings.used import Used
from ..util.memory import keep_freed_memory
from ..util.progress import Progress
from ..util.torch_threads import one_thread
from .loop import Judge, Run, Watcher, train
from .ranks import Ranks


@dataclass(frozen=True)
class Learned:
    """What came out: both networks in evaluation mode, and one record per step."""

    student: HashNetwork
    teacher: HashNetwork
    history: list[Record]


def learn(
    problem: Problem,
    used: Used,
    objective: Objective,
    make: NetworkMaker,
    *,
    folder: Path | None = None,
    resume: bool = False,
    start: HashNetwork | None = None,
    watch: Watcher | None = None,
    judge: Judge | None = None,
    name: str = "training",
    ranks: Ranks | None = None,
    progress: Progress = None,
) -> Learned:
    """Train on a problem.

    Args:
        problem: what is learned from.
        used: the settings.
        objective: what is minimised.
        make: makes an untrained network; called for student and teacher alike.
        folder: for the checkpoint.
        resume: go on from the folder's checkpoint.
        start: a trained head to begin from.
        watch: called with each step's record.
        judge: called now and then with the teacher's outputs.
        name: for the progress bar.
        ranks: the processes that share each batch, where there are several.
        progress: whether to show a bar.
    """
    keep_freed_memory()
    batches = Batches(
        problem.known,
        problem.pool,
        labelled=used.labelled_per_batch,
        unlabelled=used.unlabelled_per_batch if objective.needs_unlabelled else 0,
        seed=used.seed,
    )
    with torch.random.fork_rng():
        torch.manual_seed(used.seed)
        student, network = make(), make()
    if start is not None:
        student.load_state_dict(start.state_dict(), strict=False)  # all but the backbone
    if problem.inputs.standard is not None:
        student.standardize(*problem.inputs.standard)
    device = pick_device(used.device)
    student, network = student.to(device), network.to(device)
    if ranks is not None:
        ranks.take_from_first([*student.state_dict().values(), *objective.parameters()])
    teacher = Teacher(student, network)
    run = Run(student, teacher, problem.inputs, batches, objective, used, folder, name, watch, judge, ranks)
    with nullcontext() if used.fine_tunes else one_thread():
        history = train(run, resume=resume, progress=progress)
    return Learned(student.eval().cpu(), network.eval().cpu(), history)
