"""Deep Semantic Hashing with GANs (Qiu et al., SIGIR 2017): made items with known classes join the labelled.

On cached features the conditional GAN makes features; the paper's makes images.
"""

import torch
from torch import Tensor, nn

from ..data.items import Labels
from ..data.problem import Problem
from ..errors import UserError
from ..losses.quantization import quantization
from ..settings.used import Used
from .classifying import Classifying
from .conditional_gan import ConditionalGAN
from .objective import Step, Terms
from .triplets import soft_distances, triplet_hinge


class DSHGANs(Classifying):
    """Triplets and classification, of real items and, as omega ramps up, of made ones against real ones.

    The GAN takes its own step (adversarial and classification losses) each time; nothing flows from the hash
    network into it.

    Args:
        labels: of all items, -1 where unknown.
        bits: code length.
        gan: makes the items.
        omega: weight of the terms with made items.
        eta: weight of the quantization loss.
        margin: of the triplets, on distances from 0 to 4.
    """

    def __init__(
        self,
        labels: Labels,
        bits: int,
        gan: ConditionalGAN,
        *,
        omega: float = 0.5,
        eta: float = 0.004,
        margin: float = 1.0,
    ) -> None:
        super().__init__(labels, bits, omega=omega, eta=eta)
        self.gan, self.margin = gan, margin  # the GAN steps by itself, and learns from all items

    @property
    def needs_inputs(self) -> bool:
        """The GAN learns from them, and the network is run on what it makes."""
        return True

    def __call__(self, step: Step) -> Terms:
        """Compute the loss, after a step of the GAN."""
        targets = self.targets[torch.from_numpy(step.positions[: step.labelled])].to(step.outputs)
        real = step.outputs[: step.labelled]
        supervised = self.hashing(real, real, targets)
        total = supervised + self.eta * quantization(step.outputs)
        named: dict[str, Tensor | float] = {"supervised": supervised}
        if self.omega:
            judged, generated = self.gan.update(step.inputs.detach(), targets)
            with torch.no_grad():
                made = self.gan.make(targets)
            augmented = self.hashing(run_aside(step.student, made), real, targets)
            total = total + self.omega * step.weight * augmented
            named |= {"made": augmented, "discriminator": judged, "generator": generated}
        return Terms(total, {"loss": total, **named})

    def hashing(self, anchors: Tensor, others: Tensor, targets: Tensor) -> Tensor:
        """Classification of the anchors, and triplets of each with others; row by row of the same classes."""
        different = ~torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
        distance = soft_distances(anchors, others)
        ranking = triplet_hinge(distance, targets @ targets.T > 0, different, self.margin)
        return ranking + self.classifier.loss(torch.tanh(anchors), targets)


def run_aside(network: nn.Module, inputs: Tensor) -> Tensor:
    """Outputs for made inputs, which must not enter the network's BatchNorm statistics."""
    buffers = {name: buffer.clone() for name, buffer in network.named_buffers()}
    outputs: Tensor = torch.func.functional_call(network, buffers, (inputs,))
    return outputs


def build(problem: Problem, used: Used) -> DSHGANs:
    """DSH-GANs; omega weighs the made items."""
    labels, standard = problem.labels("dsh-gans"), problem.inputs.standard
    if standard is None:
        raise UserError("dsh-gans makes vectors here, not pictures: leave out --fine-tune, or this system")
    classes = labels.shape[1] if labels.ndim == 2 else int(labels.max()) + 1
    gan = ConditionalGAN(*standard, classes, several=labels.ndim == 2)
    return DSHGANs(labels, used.bits, gan, omega=used.omega, eta=used.eta)
