"""How a step runs a network: in which precision, compiled or not, on the whole batch or on a share of it.

Everything else of a step, losses above all, is computed in float32 on the whole batch.
"""

from collections.abc import Callable
from contextlib import ExitStack

import torch
from torch import Tensor

from ..data.batches import Share
from ..errors import UserError
from ..nets.hash_network import HashNetwork
from ..nets.whole_batch import AddUp, WholeBatch
from ..settings.used import Used
from .ranks import Ranks


class Forward:
    """Runs student or teacher on a view, and gathers the outputs of all ranks.

    Args:
        network: student or teacher.
        used: the settings.
        ranks: the processes that share each batch, where there are several.
    """

    def __init__(self, network: HashNetwork, used: Used, ranks: Ranks | None) -> None:
        self.run = compiled(network) if used.compile else network
        self.device = next(network.parameters()).device
        self.halved, self.ranks = used.precision == "bfloat16", ranks
        if ranks is not None:
            self.add_up = not_compiled(ranks.add_up) if used.compile else ranks.add_up

    def __call__(self, view: Tensor, share: Share | None) -> Tensor:
        """(n, bits) of the whole batch; ``view`` is of the items of the share alone, where there is one."""
        with ExitStack() as stack:
            if self.halved:
                stack.enter_context(torch.autocast(self.device.type, torch.bfloat16))
            if self.ranks is not None and share is not None:
                stack.enter_context(WholeBatch(share, self.add_up))
            outputs = self.run(view)
        if self.halved:
            outputs = outputs.float()
        return outputs if self.ranks is None or share is None else self.ranks.gathered(outputs, share)


def compiled(network: HashNetwork) -> Callable[[Tensor], Tensor]:
    """The network as machine code of its own, made at the first call."""
    from torch._dynamo.exc import BackendCompilerFailed  # takes seconds to import

    made = torch.compile(network)

    def run(view: Tensor) -> Tensor:
        try:
            outputs: Tensor = made(view)
        except BackendCompilerFailed as error:
            why = str(error.inner_exception).partition("\n")[0]
            raise UserError(
                f"compile=True needs a C++ compiler, such as g++, and Triton on a GPU ({why}): "
                "install it, or leave compile out"
            ) from error
        return outputs

    return run


def not_compiled(add_up: AddUp) -> AddUp:
    """The same, left as it is: in machine code, a rank that is lost would be an error of torch."""
    disable: Callable[[AddUp], AddUp] = torch.compiler.disable
    return disable(add_up)
