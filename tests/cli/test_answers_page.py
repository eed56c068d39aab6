"""The page of answers: which pictures it shows."""

import pytest
from PIL import Image

from pts3h import Hits, indexing
from pts3h.cli.answers_page import answers_page
from pts3h.data.items import read_items


class TestPictureOfAHit:
    """Metadata comes from whoever may write to the index; a page shows no file that they merely name."""

    def page_of(self, meta):
        answers = [indexing.Answer("query", None, Hits(["a"], [0]), [meta])]
        return answers_page(answers)

    @pytest.fixture
    def secret(self, tmp_path):
        Image.new("RGB", (32, 32), (200, 0, 0)).save(tmp_path / "secret.png")
        return tmp_path / "secret.png"

    def test_one_that_was_indexed_is_shown_until_it_changes(self, secret):
        meta = indexing.describe(read_items([secret]), 0, {"price": 3})
        assert "<img" in self.page_of(meta) and indexing.picture_of(meta) == secret
        Image.new("RGB", (32, 32), (0, 0, 0)).save(secret)
        assert "<img" not in self.page_of(meta)
        secret.unlink()
        assert "<img" not in self.page_of(meta)

    @pytest.mark.parametrize("stamp", [None, "", "missing", "1-1", 0, ["1-1"], {}])
    def test_one_that_is_merely_named_is_not(self, secret, stamp):
        meta = {"_path": str(secret)} | ({} if stamp is None else {"_stamp": stamp})
        assert "<img" not in self.page_of(meta) and indexing.picture_of(meta) is None

    @pytest.mark.parametrize("path", [None, 7, ["x"], "", "a\0b", "\ud800", "."])
    def test_what_is_no_path(self, path):
        assert "<img" not in self.page_of({"_path": path, "_stamp": "1-1"})
