from pathlib import Path

import pytest

from pts3h.util.addresses import has_password, on_this_machine, shown_address


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("photos.index", "photos.index"),
        (Path("a/b@c?d#e"), "a/b@c?d#e"),
        ("milvus://host:19530/shop", "milvus://host:19530/shop"),
        ("milvus://root:secret@host/shop", "milvus://...@host/shop"),
        ("milvus://root:se/cr:e@t@host:x/shop", "milvus://...@host:x/shop"),
        ("milvus://root:sec\nret@host/shop", "milvus://...@host/shop"),
        ("milvus://host/shop?token=secret", "milvus://host/shop?..."),
        ("milvus://host/shop#secret", "milvus://host/shop#..."),
    ],
)
def test_what_may_be_a_password_is_not_shown(address, shown):
    assert shown_address(address) == shown


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("photos.index", False),
        ("milvus://host:19530/shop", False),
        ("postgresql://host:5432/data/shop?sslmode=require", False),
        ("postgresql://me@host:5432/data/shop", False),
        ("postgresql://me:secret@host/data/shop", True),
        ("postgresql://me:se@cret@host/data/shop", True),
        ("postgresql://:secret@host/data/shop", True),
        ("postgresql://host/data/shop?sslmode=require&password=secret", True),
        ("postgresql://host/data/shop?password=secret", True),
    ],
)
def test_an_address_that_may_hold_a_password(address, expected):
    assert has_password(address) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.3.4.5", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("2001:db8::1", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_what_stays_on_this_machine(host, expected):
    assert on_this_machine(host) is expected
