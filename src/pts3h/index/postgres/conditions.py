"""Filters as SQL over the column ``meta``. Every key and value is a parameter.

A condition is true or false, never NULL, so that NOT is a plain opposite. Text and numbers can be compared
only after the kind of a value is known: CASE, unlike AND, promises that order.
"""

import json
import re
from typing import Any

from psycopg.sql import SQL, Composable

from ..filters import And, Compare, Filter, Not, OneOf, Operator, Or, Scalar

Expression = tuple[Composable, list[Any]]  # SQL, and its parameters in order

_OPERATORS: dict[Operator, SQL] = {
    "==": SQL("="),
    "<": SQL("<"),
    "<=": SQL("<="),
    ">": SQL(">"),
    ">=": SQL(">="),
}
_LARGE = re.compile(r'"(?:[^"\\]|\\.)*"|[-.\d]+e\+\d+')


def condition(where: Filter) -> Expression:
    """The filter as SQL."""
    match where:
        case Compare(key, "==", value):
            return SQL("((meta -> %s) = %s::jsonb) IS TRUE"), [key, exact_json(value)]
        case Compare(key, op, str(value)):
            text = SQL(
                "CASE jsonb_typeof(meta -> %s) WHEN 'string' "
                'THEN (meta ->> %s) COLLATE "C" {} %s::text ELSE false END'
            )
            return text.format(_OPERATORS[op]), [key, key, value]
        case Compare(key, op, value):
            number = SQL(
                "CASE jsonb_typeof(meta -> %s) WHEN 'number' "
                "THEN (meta -> %s)::numeric {} %s::numeric ELSE false END"
            )
            return number.format(_OPERATORS[op]), [key, key, exact_json(value)]
        case OneOf(key, values):
            listed = SQL("((meta -> %s) = ANY (%s::text[]::jsonb[])) IS TRUE")
            return listed, [key, [exact_json(value) for value in values]]
        case And(parts):
            return _joined(SQL(" AND "), parts)
        case Or(parts):
            return _joined(SQL(" OR "), parts)
        case Not(part):
            opposite, parameters = condition(part)
            return SQL("NOT ({})").format(opposite), parameters


def _joined(word: SQL, parts: tuple[Filter, ...]) -> Expression:
    conditions = [condition(part) for part in parts]
    texts = [SQL("({})").format(text) for text, _ in conditions]
    return word.join(texts), [one for _, parameters in conditions for one in parameters]


def exact_json(value: Scalar) -> str:
    """A value as it stands in ``meta``."""
    return exact_numbers(json.dumps(value, ensure_ascii=False))


def exact_numbers(text: str) -> str:
    """JSON with every digit of its large floating-point numbers.

    Postgres holds numbers as decimals. It would read 1e+23 as that whole number, which no float is, and give
    it back without a point, as an integer.
    """
    if "e+" not in text:
        return text
    return _LARGE.sub(lambda found: found[0] if found[0][0] == '"' else f"{float(found[0]):.1f}", text)
