"""How a step runs the networks: precision and compilation are what the settings say, and nothing else."""

import os
import subprocess
import sys
import warnings
from dataclasses import replace

import pytest
import torch

from pts3h import UserError
from pts3h.training.forward import Forward
from pts3h.training.loop import train
from tests.training.runs import Watched, make_run, make_used, weights


def seen_in(run):
    """A run whose steps, and what its networks computed with, are written down."""
    steps, kinds = [], []
    for network in (run.student, run.teacher.network):
        network.hash.register_forward_hook(lambda layer, given, output: kinds.append(output.dtype))
    return replace(run, objective=Watched(run.objective, steps.append)), steps, kinds


class TestPrecision:
    def test_by_default_a_network_is_just_called(self):
        run = make_run()
        view = torch.randn(5, 16)
        forward = Forward(run.student.eval(), run.used, None)
        assert forward.run is run.student
        assert torch.equal(forward(view, None), run.student(view))

    @pytest.mark.parametrize("name", ["float32", "bfloat16"])
    def test_networks_compute_with_it_and_losses_do_not(self, name):
        run, steps, kinds = seen_in(make_run(steps=2, precision=name))
        history = train(run)
        assert set(kinds) == {getattr(torch, name)} and len(kinds) == 4
        for step in steps:
            assert step.outputs.dtype == step.teacher_outputs.dtype == torch.float32
        assert all(
            value.dtype == torch.float32 for value in weights(run).values() if value.is_floating_point()
        )
        assert all(isinstance(record["loss"], float) for record in history)

    def test_half_as_long_numbers_learn_as_well(self):
        long, short = (train(make_run(precision=name, steps=60)) for name in ("float32", "bfloat16"))
        assert long[0]["loss"] == pytest.approx(short[0]["loss"], rel=0.05) and long != short
        assert short[-1]["supervised"] < 0.5 * short[0]["supervised"]

    def test_encoding_stays_as_it_is(self):
        """A trained network does not know how it was trained."""
        run = make_run(steps=2, precision="bfloat16")
        train(run)
        assert run.student.eval()(torch.randn(3, 16)).dtype == torch.float32


class TestCompiling:
    def test_both_networks_run_compiled_and_stay_what_they_are(self, monkeypatch):
        compiled = []

        def compiler(network):
            return lambda view: compiled.append(network) or network(view)

        monkeypatch.setattr(torch, "compile", compiler)
        run, plain = make_run(steps=3, compile=True), make_run(steps=3)
        assert train(run) == train(plain)
        assert {id(network) for network in compiled} == {id(run.student), id(run.teacher.network)}
        assert len(compiled) == 6 and list(weights(run)) == list(weights(plain))

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, of its own parts
    def test_compiled_networks_compute_the_same(self):
        """Up to rounding; dropout draws otherwise, and is left out."""
        runs = [make_run(steps=3, compile=compile) for compile in (True, False)]
        for run in runs:
            run.student.trunk[-1].p = run.teacher.network.trunk[-1].p = 0.0
            train(run)
        for name, value in weights(runs[1]).items():
            torch.testing.assert_close(weights(runs[0])[name], value, atol=1e-4, rtol=1e-3)

    @pytest.mark.slow
    def test_without_a_compiler_it_says_what_is_missing(self, tmp_path):
        fit = (
            "import numpy as np, pts3h\n"
            "rows = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)\n"
            "pts3h.Hasher(bits=8, steps=2, compile=True).fit(rows, labels=np.arange(30) % 3, check=False)"
        )
        without = os.environ | {"PATH": str(tmp_path), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
        without.pop("CXX", None)
        done = subprocess.run([sys.executable, "-c", fit], env=without, capture_output=True, text=True)
        assert done.returncode == 1
        said = done.stderr.strip().splitlines()[-1]
        assert said.startswith("pts3h.errors.UserError: compile=True needs a C++ compiler, such as g++")

    def test_what_goes_wrong_in_it_is_one_line(self, monkeypatch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from torch._dynamo.exc import BackendCompilerFailed

        def failing(view):
            raise BackendCompilerFailed("inductor", RuntimeError("no working compiler\nat all"), None)

        monkeypatch.setattr(torch, "compile", lambda network: failing)
        with pytest.raises(UserError, match=r"compile=True needs a C\+\+ compiler.*no working compiler"):
            train(make_run(steps=1, compile=True))


def test_both_are_off_by_default():
    assert (make_used().precision, make_used().compile) == ("float32", False)
