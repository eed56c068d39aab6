"""How many threads a training takes: short operations one, whole image networks all."""

import numpy as np
import pytest
import torch

import pts3h

LABELS = np.arange(24) % 2
VECTORS = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)
PICTURES = np.random.default_rng(0).integers(0, 256, (24, 32, 32, 3), np.uint8)
SMALL = {"backbone": "small", "image_size": 32}


@pytest.fixture
def two_threads(monkeypatch):
    """As on a machine with two cores, where nobody asked for anything."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def threads_of(items, **settings):
    """How many threads each step had."""
    found = []
    hasher = pts3h.Hasher(bits=8, steps=3, hidden=4, **settings)
    hasher.fit(
        items,
        labels=LABELS,
        check=False,
        progress=False,
        watch=lambda _: found.append(torch.get_num_threads()),
    )
    return found


@pytest.mark.parametrize(
    ("items", "settings", "threads"),
    [
        (VECTORS, {}, 1),
        (PICTURES, SMALL | {"freeze": True, "views": 1}, 1),
        (PICTURES, SMALL | {"freeze": False}, 2),
    ],
    ids=["vectors", "frozen", "whole"],
)
def test_short_steps_take_one_and_whole_networks_all(two_threads, items, settings, threads):
    assert threads_of(items, **settings) == 3 * [threads]
    assert torch.get_num_threads() == 2  # as it was before


def test_whoever_asks_for_more_has_them(two_threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads_of(VECTORS) == [2, 2, 2]


def test_they_are_given_back_after_a_failure(two_threads):
    def stop(_):
        raise KeyError("stop")

    with pytest.raises(KeyError):
        pts3h.Hasher(bits=8, steps=3).fit(VECTORS, labels=LABELS, check=False, progress=False, watch=stop)
    assert torch.get_num_threads() == 2
