"""Frozen features: run the backbone once over each picture and its perturbed copies, keep the result on disk.

Features are kept per picture, under a digest of its content, in a folder for everything else that shapes
them. The perturbed copies depend on the content too, not on the place: in another order, or beside other
pictures, a picture has the same features. Fresh features are rounded to half floats as the kept ones are, so
that a picture gets the same code whether its features come from the cache or not.
"""

import copy
import hashlib
import json
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from ..cache.bound import cache_limit, keep_within
from ..cache.locks import locked, remove_unused
from ..cache.rows import Found, Kind, find
from ..cache.segment import Key, Segment
from ..data.decoding import Pixels
from ..data.images import Images, Loaded, Positions
from ..data.views import CHANCES, ImageViews
from ..errors import DiskError
from ..util.ahead import ahead
from ..util.files import cache_folder
from ..util.memory import keep_freed_memory
from ..util.progress import Progress, bar
from .backbones.backbone import Backbone
from .layout import channels_last

BATCH = 64

Keep = Callable[[Positions, NDArray[np.float16]], None]


@dataclass(frozen=True)
class Features:
    """Features of pictures.

    Attributes:
        array: (n, 1 + copies, width) half floats, the clean picture first; zero where a picture is broken.
            They may be on disk, and not to be written to.
        broken: reason by position, for pictures that could not be decoded.
    """

    array: NDArray[np.float16]
    broken: dict[int, str]


@dataclass(frozen=True)
class Wanted:
    """Which features are asked for.

    Attributes:
        images: the pictures.
        keys: a digest of each.
        size: pixels per side.
        mirror: whether the clean features are the mean of a picture's and its mirror image's.
        copies: perturbed copies of each.
        copy_size: pixels per side of the copies.
        views: how they are perturbed.
    """

    images: Images
    keys: Sequence[Key]
    size: int
    mirror: bool = False
    copies: int = 0
    copy_size: int = 0
    views: ImageViews = field(default_factory=ImageViews)

    def keys_at(self, positions: Iterable[int]) -> list[Key]:
        """Of some pictures."""
        return [self.keys[position] for position in positions]

    def load(self, positions: Positions) -> dict[int, Loaded]:
        """Some pictures by their size: as they are encoded, and as copies are made of them.

        Broken are those, too, whose content is no longer that of their keys.
        """
        sizes = {self.size, self.copy_size} if self.copies else {self.size}
        loaded = {size: self.images.load(positions, size) for size in sizes}
        broken = self.images.changed(positions, self.keys_at(positions))
        for some in loaded.values():
            broken = some.broken | broken
        return {size: Loaded(some.pixels, broken) for size, some in loaded.items()}

    def distinct(self, positions: Positions) -> Positions:
        """The first of several that are the same; those that cannot be read are all different."""
        first = {self.keys[p] or p: p for p in reversed(positions.tolist())}
        return np.array(sorted(first.values()), np.int64)

    def twins(self, positions: Positions, broken: Collection[int]) -> Positions:
        """Those that are the same as a broken one."""
        keys = set(self.keys_at(broken))
        return np.array([p for p in positions.tolist() if p not in broken and self.keys[p] in keys], np.int64)


