"""Any filter over any metadata means in an engine what it means in Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pts3h.index.filters import And, Compare, Not, OneOf, Or, matches


def any_filter(scalars, most):
    """Filters by chance over the keys x and y, which compare with some of ``scalars``."""
    ordered = [value for value in scalars if not isinstance(value, bool)]
    keys, signs = st.sampled_from("xy"), st.sampled_from(["==", "<", "<=", ">", ">="])
    leaves = st.one_of(
        st.builds(Compare, keys, signs, st.sampled_from(ordered)),
        st.builds(Compare, st.just("x"), st.just("=="), st.booleans()),
        st.builds(OneOf, keys, st.lists(st.sampled_from(scalars), max_size=most).map(tuple)),
    )
    some = lambda part: st.lists(part, min_size=1, max_size=3).map(tuple)  # noqa: E731
    return st.recursive(
        leaves,
        lambda part: st.one_of(st.builds(Not, part), st.builds(And, some(part)), st.builds(Or, some(part))),
        max_leaves=8,
    )


def assert_filters_mean_what_they_mean_in_python(index, values, *, also=(), most, examples):
    """An empty index of 64 bits gets an item with each of ``values``; filters compare with ``also`` too."""
    metas = [{}, *({"x": value} for value in values), *({"y": value} for value in values[:5])]
    scalars = [value for value in values if isinstance(value, (bool, int, float, str))]
    query = np.zeros((1, 8), np.uint8)
    index.add(range(len(metas)), np.repeat(query, len(metas), 0), metas)
    assert index.count == len(metas)

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(any_filter([*scalars, *also], most))
    def check(where):
        found = index._within(query, 0, where, "both")[0].ids
        assert found == [row for row, meta in enumerate(metas) if matches(where, meta)]

    check()
