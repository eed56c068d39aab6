"""Image networks by name. Rows name what makes a network, so listing them imports no torch."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ...errors import UserError
from ...util.table import Table

if TYPE_CHECKING:
    from .backbone import Backbone

LIBRARIES = ("timm:", "torchvision:")  # what the names of other libraries' networks start with


@dataclass(frozen=True, kw_only=True)
class BackboneRow:
    """All there is to say about an image network.

    Attributes:
        name: what settings and the command line call it.
        help: one line for people.
        make: makes the network with random weights: something to call without arguments, or where it is
            ("package.module:name").
        pretrained: makes it with its pretrained weights; None where there are none.
        smallest: least number of pixels per side that it takes.
        hidden: default width of the hidden layer above it; 0 for no such layer.
    """

    name: str
    help: str
    make: "str | Callable[[], Backbone]"
    pretrained: "str | Callable[[], Backbone] | None" = None
    smallest: int = 8
    hidden: int = 512


BACKBONES = Table(
    "backbone",
    BackboneRow,
    [
        BackboneRow(
            name="efficientnet-lite0",
            help="EfficientNet-Lite0, 4.7 million parameters, weights from pip; the default",
            make="pts3h.nets.backbones.efficientnet:lite0",
            pretrained="pts3h.nets.backbones.efficientnet:pretrained_lite0",
        ),
        BackboneRow(
            name="efficientnet-lite2",
            help="EfficientNet-Lite2, 6.1 million parameters, weights from pip",
            make="pts3h.nets.backbones.efficientnet:lite2",
            pretrained="pts3h.nets.backbones.efficientnet:pretrained_lite2",
        ),
        BackboneRow(
            name="alexnet",
            help="AlexNet, the network of the paper; weights are downloaded",
            make="pts3h.nets.backbones.alexnet:AlexNet",
            pretrained="pts3h.nets.backbones.alexnet:pretrained_alexnet",
            smallest=63,
            hidden=0,  # it ends in two wide layers of its own
        ),
        BackboneRow(
            name="vgg16",
            help="VGG-16, 138 million parameters; weights are downloaded",
            make="pts3h.nets.backbones.vgg:VGG16",
            pretrained="pts3h.nets.backbones.vgg:pretrained_vgg16",
            smallest=32,
            hidden=0,
        ),
        BackboneRow(
            name="small",
            help="a small network for small images, trained from scratch",
            make="pts3h.nets.backbones.small:SmallConv",
        ),
    ],
)


def find_backbone(given: str | BackboneRow) -> BackboneRow:
    """The row for a name, for ``timm:<model>`` or ``torchvision:<model>``, or a row of your own."""
    if isinstance(given, str) and given not in BACKBONES and given.startswith(LIBRARIES):
        return external_row(given)
    try:
        return BACKBONES.find(given)
    except UserError as error:
        if isinstance(given, str):
            raise UserError(f"{error} (also: timm:<model>, torchvision:<model>)") from None
        raise


def external_row(name: str) -> BackboneRow:
    """A row for a network of another library."""
    library, model = name.split(":", 1)
    return BackboneRow(
        name=name,
        help=f"{model} from {library}",
        make=partial(make_external, name, pretrained=False),
        pretrained=partial(make_external, name, pretrained=True),
    )


def make_external(name: str, *, pretrained: bool) -> "Backbone":
    """A network of another library; a function of its own, so that a row can be sent to other processes."""
    from .external import External

    return External(name, pretrained=pretrained)
