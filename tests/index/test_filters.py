import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h.errors import UserError
from pts3h.index.filters import And, Compare, Not, OneOf, Or, as_scalar, check_key, kind, matches, parse_where

from .oracle import METAS, WHERES


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


KINDS = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "text",
}  # by exact type: a bool is no number here


def holds(where, meta):
    """What the first page of the documentation says of a filter, read from the dict itself."""
    return all(holds_for(key, asked, meta) for key, asked in where.items())


def holds_for(key, asked, meta):
    if key == "not":
        return not holds(asked, meta)
    if key in ("and", "or"):
        each = [holds(part, meta) for part in asked]
        return False not in each if key == "and" else True in each
    conditions = asked if isinstance(asked, dict) else {"==": asked}
    return False not in [compare(meta.get(key), op, value) for op, value in conditions.items()]


def compare(own, op, value):
    if op == "in":
        return True in [compare(own, "==", one) for one in value]
    if op == "!=":
        return not compare(own, "==", value)
    if type(own) not in KINDS or KINDS[type(own)] != KINDS[type(value)]:
        return False
    return {"==": own == value, "<": own < value, "<=": own <= value, ">": own > value, ">=": own >= value}[
        op
    ]


@pytest.mark.parametrize("where", WHERES, ids=str)
def test_every_filter_means_what_the_documentation_says(where):
    tree = parse_where(where)
    for meta in METAS:
        assert matches(tree, meta) is holds(where, meta), meta


keys = st.sampled_from("ab")
ordered = st.one_of(st.integers(-2, 2), st.sampled_from([-0.5, 1.0]), st.sampled_from(["", "a", "B", "1"]))
values = ordered | st.booleans()
conditions = st.one_of(
    values,
    st.dictionaries(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), ordered, min_size=1, max_size=2),
    st.fixed_dictionaries({"in": st.lists(values, max_size=3)}),
    st.fixed_dictionaries({"!=": values}),
)
filters = st.recursive(
    st.dictionaries(keys, conditions, min_size=1),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=4,
)


@given(filters, st.dictionaries(keys, values | st.none() | st.lists(values, max_size=1)))
def test_any_filter_means_what_the_documentation_says(where, meta):
    assert matches(parse_where(where), meta) is holds(where, meta)


def nested(depth, word):
    where = {"a": 1}
    for _ in range(depth):
        where = {word: where if word == "not" else [where]}
    return where


@pytest.mark.parametrize(
    ("most", "more", "message"),
    [
        (nested(32, "not"), nested(33, "not"), "nested more than 32 deep"),
        (nested(32, "and"), nested(33, "or"), "nested more than 32 deep"),
        ({f"k{n}": n for n in range(256)}, {f"k{n}": n for n in range(257)}, "more than 256 conditions"),
        (
            {"or": [{"a": {">": n, "<": n}} for n in range(128)]},
            {"or": [{"a": {">": n, "<": n}} for n in range(128)] + [{"a": 1}]},
            "more than 256 conditions",
        ),
        ({"a": {"in": [*range(10_000)]}}, {"a": {"in": [*range(10_001)]}}, "more than 10,000 values"),
        (
            {"a": {"in": [*range(5_000)]}, "b": {"in": [*range(5_000)]}},
            {"a": {"in": [*range(5_000)]}, "b": {"in": [*range(5_001)]}},
            "more than 10,000 values",
        ),
        ({"k" * 200: 1}, {"k" * 201: 1}, "metadata keys are 1 to 200"),
    ],
)
def test_as_much_as_is_allowed_and_no_more(most, more, message):
    assert parse_where(most) is not None
    with pytest.raises(UserError, match=message):
        parse_where(more)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ([("a", 1)], "must be a dict"),
        ({}, "empty dict; leave it out"),
        ({"not": {}}, "empty dict; leave it out"),
        ({"not": [{"a": 1}]}, "must be a dict"),
        ({"and": {"a": 1}}, "'and' needs a list of one or more filters"),
        ({"or": []}, "'or' needs a list of one or more filters"),
        ({"or": 1}, "'or' needs a list of one or more filters"),
        ({"a": {}}, "'a' has an empty dict"),
        ({"a": {"like": "x"}}, "'a' has the unknown operator 'like'"),
        ({"a": {"<": True}}, "'a' compares true or false with '<'"),
        ({"a": {">=": False}}, "'a' compares true or false with '>='"),
        ({"a": {"in": "xyz"}}, "'in' of 'a' needs a list of values, got 'xyz'"),
        ({"a": {"in": [1, None]}}, "'a' can be compared with .* not with None"),
        ({"a": None}, "'a' can be compared with .* not with None"),
        ({"a": {"!=": [1]}}, r"'a' can be compared with .* not with \[1\]"),
        ({"a": {"<": float("nan")}}, "'a' can be compared with .* not with nan"),
        ({3: 1}, "metadata keys"),
    ],
)
def test_what_is_no_filter_is_refused(where, message):
    with pytest.raises(UserError, match=message) as caught:
        parse_where(where)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("some", [[1, 2], (1, 2), {1, 2}, frozenset([1, 2]), np.array([1, 2])])
def test_a_list_of_values_may_be_any_collection(some):
    assert parse_where({"a": {"in": some}}) == OneOf("a", (1, 2))


@pytest.mark.parametrize("key", ["", 3, None, "and", "or", "not", 'a"b', "a\\b", "a\nb", "\0", "k" * 201])
def test_keys_that_some_engine_could_not_hold(key):
    with pytest.raises(UserError, match="metadata keys are 1 to 200 printable characters"):
        check_key(key)


@pytest.mark.parametrize("key", ["a", "ü key", "And", "notes", "'", "k" * 200])
def test_keys_that_every_engine_holds(key):
    assert check_key(key) == key


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (True, True),
        (np.bool_(False), False),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (np.int16(7), 7),
        (1.5, 1.5),
        (np.float32(0.5), 0.5),
        ("", ""),
        ("ß\U0001f600", "ß\U0001f600"),
        (np.str_("x"), "x"),
    ],
)
def test_plain_values(value, plain):
    assert as_scalar(value) == plain
    assert type(as_scalar(value)) is type(plain)


@pytest.mark.parametrize(
    "value",
    [2**63, -(2**63) - 1, float("inf"), float("nan"), "a\0b", "\0", "\ud800", None, [1], {}, b"x", 1j],
)
def test_values_that_some_engine_could_not_compare(value):
    assert as_scalar(value) is None


def test_kinds():
    assert [kind(value) for value in (True, 1, 1.5, "x")] == ["boolean", "number", "number", "text"]
    assert [kind(value) for value in (None, [1], {}, b"x")] == [None] * 4


def test_none_is_everything():
    assert parse_where(None) is None
