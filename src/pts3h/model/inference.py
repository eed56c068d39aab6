"""The one way to run a network over many items."""

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.images import Positions
from ..data.inputs import Inputs
from ..nets.backbones.backbone import Backbone
from ..nets.hash_network import HashNetwork
from ..nets.look import TwoParts
from ..util import torch_threads  # noqa: F401  (sets them)
from ..util.ahead import ahead
from ..util.memory import keep_freed_memory
from ..util.progress import Progress, bar


@torch.inference_mode()
def run(
    network: HashNetwork | TwoParts | Backbone,
    inputs: Inputs,
    positions: Positions,
    *,
    mirror: bool = False,
    progress: Progress = None,
) -> NDArray[np.float32]:
    """(n, width) real outputs of the unperturbed items at ``positions``.

    Args:
        network: left in evaluation mode.
        inputs: items as tensors; what cannot be read is noted in ``inputs.broken``.
        positions: of the items to run on.
        mirror: average the outputs of a picture and of its mirror image.
        progress: whether to draw a bar.
    """
    keep_freed_memory()
    network.eval()
    device = next(network.parameters()).device
    outputs = np.empty((len(positions), network.width), np.float32)
    batches = [positions[start : start + inputs.batch] for start in range(0, len(positions), inputs.batch)]
    done = 0
    with bar("encoding", len(positions), unit="items", progress=progress) as advance:
        for clean in ahead(inputs.clean, batches) if inputs.worth_preparing else map(inputs.clean, batches):
            there = clean.to(device)
            result = network(there)
            if mirror:
                result = (result + network(there.flip(3))) / 2
            outputs[done : done + len(clean)] = result.cpu().numpy()
            done += len(clean)
            advance(len(clean))
    return outputs
