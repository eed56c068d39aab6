"""Filters, settings, benchmarks, sizes and addresses of any kind: what they mean, or a refusal."""

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from pts3h.bench.configs import read_config
from pts3h.cli.search import parse_where as parse_where_text
from pts3h.cli.setting_flags import parse_grid, parse_settings
from pts3h.index.engines import engine_of
from pts3h.index.filters import matches, parse_where
from pts3h.index.metadata import as_json, check_meta
from pts3h.index.milvus.connection import Address
from pts3h.index.postgres.address import Address as PostgresAddress
from pts3h.settings.asked import RANGES, Settings
from pts3h.util.addresses import shown_address
from pts3h.util.sizes import parse_size
from tests.fuzz.answers import answer, quickly

DEEP = "[" * 100_000
LONG = "9" * 5_000  # more digits than Python turns into a number

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.just("s\ud800"),
    st.just("\0"),
)
keys = st.one_of(
    st.sampled_from(["a", "b", "and", "or", "not", "in", "<", "==", "!=", ""]), st.text(max_size=4)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
metadata = st.dictionaries(st.sampled_from(["a", "b", "c"]), scalars, max_size=3)


def same_kind(one, other):
    """Whether two values can be compared at all."""
    number = (int, float)
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool)
    return (isinstance(one, number) and isinstance(other, number)) or (
        isinstance(one, str) and isinstance(other, str)
    )


def one_condition(op, mine, asked):
    """What an operator means, straight from the words."""
    if op == "in":
        return any(one_condition("==", mine, one) for one in asked)
    if op == "!=":
        return not one_condition("==", mine, asked)
    if not same_kind(mine, asked):
        return False
    return {
        "==": mine == asked,
        "<": mine < asked,
        "<=": mine <= asked,
        ">": mine > asked,
        ">=": mine >= asked,
    }[op]


def passes(where, meta):
    """What a filter means, straight from the dict."""
    for key, asked in where.items():
        if key == "not":
            good = not passes(asked, meta)
        elif key == "and":
            good = all(passes(part, meta) for part in asked)
        elif key == "or":
            good = any(passes(part, meta) for part in asked)
        elif isinstance(asked, dict):
            good = all(one_condition(op, meta.get(key), value) for op, value in asked.items())
        else:
            good = one_condition("==", meta.get(key), asked)
        if not good:
            return False
    return True


