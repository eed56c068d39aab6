"""From what a user gives (items, pairs or labels) to tasks a network can be trained on."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from ..data.images import ImageFiles, Images, Positions
from ..data.inputs import ImageInputs, VectorInputs
from ..data.items import Items
from ..data.known_pairs import KnownPairs, LabelPairs, read_labels, read_pairs
from ..data.views import ImageViews, VectorViews
from ..errors import UserError
from ..nets import Backbone, build_backbone
from ..nets.feature_cache import Features, FrozenBackbone
from ..nets.hash_network import HashNetwork
from ..settings import Config
from .learning import Task


class SkippedWarning(UserWarning):
    """Some pictures could not be read and took no part."""


def read_supervision(items: Items, pairs: Any, labels: Any) -> KnownPairs:
    """What is known of pairs: from pairs, from labels, or from labels that came with the items."""
    if pairs is not None and labels is not None:
        raise UserError("give pairs or labels, not both")
    if pairs is not None:
        return read_pairs(pairs, items)
    if labels is not None:
        return LabelPairs(read_labels(labels, items))
    if items.labels is not None:
        return LabelPairs(items.labels)
    raise UserError(
        "nothing is known of any pair: give pairs (rows of a,b,similar) or labels (-1 where unknown)"
    )


def unlabelled_pool(count: int, known: KnownPairs, chosen: ArrayLike | None, broken: Positions) -> Positions:
    """Positions of the items that take part without a label: all others, or those the user chose."""
    pool = np.arange(count) if chosen is None else np.unique(np.asarray(chosen))
    if len(pool) and pool.dtype.kind not in "iu":
        raise UserError(f"unlabelled must be positions, whole numbers up to {count - 1}, got {pool.dtype}")
    if len(pool) and (pool[0] < 0 or pool[-1] >= count):
        raise UserError(
            f"unlabelled names item {pool[0] if pool[0] < 0 else pool[-1]}, there are {count} items"
        )
    return np.setdiff1d(np.setdiff1d(pool, known.labelled), broken).astype(np.int64)


def head_task(array: NDArray[np.floating], known: KnownPairs, pool: Positions, config: Config) -> Task:
    """Train on embeddings (n, d), or on cached features of images and their copies (n, copies, d)."""
    inputs = VectorInputs(array, vector_views(config), members=np.union1d(known.labelled, pool))
    return Task(inputs, known, pool, head_maker(config, array.shape[-1]))


def whole_task(
    images: Images, backbone: Backbone, known: KnownPairs, pool: Positions, config: Config
) -> Task:
    """Train backbone and head on images."""
    assert config.image_size is not None
    inputs = ImageInputs(images, config.image_size, image_views(config))
    return Task(inputs, known, pool, whole_maker(config, backbone))


def compute_features(images: Images, backbone: Backbone, config: Config, show: bool | None) -> Features:
    """Frozen features of the images and of their perturbed copies, through the cache."""
    assert config.image_size is not None
    return FrozenBackbone(backbone, name=config.backbone).cached(
        images, size=config.image_size, copies=config.views, views=image_views(config), show=show
    )


def find_broken(images: Images, size: int) -> dict[int, str]:
    """Pictures that cannot be decoded, by position, with the reason."""
    if not isinstance(images, ImageFiles):
        return {}
    broken: dict[int, str] = {}
    for start in range(0, len(images), 64):
        loaded = images.load(np.arange(start, min(start + 64, len(images))), size)
        broken |= {start + place: reason for place, reason in loaded.broken.items()}
    return broken


def without_broken(known: KnownPairs, broken: dict[int, str], count: int) -> KnownPairs:
    """Forget the pairs of broken pictures, and say so."""
    if not broken:
        return known
    reasons = [reason for _, reason in sorted(broken.items())]
    named = "; ".join(reasons[:3]) + ("; ..." if len(reasons) > 3 else "")
    if len(broken) == count:
        raise UserError(f"none of the {count} pictures can be read: {named}")
    warnings.warn(
        f"{len(broken)} of {count} pictures cannot be read and are skipped: {named}",
        SkippedWarning,
        stacklevel=4,
    )
    return known.hide(np.array(sorted(broken), np.int64))


def load_backbone(config: Config) -> Backbone:
    """The image network of the settings.

    What is random in it follows the seed; where it stays as it is, all seeds share one, and so its features.
    """
    with torch.random.fork_rng():
        torch.manual_seed(0 if config.freeze else config.seed)
        backbone, missing = build_backbone(config.backbone, weights=config.weights)
    if missing:
        warnings.warn(
            f"{config.weights} does not cover {len(missing)} tensors of {config.backbone}, "
            f"which start at random: {', '.join(missing[:4])}{', ...' if len(missing) > 4 else ''}",
            UserWarning,
            stacklevel=4,
        )
    return backbone


def image_views(config: Config) -> ImageViews:
    """How the settings perturb images."""
    return ImageViews(scale=config.crop, flip=config.flip, jitter=config.jitter)


def vector_views(config: Config) -> VectorViews:
    """How the settings perturb vectors."""
    return VectorViews(noise=config.noise or 0.0, dropout=config.drop or 0.0)


def head_maker(config: Config, inputs: int) -> Callable[[], HashNetwork]:
    """Makes networks without a backbone."""
    hidden = config.hidden or 0
    return lambda: HashNetwork(config.bits, inputs=inputs, hidden=hidden, dropout=config.dropout)


def whole_maker(config: Config, backbone: Backbone) -> Callable[[], HashNetwork]:
    """Makes networks with a copy of ``backbone`` in front."""
    from copy import deepcopy

    hidden, fixed_norm = config.hidden or 0, bool(config.fixed_norm)

    def make() -> HashNetwork:
        network = HashNetwork(
            config.bits,
            inputs=backbone.width,
            hidden=hidden,
            dropout=config.dropout,
            backbone=deepcopy(backbone),
            fixed_norm=fixed_norm,
        )
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return network

    return make
