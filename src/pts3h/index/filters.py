"""``where``: a small, safe filter on metadata, the same on every engine.

    {"colour": "red"}                                   equal
    {"price": {">=": 5, "<": 100}}                      ranges; several conditions must all hold
    {"tag": {"in": ["a", "b"]}}                         one of several
    {"colour": {"!=": "red"}}                           the same as {"not": {"colour": "red"}}
    {"or": [{"colour": "red"}, {"price": {"<": 5}}]}    any of them; likewise "and": [...], "not": {...}
    {"colour": "red", "price": 5}                       several keys must all hold

To be exact: every condition is true or false, never unknown. A comparison is true only where the item has the
key, the value is of the kind that is asked for (text, number, boolean), and the comparison holds: numbers by
value (1 equals 1.0), text by code point. It is false for a missing key, null, lists, dicts and values of
another kind. "!=" and "not" are plain opposites, so they are true there. A filter is nested at most 32 deep,
and has at most 256 conditions and 10,000 values in its "in" lists.

:func:`parse_where` turns the dict into the small tree below, which engines translate into their own language.
:func:`matches` says in Python what the tree means.
"""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any, Literal, cast

import numpy as np

from ..errors import UserError

Scalar = str | int | float | bool
Kind = Literal["text", "number", "boolean"]
Operator = Literal["==", "<", "<=", ">", ">="]

MAX_DEPTH = 32
MAX_CONDITIONS = 256  # in a whole filter; an "in" counts as one
MAX_VALUES = 10_000  # in all its "in" lists together
MAX_KEY = 200
_COMPARE = {"==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_WORDS = ("and", "or", "not")
SCALARS = "text (valid Unicode, no NUL), a finite number of 64 bits, true or false"  # for messages


@dataclass(frozen=True, slots=True)
class Compare:
    """The item's value of ``key`` has the kind of ``value``, and ``op`` holds; booleans know only ``==``."""

    key: str
    op: Operator
    value: Scalar


@dataclass(frozen=True, slots=True)
class OneOf:
    """The item's ``key`` equals one of ``values``, which may be of several kinds. Never, without values."""

    key: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class And:
    """All of one or more parts."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of one or more parts."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a part."""

    part: "Filter"


Filter = Compare | OneOf | And | Or | Not


def kind(value: Any) -> Kind | None:
    """The kind of a comparable value; None for what never matches (null, lists, dicts)."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "text" if isinstance(value, str) else None


def parse_where(where: Mapping[str, Any] | None) -> Filter | None:
    """Check the dict and turn it into a tree; None stays None and means every item."""
    return None if where is None else _Reader().read(where, 0)


class _Reader:
    """One reading of a filter. It counts on the way, so that a wide filter is refused before it is built."""

    def __init__(self) -> None:
        self._conditions = self._values = 0

    def read(self, where: Any, depth: int) -> Filter:
        if depth > MAX_DEPTH:
            raise UserError(f"where is nested more than {MAX_DEPTH} deep; write it flatter")
        if not isinstance(where, Mapping):
            raise UserError(f"where must be a dict such as {{'colour': 'red'}}, got {shown(where)}")
        if not where:
            raise UserError("where is an empty dict; leave it out to take every item")
        parts: list[Filter] = []
        for key, asked in where.items():
            if key == "not":
                parts.append(Not(self.read(asked, depth + 1)))
            elif key in ("and", "or"):
                if not isinstance(asked, (list, tuple)) or not asked:
                    raise UserError(f"where: {key!r} needs a list of one or more filters, got {shown(asked)}")
                inner = tuple(self.read(part, depth + 1) for part in asked)
                parts.append(And(inner) if key == "and" else Or(inner))
            elif isinstance(asked, Mapping):
                if not asked:
                    example = f"{{{key!r}: {{'<': 5}}}}"
                    raise UserError(f"where: {key!r} has an empty dict; write {example} or a value")
                parts.extend(self._condition(check_key(key), op, value) for op, value in asked.items())
            else:
                parts.append(self._condition(check_key(key), "==", asked))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _condition(self, key: str, op: str, value: Any) -> Filter:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise UserError(
                f"where has more than {MAX_CONDITIONS} conditions; use 'in', or search several times"
            )
        if op == "in":
            return OneOf(key, self._one_of(key, value))
        if op == "!=":
            return Not(Compare(key, "==", _scalar(key, value)))
        if op not in _COMPARE:
            raise UserError(f"where: {key!r} has the unknown operator {op!r}; use ==, !=, <, <=, >, >= or in")
        scalar = _scalar(key, value)
        if isinstance(scalar, bool) and op != "==":
            raise UserError(f"where: {key!r} compares true or false with {op!r}; use == or !=")
        return Compare(key, cast(Operator, op), scalar)

    def _one_of(self, key: str, values: Any) -> tuple[Scalar, ...]:
        if isinstance(values, np.ndarray):
            values = values.tolist()  # a number, if the array has no axis
        if not isinstance(values, (list, tuple, set, frozenset)):
            raise UserError(f"where: 'in' of {key!r} needs a list of values, got {shown(values)}")
        self._values += len(values)
        if self._values > MAX_VALUES:
            raise UserError(
                f"where has more than {MAX_VALUES:,} values in its 'in' lists; search several times"
            )
        return tuple(_scalar(key, one) for one in values)


def _scalar(key: str, value: Any) -> Scalar:
    scalar = as_scalar(value)
    if scalar is None:
        raise UserError(f"where: {key!r} can be compared with {SCALARS}, not with {shown(value)}")
    return scalar


def as_scalar(value: Any) -> Scalar | None:
    """A plain value that every engine holds exactly and can compare, None for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case bool():
            return value
        case int() if -(2**63) <= value < 2**63:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case str() if "\0" not in value and _encodes(value):
            return value
    return None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def check_key(key: Any) -> str:
    """Return ``key`` if it can name metadata on every engine, else raise."""
    usable = isinstance(key, str) and 1 <= len(key) <= MAX_KEY and key not in _WORDS
    if not usable or not key.isprintable() or '"' in key or "\\" in key:
        raise UserError(
            f"metadata keys are 1 to {MAX_KEY} printable characters without quotes or "
            f"backslashes, and not 'and', 'or' or 'not'; got {key!r}"
        )
    return str(key)


def matches(where: Filter, meta: Mapping[str, Any]) -> bool:
    """Whether an item with this metadata passes."""
    match where:
        case Compare(key, op, value):
            return kind(meta.get(key)) == kind(value) and bool(_COMPARE[op](meta[key], value))
        case OneOf(key, values):
            return any(matches(Compare(key, "==", value), meta) for value in values)
        case And(parts):
            return all(matches(part, meta) for part in parts)
        case Or(parts):
            return any(matches(part, meta) for part in parts)
        case Not(part):
            return not matches(part, meta)
