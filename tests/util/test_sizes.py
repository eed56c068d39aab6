"""Sizes as people write them."""

import pytest

from pts3h import UserError
from pts3h.util.sizes import parse_size, plain_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("5GB", 5 * 10**9), ("500 MB", 5 * 10**8), ("1.5tb", 15 * 10**11), ("0B", 0), (" 2 kb ", 2000)],
)
def test_parsed(text, size):
    assert parse_size(text, name="it") == size


@pytest.mark.parametrize("text", ["", "5", "GB", "-5GB", "5GiB", "5 G", "many"])
def test_refused(text):
    with pytest.raises(UserError, match="--limit must be a size such as 5GB or 500MB, got"):
        parse_size(text, name="--limit")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (614_400_000, "614 MB"), (20 * 10**9, "20 GB")],
)
def test_said(size, text):
    assert plain_size(size) == text
