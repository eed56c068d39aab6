"""The one training loop: readable top to bottom, resumable bit for bit.

Batches, views and dropout depend on the seed and the step alone; a checkpoint is therefore the weights, the
optimiser's memory and the step.
"""

import json
import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..data.batches import Batch, Batches
from ..data.inputs import ImageInputs, Inputs
from ..errors import UserError
from ..losses.ramps import consistency_ramp, learning_rate_factor, teacher_decay
from ..nets.hash_network import HashNetwork
from ..nets.teacher import Teacher
from ..objectives.objective import Objective, Step
from ..settings import Config
from ..util import progress
from .checkpoint import Checkpoint, load_checkpoint, save_checkpoint

CHECK_EVERY = 50  # steps between two looks for a collapse
CHECKPOINT_SECONDS = 60.0

Record = dict[str, float]
Watcher = Callable[[Record], None]


class Interrupted(UserError):
    """Training was stopped by the user; a checkpoint is saved where a folder was given."""

    exit_code = 130  # as every program that Ctrl-C stops


class Diverged(UserError):
    """The loss became NaN or infinite."""


class CollapseWarning(UserWarning):
    """Outputs or codes have lost their information."""


@dataclass(frozen=True)
class Run:
    """Everything the loop needs.

    Attributes:
        student: the network that is trained.
        teacher: its moving average.
        inputs: where views come from.
        batches: which items stand in which step.
        objective: what is minimised.
        config: resolved settings.
        steps: how many.
        folder: where checkpoint and history go; None keeps nothing on disk.
        name: what the progress bar says.
        watch: called with each step's record.
    """

    student: HashNetwork
    teacher: Teacher
    inputs: Inputs
    batches: Batches
    objective: Objective
    config: Config
    steps: int
    folder: Path | None = None
    name: str = "training"
    watch: Watcher | None = None

    @property
    def lead(self) -> int:
        """Steps on labelled items alone, before the unlabelled ones join."""
        return round(self.config.lead * self.steps)


def train(run: Run, *, resume: bool = False, show: bool | None = None) -> list[Record]:
    """Train the student and its teacher in place; return one record of named figures a step.

    Args:
        run: what to train on what.
        resume: go on from the checkpoint in the run's folder.
        show: whether to draw a progress bar; None asks whether anybody watches.
    """
    config, device = run.config, next(run.student.parameters()).device
    optimizer = build_optimizer(run.student, config, run.objective.parameters())
    rates = [group["lr"] for group in optimizer.param_groups]
    ramp, warmup = round(config.ramp * run.steps), round(config.warmup * run.steps)
    alpha = teacher_alpha(config, run.steps)
    start, history = (0, []) if not resume else restore(run, optimizer)
    run.student.train()
    run.teacher.network.train()
    last_saved, collapsed = time.monotonic(), False

    with (
        torch.random.fork_rng(),
        stop_signal() as stopping,
        progress.bar(run.name, run.steps, unit="steps", show=show) as advance,
    ):
        advance(start)
        for step, batch, (view_1, view_2) in prepared(run, start):
            factor = learning_rate_factor(step, run.steps, warmup)
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            seed_dropout(step_seed(config.seed, step, 1), device)

            view_1 = view_1.to(device)
            outputs = run.student(view_1)
            teacher_outputs = None
            if run.objective.needs_teacher and step > run.lead:
                with torch.no_grad():
                    teacher_outputs = run.teacher.network(view_2.to(device))
            known, similar = (torch.from_numpy(mask).to(device) for mask in (batch.known, batch.similar))
            terms = run.objective(
                Step(
                    step,
                    consistency_ramp(step - run.lead, ramp),
                    batch.positions,
                    view_1,
                    outputs,
                    teacher_outputs,
                    known,
                    similar,
                    run.student,
                )
            )

            optimizer.zero_grad()
            terms.total.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            run.teacher.update(teacher_decay(step, alpha))

            record = {"step": step, "learning_rate": rates[-1] * factor}
            record |= {
                name: value.item() if isinstance(value, Tensor) else value
                for name, value in terms.named.items()
            }
            check_finite(record, config)
            history.append(record)
            if run.watch is not None:
                run.watch(record)
            advance(1)
            if step % CHECK_EVERY == 0 and step > warmup and not collapsed:
                collapsed = warn_of_collapse(outputs.detach(), step, config)
            if stopping.is_set() and step < run.steps:
                raise Interrupted(interrupted_message(run, optimizer, history, step))
            if run.folder is not None and time.monotonic() - last_saved > CHECKPOINT_SECONDS:
                save(run, optimizer, history, step)
                last_saved = time.monotonic()
    return history


def prepared(run: Run, start: int) -> Iterator[tuple[int, Batch, tuple[Tensor, Tensor]]]:
    """Each step with its batch and views. Images are decoded one step ahead, while the networks are busy.

    Vectors are not: a step on them takes milliseconds, and a second thread costs more than it saves.
    """

    def make(step: int) -> tuple[int, Batch, tuple[Tensor, Tensor]]:
        batch = run.batches.at(step - 1, joined=step > run.lead)
        return step, batch, run.inputs.two_views(batch.positions, step_seed(run.config.seed, step, 0))

    steps = range(start + 1, run.steps + 1)
    if not isinstance(run.inputs, ImageInputs):
        yield from map(make, steps)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="views") as ahead:
        pending = ahead.submit(make, start + 1)
        for step in steps:
            ready = pending.result()
            if step < run.steps:
                pending = ahead.submit(make, step + 1)
            yield ready


