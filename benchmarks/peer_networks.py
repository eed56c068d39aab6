"""Peers that train a network: their loss, optimiser, batch and passes; network and features as ours.

A peer that was made for whole networks has rates for whole networks, so others are tried beside its own, and
it may stop early: both are chosen on a split of their own, which our side does not use.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from peer_checkouts import checkout, import_file
from peer_given import Given, Outputs
from pts3h.data.problem import Problem
from pts3h.nets.hash_network import HashNetwork
from pts3h.objectives.objective import Objective, Step, Terms
from pts3h.settings.used import Used
from pts3h.systems.deep import DeepSystem

MARKS = (0.1, 0.3, 1.0)  # of the passes, after which a peer may stop
RATES = (1e-4, 3e-4, 1e-3, 3e-3)  # of RMSprop; 1e-5, their own, is for whole networks
PASSES_OF_DSDH = 150
BATCH_OF_HASHNET, STEPS_OF_HASHNET = 72, 10_000  # twice 36 items
FACTORS = (1.0, 0.25, 4.0)  # of our rate

PeerLoss = Callable[[Tensor, Tensor, Tensor], Tensor]  # outputs, classes as one-hot rows, items → loss


@dataclass(frozen=True)
class Published:
    """How a peer trains.

    Attributes:
        loss: what it minimises.
        optimizer: makes its optimiser from weights and a rate.
        batch: items per step.
        passes: over the labelled items.
        rates: to try.
        begin: called before each pass, with its number from 0, the optimiser and the rate.
    """

    loss: PeerLoss
    optimizer: Callable[[Iterator[torch.nn.Parameter], float], torch.optim.Optimizer]
    batch: int
    passes: int
    rates: Sequence[float] = RATES
    begin: Callable[[int, torch.optim.Optimizer, float], None] = lambda *_: None


class NetworkPeer(ABC):
    """A public implementation of one of our networks.

    Attributes:
        system: what we call it.
        repository: where it is from.
    """

    system: str
    repository: str

    @abstractmethod
    def published(self, peers: Path, given: Given) -> Published:
        """Its training, fresh."""

    def tries(self, peers: Path, given: Given) -> Sequence[float]:
        """Rates to try."""
        return self.published(peers, given).rates

    def run(
        self, peers: Path, given: Given, rate: float, most_steps: int, until: str = ""
    ) -> dict[str, Outputs]:
        """Outputs of the held-out items when it stops at each mark, or at one alone."""
        torch.manual_seed(given.split.seed)
        how, inputs = self.published(peers, given), given.inputs
        network = HashNetwork(
            given.bits, inputs=given.array.shape[2], hidden=given.used.hidden, dropout=given.used.dropout
        )
        network.standardize(*inputs.standard)
        optimizer = how.optimizer(network.parameters(), rate)
        labelled, rng = given.split.labelled, np.random.default_rng(given.split.seed)
        targets = one_hot(given)
        steps_per_pass = -(-len(labelled) // how.batch)
        passes = max(min(how.passes, most_steps // steps_per_pass), 1)
        marks = {max(round(passes * share), 1) for share in MARKS}
        found, step = {}, 0
        for number in range(passes):
            network.train()
            how.begin(number, optimizer, rate)
            order = rng.permutation(len(labelled))
            for start in range(0, len(order), how.batch):
                rows = torch.from_numpy(order[start : start + how.batch])
                step += 1
                view, _ = inputs.two_views(labelled[rows], step)
                optimizer.zero_grad()
                loss = how.loss(network(view), targets[rows], rows)
                torch.autograd.backward(loss)
                optimizer.step()
            if number + 1 in marks:
                network.eval()
                with torch.no_grad():
                    outputs = network(torch.from_numpy(given.clean(given.split.queries)))
                found[f"{number + 1} passes"] = outputs.numpy()
            if until in found:
                break
        return found


@dataclass(frozen=True)
class InOurTraining:
    """The loss of a peer with our optimiser, batches, steps and moving average."""

    peer: NetworkPeer

    @property
    def system(self) -> str:
        return self.peer.system

    @property
    def repository(self) -> str:
        return f"{self.peer.repository}, its loss alone"

    def tries(self, peers: Path, given: Given) -> Sequence[float]:
        """Factors of our rate."""
        return FACTORS

    def run(
        self, peers: Path, given: Given, rate: float, most_steps: int, until: str = ""
    ) -> dict[str, Outputs]:
        """Outputs of the held-out items."""
        how, targets = self.peer.published(peers, given), one_hot(given)
        rows = np.full(len(given.data.items), -1)
        rows[given.split.labelled] = np.arange(len(given.split.labelled))

        def objective(problem: Problem, used: Used) -> Objective:
            return Loss(how.loss, targets, rows)

        found = DeepSystem(
            name=self.system,
            label=self.system,
            kind="supervised",
            objective=objective,
            defining={"loss": self.system, "omega": 0.0},
            defaults={"learning_rate": rate * given.used_by(self.system).learning_rate},
        ).fit(given.task)
        return {"": found.outputs(given.data.items.subset(given.split.queries))[0]}


@dataclass
class Loss(Objective):
    """A peer's loss as one of ours."""

    loss: PeerLoss
    targets: Tensor
    rows: Any

    def __call__(self, step: Step) -> Terms:
        rows = torch.from_numpy(self.rows[step.positions])
        total = self.loss(step.outputs, self.targets[rows], rows)
        return Terms(total, {"loss": total})


