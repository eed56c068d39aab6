"""Filters and ids as Milvus expressions.

Milvus before 2.5 has no bound parameters, so values are written into the text, each by :func:`literal`, which
lets only plain ASCII through and escapes the rest. Keys are safe as they are: the contract allows neither
quotes nor backslashes in them.
"""

from collections.abc import Iterable, Sequence

from ..filters import And, Compare, Filter, Not, OneOf, Or, Scalar

NOTHING = "id in []"
_EXACT = 2**53  # below this a double holds every whole number


def expression(where: Filter) -> str:
    """The filter in Milvus's language, over the JSON field ``meta``.

    As in our filters, a comparison with a missing key or with a value of another kind is false in Milvus.
    """
    match where:
        case Compare(key, op, value):
            return f'meta["{key}"] {op} {literal(value)}'
        case OneOf(key, values):
            return _one_of(key, values)
        case And(parts):
            return all_of(expression(part) for part in parts)
        case Or(parts):
            return " or ".join(f"({expression(part)})" for part in parts)
        case Not(part):
            return f"not ({expression(part)})"


def all_of(conditions: Iterable[str]) -> str:
    """One condition that holds where all of these do; empty ones are left out."""
    return " and ".join(f"({condition})" for condition in conditions if condition)


def has_id(ids: Sequence[int | str]) -> str:
    """The item has one of these ids."""
    return f"id in [{', '.join(map(literal, ids))}]"


def literal(value: Scalar) -> str:
    """A value as Milvus reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    if isinstance(value, float) and value.is_integer() and -(2**63) <= value < 2**63:
        value = int(value)  # Milvus compares integers exactly, but an integer with a fraction as doubles
    if value == -(2**63):  # Milvus reads the digits before the sign, and 2**63 is not an int64
        return "(-9223372036854775807 - 1)"
    return repr(value)


def _escaped(character: str) -> str:
    if " " <= character <= "~" and character not in "\"'\\":
        return character
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _one_of(key: str, values: tuple[Scalar, ...]) -> str:
    """Milvus wants values of one type in an ``in``, and mistakes large numbers for their neighbours there."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if _is_small_number(value)]
    others = [value for value in values if not isinstance(value, str) and not _is_small_number(value)]
    groups = [list(map(literal, texts)), [repr(float(number)) for number in numbers]]
    lists = [f'meta["{key}"] in [{", ".join(group)}]' for group in groups if group]
    singles = [f'meta["{key}"] == {literal(value)}' for value in others]
    return " or ".join(f"({part})" for part in lists + singles) or NOTHING


def _is_small_number(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _EXACT
