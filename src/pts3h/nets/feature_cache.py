"""Frozen features: run the backbone once over each item and its perturbed copies, keep the result on disk.

The cache is a memory-mapped array (n, 1 + copies, width) of half floats: the clean image first. It is keyed
by the items' content and by everything that shapes the features. Fresh features are rounded to half floats
too, so that an item gets the same code whether its features come from the cache or not.
"""

import copy
import errno
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from ..data.images import Images, Positions
from ..data.views import ImageViews
from ..util.files import cache_folder, explain_os_errors, locked, write_json
from ..util.memory import keep_freed_memory
from ..util.progress import Progress, bar
from .backbones.backbone import Backbone
from .layout import channels_last

BATCH = 64
SAVE_EVERY = 16  # batches between two notes of how far the cache has come


@dataclass(frozen=True)
class Features:
    """Cached features.

    Attributes:
        array: (n, 1 + copies, width) half floats, on disk; zero where an image is broken.
        broken: reason by position, for images that could not be decoded.
    """

    array: NDArray[np.float16]
    broken: dict[int, str]


class FrozenBackbone:
    """A backbone for inference: BatchNorm folded into the convolutions, channels last, no gradient.

    Args:
        backbone: left as it is; a copy is folded.
        name: the backbone's name, part of the cache key.
    """

    def __init__(self, backbone: Backbone, *, name: str) -> None:
        keep_freed_memory()
        self.width = backbone.width
        self.digest = f"{name}-{digest_weights(backbone)}"
        self.net = channels_last(fold_norms(copy.deepcopy(backbone).eval()))
        self.device = next(backbone.parameters()).device

    @torch.inference_mode()
    def __call__(self, images: Tensor) -> Tensor:
        """(n, 3, h, w) in [0, 1] → (n, width), rounded to half precision."""
        features: Tensor = self.net(images.to(self.device, memory_format=torch.channels_last))
        return features.half().float()

    def cached(
        self, images: Images, *, size: int, copies: int, views: ImageViews, progress: Progress = None
    ) -> Features:
        """Features of all images, from disk where they were computed before.

        The perturbed copies are the same for every training seed, so that seeds share them. A run that was
        stopped goes on where it was.
        """
        perturbed = short_digest({"copies": copies, "views": asdict(views)} if copies else {})
        stem = cache_folder("features") / f"{self._clean_key(images, size)}-{perturbed}"
        finished, partial, note = (stem.with_suffix(suffix) for suffix in (".npy", ".part", ".json"))
        if not finished.exists():
            with locked(stem.with_suffix(".lock")):
                if not finished.exists():  # another process may have made it while this one waited
                    self._fill(images, size, copies, views, partial, note, progress)
                    partial.rename(finished)
        return read_cache(finished)

    def clean(self, images: Images, *, size: int, progress: Progress = None) -> Features:
        """Features of the unperturbed images: from any cache that holds them, else computed and not kept."""
        stored = sorted(cache_folder("features").glob(f"{self._clean_key(images, size)}-*.npy"))
        if stored:
            return read_cache(stored[0])
        array = np.empty((len(images), 1, self.width), np.float16)
        broken: dict[int, str] = {}
        generator = torch.Generator()
        with bar("features", len(images), unit="images", progress=progress) as advance:
            for start in range(0, len(images), BATCH):
                positions = np.arange(start, min(start + BATCH, len(images)))
                array[positions], missing = self._batch(images, positions, size, 0, ImageViews(), generator)
                broken |= {start + place: reason for place, reason in missing.items()}
                advance(len(positions))
        return Features(array, broken)

    def _clean_key(self, images: Images, size: int) -> str:
        return short_digest({"net": self.digest, "size": size, "items": images.digest()})

    def _fill(
        self,
        images: Images,
        size: int,
        copies: int,
        views: ImageViews,
        partial: Path,
        note: Path,
        progress: Progress,
    ) -> None:
        shape = (len(images), 1 + copies, self.width)
        done, broken = 0, dict[str, str]()
        with explain_os_errors(partial):
            if partial.exists() and note.exists():
                stored = json.loads(note.read_text())
                done, broken = stored["done"], stored["broken"]
                array = np.lib.format.open_memmap(partial, mode="r+")
            else:
                array = np.lib.format.open_memmap(partial, mode="w+", dtype=np.float16, shape=shape)
                reserve(partial)
        with bar("features", len(images), unit="images", progress=progress) as advance:
            advance(done)
            for batch, start in enumerate(range(done, len(images), BATCH), start=1):
                positions = np.arange(start, min(start + BATCH, len(images)))
                # seeded by place, so that a resumed run draws the same views
                generator = torch.Generator().manual_seed(start)
                array[positions], missing = self._batch(images, positions, size, copies, views, generator)
                broken |= {str(start + place): reason for place, reason in missing.items()}
                if batch % SAVE_EVERY == 0 or positions[-1] + 1 == len(images):
                    array.flush()
                    write_json(note, {"done": int(positions[-1]) + 1, "broken": broken})
                advance(len(positions))

    def _batch(
        self,
        images: Images,
        positions: Positions,
        size: int,
        copies: int,
        views: ImageViews,
        generator: torch.Generator,
    ) -> tuple[NDArray[np.float16], dict[int, str]]:
        loaded = images.load(positions, size)
        clean = torch.from_numpy(loaded.pixels).float().div_(255)
        # one copy at a time: with all at once the activations leave the cache, at half the speed
        versions = [self(clean), *(self(views(clean, generator)) for _ in range(copies))]
        features = torch.stack(versions, dim=1).half()
        features[list(loaded.broken)] = 0
        return features.cpu().numpy(), loaded.broken


def read_cache(finished: Path) -> Features:
    """A cache file and the note beside it."""
    broken = json.loads(finished.with_suffix(".json").read_text())["broken"]
    array = np.load(finished, mmap_mode="r", allow_pickle=False)
    return Features(array, {int(position): reason for position, reason in broken.items()})


def short_digest(settings: dict[str, Any]) -> str:
    """A short name for settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:24]


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


def reserve(path: Path) -> None:
    """Take a new file's whole space now: writing to a mapped file on a full disk would kill the process."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EOPNOTSUPP):
            return  # a file system that cannot promise space
        path.unlink()
        raise