plain = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 1.0, "a", "b", "1"]))
names = st.sampled_from(["a", "b", "c"])
conditions = st.one_of(
    plain | st.booleans(),
    st.dictionaries(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), plain, min_size=1, max_size=2),
    st.fixed_dictionaries({"in": st.lists(plain | st.booleans(), max_size=3)}),
)
filters = st.recursive(
    st.dictionaries(names, conditions, min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=6,
)


@quickly
@given(filters, st.dictionaries(names, plain | st.booleans() | st.none(), max_size=3))
def test_a_filter_means_what_it_says(where, meta):
    assert matches(parse_where(where), meta) == passes(where, meta)
    assert parse_where(parse_where_text(json.dumps(where))) == parse_where(where)


@quickly
@given(values, metadata)
@example({"a": {"in": np.array(5)}}, {})
@example({"a": {"in": np.array([[1, 2]])}}, {})
@example({"k" * 10**6: 1}, {})
@example({"a": {"o" * 10**6: 1}}, {})
def test_any_value_as_a_filter(where, meta):
    tree = answer(parse_where, where)
    if tree is not None and where is not None:
        assert matches(tree, meta) in (True, False)


@quickly
@given(st.text(max_size=60) | values.map(lambda value: json.dumps(value)))
@example(DEEP)
@example('{"a": ' * 50_000)
@example(f'{{"a": {LONG}}}')
def test_any_text_as_a_filter(text):
    where = answer(parse_where_text, text)
    assert where is None or where == json.loads(text) or any(math.isnan(one) for one in floats(where))


def floats(value):
    """Every float inside."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    for part in parts:
        yield from [part] if isinstance(part, float) else floats(part)


@quickly
@given(st.dictionaries(keys, values, max_size=3))
def test_metadata_is_kept_exactly_or_refused(meta):
    kept = answer(check_meta, [meta], 1)
    if kept is not None:
        text = answer(as_json, 1, kept[0])
        assert text is None or json.loads(text) == meta


@quickly
@given(
    st.lists(st.text(max_size=20) | st.sampled_from([f"bits={LONG}", f"eta={DEEP}", "bits=12", "eta = 1e-3"]))
)
def test_any_text_as_a_setting(pairs):
    parsed = answer(parse_settings, pairs)
    if parsed is None:
        assert any("=" not in pair for pair in pairs)
        return
    assert set(parsed) == {pair.split("=")[0].strip() for pair in pairs}
    answer(Settings.from_keywords, parsed)


@quickly
@given(
    st.dictionaries(st.sampled_from([*RANGES, "bits", "loss", "backbone", "freeze", "optimizer"]), scalars)
)
def test_settings_are_in_their_range_or_refused(keywords):
    asked = answer(Settings.from_keywords, keywords)
    if asked is None:
        return
    for name, value in keywords.items():
        assert getattr(asked, name) == value
        if value is not None and name in RANGES:
            assert RANGES[name][0] <= value <= RANGES[name][1]


@quickly
@given(st.lists(st.text(alphabet="a=,1.e-+ nif", max_size=15)))
def test_a_grid(pairs):
    grid = answer(parse_grid, pairs)
    if grid is not None:
        last = {
            name.strip(): numbers.split(",") for name, _, numbers in (pair.partition("=") for pair in pairs)
        }
        np.testing.assert_equal(grid, {name: list(map(float, numbers)) for name, numbers in last.items()})


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return tmp_path_factory.mktemp("configs") / "bench.yaml"


# each of the lists holds nine times the one before it: a file of 300 bytes, 43 million words
LAUGHS = (
    "methods: [&a [x]"
    + "".join(f", &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghi"))
    + "]"
)


@quickly
@given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: text.encode(errors="replace")))
@example(b"runs: 2001-99-99")
@example(b"[" * 5_000)
@example(b"runs: " + LONG.encode())
@example(b"? [a]\n: b")
@example(b"of: {x: 3}")
@example(b"of: {dsh: {3: 4}}")
@example(b"settings: {3: 4}")
@example(LAUGHS.encode())
@example(f"{LAUGHS}\nruns: *i".encode())
@example(LAUGHS.replace("methods", "runs").encode())
@example(b"bits: &b [*b]")
@example(b"bits: [twelve]")
@example(b"methods: [{}]")
@example(b"label_count: [[1]]")
def test_any_text_as_a_benchmark(config, content):
    config.write_bytes(content)
    read = answer(read_config, config)
    assert read is None or read == yaml.safe_load(content)


@quickly
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "dataset": st.text(max_size=5),
            "methods": st.lists(st.sampled_from(["dsh", "itq", "none"]), max_size=2),
            "bits": st.lists(st.integers(1, 64), max_size=2),
            "label_count": st.lists(st.integers(2, 50), max_size=2),
            "runs": st.integers(1, 9),
            "settings": st.just({"eta": 0.1}),
            "of": st.just({"dsh": {"eta": 0.5}}),
        },
    )
)
def test_a_benchmark_is_read_back(config, content):
    config.write_text(yaml.safe_dump(content))
    assert answer(read_config, config) == content


@quickly
@given(st.from_regex(r"\s*\d{1,4}(\.\d{1,3})?\s*([kKmMgGtT]?[bB])\s*", fullmatch=True) | st.text(max_size=12))
@example("9" * 400 + "TB")
def test_sizes(text):
    size = answer(lambda some: parse_size(some, name="--limit"), text)
    plainly = re.fullmatch(r"\s*([0-9]{1,4})(?:\.([0-9]{1,3}))?\s*([KMGT]?)B\s*", text.upper())
    if plainly:
        unit = 1000 ** " KMGT".index(plainly[3] or " ")
        thousandths = int(plainly[1]) * 1000 + int((plainly[2] or "").ljust(3, "0"))
        assert abs(size - thousandths * unit / 1000) <= 0.5 + 1e-9 * size


addresses = st.one_of(
    st.text(max_size=30),
    st.tuples(
        st.sampled_from(
            ["milvus://", "postgresql://", "postgres://", "http://", "", "milvus:/", "MILVUS://"]
        ),
        st.text(alphabet="ab1.:@/?#[]%-_= \n", max_size=20),
    ).map("".join),
)


@quickly
@given(addresses)
@example("milvus://[::1]:99999/x")
@example("milvus://h:0/x")
@example("milvus://\u2100/x")
@example("milvus://h/" + "x" * 10**6)
def test_addresses(text):
    answer(engine_of, text)
    found = answer(Address.parse, text)
    if found is not None:
        assert re.fullmatch(r"[A-Za-z_]\w{0,199}", found.collection, re.ASCII) and text.endswith(
            found.collection
        )
        assert 1 <= found.port < 2**16 and found.host.strip("[]").lower() in text.lower()
        assert "@" not in text and found.host.isprintable()


@quickly
@given(addresses)
@example("postgresql://a:99999/b/x")
@example("postgresql://a:0/b/x")
@example(f"postgresql://a:{LONG}/b/x")
@example("postgresql://a/b%00/x")
@example("postgresql://a/b%ff/x")
@example("postgresql://a/b/x?port=a")
@example("postgresql://a/b/x?options=%ff")
@example("postgresql://\ud800/b/x")
@example("postgresql:///b/" + "x" * 10**6)
def test_addresses_of_tables(text):
    found = answer(PostgresAddress.parse, text)
    if found is not None:
        assert 1 <= len(found.table) <= 2 and text.partition("?")[0].endswith("/" + ".".join(found.table))
        assert all(re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", part) for part in found.table)
        assert found.parameters["dbname"] and "#" not in text


@quickly
@given(
    st.text(min_size=8, max_size=12),
    st.sampled_from(
        [
            "milvus://u:{}@h/x",
            "milvus://h/x?{}",
            "milvus://{}@h",
            "postgresql://u:{}@h/d/x",
            "postgresql://u:{}@h/d",
            "postgresql://h/d/x?{}",
            "postgres://h/d/x?password={}&a=b",
            "postgres://{}@h",
        ]
    ),
)
@example("postgres", "postgresql://u:{}@h/d/x")
@example("password", "milvus://{}@h")
@example("p@ssw0rd of mine", "milvus://h/x?{}")
def test_what_may_be_a_password_is_never_shown(secret, shape):
    others = "\n".join(
        text for other in ("correct horse", "a/b@c?d#e%") for text in texts_about(shape.format(other))
    )
    for text in texts_about(shape.format(secret)):
        assert secret not in text or secret in others  # "password" is itself a word of some messages


def texts_about(address):
    """All that is said of an address: itself as it is shown, and what each parser refuses it with."""
    return [
        shown_address(address),
        *(refusal(parse, address) for parse in (engine_of, Address.parse, PostgresAddress.parse)),
    ]


def refusal(parse, address):
    try:
        parse(address)
    except ValueError as error:
        return str(error)
    return ""
