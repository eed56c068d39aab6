"""What metadata and filters may be, whichever engine holds them."""

import json

import pytest

from pts3h.errors import UserError
from pts3h.index.filters import MAX_CONDITIONS, MAX_VALUES, parse_where
from pts3h.index.metadata import MAX_META_BYTES, MAX_NESTING, as_json, check_meta


def nested(depth, value=1):
    for turn in range(depth):
        value = {"a": value} if turn % 2 else [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"\ud800": 1}, "valid Unicode"),
        ([{"deep": [{"\udfff": 1}]}], "valid Unicode"),
        ({"a\0b": 1}, "no NUL"),
        ({1: 2}, "names that are text"),
        (["\ud800"], "valid Unicode"),
        (nested(MAX_NESTING + 1), "nested more than"),
        (nested(600), "nested more than"),
        (nested(100_000), "nested more than"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else "value",
)
def test_what_no_engine_can_hold_is_named(value, message):
    with pytest.raises(UserError, match=message) as caught:
        check_meta([{"key": value}], 1)
    assert "'key'" in str(caught.value) and len(str(caught.value)) < 300


def test_a_list_that_holds_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(UserError, match="nested more than"):
        check_meta([{"key": endless}], 1)


def test_nesting_up_to_the_limit_is_kept():
    meta = {"key": nested(MAX_NESTING)}
    assert check_meta([meta], 1) == [meta]
    assert json.loads(as_json(1, meta)) == meta


@pytest.mark.parametrize("letter", ["x", "é", "日", "\U0001f600"])
def test_metadata_has_a_largest_size(letter):
    size = len(letter.encode())
    most = (MAX_META_BYTES - len('{"text": ""}')) // size
    assert len(as_json("a", {"text": letter * most}).encode()) <= MAX_META_BYTES
    with pytest.raises(UserError, match=r"at most 65,536 bytes as JSON; that of 'a' has 65,\d\d\d"):
        as_json("a", {"text": letter * (most + 1)})


@pytest.mark.parametrize(
    "where",
    [
        {"or": [{"a": number} for number in range(MAX_CONDITIONS + 1)]},
        {"not": {"and": [{"a": {"<": number, ">": 0}} for number in range(MAX_CONDITIONS // 2 + 1)]}},
        {f"key {number}": number for number in range(MAX_CONDITIONS + 1)},
        {"or": [{"a": {"in": [1]}}] * (MAX_CONDITIONS + 1)},
    ],
)
def test_a_filter_of_too_many_conditions_is_refused(where):
    with pytest.raises(UserError, match=f"more than {MAX_CONDITIONS} conditions"):
        parse_where(where)


def test_a_filter_of_too_many_values_is_refused():
    half = {"in": list(range(MAX_VALUES // 2 + 1))}
    parse_where({"a": half})
    with pytest.raises(UserError, match="more than 10,000 values"):
        parse_where({"a": half, "b": half})


def test_a_filter_that_repeats_a_part_of_itself_is_refused_before_it_is_built():
    where = {"a": 1}
    for _ in range(30):
        where = {"or": [where, where]}  # two to the power of 30 conditions
    with pytest.raises(UserError, match="conditions"):
        parse_where(where)


def test_a_filter_up_to_the_limits_is_read():
    assert parse_where({"or": [{"a": number} for number in range(MAX_CONDITIONS)]}) is not None
    assert parse_where({"a": {"in": list(range(MAX_VALUES))}}) is not None
