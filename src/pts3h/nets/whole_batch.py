"""A network that is given a share of a batch does what it would do with the whole batch.

Two layers look beyond an item: BatchNorm, whose statistics are those of all items, and dropout, which draws
for all of them in one go. torch's own SyncBatchNorm runs on GPUs alone and takes the place of layers, with
names and subclasses of their own; this one stands beside the network and leaves it as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from ..data.batches import Share

AddUp = Callable[[Tensor], None]  # a tensor, in place, becomes the sum of all shares' tensors


class WholeBatch(TorchFunctionMode):
    """Within it, networks that are in training mode see the batch that a share belongs to.

    Args:
        share: which items the network is given.
        add_up: sums a tensor over all shares; called in the same order for each.
    """

    def __init__(self, share: Share, add_up: AddUp) -> None:
        super().__init__()
        self.share, self.add_up = share, add_up

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Every function of torch comes through here; two are ours."""
        if func is F.batch_norm:
            return self.batch_norm(*args, **(kwargs or {}))
        if func is F.dropout:
            return self.dropout(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def batch_norm(
        self,
        inputs: Tensor,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        """``F.batch_norm``; while training, mean and variance are those of the whole batch."""
        if not training:
            return F.batch_norm(inputs, running_mean, running_var, weight, bias, False, momentum, eps)
        others = [0, *range(2, inputs.dim())]  # all but the channels
        shape = [1, -1] + [1] * (inputs.dim() - 2)
        count = self.share.count * prod(inputs.shape[2:])
        values = inputs.to(torch.promote_types(inputs.dtype, torch.float32))
        mean = total(values.sum(others), self.add_up) / count
        centred = values - mean.view(shape)
        variance = total(centred.square().sum(others), self.add_up) / count
        with torch.no_grad():
            if running_mean is not None:
                running_mean.lerp_(mean.to(running_mean), momentum)
            if running_var is not None:
                running_var.lerp_((variance * (count / max(count - 1, 1))).to(running_var), momentum)
        scale = (variance + eps).rsqrt()
        if weight is not None:
            scale = scale * weight
        outputs = centred * scale.view(shape)
        return (outputs if bias is None else outputs + bias.view(shape)).to(inputs.dtype)

    def dropout(self, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        """``F.dropout``, drawn for all items of the batch."""
        if not training or len(input) != len(self.share):
            return F.dropout(input, p, training, inplace)
        drawn = F.dropout(input.new_ones(self.share.count, *input.shape[1:]), p)
        return input * drawn[self.share.rows]


class Total(torch.autograd.Function):
    """The sum over all shares. Each share's loss depends on it, so gradients are summed as well."""

    @staticmethod
    def forward(context: Any, tensor: Tensor, add_up: AddUp) -> Tensor:
        """Sum."""
        context.add_up = add_up
        summed = tensor.clone()
        add_up(summed)
        return summed

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Sum likewise."""
        summed = gradients[0].clone()
        context.add_up(summed)
        return summed, None


total: Callable[[Tensor, AddUp], Tensor] = Total.apply
