"""A small convolutional network for small images, trained from scratch."""

from torch import Tensor, nn

from .backbone import Backbone


class SmallConv(Backbone):
    """Images (n, 3, h, w) in [0, 1] → 256 features: three stages of two convolutions, halved and pooled."""

    def __init__(self) -> None:
        super().__init__(width=256, mean=(0.5,) * 3, std=(0.25,) * 3)
        stages: list[nn.Module] = []
        for inputs, outputs in ((3, 64), (64, 128), (128, 256)):
            for first in (inputs, outputs):
                stages += [
                    nn.Conv2d(first, outputs, 3, padding=1, bias=False),
                    nn.BatchNorm2d(outputs),
                    nn.ReLU(inplace=True),
                ]
            stages.append(nn.MaxPool2d(2))
        self.stages = nn.Sequential(*stages)

    def extract(self, images: Tensor) -> Tensor:
        """Normalised images → features."""
        pooled: Tensor = self.stages(images).mean((2, 3))
        return pooled
