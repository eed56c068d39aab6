"""A network on shares of a batch does what it does on the whole of it."""

import copy
import threading
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from pts3h.data.batches import Share
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.layout import channels_last
from pts3h.nets.whole_batch import WholeBatch


class Sums:
    """Adds up tensors of several threads, each of which stands for a rank."""

    def __init__(self, count):
        self.meeting, self.given = threading.Barrier(count, timeout=60), [None] * count

    def of(self, rank):
        def add_up(tensor):
            self.given[rank] = tensor.clone()
            self.meeting.wait()
            total = sum(self.given)
            self.meeting.wait()
            tensor.copy_(total)

        return add_up


def on_shares(network, inputs, gradient, bounds):
    """Outputs of all shares, the sum of their gradients, and the network of each share afterwards."""
    sums, done = Sums(len(bounds) - 1), {}

    def work(rank, start, stop):
        own = copy.deepcopy(network)
        share = Share(start, stop, len(inputs))
        with WholeBatch(share, sums.of(rank)):
            outputs = own(inputs[share.rows])
        outputs.backward(gradient[share.rows])
        done[rank] = own, outputs.detach()

    threads = [
        threading.Thread(target=work, args=(rank, start, stop))
        for rank, (start, stop) in enumerate(pairwise(bounds))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    networks = [done[rank][0] for rank in sorted(done)]
    gradients = [
        sum(weight.grad for weight in same) for same in zip(*(n.parameters() for n in networks), strict=True)
    ]
    return torch.cat([done[rank][1] for rank in sorted(done)]), gradients, networks


def double(network):
    return network.double().train()


NETWORKS = {
    "vectors": (lambda: nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU()), (11, 5), 8),
    "pictures": (lambda: channels_last(SmallConv()), (11, 3, 8, 8), 256),
    "no weights": (lambda: nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8, affine=False)), (11, 5), 8),
    "no statistics": (
        lambda: nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8, track_running_stats=False)),
        (11, 5),
        8,
    ),
    "cumulative": (lambda: nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8, momentum=None)), (11, 5), 8),
}


@pytest.mark.parametrize(
    "bounds", [[0, 5, 11], [0, 1, 2, 11], [0, 0, 11]], ids=["two", "ones", "an empty one"]
)
@pytest.mark.parametrize("kind", NETWORKS)
def test_batch_norm(kind, bounds):
    """torch's own norm on the whole batch is the oracle, in double precision."""
    make, shape, width = NETWORKS[kind]
    torch.manual_seed(0)
    network, inputs, gradient = double(make()), torch.rand(shape).double(), torch.randn(11, width).double()
    found, gradients, networks = on_shares(network, inputs, gradient, bounds)
    expected = network(inputs)
    expected.backward(gradient)
    torch.testing.assert_close(found, expected.detach(), atol=1e-10, rtol=1e-10)
    for one, weight in zip(gradients, network.parameters(), strict=True):
        torch.testing.assert_close(one, weight.grad, atol=1e-10, rtol=1e-10)
    for own in networks:
        for name, buffer in own.named_buffers():
            torch.testing.assert_close(buffer, dict(network.named_buffers())[name], atol=1e-10, rtol=1e-10)


def test_a_norm_that_is_fixed_asks_nobody():
    network = double(nn.BatchNorm1d(4)).eval()
    inputs = torch.rand(6, 4).double()
    with WholeBatch(Share(0, 6, 20), add_up=None):
        assert torch.equal(network(inputs), network(inputs))


def test_short_numbers_come_out_short_and_are_summed_up_long():
    norm, inputs = nn.BatchNorm1d(4), torch.rand(6, 4).bfloat16()
    with WholeBatch(Share(0, 6, 6), lambda tensor: None):
        found = norm(inputs)
    assert found.dtype == torch.bfloat16
    expected = F.batch_norm(inputs.float(), None, None, training=True)
    torch.testing.assert_close(found.float(), expected, atol=0.02, rtol=0.02)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_dropout_drops_what_it_would_drop_of_the_whole(share, inplace):
    """To the bit, and what is drawn afterwards is the same too."""
    layer, inputs = nn.Dropout(share, inplace=inplace), torch.randn(10, 7, 3)
    torch.manual_seed(3)
    expected, afterwards = F.dropout(inputs, share), torch.rand(3)
    for rows in (Share(0, 4, 10), Share(4, 10, 10), Share(5, 5, 10)):
        torch.manual_seed(3)
        with WholeBatch(rows, add_up=None):
            found = layer(inputs[rows.rows].clone())
        assert torch.equal(found, expected[rows.rows])
        assert torch.equal(torch.rand(3), afterwards)


def test_dropout_of_something_else_than_items_is_torchs_own():
    torch.manual_seed(3)
    expected = F.dropout(torch.ones(7, 2))
    torch.manual_seed(3)
    with WholeBatch(Share(0, 4, 10), add_up=None):
        assert torch.equal(F.dropout(torch.ones(7, 2)), expected)


def test_nothing_is_dropped_outside_of_training():
    inputs = torch.randn(4, 3)
    with WholeBatch(Share(0, 4, 10), add_up=None):
        assert torch.equal(nn.Dropout(0.5).eval()(inputs), inputs)
