"""AlexNet, the network of the paper (Krizhevsky et al., NIPS 2012; the one-tower form of arXiv 1404.5997).

Parameter names are torchvision's, so its weight files load; torchvision itself is not needed. The last layer,
the classifier, is left out: the hash layer takes its place.
"""

from torch import Tensor, nn

from .backbone import IMAGENET, Backbone
from .weights import with_published_weights

ADDRESS = "https://download.pytorch.org/models/alexnet-owt-7be5be79.pth"  # torchvision's, of ImageNet
SHA256 = "7be5be791159472b1fbf3c69796f7cb30dca7ad8466c2df70058c37116cdee02"


class AlexNet(Backbone):
    """Images (n, 3, h, w) in [0, 1] → the 4096 numbers of the second fully connected layer."""

    def __init__(self) -> None:
        super().__init__(width=4096, **IMAGENET)
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(6)
        self.classifier = nn.Sequential(
            nn.Dropout(),
            nn.Linear(256 * 6 * 6, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
        )

    def extract(self, images: Tensor) -> Tensor:
        """Normalised images → features."""
        vectors: Tensor = self.classifier(self.avgpool(self.features(images)).flatten(1))
        return vectors


def pretrained_alexnet() -> AlexNet:
    """AlexNet with torchvision's ImageNet weights."""
    return with_published_weights(AlexNet(), "alexnet", ADDRESS, sha256=SHA256)
