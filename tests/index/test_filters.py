import pytest

from pts3h.errors import UserError
from pts3h.index.filters import MAX_DEPTH, And, Compare, Not, OneOf, Or, matches, parse_where


@pytest.mark.parametrize(
    ("where", "tree"),
    [
        ({"a": 1}, Compare("a", "==", 1)),
        ({"a": {"!=": 1}}, Not(Compare("a", "==", 1))),
        ({"a": {">": 1, "<=": 5}}, And((Compare("a", ">", 1), Compare("a", "<=", 5)))),
        ({"a": 1, "b": "x"}, And((Compare("a", "==", 1), Compare("b", "==", "x")))),
        ({"a": {"in": [1, "x"]}}, OneOf("a", (1, "x"))),
        ({"or": [{"a": 1}, {"b": 2}]}, Or((Compare("a", "==", 1), Compare("b", "==", 2)))),
        ({"not": {"and": [{"a": 1}]}}, Not(And((Compare("a", "==", 1),)))),
    ],
)
def test_parses(where, tree):
    assert parse_where(where) == tree


@pytest.mark.parametrize(
    ("where", "meta", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": {"<": 5}}, {}, False),
        ({"a": {"<": 5}}, {"a": None}, False),
        ({"a": {"!=": 5}}, {}, True),
        ({"a": {"!=": 5}}, {"a": "5"}, True),
        ({"a": {"<": "b"}}, {"a": "B"}, True),
        ({"a": {"in": [True]}}, {"a": 1}, False),
        ({"a": "x"}, {"a": ["x"]}, False),
    ],
)
def test_means(where, meta, expected):
    assert matches(parse_where(where), meta) is expected


def test_too_deep_is_refused():
    where = {"a": 1}
    for _ in range(MAX_DEPTH + 1):
        where = {"not": where}
    with pytest.raises(UserError, match="nested"):
        parse_where(where)


def test_none_is_everything():
    assert parse_where(None) is None
