"""Tables, columns and tensors of other libraries are the array that they hold."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
import torch
from datasets import Dataset

from pts3h import Hasher, UserError
from pts3h.data.arrays import as_array
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs, PairList

ROWS = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
COLUMNS = dict(zip("abc", ROWS.T, strict=True))
VECTORS = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 3)


class LikePolars:
    """A column of polars: it makes itself an array, of objects where each row is a list."""

    def __init__(self, rows):
        self.rows = rows

    def __array__(self, dtype=None, copy=None):
        rows = np.empty(len(self.rows), object)
        rows[:] = list(self.rows)
        return rows


@pytest.mark.parametrize(
    "given",
    [
        ROWS,
        ROWS.tolist(),
        list(ROWS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=range(100, 60, -1)),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).astype("float32[pyarrow]"),
        pd.Series(list(ROWS)),
        pd.DataFrame({"vector": list(ROWS)}),
        pd.Series(ROWS.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float32()))),
        pa.table(COLUMNS),
        pa.table(COLUMNS).to_batches()[0],
        VECTORS,
        pa.chunked_array([VECTORS[:15], VECTORS[15:]]),
        pa.table({"vector": VECTORS}),
        pa.array(ROWS.tolist(), pa.list_(pa.float32())),
        torch.tensor(ROWS),
        torch.tensor(ROWS, requires_grad=True),
        torch.tensor(ROWS).double(),
        Dataset.from_dict({"vector": ROWS.tolist()})["vector"],
        Dataset.from_dict({"vector": ROWS.tolist()}).with_format("numpy")["vector"],
        LikePolars(ROWS),
    ],
    ids=lambda given: type(given).__module__.partition(".")[0] + " " + type(given).__name__,
)
def test_vectors(given):
    array = as_array(given)
    assert array.dtype in (np.float32, np.float64)
    np.testing.assert_array_equal(array.astype(np.float32), ROWS)
    items = read_items(given)
    np.testing.assert_array_equal(np.asarray(items.content, np.float32), ROWS)
    assert list(items.ids) == [str(position) for position in range(40)]


def test_numbers_that_numpy_does_not_have():
    given = torch.tensor(ROWS, requires_grad=True).bfloat16()
    np.testing.assert_array_equal(as_array(given), given.detach().float().numpy())


def test_kinds_of_numbers_stay():
    whole = pd.Series([3, 1, -1], dtype="Int64").astype(object)
    assert as_array(whole).dtype == np.int64
    assert as_array(pd.DataFrame({"a": [True, False]})).dtype == np.bool_
    assert as_array(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.0]})).dtype == np.float64


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (pd.DataFrame({"a": [1.0, 2.0], "title": ["x", "y"]}), "this DataFrame makes no array: .*'x'"),
        (pd.Series([[1.0, 2.0], [3.0]]), "this Series makes no array: .*different shapes"),
        (
            pd.DataFrame({"a": pd.array([1.5, None], "Float64"), "b": ["", "y"]}),
            "something else than numbers",
        ),
        (pa.array([[1.0], None]), "makes no array"),
        (
            scipy.sparse.csr_matrix(ROWS),
            r"this csr_matrix makes no array: .*\.toarray\(\) of a sparse matrix",
        ),
        (object(), "this object makes no array"),
    ],
)
def test_what_is_no_array(given, says):
    with pytest.raises(UserError, match=says) as caught:
        read_items(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given", [pd.DataFrame({"a": pd.array([1.5, None], "Float64")}), pa.table({"a": [1.5, None]})]
)
def test_what_is_missing_is_named_by_its_row(given):
    with pytest.raises(UserError, match="row 1 of the vectors holds NaN"):
        read_items(given)


@pytest.mark.parametrize(
    "make", [pd.Series, pa.array, torch.tensor, LikePolars, list], ids=lambda one: one.__name__
)
def test_labels_and_pairs(make):
    known = LabelPairs(make([0, 1, -1, 1]))
    assert known.labels.tolist() == [0, 1, -1, 1]
    pairs = [[0, 1, 1], [1, 2, 0]]
    tables = {
        pd.Series: pd.DataFrame,
        pa.array: lambda rows: pa.table(dict(zip("abs", zip(*rows, strict=True), strict=True))),
    }
    assert PairList(3, tables.get(make, make)(pairs)).pairs.tolist() == [[0, 1], [1, 2]]


def test_a_hasher_takes_them():
    labels = np.arange(40) % 2
    hasher = Hasher(bits=8, steps=3, hidden=4).fit(
        pd.DataFrame(COLUMNS), labels=pd.Series(labels), check=False
    )
    expected = Hasher(bits=8, steps=3, hidden=4).fit(ROWS, labels=labels, check=False)
    assert hasher.fingerprint == expected.fingerprint
    for given in (pa.table({"vector": VECTORS}), torch.tensor(ROWS)):
        np.testing.assert_array_equal(hasher.encode(given), expected.encode(ROWS))


def test_nothing_is_imported_for_it():
    code = (
        "import sys, numpy as np; from pts3h.data.arrays import as_array; as_array(np.ones((2, 2)))\n"
        "print([name for name in ('torch', 'pandas', 'pyarrow', 'polars') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
