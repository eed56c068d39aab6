"""The one training loop: readable top to bottom, resumable bit for bit.

Batches, views and dropout depend on the seed and the step alone; a checkpoint is therefore the weights, the
optimiser's memory and the step.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batches import Batch, Batches, Share
from ..data.images import Positions
from ..data.inputs import Inputs
from ..errors import Interrupted, UserError
from ..losses.ramps import consistency_ramp, learning_rate_factor, teacher_decay
from ..model.inference import run as run_network
from ..model.model import Record
from ..nets.hash_network import HashNetwork
from ..nets.teacher import Teacher
from ..objectives.objective import Objective, Step
from ..settings.used import Used
from ..util.ahead import ahead
from ..util.progress import Progress, bar
from .checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from .forward import Forward
from .health import check_finite, warn_of_collapse
from .optimizer import bound_gradients, build_optimizer
from .ranks import Ranks
from .stopping import stop_signal

CHECK_EVERY = 50  # steps between two looks for a collapse
CHECKPOINT_SECONDS = 60.0

JUDGED = 20  # times in a run

Prepared = tuple[int, Batch, Share | None, tuple[Tensor, Tensor]]
Watcher = Callable[[Record], None]
Outputs = Callable[[Positions], NDArray[np.float32]]  # of the items at these positions, as they are now
Judge = Callable[[Outputs], Mapping[str, float]]  # figures on what is held out


@dataclass(frozen=True)
class Run:
    """Everything the loop needs.

    Attributes:
        student: the network that is trained.
        teacher: its moving average.
        inputs: where views come from.
        batches: which items are in which step.
        objective: what is minimised.
        used: the settings.
        folder: where the checkpoint goes; None keeps nothing on disk.
        name: what the progress bar says.
        watch: called with each step's record.
        judge: called now and then with the teacher's outputs; what it finds joins the record.
        ranks: the processes that share each batch, where there are several; the first one keeps, watches and
            judges.
    """

    student: HashNetwork
    teacher: Teacher
    inputs: Inputs
    batches: Batches
    objective: Objective
    used: Used
    folder: Path | None = None
    name: str = "training"
    watch: Watcher | None = None
    judge: Judge | None = None
    ranks: Ranks | None = None

    @property
    def lead(self) -> int:
        """Steps on labelled items alone, before the unlabelled ones join."""
        return round(self.used.lead * self.used.steps)

    @property
    def first(self) -> bool:
        """Whether this process keeps, watches and judges the run."""
        return self.ranks is None or self.ranks.first


def train(run: Run, *, resume: bool = False, progress: Progress = None) -> list[Record]:
    """Train the student and its teacher in place; return one record of named figures per step.

    Args:
        run: what to train on what.
        resume: go on from the checkpoint in the run's folder.
        progress: whether to show a bar.
    """
    used, device = run.used, next(run.student.parameters()).device
    if run.ranks is not None and run.objective.needs_inputs:
        raise UserError("this system looks at whole batches, and no rank has one: train it without torchrun")
    optimizer = build_optimizer(run.student, used, run.objective.parameters())
    rates = [group["lr"] for group in optimizer.param_groups]
    ramp, warmup = round(used.ramp * used.steps), round(used.warmup * used.steps)
    start, history = restore(run, optimizer) if resume else (0, [])
    run.student.train()
    run.teacher.network.train()
    student, teacher = (Forward(network, used, run.ranks) for network in (run.student, run.teacher.network))
    last_saved, collapsed = time.monotonic(), False
    with (
        torch.random.fork_rng(),
        stop_signal(by_torchrun=run.ranks is not None) as stopping,
        bar(run.name, used.steps, unit="steps", progress=progress) as advance,
    ):
        advance(start)
        for step, batch, share, (view_1, view_2) in prepared(run, start):
            factor = learning_rate_factor(step, used.steps, warmup)
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            seed_dropout(step_seed(used.seed, step, 1), device)

            view_1 = view_1.to(device)
            outputs = student(view_1, share)
            teacher_outputs = None
            if run.objective.needs_teacher and step > run.lead:
                with torch.no_grad():
                    teacher_outputs = teacher(view_2.to(device), share)
            known, similar = (torch.from_numpy(mask).to(device) for mask in (batch.known, batch.similar))
            now = Step(
                number=step,
                weight=consistency_ramp(step - run.lead, ramp),
                positions=batch.positions,
                inputs=view_1 if share is None else view_1[:0],
                outputs=outputs,
                teacher_outputs=teacher_outputs,
                known=known,
                similar=similar,
                student=run.student,
            )
            terms = run.objective(now)

            optimizer.zero_grad()
            torch.autograd.backward(terms.total)
            heard = None  # what an objective learns beside has its whole gradient on every rank
            if run.ranks is not None:
                heard = run.ranks.add_gradients(list(run.student.parameters()), stop=stopping.is_set())
            bound_gradients(optimizer, used)
            optimizer.step()
            run.teacher.update(teacher_decay(step, used.alpha))

            record = {"step": step, "learning_rate": rates[-1] * factor, **terms.figures()}
            check_finite(record, used)
            if run.judge is not None and (step % max(used.steps // JUDGED, 1) == 0 or step == used.steps):
                record |= run.judge(partial(outputs_now, run))
            history.append(record)
            if run.watch is not None:
                run.watch(record)
            advance(1)
            if step % CHECK_EVERY == 0 and step > warmup and not collapsed:
                collapsed = warn_of_collapse(now, used)
            if (stopping.is_set() if heard is None else heard) and step < used.steps:
                raise Interrupted(interrupted_message(run, optimizer, history, step))
            if run.folder is not None and time.monotonic() - last_saved > CHECKPOINT_SECONDS:
                save(run, run.folder, optimizer, history, step)
                last_saved = time.monotonic()
    return history


def prepared(run: Run, start: int) -> Iterator[Prepared]:
    """Each step with its batch, this rank's share of it, and views, made ahead where that takes long."""

    def make(step: int) -> Prepared:
        batch = run.batches.at(step - 1, joined=step > run.lead)
        share = None if run.ranks is None else run.ranks.share(len(batch.positions))
        seed = step_seed(run.used.seed, step, 0)
        return step, batch, share, run.inputs.two_views(batch.positions, seed, share)

    steps = range(start + 1, run.used.steps + 1)
    yield from ahead(make, steps) if run.inputs.worth_preparing else map(make, steps)


