"""Numbers at the edge, through the public functions. Each case returns, or raises UserError.

``CASES`` holds functions by name. They run in victims, so that one that never ends is noticed.
"""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pts3h import Hasher, UserError, evaluate, open_index

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(24, 6)).astype(np.float32)
OBJECTS = np.full(VECTORS.shape, object(), object)  # numbers in the shape of objects are numbers
KINDS = np.arange(24) % 3
LENGTHS = (1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 1000, 4095, 4096)


def spoiled(value):
    vectors = VECTORS.copy()
    vectors[5, 2] = value
    return vectors


def laid_out(array):
    """The same numbers, stored in other ways."""
    wide = np.zeros((len(array), 2 * array.shape[1]), array.dtype)
    wide[:, ::2] = array
    shifted = np.zeros(array.nbytes + 1, np.uint8)
    shifted[1:] = np.frombuffer(array.tobytes(), np.uint8)
    return {
        "as they are": array,
        "non-contiguous": wide[:, ::2],
        "Fortran order": np.asfortranarray(array),
        "backwards": array[::-1].copy()[::-1],
        "byte-swapped": array.astype(array.dtype.newbyteorder()),
        "read-only": np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
        "not aligned": np.frombuffer(shifted.data, array.dtype, offset=1).reshape(array.shape),
    }


def fitted(vectors=VECTORS, **more):
    settings = {"bits": 8, "steps": 2, "hidden": 4} | more.pop("settings", {})
    return Hasher(**settings).fit(vectors, **({"labels": KINDS[: len(vectors)]} | more))


