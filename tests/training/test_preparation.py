"""From a training set to what a network is trained on."""

import numpy as np
import pytest

from pts3h import SkippedWarning, UserError
from pts3h.data.images import ImageFiles
from pts3h.data.items import read_items
from pts3h.data.known_pairs import PairList
from pts3h.data.training_set import TrainingSet
from pts3h.model.networks import load_backbone
from pts3h.training.preparation import (
    compute_features,
    find_broken,
    picture_problem,
    vector_problem,
    without_broken,
)
from tests.pictures import pictures, write_pictures
from tests.settings.situations import COLD, used

KNOWN = PairList(10, [[0, 1, 1], [1, 2, 0], [4, 5, 1], [0, 6, 0]])
TRAINING = TrainingSet(read_items(np.eye(10)), KNOWN, np.array([3, 7, 9]))  # item 8 is a query


class TestBroken:
    def test_found_by_position(self, tmp_path):
        write_pictures(tmp_path, 70)
        for name in ("66.png", "03.png"):
            (tmp_path / name).write_text("no picture")
        broken = find_broken(ImageFiles(sorted(tmp_path.iterdir())), 16)
        assert list(broken) == [3, 66] and "66.png" in broken[66]

    def test_they_leave_pairs_and_pool_and_it_is_said(self):
        reasons = {position: f"{position}.png: cut" for position in (9, 0, 3, 7)}
        with pytest.warns(
            SkippedWarning, match=r"4 of 10 pictures .*: 0\.png: cut; 3\.png: cut; 7\.png: cut; \.\.\."
        ):
            left = without_broken(TRAINING, reasons, used())
        assert left.known.pairs.tolist() == [[1, 2], [4, 5]]
        assert left.pool.tolist() == [6], "it lost its only pair; the query stays out"
        assert left.items is TRAINING.items

    def test_none_is_no_news(self):
        assert without_broken(TRAINING, {}, used()) is TRAINING

    def test_all_of_them(self):
        with pytest.raises(UserError, match="none of the 10 pictures"):
            without_broken(TRAINING, dict.fromkeys(range(10), "cut"), used())


class TestProblems:
    def test_vectors_have_the_mean_of_those_that_take_part(self):
        array = np.random.default_rng(0).normal(size=(10, 4)).astype(np.float32)
        problem = vector_problem(TRAINING, array, used(noise=0.5, drop=0.3, neighbours=0.0))
        center, spread = problem.inputs.standard
        members = [0, 1, 2, 3, 4, 5, 6, 7, 9]
        np.testing.assert_allclose(center, array[members].mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(spread, array[members].std(axis=0), atol=1e-6)
        assert (problem.inputs.views.noise, problem.inputs.views.dropout) == (0.5, 0.3)
        assert problem.known is TRAINING.known and problem.pool is TRAINING.pool

    def test_pictures(self):
        training = TrainingSet(read_items(pictures(10)[0]), TRAINING.known, TRAINING.pool)
        asked = {"image_size": 16, "crop": 0.7, "flip": 0.1, "jitter": 0.4}
        problem = picture_problem(training, training.items.images, used(training, **COLD, **asked))
        views = problem.inputs.views
        assert problem.inputs.clean(np.arange(2)).shape == (2, 3, 16, 16)
        assert (views.scale, views.flip, views.jitter) == (0.7, 0.1, 0.4)

    def test_features_of_pictures_and_their_copies(self):
        training = TrainingSet(read_items(pictures(10)[0]), TRAINING.known, TRAINING.pool)
        asked = used(training, backbone="small", freeze=True, image_size=16, views=2)
        features = compute_features(training.items.images, load_backbone(asked), asked, False)
        assert features.array.shape == (10, 3, 256) and not features.broken
        assert np.ptp(np.asarray(features.array), axis=1).max() > 0