def one_hot(given: Given) -> Tensor:
    """(labelled, classes)."""
    return F.one_hot(torch.from_numpy(given.data.labels[given.split.labelled]), given.classes).float()


class DeepHash(NetworkPeer):
    """A file of swuxyj/DeepHash-pytorch: a class of losses, and a dictionary that says how it trains."""

    repository = "swuxyj/DeepHash-pytorch"

    def __init__(self, system: str, name: str) -> None:
        self.system, self.name = system, name

    def published(self, peers: Path, given: Given) -> Published:
        path = checkout(peers, self.repository) / f"{self.name}.py"
        module = import_file(path, ("utils", "utils.tools", "network"))
        for name in ("config_dataset", "AlexNet", "ResNet"):  # of the files that were left out
            setattr(module, name, lambda given=None: given)
        config = module.get_config()
        config |= {"device": "cpu", "num_train": len(given.split.labelled), "n_class": given.classes}
        criterion = getattr(module, f"{self.name}Loss")(config, given.bits)
        kind, parameters = config["optimizer"]["type"], config["optimizer"]["optim_params"]

        def begin(number: int, *_: object) -> None:
            if "step_continuation" in config:  # HashNet's tanh grows sharper
                criterion.scale = (number // config["step_continuation"] + 1) ** 0.5

        return Published(
            lambda outputs, targets, rows: criterion(outputs, targets, rows, config),
            lambda weights, rate: kind(weights, **{**parameters, "lr": rate}),
            config["batch_size"],
            config["epoch"],
            begin=begin,
        )


class HashNetOfItsAuthors(NetworkPeer):
    """The loss of thuml/HashNet and its SGD; tanh grows sharper every 200 steps."""

    system, repository = "hashnet", "thuml/HashNet"

    def published(self, peers: Path, given: Given) -> Published:
        module = import_file(checkout(peers, self.repository) / "pytorch" / "src" / "loss.py", ())
        steps = 0

        def loss(outputs: Tensor, targets: Tensor, rows: Tensor) -> Tensor:
            nonlocal steps
            soft, steps = torch.tanh((1 + 0.005 * (steps // 200 * 200)) ** 0.5 * outputs), steps + 1
            half = len(soft) // 2  # it draws two batches and pairs one with the other
            sides = soft[:half], soft[half:], targets[:half], targets[half:]
            found: Tensor = module.pairwise_loss(
                *sides, sigmoid_param=10 / given.bits, class_num=float(given.classes)
            )
            return found

        def begin(number: int, optimizer: torch.optim.Optimizer, rate: float) -> None:
            for group in optimizer.param_groups:
                group["lr"] = rate * 0.5 ** (steps // 2000)

        return Published(
            loss,
            lambda weights, rate: torch.optim.SGD(
                weights, lr=rate, momentum=0.9, weight_decay=5e-4, nesterov=True
            ),
            BATCH_OF_HASHNET,
            STEPS_OF_HASHNET * BATCH_OF_HASHNET // len(given.split.labelled),
            rates=(0.01, 0.03, 0.1, 0.3),  # it names none
            begin=begin,
        )


class DSDH(NetworkPeer):
    """TreezzZ/DSDH_PyTorch: its loss of a batch, and its own solution for the codes after each pass."""

    system, repository = "dsdh", "TreezzZ/DSDH_PyTorch"
    mu, nu, eta = 1e-2, 1.0, 1e-2  # defaults of its run.py

    def published(self, peers: Path, given: Given) -> Published:
        folder = checkout(peers, self.repository)
        unused = ("loguru", "models", "models.model_loader", "models.dsdh_loss", "utils", "utils.evaluate")
        solver = import_file(folder / "dsdh.py", unused)
        losses = import_file(folder / "models" / "dsdh_loss.py", ())
        criterion, targets, count = losses.DSDHLoss(self.eta), one_hot(given), len(given.split.labelled)
        similar = (targets @ targets.T > 0).float()
        codes, outputs_seen = torch.randn(given.bits, count).sign(), torch.zeros(given.bits, count)

        def loss(outputs: Tensor, of_batch: Tensor, rows: Tensor) -> Tensor:
            outputs_seen[:, rows] = outputs.detach().T
            found: Tensor = criterion(outputs.T, outputs_seen, similar[:, rows], codes[:, rows])
            return found

        def begin(number: int, optimizer: torch.optim.Optimizer, rate: float) -> None:
            nonlocal codes
            if number:
                gram = codes @ codes.T + self.nu / self.mu * torch.eye(given.bits)
                classifier = torch.inverse(gram) @ codes @ targets
                codes = solver.solve_dcc(classifier, targets.T, outputs_seen, codes, self.eta, self.mu)
            for group in optimizer.param_groups:  # its cosine
                group["lr"] = 1e-7 + (rate - 1e-7) * (1 + np.cos(np.pi * number / PASSES_OF_DSDH)) / 2

        return Published(
            loss,
            lambda weights, rate: torch.optim.RMSprop(weights, lr=rate, weight_decay=1e-5),
            128,
            PASSES_OF_DSDH,
            begin=begin,
        )