class FrozenBackbone:
    """A backbone for inference: BatchNorm folded into the convolutions, channels last, no gradient.

    Args:
        backbone: left as it is; a copy is folded.
        name: the backbone's name, part of the cache key.
    """

    def __init__(self, backbone: Backbone, *, name: str) -> None:
        keep_freed_memory()
        self.width = backbone.width
        self.name, self.digest = name, digest_weights(backbone)
        self.net = channels_last(fold_norms(copy.deepcopy(backbone).eval()))
        self.device = next(backbone.parameters()).device

    @torch.inference_mode()
    def __call__(self, images: Tensor) -> Tensor:
        """(n, 3, h, w) in [0, 1] → (n, width), rounded to half precision."""
        features: Tensor = self.net(images.to(self.device, memory_format=torch.channels_last))
        return features.half().float()

    def cached(
        self,
        images: Images,
        *,
        size: int,
        mirror: bool = False,
        copies: int,
        copy_size: int | None = None,
        views: ImageViews,
        progress: Progress = None,
    ) -> Features:
        """Features of all images: those of known ones from disk, the others are computed and kept.

        Copies may be of another size than the clean pictures. They are the same for every training seed, so
        that seeds share them. Of several processes with the same images one computes and the others wait. A
        run that was stopped goes on where it was.
        """
        wanted = Wanted(images, images.keys(progress), size, mirror, copies, copy_size or size, views)
        remove_unused(cache_folder("features").joinpath(*self._names(wanted)).glob("*.lock"))
        found = find(self._segments(wanted), wanted.keys)
        if found.known.all():
            return Features(found.array(1 + copies, self.width), {})
        collection = short_digest(b"".join(sorted(set(wanted.keys))))
        lock = cache_folder("features", *self._names(wanted)) / f"{collection}.lock"
        with locked(lock):
            features = self._kept(wanted, progress)
            with suppress(OSError):  # whoever waits for it has it open
                lock.unlink()
        return features

    def clean(
        self,
        images: Images,
        *,
        size: int,
        mirror: bool = False,
        keep: bool = True,
        progress: Progress = None,
    ) -> Features:
        """The same without copies, but nobody waits for another process, and the cache may be read-only.

        Without ``keep``, nothing new is kept there.
        """
        wanted = Wanted(images, images.keys(progress), size, mirror)
        if not keep:
            return self._computed(wanted, progress)
        try:
            return self._kept(wanted, progress)
        except DiskError as error:
            warnings.warn(f"features are computed but not kept: {error}", stacklevel=2)
            return self._computed(wanted, progress)

    def _kept(self, wanted: Wanted, progress: Progress) -> Features:
        """What is missing is computed into the cache, and all is read from there."""
        limit, parts = cache_limit(), 1 + wanted.copies
        found, broken = find(self._segments(wanted), wanted.keys), dict[int, str]()
        if not found.known.all():
            missing = np.flatnonzero(~found.known)
            distinct = wanted.distinct(missing)
            kind = Kind(cache_folder("features", *self._names(wanted)), parts, self.width)
            with kind.filling(len(distinct)) as appender:

                def keep(positions: Positions, features: NDArray[np.float16]) -> None:
                    appender.append(wanted.keys_at(positions), features)

                broken = self._compute(wanted, distinct, keep, progress)
                # what is the same as a broken picture has a name of its own, which the reason says
                broken |= self._compute(wanted, wanted.twins(missing, broken), keep, False)
                found = find(self._segments(wanted), wanted.keys)
            keep_within(limit)
            if np.count_nonzero(~found.known) > len(broken):  # what was written cannot be read
                return self._computed(wanted, progress)
        return Features(found.array(parts, self.width), broken)

    def _computed(self, wanted: Wanted, progress: Progress) -> Features:
        """What is missing is computed into memory."""
        found = find(self._segments(wanted), wanted.keys)
        array = found.array(1 + wanted.copies, self.width)

        def keep(positions: Positions, features: NDArray[np.float16]) -> None:
            array[positions] = features

        return Features(array, self._compute(wanted, np.flatnonzero(~found.known), keep, progress))

    def _compute(
        self, wanted: Wanted, positions: Positions, keep: Keep, progress: Progress
    ) -> dict[int, str]:
        """Compute the features of some pictures; the reason by position for those that are broken."""
        if not len(positions):
            return {}
        broken: dict[int, str] = {}
        clean = find(self._segments(replace(wanted, copies=0)), wanted.keys_at(positions))
        batches = np.split(np.arange(len(positions)), range(BATCH, len(positions), BATCH))

        def load(places: Positions) -> tuple[Positions, dict[int, Loaded]]:
            return places, wanted.load(positions[places])

        with bar("features", len(positions), unit="images", progress=progress) as advance:
            for places, loaded in ahead(load, batches):
                some, reasons = positions[places], loaded[wanted.size].broken
                broken |= {int(some[place]): reason for place, reason in reasons.items()}
                good = np.setdiff1d(np.arange(len(some)), list(reasons))
                if len(good):
                    pixels = {size: as_floats(at_size.pixels[good]) for size, at_size in loaded.items()}
                    keep(some[good], self._versions(wanted, some[good], pixels, clean.at(places[good])))
                advance(len(some))
        return broken

    def _versions(
        self, wanted: Wanted, positions: Positions, pixels: Mapping[int, Tensor], clean: Found
    ) -> NDArray[np.float16]:
        """(n, 1 + copies, width) of a batch, of which the clean features may be known."""
        versions = np.zeros((len(positions), 1 + wanted.copies, self.width), np.float16)
        versions[:, :1] = clean.array(1, self.width)
        unknown = np.flatnonzero(~clean.known)
        if len(unknown):
            features = self._clean(pixels[wanted.size][unknown], wanted.mirror)
            versions[unknown, 0] = features.half().cpu().numpy()
        # one copy at a time: with all at once the activations leave the cache, at half the speed
        for number in range(1, 1 + wanted.copies):
            chance = chance_of(wanted.keys_at(positions), number)
            features = self(wanted.views.by_chance(pixels[wanted.copy_size], chance))
            versions[:, number] = features.half().cpu().numpy()
        return versions

    def _clean(self, pixels: Tensor, mirror: bool) -> Tensor:
        features = self(pixels)
        return (features + self(pixels.flip(3))) / 2 if mirror else features

    def _segments(self, wanted: Wanted) -> list[Segment]:
        """Where the features may lie; clean ones lie beside all copies."""
        network, versions = self._names(wanted)
        folder = cache_folder("features") / network
        folders = [folder / versions] if wanted.copies else sorted(folder.glob("*-copies*"))
        kinds = [Kind(folder, parts_in(folder), self.width) for folder in folders]
        return [segment for kind in kinds for segment in kind.segments()]

    def _names(self, wanted: Wanted) -> tuple[str, str]:
        """Folders for all that shapes the features, apart from the picture."""
        plain = re.sub(r"[^\w.-]+", "-", self.name)
        shaping = short_digest(f"{self.name} {self.digest} {wanted.size}".encode())
        network = f"{plain}-{wanted.size}px-{'mirror-' if wanted.mirror else ''}{shaping}"
        if not wanted.copies:
            return network, "0-copies"
        shaping_copies = asdict(wanted.views)
        if wanted.copy_size != wanted.size:
            shaping_copies["size"] = wanted.copy_size
        views = short_digest(json.dumps(shaping_copies, sort_keys=True).encode())
        return network, f"{wanted.copies}-copies-{views}"


