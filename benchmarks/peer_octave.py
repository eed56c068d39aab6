"""Peers in Matlab, run by GNU Octave from their checkouts: KSH and MIHash of their own authors."""

import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.io import loadmat, savemat
from torch import Tensor

from peer_checkouts import checkout
from peer_given import Given, Outputs
from peer_networks import NetworkPeer, Published
from pts3h.errors import UserError
from pts3h.losses.mihash import MIHash as OurMIHash

OCTAVE = "octave-cli"
BATCH_OF_MIHASH, PASSES_OF_MIHASH = 256, 100
CLOSE = 1e-4
STEPS_OF_MIHASH = 400  # a hundred passes over few items would be too short
# sigmf is of a toolbox that Octave does not have
SIGMOID = "function y = sigmf(x, p)\n  y = 1 ./ (1 + exp(-p(1) * (x - p(2))));\nend\n"
INFORMATION = """
addpath('{folder}/mihash'); addpath('{folder}/util'); load given.mat;
layer = struct('class', double(y), 'opts', ...
  struct('gpus', [], 'unsupervised', false, 'sigmf_p', [{slope} 0], 'nbins', {bins}));
bot = struct('x', reshape(x, 1, 1, size(x, 1), size(x, 2)));
top = mi_forward(layer, bot, struct());
bot = mi_backward(layer, bot, top);
value = double(top.x); gradient = double(bot.dzdx(:));
save -v7 found.mat value gradient
"""


def octave() -> str:
    """The program."""
    found = shutil.which(OCTAVE)
    if found is None:
        raise UserError(f"there is no {OCTAVE}: apt install octave")
    return found


