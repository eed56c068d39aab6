"""From a name or a row to an image network with its weights."""

from collections.abc import Callable

from ...errors import UserError
from ...util.table import load
from .backbone import Backbone
from .table import BackboneRow, find_backbone
from .weights import read_weights


def build_backbone(given: str | BackboneRow, *, weights: str = "pretrained") -> tuple[Backbone, list[str]]:
    """Make an image network.

    Args:
        given: a name in BACKBONES, ``timm:<model>``, ``torchvision:<model>``, or a row of your own.
        weights: "pretrained" (random where the row has none), "random", or a weight file with this network's
            parameter names.

    Returns:
        The network, and the names of parameters that the weight file did not cover (they are random).
    """
    row = find_backbone(given)
    if weights == "pretrained" and row.pretrained is not None:
        return make_by(row, row.pretrained), []
    net = make_by(row, row.make)
    if weights in ("pretrained", "random"):
        return net, []
    return net, net.take_weights(read_weights(weights), weights)


def make_by(row: BackboneRow, maker: str | Callable[[], Backbone]) -> Backbone:
    """What ``maker`` makes, which must be a Backbone."""
    net = load(maker)()
    if not isinstance(net, Backbone):
        raise UserError(
            f"the backbone {row.name} makes a {type(net).__name__}: "
            "let its class inherit from pts3h.nets.backbones.backbone.Backbone"
        )
    return net
