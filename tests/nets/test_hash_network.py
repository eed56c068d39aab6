"""The hash network."""

import numpy as np
import pytest
import torch
from torch import nn

from pts3h.nets.backbones.small import SmallConv
from tests.nets.networks import a_step, network


class TestHashNetwork:
    def test_outputs_are_linear_in_the_standardised_vectors(self):
        net = network(hidden=0)
        vectors, center, spread = torch.randn(20, 7) * 50 + 10, torch.randn(7), torch.rand(7) + 1
        net.standardize(center, spread)
        w, b = (p.detach().double().numpy() for p in (net.hash.weight, net.hash.bias))
        scale = np.sqrt((spread.double().numpy() ** 2).mean())
        expected = (vectors.double().numpy() - center.double().numpy()) / scale @ w.T + b
        np.testing.assert_allclose(net(vectors).detach(), expected, rtol=1e-4, atol=1e-6)

    def test_a_hidden_layer_in_double(self):
        net = network().eval()
        vectors = torch.randn(20, 7)
        hidden = (
            vectors.double().numpy() @ net.trunk[0].weight.detach().double().numpy().T / np.sqrt(1 + 1e-5)
        )
        expected = hidden.clip(0) @ net.hash.weight.detach().double().numpy().T
        np.testing.assert_allclose(net(vectors).detach(), expected, atol=1e-6)

    @pytest.mark.parametrize("hidden", [0, 16])
    def test_it_knows_its_bits(self, hidden):
        net = network(bits=9, hidden=hidden)
        assert net.bits == 9 and net(torch.randn(3, 7)).shape == (3, 9)

    def test_the_hash_layer_starts_small(self):
        net = network(bits=256, hidden=512)
        assert abs(net.hash.weight.std().item() - 0.01) < 5e-4 and not net.hash.bias.any()

    def test_equal_vectors_have_no_spread(self):
        net = network(hidden=0)
        net.standardize(torch.ones(7), torch.zeros(7))
        assert net(torch.ones(3, 7)).isfinite().all()

    def test_standardisation_is_saved(self):
        net, other = network(), network(seed=1)
        net.standardize(torch.arange(7.0), torch.ones(7) * 3)
        other.load_state_dict(net.state_dict())
        assert other.center.tolist() == list(range(7)) and other.scale == 3

    @pytest.mark.parametrize("fixed", [True, False])
    def test_fixed_norms_keep_their_statistics(self, fixed):
        net = network(inputs=256, backbone=SmallConv(), fixed_norm=fixed)
        norms = [m for m in net.backbone.modules() if isinstance(m, nn.BatchNorm2d)]
        before = [(m.running_mean.clone(), m.weight.clone()) for m in norms]
        head = net.trunk[1].running_mean.clone()
        net.eval()
        net.train()
        a_step(net, torch.optim.SGD(net.parameters(), lr=1.0), images=True)
        for norm, (mean, weight) in zip(norms, before, strict=True):
            assert torch.equal(norm.running_mean, mean) == fixed
            assert not torch.equal(norm.weight, weight)  # its weights learn all the same
        assert not torch.equal(net.trunk[1].running_mean, head)  # the head's own norm always moves
        assert net.trunk.training and net.training
