"""The optimiser that the settings ask for."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from ..nets.hash_network import HashNetwork
from ..settings.used import Used


def build_optimizer(
    student: HashNetwork, used: Used, beside: Sequence[nn.Parameter] = ()
) -> torch.optim.Optimizer:
    """SGD with momentum or AdamW, the backbone at a share of the head's learning rate.

    Args:
        student: the network.
        used: the settings.
        beside: what the objective learns beside the network, at the head's rate.
    """
    rate = used.learning_rate
    head = [*student.trunk.parameters(), *student.hash.parameters()]
    groups: list[dict[str, Any]] = [{"params": head, "lr": rate}]
    if beside:  # apart: they may have no gradient yet, and a fused optimiser wants all of a group's or none
        groups.append({"params": list(beside), "lr": rate})
    if student.backbone is not None:
        backbone = [weight for weight in student.backbone.parameters() if weight.requires_grad]
        groups.insert(0, {"params": backbone, "lr": rate * used.backbone_rate})
    if used.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=rate, weight_decay=used.weight_decay, fused=True)
    return torch.optim.SGD(
        groups, lr=rate, momentum=used.momentum, weight_decay=used.weight_decay, fused=True
    )


def bound_gradients(optimizer: torch.optim.Optimizer, used: Used) -> None:
    """Shorten the gradient of all weights together, where a step of SGD would be too long."""
    if used.clip and used.learning_rate and used.optimizer == "sgd":
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        nn.utils.clip_grad_norm_(weights, used.clip / used.learning_rate)