def outputs_now(run: Run, positions: Positions) -> NDArray[np.float32]:
    """What the teacher makes of some items at this point. It changes nothing, and draws nothing by chance."""
    outputs = run_network(run.teacher.network, run.inputs, positions, progress=False)
    run.teacher.network.train()
    return outputs


def step_seed(seed: int, step: int, stream: int) -> int:
    """A seed for one step of one stream of randomness."""
    return int(np.random.SeedSequence((seed, step, stream)).generate_state(1, np.uint32)[0])


def seed_dropout(seed: int, device: torch.device) -> None:
    """Seed the generator that dropout draws from; ``torch.manual_seed`` would visit every kind of device."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)


def interrupted_message(run: Run, optimizer: torch.optim.Optimizer, history: list[Record], step: int) -> str:
    """Save if there is a folder, and say how to go on."""
    where = f"stopped after step {step} of {run.used.steps}"
    if run.folder is None:
        return f"{where}; nothing was saved, because no folder was given"
    save(run, run.folder, optimizer, history, step)
    if run.ranks is not None:
        run.ranks.wait()  # nobody leaves before it is saved
    advice = "run the same command with --resume (fit(..., resume=True)) to go on"
    return f"{where}; it is saved in {run.folder}: {advice}"


def save(run: Run, folder: Path, optimizer: torch.optim.Optimizer, history: list[Record], step: int) -> None:
    """Write the checkpoint into the run's folder, where a model may lie that is to be replaced."""
    if not run.first:
        return
    state = Checkpoint(step, run.student, run.teacher.network, optimizer, run.used, history)
    save_checkpoint(folder, state)


def restore(run: Run, optimizer: torch.optim.Optimizer) -> tuple[int, list[Record]]:
    """Load the checkpoint of the run's folder: its step, and the history so far."""
    if run.folder is None:
        raise UserError("there is nothing to resume: no folder was given")
    return load_checkpoint(run.folder, run.student, run.teacher.network, optimizer, run.used)