def check_codes(hasher, vectors, bits=8):
    codes = hasher.encode(vectors)
    assert codes.shape == (len(vectors), -(-bits // 8)) and codes.dtype == np.uint8
    unused = -bits % 8
    assert not unused or not (np.unpackbits(codes, axis=1)[:, -unused:].any())
    return codes


def refused(call):
    """It must be: nothing right could be returned."""
    try:
        call()
    except UserError as error:
        assert len(str(error).splitlines()) == 1
        return
    raise AssertionError("it was taken")


def either(call):
    """It works, or says why not."""
    try:
        call()
    except UserError as error:
        assert len(str(error).splitlines()) == 1


def fit_and_encode(vectors, **more):
    return check_codes(fitted(vectors, **more), vectors)


def of_length(bits):
    hasher = fitted(settings={"bits": bits})
    codes = check_codes(hasher, VECTORS, bits)
    search(codes, bits)


def same_codes(vectors):
    """However numbers are stored, they are the same numbers."""
    np.testing.assert_array_equal(fitted().encode(vectors), fitted().encode(VECTORS))
    np.testing.assert_array_equal(fitted(vectors).encode(VECTORS), fitted().encode(VECTORS))


def search(codes, bits, plain=None):
    plain = codes if plain is None else plain
    with TemporaryDirectory() as folder, open_index(Path(folder) / "index", bits) as index:
        index.add(range(len(codes)), codes)
        for row in (0, len(codes) - 1):
            hits = index.search(codes[row], len(codes))[0]
            expected = np.unpackbits(plain ^ plain[row], axis=1).sum(1)
            assert dict(hits) == dict(enumerate(expected.tolist()))
            assert hits.distances == sorted(expected.tolist())


def in_an_index(codes, bits=64):
    with TemporaryDirectory() as folder, open_index(Path(folder) / "index", bits) as index:
        index.add(range(len(codes)), codes)


def judged(codes, labels):
    """Mean average precision by a loop, ties by expectation where there are none."""
    report = evaluate(codes[:4], codes, labels=(labels[:4], labels), bits=8 * codes.shape[1])
    assert 0 <= report.map <= 1


CODES = RNG.integers(0, 256, (24, 8), np.uint8)
CASES = {
    **{
        f"{what} with {name}": (lambda act=act, value=value: refused(lambda: act(value)))
        for what, act in (
            ("fit", lambda v: fitted(spoiled(v))),
            ("encode", lambda v: fitted().encode(spoiled(v))),
        )
        for name, value in (("NaN", np.nan), ("infinity", np.inf), ("minus infinity", -np.inf))
    },
    "fit with the largest float": lambda: either(lambda: fit_and_encode(spoiled(3e38))),
    "fit with a large number": lambda: fit_and_encode(spoiled(1e15)),
    "fit with the smallest float": lambda: fit_and_encode(spoiled(1e-45)),
    "fit with more than float32 holds": lambda: refused(
        lambda: fitted(spoiled(0).astype(np.float64) + 1e300)
    ),
    "fit of constants": lambda: either(lambda: fit_and_encode(np.ones((24, 6), np.float32))),
    "fit of zeros": lambda: either(lambda: fit_and_encode(np.zeros((24, 6), np.float32))),
    "fit of one column": lambda: either(lambda: fit_and_encode(VECTORS[:, :1])),
    "fit of one class": lambda: either(lambda: fit_and_encode(VECTORS, labels=np.zeros(24, int))),
    "fit of a class each": lambda: either(lambda: fit_and_encode(VECTORS, labels=np.arange(24))),
    "fit of no label": lambda: either(lambda: fit_and_encode(VECTORS, labels=np.full(24, -1))),
    "fit of one alike pair": lambda: either(lambda: fit_and_encode(VECTORS, labels=None, pairs=[[0, 1, 1]])),
    "fit of one unlike pair": lambda: either(lambda: fit_and_encode(VECTORS, labels=None, pairs=[[0, 1, 0]])),
    "fit of two items": lambda: either(lambda: fit_and_encode(VECTORS[:2])),
    "fit of one item": lambda: either(lambda: fit_and_encode(VECTORS[:1])),
    "fit in batches of one": lambda: either(
        lambda: fit_and_encode(VECTORS, settings={"labelled_per_batch": 1, "unlabelled_per_batch": 1})
    ),
    "fit in batches of two": lambda: either(
        lambda: fit_and_encode(VECTORS, settings={"labelled_per_batch": 2, "unlabelled_per_batch": 2})
    ),
    "fit of nothing": lambda: refused(lambda: fitted(VECTORS[:0])),
    "fit of no columns": lambda: refused(lambda: fitted(VECTORS[:, :0])),
    "fit of objects": lambda: refused(lambda: fitted(OBJECTS)),
    "fit of complex numbers": lambda: refused(lambda: fitted(VECTORS.astype(complex))),
    "fit of texts": lambda: refused(lambda: fitted(VECTORS.astype(str))),
    "fit of dates": lambda: refused(lambda: fitted(np.zeros((24, 6), "M8[s]"))),
    "fit of one axis": lambda: refused(lambda: fitted(VECTORS[:, 0])),
    "encode of one item": lambda: check_codes(fitted(), VECTORS[:1]),
    "encode of nothing": lambda: refused(lambda: fitted().encode(VECTORS[:0])),
    "encode of another width": lambda: refused(lambda: fitted().encode(VECTORS[:, :5])),
    "encode of objects": lambda: refused(lambda: fitted().encode(OBJECTS)),
    **{
        f"fit of {name}": (lambda dtype=dtype: fit_and_encode(np.abs(VECTORS * 9).astype(dtype)))
        for name, dtype in (
            ("float16", np.float16),
            ("float64", np.float64),
            ("long double", np.longdouble),
            ("int8", np.int8),
            ("uint64", np.uint64),
            ("bool", bool),
        )
    },
    **{
        f"vectors {name}": (lambda vectors=vectors: same_codes(vectors))
        for name, vectors in laid_out(VECTORS).items()
    },
    **{f"{bits} bits": (lambda bits=bits: of_length(bits)) for bits in LENGTHS},
    **{
        f"{bits} bits are refused": (lambda bits=bits: refused(lambda: fitted(settings={"bits": bits})))
        for bits in (0, -1, 4097, 10**12)
    },
    **{
        f"codes {name}": (lambda codes=codes: search(codes, 64, CODES))
        for name, codes in laid_out(CODES).items()
        if name != "byte-swapped"
    },
    **{
        f"an index of {name}": (lambda codes=codes: refused(lambda: in_an_index(codes)))
        for name, codes in (
            ("floats", CODES.astype(np.float32)),
            ("int64", CODES.astype(np.int64)),
            ("objects", CODES.astype(object)),
            ("short codes", CODES[:, :7]),
            ("one axis", CODES[:, 0]),
        )
    },
    "an index of nothing": lambda: either(lambda: in_an_index(CODES[:0])),
    "codes with bits beyond the last": lambda: refused(lambda: in_an_index(CODES, 60)),
    "evaluate": lambda: judged(CODES, KINDS),
    "evaluate with one class": lambda: judged(CODES, np.zeros(24, int)),
    "evaluate with nothing alike": lambda: either(lambda: judged(CODES, np.arange(24))),
    "evaluate equal codes": lambda: judged(np.zeros_like(CODES), KINDS),
    "evaluate one item": lambda: either(lambda: judged(CODES[:1], KINDS[:1])),
    "evaluate nothing": lambda: refused(lambda: judged(CODES[:0], KINDS[:0])),
    "evaluate floats": lambda: refused(lambda: judged(CODES.astype(np.float32), KINDS)),
    "evaluate objects": lambda: refused(lambda: judged(CODES.astype(object), KINDS)),
    "evaluate labels with NaN": lambda: refused(lambda: judged(CODES, np.where(KINDS, KINDS, np.nan))),
    **{
        f"evaluate codes {name}": (lambda codes=codes: judged(codes, KINDS))
        for name, codes in laid_out(CODES).items()
    },
}


def run_case(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a collapse, which two steps cannot avoid
        CASES[name]()
