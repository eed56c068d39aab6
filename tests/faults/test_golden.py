"""Folders as each version of each format was written: they open, and hold what they held."""

import json
from pathlib import Path

import numpy as np
import pytest

from pts3h.bench.cells import read_results
from pts3h.cache.rows import Kind, find
from pts3h.training.checkpoint import read_checkpoint
from tests.cache.rows import PARTS, WIDTH, keys, rows
from tests.index.local import test_earlier as indexes
from tests.model import test_earlier as models

HERE = Path(__file__).parent / "golden"


@pytest.mark.parametrize("folder", models.GOLDEN, ids=models.NAMES)
def test_models(folder, tally):
    with tally(f"golden: model, {folder.name}").trying():
        models.test_the_same_name_and_codes(folder)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_indexes(number, tmp_path, tally):
    with tally(f"golden: index, format {number}").trying():
        if number == 1:
            indexes.test_format_1(tmp_path, with_cache=True)
        else:
            indexes.test_formats_2_and_3(tmp_path, number, with_cache=True, read_only=False)


def test_feature_cache(tally):
    with tally("golden: feature cache").trying():
        found = find(Kind(HERE / "features", PARTS, WIDTH).segments(), keys(6))
        assert found.known.tolist() == [True] * 5 + [False]
        np.testing.assert_array_equal(found.array(PARTS, WIDTH)[:5], rows(5))


def test_checkpoint(tally):
    with tally("golden: checkpoint").trying():
        metadata, tensors = read_checkpoint(HERE)
        assert metadata["step"] == "2" and json.loads(metadata["config"])["bits"] == 2
        assert len(json.loads(tensors["history"].numpy().tobytes())) == 2
        assert tensors["student.hash.weight"].shape == (2, 2)


@pytest.mark.parametrize("version", ["without-checksum", "with-checksum"])
def test_result_cells(version, tally):
    with tally(f"golden: result cell, {version}").trying():
        (result,) = read_results(HERE / version)
        assert result["map"] == 0.25 and result["cell"].method == "dsh"
