from pathlib import Path

import pytest

from pts3h.util.addresses import shown_address


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
