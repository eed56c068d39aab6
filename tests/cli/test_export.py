"""pts3h export: a model as ONNX."""

import numpy as np
import onnxruntime

from tests.cli.commands import FIT_VECTORS, tree


def test_a_model_goes_into_its_folder_or_elsewhere(here, run, kinds):
    run(*FIT_VECTORS, "--bits", "8", "--no-report")
    done = run("export", "model", "--onnx")
    assert (done.code, done.out) == (0, "") and "model/model.onnx encodes as the model does" in done.err
    (outputs,) = onnxruntime.InferenceSession("model/model.onnx").run(
        ["outputs"], {"vectors": np.load("vectors.npy")}
    )
    run("encode", "model", "vectors.npy", "--out", "codes.npy")
    np.testing.assert_array_equal(np.packbits(outputs >= 0, axis=1), np.load("codes.npy"))

    before = tree(here)
    assert run("export", "model", "--onnx", "--to", "elsewhere/other.onnx").code == 0
    assert {*tree(here)} - {*before} == {"elsewhere", "elsewhere/other.onnx"}


def test_what_is_refused(refused):
    refused("export", "model", says="say where to with --to FILE; a model is exported with --onnx")
    refused("export", "photos", "--onnx", says="photos is not a model folder")