def step_seed(seed: int, step: int, stream: int) -> int:
    """A seed for one step of one stream of randomness."""
    return int(np.random.SeedSequence((seed, step, stream)).generate_state(1, np.uint32)[0])


def seed_dropout(seed: int, device: torch.device) -> None:
    """Seed the generator that dropout draws from; ``torch.manual_seed`` would visit every kind of device."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)


def build_optimizer(
    student: HashNetwork, config: Config, beside: Sequence[nn.Parameter] = ()
) -> torch.optim.Optimizer:
    """SGD with momentum or AdamW, the backbone at a share of the head's learning rate.

    Args:
        student: the network.
        config: resolved settings.
        beside: what the objective learns beside the network, at the head's rate.
    """
    rate = config.learning_rate
    assert rate is not None, "settings are resolved before training"
    head = [*student.trunk.parameters(), *student.hash.parameters()]
    groups: list[dict[str, Any]] = [{"params": head, "lr": rate}]
    if beside:  # apart: they may have no gradient yet, and a fused optimiser wants all of a group's or none
        groups.append({"params": list(beside), "lr": rate})
    if student.backbone is not None:
        backbone = [weight for weight in student.backbone.parameters() if weight.requires_grad]
        groups.insert(0, {"params": backbone, "lr": rate * config.backbone_rate})
    if config.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=rate, weight_decay=config.weight_decay, fused=True)
    return torch.optim.SGD(
        groups, lr=rate, momentum=config.momentum, weight_decay=config.weight_decay, fused=True
    )


def teacher_alpha(config: Config, steps: int) -> float:
    """The setting, or a window of a fiftieth of the run, at most the paper's 0.995."""
    return min(0.995, 1 - 50 / max(steps, 51)) if config.alpha is None else config.alpha


def check_finite(record: Record, config: Config) -> None:
    """Raise where the loss is no longer a number."""
    if not math.isfinite(record["loss"]):
        raise Diverged(
            f"the loss became {record['loss']} at step {record['step']}: lower learning_rate "
            f"(now {config.learning_rate:g}) or keep the hidden layer, whose BatchNorm steadies training"
        )


def warn_of_collapse(outputs: Tensor, step: int, config: Config) -> bool:
    """Warn where outputs are near zero, or most codes of the batch are the same; say whether it was so."""
    size = float(outputs.abs().mean())
    _, counts = torch.unique(outputs >= 0, dim=0, return_counts=True)
    share = int(counts.max()) / len(outputs)
    if size < 0.01:
        what = f"outputs shrank to {size:.1g}"
        advice = f"lower learning_rate (now {config.learning_rate:g}) or raise eta (now {config.eta:g})"
    elif share > 0.5 and len(outputs) >= 16 and config.bits >= 8:
        what = f"{share:.0%} of the codes are the same"
        advice = f"lower omega (now {config.omega:g}) or gamma (now {config.gamma:g}), or lower learning_rate"
    else:
        return False
    warnings.warn(f"{what} at step {step}: {advice}", CollapseWarning, stacklevel=3)
    return True


@contextmanager
def stop_signal() -> Iterator[threading.Event]:
    """Let Ctrl-C finish the step at hand; a second one stops at once."""
    stopping = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return

    def stop(number: int, frame: Any) -> None:
        stopping.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopping
    finally:
        signal.signal(signal.SIGINT, before)


def interrupted_message(run: Run, optimizer: torch.optim.Optimizer, history: list[Record], step: int) -> str:
    """Save if there is a folder, and say how to go on."""
    where = f"stopped after step {step} of {run.steps}"
    if run.folder is None:
        return f"{where}; nothing was saved, because no folder was given"
    save(run, optimizer, history, step)
    advice = "run the same command with --resume (fit(..., resume=True)) to go on"
    return f"{where}; it is saved in {run.folder}: {advice}"


def save(run: Run, optimizer: torch.optim.Optimizer, history: list[Record], step: int) -> None:
    """Write checkpoint and history into the run's folder."""
    assert run.folder is not None
    write_history(run.folder / "history.jsonl", history)
    save_checkpoint(run.folder, Checkpoint(step, run.student, run.teacher.network, optimizer, run.config))


def restore(run: Run, optimizer: torch.optim.Optimizer) -> tuple[int, list[Record]]:
    """Load the checkpoint of the run's folder: the step it stands at, and the history so far."""
    if run.folder is None:
        raise UserError("there is nothing to resume: no folder was given")
    step = load_checkpoint(run.folder, run.student, run.teacher.network, optimizer, run.config)
    lines = (run.folder / "history.jsonl").read_text().splitlines()
    return step, [json.loads(line) for line in lines][:step]


def write_history(path: Path, history: list[Record]) -> None:
    """One JSON object a step."""
    from ..util.files import write_text

    write_text(path, "".join(json.dumps(record) + "\n" for record in history))
