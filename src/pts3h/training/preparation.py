"""From a training set to a problem: vectors as they are, frozen features, or pictures."""

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..data.images import Images
from ..data.inputs import ImageInputs, MapInputs, VectorInputs
from ..data.problem import Neighbourhood, Problem
from ..data.training_set import TrainingSet
from ..data.views import ImageViews, VectorViews
from ..errors import SkippedWarning, UserError
from ..nets.backbones.backbone import Backbone
from ..nets.backbones.parts import LowerPart
from ..nets.feature_cache import Features, FrozenBackbone
from ..settings.resolve import check_known
from ..settings.used import Used
from ..unsupervised.guide import neighbourhood
from ..util.progress import Progress
from .ranks import Ranks

NAMED = 3  # broken pictures that a message names


def vector_problem(training: TrainingSet, array: NDArray[np.floating], used: Used) -> Problem:
    """Embeddings (n, d), or features of pictures and their copies (n, 1 + copies, d)."""
    views = VectorViews(noise=used.noise, dropout=used.drop)
    smaller = used.image_size < used.code_size
    inputs = VectorInputs(array, views, training.members, steady=used.guided, smaller=smaller)
    if not used.guided:
        return Problem(inputs, training.known, training.pool)
    near = neighbourhood(len(training.items), training.members, training.known, inputs.typical)
    return Problem(inputs, training.known, np.intersect1d(training.pool, near.members), near)


def picture_problem(
    training: TrainingSet, images: Images, used: Used, near: Neighbourhood | None = None
) -> Problem:
    """Pictures, for a network that is trained whole; who is near whom is known from frozen features."""
    pool = training.pool if near is None else np.intersect1d(training.pool, near.members)
    return Problem(ImageInputs(images, used.image_size, image_views(used)), training.known, pool, near)


def map_problem(pictures: Problem, maps: Features) -> Problem:
    """The same for the upper part of a network, by what the lower part made of the pictures."""
    return replace(pictures, inputs=MapInputs(maps.array))


def compute_features(
    images: Images, backbone: Backbone, used: Used, progress: Progress, ranks: Ranks | None = None
) -> Features:
    """Frozen features of the images, as they are encoded, and of their perturbed copies, through the cache.

    Maps of a lower part are for training alone: all are of one size, and none is a mean.
    """
    name, size, mirror = used.backbone, used.code_size, used.mirror
    if isinstance(backbone, LowerPart):
        name, size, mirror = f"{name}-{backbone.blocks}-blocks", used.image_size, False
    frozen = FrozenBackbone(backbone, name=name)

    def cached(some: Images) -> Features:
        return frozen.cached(
            some,
            size=size,
            mirror=mirror,
            copies=used.views,
            copy_size=used.image_size,
            views=image_views(used),
            progress=progress,
        )

    if ranks is not None:  # each rank fills the cache with its part, and finds the others' parts there
        cached(images.subset(ranks.part(len(images))))
        ranks.wait()
    return cached(images)


def image_views(used: Used) -> ImageViews:
    """How the settings perturb images."""
    return ImageViews(scale=used.crop, flip=used.flip, jitter=used.jitter)


def find_broken(images: Images, size: int) -> dict[int, str]:
    """Pictures that cannot be decoded, by position, with the reason."""
    inputs = ImageInputs(images, size)
    for start in range(0, len(images), inputs.batch):
        inputs.clean(np.arange(start, min(start + inputs.batch, len(images))))
    return inputs.broken


def without_broken(training: TrainingSet, broken: Mapping[int, str], used: Used) -> TrainingSet:
    """Leave out the pictures that cannot be read, and say so; refused where too little is known then."""
    if not broken:
        return training
    count = len(training.items)
    reasons = [reason for _, reason in sorted(broken.items())]
    named = "; ".join(reasons[:NAMED]) + ("; ..." if len(reasons) > NAMED else "")
    if len(broken) == count:
        raise UserError(f"none of the {count} pictures can be read: {named}")
    warnings.warn(
        f"{len(broken)} of {count} pictures cannot be read and are skipped: {named}",
        SkippedWarning,
        stacklevel=4,
    )
    left = training.without(np.array(sorted(broken), np.int64))
    check_known(used, left.known)
    return left
