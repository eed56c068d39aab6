"""VGG-16 (Simonyan and Zisserman, arXiv 1409.1556) without its last layer; torchvision's parameter names."""

from torch import Tensor, nn

from .backbone import IMAGENET, Backbone
from .weights import with_published_weights

ADDRESS = "https://download.pytorch.org/models/vgg16-397923af.pth"  # torchvision's, of ImageNet
SHA256 = "397923af8e79cdbb6a7127f12361acd7a2f83e06b05044ddf496e83de57a5bf0"

# channels and number of convolutions of each stage; each stage ends in pooling
STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))


class VGG16(Backbone):
    """Images (n, 3, h, w) in [0, 1] → the 4096 numbers of the second fully connected layer."""

    def __init__(self) -> None:
        super().__init__(width=4096, **IMAGENET)
        layers: list[nn.Module] = []
        inputs = 3
        for channels, convolutions in STAGES:
            for _ in range(convolutions):
                layers += [nn.Conv2d(inputs, channels, 3, padding=1), nn.ReLU(inplace=True)]
                inputs = channels
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


def pretrained_vgg16() -> VGG16:
    """VGG-16 with torchvision's ImageNet weights."""
    return with_published_weights(VGG16(), "vgg16", ADDRESS, sha256=SHA256)
