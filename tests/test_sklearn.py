"""A step of scikit-learn: its own checks, pipelines, searches, and the same codes as a hasher."""

import os
import pickle
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import pts3h
import pts3h.sklearn
from pts3h.settings.asked import Settings
from pts3h.sklearn import HashTransformer, as_labels

QUICK = {"bits": 12, "steps": 20, "hidden": 64}
RNG = np.random.default_rng(0)
KINDS = np.arange(90) % 3
VECTORS = 3 * np.eye(3, 6)[KINDS] + RNG.normal(size=(90, 6))
SOME = np.where(np.arange(90) < 45, KINDS, -1)  # the other half is not known


@parametrize_with_checks([HashTransformer(**QUICK)])  # none of them is expected to fail
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_check_that_needs_a_switch_of_scipy():
    """scikit-learn skips it above, since SciPy looks at the switch when it is imported."""
    code = (
        "from sklearn.utils.estimator_checks import check_array_api_input\n"
        "from pts3h.sklearn import HashTransformer\n"
        f"step = HashTransformer(**{QUICK})\n"
        "check_array_api_input('HashTransformer', step, 'numpy', expect_only_array_outputs=False)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "SCIPY_ARRAY_API": "1"})


@pytest.mark.parametrize("labels", [SOME, None], ids=["labels", "none"])
def test_the_codes_of_a_hasher(labels):
    hasher = pts3h.Hasher(**QUICK, seed=3).fit(VECTORS, labels=labels)
    transformer = HashTransformer(**QUICK, seed=3).fit(VECTORS, labels)
    codes = hasher.encode(VECTORS)
    np.testing.assert_array_equal(transformer.transform(VECTORS), codes)
    assert transformer.hasher_.fingerprint == hasher.fingerprint
    assert transformer.transform(VECTORS).dtype == np.uint8


def test_outputs():
    packed = HashTransformer(**QUICK).fit_transform(VECTORS, SOME)
    signs = HashTransformer(**QUICK, output="signs").fit_transform(VECTORS, SOME)
    bits = HashTransformer(**QUICK, output="bits").fit_transform(VECTORS, SOME)
    assert packed.shape == (90, 2) and signs.shape == bits.shape == (90, 12)
    np.testing.assert_array_equal(bits, np.unpackbits(packed, axis=1)[:, :12])
    np.testing.assert_array_equal(signs, 2 * bits.astype(int) - 1)


def test_names_of_columns():
    frame = pd.DataFrame(VECTORS, columns=list("abcdef"))
    for output, count in (("packed", 3), ("bits", 20)):
        step = HashTransformer(**QUICK, look_bits=3, output=output).set_params(bits=17, look_bits=3)
        found = step.set_output(transform="pandas").fit_transform(frame, SOME)
        assert (
            list(found.columns)
            == [f"hashtransformer{n}" for n in range(count)]
            == [*step.get_feature_names_out()]
        )
    assert list(step.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        step.transform(frame[list("fedcba")])


def test_every_setting_is_a_parameter():
    step = HashTransformer()
    assert step.get_params() == {**vars(Settings()), "output": "packed", "check": True}
    other = clone(step.set_params(omega=0.3, loss="ksh", output="signs"))
    assert other.get_params() == step.get_params() and not hasattr(other, "hasher_")
    assert repr(HashTransformer(bits=8)) == "HashTransformer(bits=8)"
    with pytest.raises(pts3h.UserError, match="there is no setting 'bitz': did you mean bits"):
        HashTransformer(bitz=8)


def test_pipeline_and_search():
    """Neighbours by Hamming distance: cross-validation chooses the number of bits."""
    steps = make_pipeline(
        StandardScaler(),
        HashTransformer(steps=40, hidden=64, output="bits", check=False),
        KNeighborsClassifier(3, metric="hamming"),
    )
    search = GridSearchCV(steps, {"hashtransformer__bits": [2, 16]}, cv=2, error_score="raise")
    search.fit(VECTORS, KINDS)
    assert search.best_params_ == {"hashtransformer__bits": 16} and search.best_score_ > 0.8


def test_a_fitted_one_can_be_pickled_and_saved(tmp_path):
    step = HashTransformer(**QUICK, look_bits=4).fit(VECTORS, SOME)
    expected = step.transform(VECTORS)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(step)).transform(VECTORS), expected)
    step.hasher_.save(tmp_path / "model")
    np.testing.assert_array_equal(pts3h.load_model(tmp_path / "model").encode(VECTORS).codes, expected)


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ([5, -1, 7, 5], [0, -1, 1, 0]),
        ([-3, -1, 2.0, -3], [0, -1, 1, 0]),
        (["b", "a", "b"], [1, 0, 1]),
        (pd.Series(["b", "a", "b"]), [1, 0, 1]),
        ([True, False], [1, 0]),
        ([[1, 0], [-1, -1]], [[1, 0], [-1, -1]]),
        ([-1, -1], None),
        ([[-1, -1], [-1, -1]], None),
    ],
)
def test_labels(given, labels):
    found = as_labels(given)
    assert (None if found is None else found.tolist()) == labels


@pytest.mark.parametrize(
    ("settings", "y", "says"),
    [
        ({"output": "bytes"}, None, "output must be one of packed, signs, bits"),
        ({"omega": -1.0}, None, "omega"),
        ({"backbone": "alexnet"}, None, "backbone"),
        ({}, VECTORS[:, 0], "y must hold classes, -1 where unknown; got float64"),
        ({}, np.zeros(90, int), "all labelled items are similar"),
        ({}, KINDS[:80], "80 labels for 90 items"),
    ],
)
def test_mistakes(settings, y, says):
    with pytest.raises(pts3h.UserError, match=says):
        HashTransformer(**QUICK | settings).fit(VECTORS, y)


def test_the_real_scikit_learn_is_not_hidden():
    assert sklearn is not pts3h.sklearn and sklearn.__version__ == version("scikit-learn")
    assert issubclass(HashTransformer, sklearn.base.BaseEstimator)


def test_without_scikit_learn_there_is_a_line():
    code = "import sys; sys.modules['sklearn.base'] = None\nimport pts3h.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = "ImportError: pts3h.sklearn needs scikit-learn: pip install 'pts3h[sklearn]'"
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == said
