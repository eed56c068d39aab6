"""VGG-16 (Simonyan and Zisserman, arXiv 1409.1556) without its last layer; torchvision's parameter names."""

from torch import Tensor, nn

from .backbone import IMAGENET, Backbone

CHANNELS = (
    64,
    64,
    "pool",
    128,
    128,
    "pool",
    256,
    256,
    256,
    "pool",
    512,
    512,
    512,
    "pool",
    512,
    512,
    512,
    "pool",
)


class VGG16(Backbone):
    """Images (n, 3, h, w) in [0, 1] → the 4096 numbers of the second fully connected layer."""

    def __init__(self) -> None:
        super().__init__(width=4096, **IMAGENET)
        layers: list[nn.Module] = []
        inputs = 3
        for channels in CHANNELS:
            if isinstance(channels, int):
                layers += [nn.Conv2d(inputs, channels, 3, padding=1), nn.ReLU(inplace=True)]
                inputs = channels
            else:
                layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(7)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(),
        )

    def extract(self, images: Tensor) -> Tensor:
        """Normalised images → features."""
        vectors: Tensor = self.classifier(self.avgpool(self.features(images)).flatten(1))
        return vectors
