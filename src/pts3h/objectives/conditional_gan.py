"""A conditional GAN of vectors: noise and a class in, a vector out (after AC-GAN, arXiv 1610.09585)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .class_targets import Classifier

NOISE, HIDDEN = 64, 256


class ConditionalGAN:
    """Generator and discriminator, trained in turn by Adam; vectors are standardised inside.

    The discriminator tells real from made vectors, of all items, and classes, of the labelled ones.

    Args:
        center: (d,) mean of the vectors.
        spread: (d,) their spread, entry by entry.
        classes: how many there are.
        several: whether an item may have more than one class.
        rate: learning rate.
    """

    def __init__(
        self, center: Tensor, spread: Tensor, classes: int, *, several: bool, rate: float = 1e-3
    ) -> None:
        width = len(center)
        self.center, self.spread = center, spread.clamp(min=1e-6)
        # no BatchNorm: among items of one class it would take away what the class is
        self.generator = nn.Sequential(
            nn.Linear(NOISE + classes, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, width)
        )
        self.body = nn.Sequential(nn.Linear(width, HIDDEN), nn.LeakyReLU(0.2), nn.Dropout(0.3))
        self.is_real, self.classifier = nn.Linear(HIDDEN, 1), Classifier(HIDDEN, classes, several=several)
        judges = [*self.body.parameters(), *self.is_real.parameters(), *self.classifier.parameters()]
        self.generating = torch.optim.Adam(self.generator.parameters(), lr=rate, betas=(0.5, 0.9), fused=True)
        self.judging = torch.optim.Adam(judges, lr=rate, betas=(0.5, 0.9), fused=True)

    def make(self, targets: Tensor) -> Tensor:
        """A vector for each row of classes."""
        made: Tensor = self.generator(torch.cat([torch.randn(len(targets), NOISE), targets], dim=1))
        return made * self.spread + self.center

    def update(self, vectors: Tensor, targets: Tensor) -> tuple[float, float]:
        """One step of the discriminator, then of the generator; returns their losses.

        Args:
            vectors: (n, d) real ones, the labelled first.
            targets: (m, classes) of the labelled.
        """
        made = self.make(targets)
        self.judging.zero_grad()
        real, fake = self._judge(vectors), self._judge(made.detach())
        judged = (
            F.softplus(-self.is_real(real)).mean()
            + F.softplus(self.is_real(fake)).mean()
            + self.classifier.loss(real[: len(targets)], targets)
        )
        torch.autograd.backward(judged)
        self.judging.step()

        self.generating.zero_grad()
        fake = self._judge(made)
        generated = F.softplus(-self.is_real(fake)).mean() + self.classifier.loss(fake, targets)
        torch.autograd.backward(generated)
        self.generating.step()
        return judged.item(), generated.item()

    def _judge(self, vectors: Tensor) -> Tensor:
        hidden: Tensor = self.body((vectors - self.center) / self.spread)
        return hidden
