import sys

import numpy as np
import pytest

from pts3h import Hasher, UserError

SETTINGS = {"bits": 8, "steps": 5, "hidden": 8}
VECTORS = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
LABELS = np.arange(40) % 2


def test_curves_hold_what_the_history_holds(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    hasher = Hasher(**SETTINGS).fit(VECTORS, labels=LABELS, tensorboard=tmp_path)
    events = EventAccumulator(str(tmp_path)).Reload()
    for name in ("loss", "supervised", "consistent", "quantized", "threshold", "learning_rate", "omega"):
        written = [(event.step, event.value) for event in events.Scalars(name)]
        expected = [(record["step"], record[name]) for record in hasher.history]
        np.testing.assert_allclose(written, expected, rtol=1e-6)


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(UserError, match=r"pts3h\[tensorboard\]"):
        Hasher(**SETTINGS).fit(VECTORS, labels=LABELS, tensorboard=tmp_path)
