"""Small hash networks for tests, and a training step for them."""

import torch

from pts3h.nets.hash_network import HashNetwork


def network(seed=0, **changes):
    torch.manual_seed(seed)
    return HashNetwork(**({"bits": 5, "inputs": 7, "hidden": 6, "dropout": 0.1} | changes))


def a_step(net, optimizer, images=False):
    shape = (4, 3, 8, 8) if images else (9, 7)
    loss = net(torch.randn(shape)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
