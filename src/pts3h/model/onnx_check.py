"""Are the answers of an ONNX file torch's? On made-up items, since a model folder has no others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.images import ImageArray
from ..data.inputs import VectorInputs
from ..data.items import Items, from_array
from ..errors import UserError
from .inference import run
from .trained import Networks

SAMPLES = 32
NEAR_ZERO = 1e-5  # an output so near may have the other sign: every library rounds in its own way
CLOSE = 1e-3  # whatever the sign, beside the largest output
TWO_STEPS = 2.0**-9  # of half floats, relative
MOST = 0.9  # features that are rounded alike


def sample_items(networks: Networks) -> Items:
    """Squares of chance colours, coarse and fine; or vectors as widely spread as those of the training."""
    rng, used = np.random.default_rng(0), networks.used
    if not used.takes_pictures:
        center, scale = (part.cpu().numpy() for part in (networks.teacher.center, networks.teacher.scale))
        return from_array((center + scale * rng.normal(size=(SAMPLES, networks.width))).astype(np.float32))
    pictures = np.empty((SAMPLES, used.code_size, used.code_size, 3), np.uint8)
    for number in range(SAMPLES):
        squares = 2 + number
        place = np.arange(used.code_size) * squares // used.code_size
        pictures[number] = rng.integers(0, 256, (squares, squares, 3))[place][:, place]
    return from_array(pictures)


def as_inputs(items: Items) -> NDArray[Any]:
    """Items as the graph takes them."""
    if isinstance(items.content, ImageArray):
        return np.ascontiguousarray(items.content.pixels.transpose(0, 3, 1, 2))
    return np.asarray(items.content)


def check_answers(networks: Networks, items: Items, session: Any) -> None:
    """Refuse a file whose codes are not torch's, but for outputs that are nearly zero."""
    for some in (items, items.subset(np.arange(1))):
        outputs, *features = session.run(None, {session.get_inputs()[0].name: as_inputs(some)})
        expected, _ = networks.run(some, "teacher", keep=False, progress=False)
        fine = True
        if features:
            # A value halfway between two half floats may be rounded to either, which can move an output by
            # more than NEAR_ZERO. So features are compared by steps, and the head on the same features.
            kept = frozen_features(networks, some)
            fine = np.allclose(features[0], kept, rtol=TWO_STEPS, atol=NEAR_ZERO)
            fine &= np.mean(features[0] == kept) >= MOST
            coder, places = networks.coder("teacher"), np.arange(len(some))
            expected = run(coder, VectorInputs(features[0]), places, progress=False)
        if not fine or not agree(outputs, expected):
            raise UserError("the ONNX file is not written: it would not give the codes that torch gives")


def agree(outputs: NDArray[np.float32], expected: NDArray[np.float32]) -> bool:
    """Whether outputs are close, and of the same sign unless they are nearly zero."""
    differing = (outputs >= 0) != (expected >= 0)
    close = np.abs(outputs - expected).max() <= CLOSE * np.abs(expected).max()
    return bool(close and (np.abs(expected[differing]) <= NEAR_ZERO).all())


def frozen_features(networks: Networks, items: Items) -> NDArray[np.float16]:
    """(n, width) of a frozen backbone, as encoding by torch has them."""
    used = networks.used
    assert networks.frozen is not None and items.images is not None
    features = networks.frozen.clean(
        items.images, size=used.code_size, mirror=used.mirror, keep=False, progress=False
    )
    return features.array[:, 0]