def as_floats(pixels: Pixels) -> Tensor:
    """Bytes as numbers in [0, 1]."""
    return torch.from_numpy(pixels).float().div_(255)


def parts_in(folder: Path) -> int:
    """Versions of a picture that a folder holds, by its name."""
    return 1 + int(folder.name.partition("-")[0])


def chance_of(keys: Sequence[Key], number: int) -> Tensor:
    """Uniform numbers (8, n) in [0, 1) that depend on the pictures and the number of the copy alone."""
    digests = (hashlib.sha256(key + number.to_bytes(4, "little")).digest() for key in keys)
    numbers = np.frombuffer(b"".join(digests), "<u4").reshape(len(keys), CHANCES)
    return torch.from_numpy(((numbers >> 8) / np.float32(1 << 24)).astype(np.float32).T)


def short_digest(content: bytes) -> str:
    """A short name for something."""
    return hashlib.sha256(content).hexdigest()[:12]


def fold_norms(net: nn.Module) -> nn.Module:
    """Fold each BatchNorm into the convolution before it, in place, where both are children of one module."""
    for module in net.modules():
        children = list(module.named_children())
        for (conv_name, conv), (norm_name, norm) in pairwise(children):
            if isinstance(conv, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                setattr(module, conv_name, fuse_conv_bn_eval(conv, norm))
                setattr(module, norm_name, nn.Identity())
    return net


def digest_weights(net: nn.Module) -> str:
    """A short name for the weights of a network."""
    digest = hashlib.sha256()
    for name, tensor in sorted(net.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
