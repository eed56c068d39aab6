"""What the processes of one training share, where torchrun started several of them.

Each rank runs its share of every batch through the networks. Outputs are gathered, so that all ranks compute
the same loss of the whole batch, and the gradients of the shares are added up. Rank 0 speaks and writes.
"""

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from ..data.batches import Share
from ..data.images import Positions
from ..data.training_set import TrainingSet
from ..errors import RankLost, UserError
from ..settings.used import Used
from ..util.torchrun import own_rank, several_processes

if TYPE_CHECKING:
    from torch.distributed.distributed_c10d import Store

OUTLINED = 256  # items that are compared whole
FITS = count()  # how many times ranks came together so far, in all of them alike


class Ranks:
    """This process among the others of its training.

    Args:
        rank: its number, from 0.
        count: how many there are.
        store: holds why a rank left, for the others to read.
        group: to talk by; None for the default one.
    """

    def __init__(self, rank: int, count: int, store: "Store", group: dist.ProcessGroup | None = None) -> None:
        self.rank, self.count, self.store, self.group = rank, count, store, group

    @property
    def first(self) -> bool:
        """Whether it is this one that speaks and writes."""
        return self.rank == 0

    def share(self, count: int) -> Share:
        """Its items of a batch of so many."""
        return Share(count * self.rank // self.count, count * (self.rank + 1) // self.count, count)

    def part(self, count: int) -> Positions:
        """Its part of so many things to do; what is new often stands at the end, so ranks take turns."""
        return np.arange(self.rank, count, self.count)

    def add_up(self, tensor: Tensor) -> None:
        """Sum a tensor over all ranks, in place."""
        with self._in_touch():
            dist.all_reduce(tensor, group=self.group)

    def wait(self) -> None:
        """Until all ranks are here."""
        self.add_up(torch.zeros(1))

    def gathered(self, own: Tensor, share: Share) -> Tensor:
        """The rows of all ranks, in order. Only a rank's own ones take its gradient: ranks add theirs up."""
        rows = own.new_zeros(share.count, *own.shape[1:])
        rows[share.rows] = own.detach()
        self.add_up(rows)
        return torch.cat([rows[: share.start], own, rows[share.stop :]])

    def add_gradients(self, weights: Sequence[Tensor], stop: bool) -> bool:
        """Sum the gradients of some weights over all ranks, in place; whether any rank is to ``stop``."""
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients] + [gradients[0].new_tensor([stop])])
        self.add_up(flat)
        sums = torch.split(flat, [*(gradient.numel() for gradient in gradients), 1])
        for gradient, total in zip(gradients, sums[:-1], strict=True):
            gradient.copy_(total.view_as(gradient))
        return bool(sums[-1])

    def take_from_first(self, tensors: Sequence[Tensor]) -> None:
        """Give tensors the values that rank 0 has."""
        with self._in_touch():
            for tensor in tensors:
                same = tensor.detach().contiguous()
                dist.broadcast(same, 0, group=self.group)
                tensor.detach().copy_(same)

    def first_says(self, value: Any) -> Any:
        """What rank 0 says, on every rank: plain values, which JSON can hold."""
        said = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        length = torch.tensor([len(said)])
        self.take_from_first([length])
        said = said if self.first else said.new_empty(int(length))
        self.take_from_first([said])
        return json.loads(said.numpy().tobytes())

    def begin(self, training: TrainingSet, used: Used) -> bool:
        """Take a device, and refuse to learn something else than rank 0; whether this rank speaks."""
        self.take_device(used.device)
        mine = outline(training, used)
        if self.first_says(mine) != mine:
            raise UserError(
                f"rank {self.rank} was given other items, pairs or settings than rank 0: all processes of a "
                "torchrun learn one model, so start them on the same"
            )
        return self.first

    def take_device(self, name: str) -> None:
        """Let each rank of a machine have a GPU of its own, where it is to use one."""
        if name.startswith("cuda:"):
            raise UserError(f"device={name!r} is one device for all ranks: say 'cuda', and each has its own")
        if name in ("auto", "cuda") and torch.cuda.is_available():
            local, there = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
            if local >= there:
                raise UserError(
                    f"this machine has {there} GPUs: start as many processes, --nproc-per-node {there}"
                )
            torch.cuda.set_device(local)

    def leave(self, error: BaseException) -> None:
        """Say why, for the others: they find this rank gone."""
        if not isinstance(error, RankLost):
            said = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
            self.store.set(f"left/{self.rank}", said)

    @contextmanager
    def _in_touch(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:  # gloo and NCCL have no better one
            raise self._lost() from error

    def _lost(self) -> RankLost:
        for rank in range(self.count):
            if rank != self.rank and self.store.check([f"left/{rank}"]):
                return RankLost(f"rank {rank}: {self.store.get(f'left/{rank}').decode()}")
        return RankLost(
            "another process of this training was killed, or its machine is out of reach: "
            "start all of them again with --resume (fit(..., resume=True)) to go on from the last checkpoint"
        )


def outline(training: TrainingSet, used: Used) -> str:
    """A digest of what is learned from, and how; of vectors and known pairs a sample is enough."""
    items, known = training.items, training.known
    parts: list[NDArray[Any]] = [training.pool, known.labelled, *known.block(known.labelled[:OUTLINED])]
    if isinstance(items.content, np.ndarray):
        parts.append(items.content[:: max(len(items) // OUTLINED, 1)])
    digest = hashlib.sha256(json.dumps([used.to_json(), list(items.ids)]).encode())
    for part in parts:
        digest.update(part.tobytes())
    return digest.hexdigest()


@contextmanager
def joined() -> Iterator[Ranks | None]:
    """The ranks of a fit, for as long as it takes; None in a process of its own, which this costs nothing."""
    if not several_processes():
        yield None
        return
    with ExitStack() as stack:
        stack.callback(setattr, sys, "excepthook", sys.excepthook)  # torch puts another before it each time
        ranks = join()
        stack.callback(dist.destroy_process_group, ranks.group)  # the others notice at once
        if not ranks.first:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
        try:
            yield ranks
        except BaseException as error:
            ranks.leave(error)
            raise


def join() -> Ranks:
    """Meet the other processes; beside a script's own group, if it has one."""
    from torch.distributed.distributed_c10d import PrefixStore  # not every torch has it

    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    rank, count = own_rank(), int(os.environ["WORLD_SIZE"])
    try:
        attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
        store = PrefixStore(f"pts3h/{attempt}/{next(FITS)}", shared_store())
        group = None
        if dist.is_initialized():
            group = dist.new_group(backend=backend)
        else:
            dist.init_process_group(backend, store=store, rank=rank, world_size=count)
        # Who leaves while another still connects to it breaks that, and from then on torch counts groups
        # differently on both: the next fit would wait in vain.
        store.set(f"connected/{rank}", "")
        store.wait([f"connected/{other}" for other in range(count)])
    except RuntimeError as error:
        raise UserError(
            f"the {count} processes that torchrun started do not reach each other "
            f"({str(error).splitlines()[0]}): see docs/ranks.md"
        ) from error
    return Ranks(rank, count, store, group)


@cache
def shared_store() -> "Store":
    """Names and values that all processes of a torchrun see."""
    from torch.distributed.rendezvous import rendezvous

    store: Store
    store, _, _ = next(iter(rendezvous("env://")))
    return store
