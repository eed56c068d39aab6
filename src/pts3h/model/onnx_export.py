"""A model as one ONNX file: preprocessing, backbone, head and look bits, for any number of items at once.

The file computes what encoding by torch does, rounding of frozen features included. It is written only if
its answers are torch's.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..errors import UserError
from ..nets.feature_cache import fold_norms
from ..util.extras import require
from ..util.files import write_atomic
from ..util.progress import Progress, bar
from .model import Model
from .onnx_check import as_inputs, check_answers, sample_items
from .onnx_file import sealed_onnx
from .onnx_runner import OUTPUTS, open_session
from .trained import Networks

FEATURES = "features"  # what enters the head, where the backbone is frozen


class Graph(nn.Module):
    """What the file computes: pixels (n, 3, size, size) of 8 bits, or vectors → real outputs.

    Args:
        networks: left as they are.
    """

    def __init__(self, networks: Networks) -> None:
        super().__init__()
        self.takes_pictures, self.mirror = networks.used.takes_pictures, networks.used.mirror
        self.coder = fold_norms(deepcopy(networks.coder("teacher")).cpu().eval())
        self.frozen = None if networks.frozen is None else deepcopy(networks.frozen.net).cpu()

    def forward(self, items: Tensor) -> tuple[Tensor, ...]:
        """Outputs, and the features of a frozen backbone."""
        if not self.takes_pictures:
            return (self.coder(items),)
        images = items.float() / 255
        if self.frozen is None:
            return (self._of_both_sides(self.coder, images),)
        features = rounded(self._of_both_sides(lambda some: rounded(self.frozen(some)), images))
        return self.coder(features), features

    def _of_both_sides(self, network: Any, images: Tensor) -> Tensor:
        """The mean over a picture and its mirror image, if the model takes it."""
        outputs: Tensor = network(images)
        return (outputs + network(images.flip(3))) / 2 if self.mirror else outputs


def rounded(features: Tensor) -> Tensor:
    """To half floats, as features are kept."""
    return features.half().float()


def export_onnx(model: Model, path: Path, *, progress: Progress = None) -> None:
    """Write a model as ONNX; refused where its answers would not be torch's.

    Args:
        model: what to write; its student is left out.
        path: the file; what is there is replaced.
        progress: show a bar; None asks whether standard error is a terminal.
    """
    require("onnxscript", "exporting to ONNX")
    require("onnxruntime", "exporting to ONNX")
    networks = model.networks
    sample = sample_items(networks)
    with bar("exporting", 2, unit="steps", progress=progress) as advance:
        content = sealed_onnx(onnx_of(networks, as_inputs(sample)), model.fingerprint)
        advance(1)
        check_answers(networks, sample, open_session(path, content))
        advance(1)
    write_atomic(path, lambda file: file.write(content))


def onnx_of(networks: Networks, inputs: NDArray[Any]) -> bytes:
    """The graph as a file of ONNX."""
    graph = Graph(networks)
    names = [OUTPUTS] if graph.frozen is None else [OUTPUTS, FEATURES]
    try:
        with quietly():
            program = torch.onnx.export(
                graph,
                (torch.from_numpy(inputs),),
                dynamo=True,
                input_names=["pixels" if graph.takes_pictures else "vectors"],
                output_names=names,
                dynamic_shapes=({0: torch.export.Dim("batch")},),
                verbose=False,
            )
    except Exception as error:  # whatever a network has in it that ONNX has not
        raise UserError(f"{networks.used.backbone} cannot be written as ONNX: {error}") from error
    assert program is not None  # without a file to write to, it is returned
    content: bytes = program.model_proto.SerializeToString()
    return content


@contextmanager
def quietly() -> Iterator[None]:
    """Without torch's words on packages that it could use, and on its own future."""
    log = logging.getLogger("torch.onnx")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)
