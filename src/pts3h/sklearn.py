"""Codes as a step of scikit-learn: ``HashTransformer`` learns them in ``fit``, makes them in ``transform``.

``import pts3h`` does not import it. In here ``sklearn`` is the real one, since imports are absolute.
"""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("pts3h.sklearn needs scikit-learn: pip install 'pts3h[sklearn]'") from error

from .codes import Codes, code_bytes, unpack
from .data.items import Labels
from .errors import UserError
from .hasher import Hasher
from .settings.asked import Settings, check_names

__all__ = ["HashTransformer"]

Output = Literal["packed", "signs", "bits"]
UNKNOWN = -1  # the label of an item of which nothing is known, as in sklearn.semi_supervised
SETTINGS = {field.name: field.default for field in fields(Settings)}


def _with_every_setting(init: Callable[..., None]) -> Callable[..., None]:
    """Names every setting in the signature: there scikit-learn looks for what it can copy and search over."""
    known = list(inspect.signature(init).parameters.values())[:-1]
    kind = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, kind, default=default) for name, default in SETTINGS.items()]
    vars(init)["__signature__"] = inspect.Signature([*known, *more])
    return init


class HashTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learns binary codes of vectors, from the few labels that there are and from who is near whom.

    Args:
        output: what ``transform`` returns: "packed" bytes (n, ceil(bits / 8)), as an index takes them;
            "signs", -1 or +1 for each bit; "bits", 0 or 1 for each bit.
        check: as in :meth:`pts3h.Hasher.fit`.
        settings: every setting of :class:`pts3h.Hasher`, such as ``bits=64`` and ``seed=0``.

    Attributes:
        hasher_: the trained :class:`pts3h.Hasher`, which can be saved.
        n_features_in_: numbers in a vector.
    """

    @_with_every_setting
    def __init__(self, *, output: Output = "packed", check: bool = True, **settings: Any) -> None:
        check_names(settings)
        self.output, self.check = output, check
        for name, default in SETTINGS.items():
            setattr(self, name, settings.get(name, default))

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn from vectors of which some are labelled.

        Args:
            X: (n, d) vectors; an array, or a table of pandas or polars.
            y: (n,) classes, -1 where unknown; or 0/1 rows for several classes at once, all -1 where unknown.
                None, or nothing but -1, learns from neighbours alone.
        """
        if self.output not in get_args(Output):
            raise UserError(f"output must be one of {', '.join(get_args(Output))}, got {self.output!r}")
        vectors = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        labels = None if y is None else as_labels(y)
        hasher = Hasher(**{name: getattr(self, name) for name in SETTINGS})
        self.hasher_ = hasher.fit(vectors, labels=labels, check=self.check, progress=False)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.uint8] | NDArray[np.int8]:
        """The codes of vectors (n, d), a row for each; see ``output``."""
        check_is_fitted(self)
        vectors = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        codes: Codes = self.hasher_.encode(vectors, progress=False)
        if self.output == "packed":
            return codes
        signs = unpack(codes, self.hasher_.bits)
        return signs if self.output == "signs" else (signs > 0).astype(np.uint8)

    @property
    def _n_features_out(self) -> int:
        """Columns of what ``transform`` returns, for the names that scikit-learn gives them."""
        bits = self.hasher_.bits
        return code_bytes(bits) if self.output == "packed" else bits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def as_labels(y: ArrayLike) -> Labels | None:
    """Classes as a hasher has them: 0, 1, ..., and -1 where unknown; None if all are. Rows of flags stay."""
    array = np.asarray(y)
    if array.dtype == np.object_:  # as pandas has text
        array = np.array(array.tolist())
    if array.dtype.kind == "f" and (array % 1 == 0).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "iubU":
        raise UserError(f"y must hold classes, -1 where unknown; got {array.dtype}")
    known = np.full(array.shape, True) if array.dtype.kind == "U" else array != UNKNOWN
    if not known.any():
        return None
    if array.ndim != 1:
        return array
    labels = np.full(len(array), UNKNOWN, np.int64)
    labels[known] = np.unique(array[known], return_inverse=True)[1]
    return labels
