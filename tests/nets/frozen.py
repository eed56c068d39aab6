"""What the tests of frozen features share."""

import hashlib
import struct

import numpy as np
import torch

from pts3h.data.views import ImageViews

OPTIONS = {"size": 16, "copies": 2, "views": ImageViews()}


def trained_looking(net):
    """Norms with statistics of their own, as training leaves them."""
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
            module.weight.data.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.2)
    return net.eval()


def direct(backbone, images, copies=2):
    """Features by the network as it is, one picture at a time, with the views that its pixels ask for."""
    expected = []
    for position, pixels in enumerate(images.pixels):
        key = hashlib.sha256(str(pixels.shape).encode() + pixels.tobytes()).digest()
        clean = torch.from_numpy(images.load(np.array([position]), 16).pixels).float() / 255
        versions = [clean]
        for number in range(1, 1 + copies):
            draws = np.frombuffer(hashlib.sha256(key + struct.pack("<I", number)).digest(), "<u4")
            chance = torch.tensor([[draw // 256 / 2**24] for draw in draws.tolist()])
            versions.append(ImageViews().by_chance(clean, chance))
        with torch.inference_mode():
            expected.append(torch.cat([backbone(version) for version in versions]))
    return torch.stack(expected).numpy()