def run_octave(script: str, folder: Path) -> None:
    """Run a script in a folder."""
    command = [octave(), "--no-gui", "-q", "--eval", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if done.returncode:
        raise UserError(f"Octave could not run {script}: {done.stderr.decode()[-500:]}")


class MIHash(NetworkPeer):
    """SGD as its authors train on CIFAR-10.

    Octave takes a quarter of a second per step, so their code is asked once whether value and gradient are
    ours, and ours is then trained with.

    Args:
        slope: of the soft sign. They take 1 for few labelled items and 30 for many.
        bins: of the histogram; they take 32 and 12.
    """

    system = "mihash"

    def __init__(self, slope: float, bins: int) -> None:
        self.slope, self.bins, self.asked = slope, bins, False
        self.repository = f"fcakir/deep-mihash, slope {slope:g}"

    def published(self, peers: Path, given: Given) -> Published:
        mutual_information = OurMIHash(given.bits, bins=self.bins, slope=self.slope)
        if not self.asked:
            refuse_other(checkout(peers, "fcakir/deep-mihash"), mutual_information, given.classes)
            self.asked = True
        per_pass = -(-len(given.split.labelled) // BATCH_OF_MIHASH)
        passes = max(PASSES_OF_MIHASH, STEPS_OF_MIHASH // per_pass)

        def loss(outputs: Tensor, targets: Tensor, rows: Tensor) -> Tensor:
            known = ~torch.eye(len(rows), dtype=torch.bool)
            return mutual_information.supervised(outputs, targets @ targets.T > 0, known) / math.log(2)

        def begin(number: int, optimizer: torch.optim.Optimizer, rate: float) -> None:
            for group in optimizer.param_groups:
                group["lr"] = rate * 0.5 ** (2 * number // passes)

        return Published(
            loss,
            lambda weights, rate: torch.optim.SGD(weights, lr=rate, momentum=0.9, weight_decay=5e-4),
            BATCH_OF_MIHASH,
            passes,
            rates=(0.002, 0.02, 0.2, 2.0),
            begin=begin,
        )


def refuse_other(folder: Path, ours: OurMIHash, classes: int) -> None:
    """Raise where value or gradient are not those of their code, on outputs by chance."""
    chance = torch.Generator().manual_seed(0)
    outputs = torch.randn(64, ours.bits, dtype=torch.float64, generator=chance, requires_grad=True)
    labels = torch.arange(64) % classes
    loss = ours.supervised(outputs, labels[:, None] == labels, ~torch.eye(64, dtype=torch.bool))
    torch.autograd.backward(loss)
    value, gradient = published_information(folder, outputs.detach(), labels, ours.bins, ours.slope)
    assert outputs.grad is not None
    per_anchor = np.log(2) / 64  # they count in bits, and add up
    apart = float((gradient * per_anchor - outputs.grad).abs().max() / outputs.grad.abs().max())
    print(
        f"<!-- mihash, slope {ours.slope:g}: value {-loss.item():.6f} and {value * per_anchor:.6f}, "
        f"gradients apart by {apart:.1e} of the largest entry -->"
    )
    if apart > CLOSE:
        raise UserError(f"the gradient of MIHash is not that of {folder}")


def published_information(
    folder: Path, outputs: Tensor, labels: Tensor, bins: int, slope: float
) -> tuple[float, Tensor]:
    """Mutual information in bits, added up over the anchors, and the gradient of minus that."""
    with TemporaryDirectory() as name:
        place = Path(name)
        (place / "sigmf.m").write_text(SIGMOID)
        savemat(place / "given.mat", {"x": outputs.numpy().T.astype(float), "y": labels.numpy()[:, None]})
        run_octave(INFORMATION.format(folder=folder, slope=slope, bins=bins), place)
        found = loadmat(place / "found.mat")
    gradient = np.asarray(found["gradient"]).reshape(outputs.T.shape, order="F").T
    return float(found["value"].item()), torch.from_numpy(gradient.copy())


class KSH:
    """The script of its authors as it is, but for the numbers of bits and of labelled items in it."""

    system, repository = "ksh-kernel", "ColumbiaDVMM/Supervised-Hashing-with-Kernels"
    anchors = 300

    def tries(self, peers: Path, given: Given) -> Sequence[float]:
        checkout(peers, self.repository)
        return (0.0,)

    def run(
        self, peers: Path, given: Given, rate: float, most_steps: int, until: str = ""
    ) -> dict[str, Outputs]:
        """Signs of the held-out items."""
        split, labels = given.split, given.data.labels
        rng = np.random.default_rng(split.seed)
        rows = np.searchsorted(split.database, split.labelled)
        sides = {"traindata": split.database, "testdata": split.queries}
        content: dict[str, NDArray[Any]] = {
            name: given.clean(positions).astype(np.float64) for name, positions in sides.items()
        }
        content |= {"traingnd": labels[split.database][:, None], "testgnd": labels[split.queries][:, None]}
        anchors = rng.choice(len(split.database), self.anchors, replace=False)
        with TemporaryDirectory() as name:
            folder = Path(name)
            for source in checkout(peers, self.repository).glob("*.m"):
                text = source.read_text(errors="replace")
                text = re.sub(r"(?m)^r = 48;", f"r = {given.bits};", text)
                text = re.sub(r"(?m)^trn = 2000;", f"trn = {len(rows)};", text)
                (folder / source.name).write_text(text)
            savemat(folder / "demo_patch_data.mat", content)
            savemat(folder / "label_index_2k.mat", {"label_index": rows[None] + 1.0})
            savemat(folder / "sample_300.mat", {"sample": anchors[None] + 1.0})
            run_octave("save_default_options('-v7'); KSH_demo", folder)
            found = loadmat(folder / "ksh_48", appendmat=False)
        queries = given.clean(split.queries).astype(np.float64)
        squares = np.square(queries).sum(1)[:, None] + np.square(found["anchor"]).sum(1)
        kernel = np.exp(-(squares - 2 * queries @ found["anchor"].T) / (2 * found["sigma"]))
        return {"": (kernel - found["mvec"]) @ found["A1"]}


class ITQ:
    """The rotation of willard-yuan/hashing-baseline-for-image-retrieval, on principal components by numpy."""

    system, repository = "itq", "willard-yuan/hashing-baseline-for-image-retrieval"

    def tries(self, peers: Path, given: Given) -> Sequence[float]:
        checkout(peers, self.repository)
        return (0.0,)

    def run(
        self, peers: Path, given: Given, rate: float, most_steps: int, until: str = ""
    ) -> dict[str, Outputs]:
        """Outputs of the held-out items."""
        code = checkout(peers, self.repository) / "Method-ITQ"
        train, queries = (given.clean(side) for side in (given.split.database, given.split.queries))
        center = train.mean(axis=0, dtype=np.float64)
        _, _, directions = np.linalg.svd(train - center, full_matrices=False)
        axes = directions[: given.bits].T
        with TemporaryDirectory() as name:
            folder = Path(name)
            savemat(folder / "given.mat", {"x": train - center, "pc": axes})
            learn = f"p = trainITQ(x, struct('pcaW', pc, 'nbits', {given.bits})); r = p.r;"
            seed = f"randn('state', {given.split.seed});"
            run_octave(f"addpath('{code}'); load given.mat; {seed} {learn} save -v7 found.mat r", folder)
            rotation = loadmat(folder / "found.mat")["r"]
        return {"": (queries - center) @ axes @ rotation}
