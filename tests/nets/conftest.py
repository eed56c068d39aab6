"""A frozen network, pictures for it, and what went through it."""

import pytest
import torch

from pts3h.data.images import ImageArray
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.feature_cache import FrozenBackbone
from tests.nets.frozen import trained_looking
from tests.pictures import pictures


@pytest.fixture
def backbone():
    torch.manual_seed(0)
    return trained_looking(SmallConv())


@pytest.fixture
def frozen(backbone):
    return FrozenBackbone(backbone, name="small")


@pytest.fixture
def images():
    return ImageArray(pictures(20)[0])


@pytest.fixture
def calls(monkeypatch):
    """How many pictures went through the network, batch by batch."""
    counted = []
    run = FrozenBackbone.__call__
    monkeypatch.setattr(FrozenBackbone, "__call__", lambda self, x: counted.append(len(x)) or run(self, x))
    return counted
