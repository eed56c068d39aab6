"""From what a user gives to what a network is trained on."""

import numpy as np
import pytest
from safetensors.torch import save_file

from pts3h import UserError
from pts3h.data.images import ImageFiles
from pts3h.data.items import Items, read_items
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.nets.backbones.small import SmallConv
from pts3h.settings import Config
from pts3h.training.preparation import (
    SkippedWarning,
    find_broken,
    load_backbone,
    read_supervision,
    unlabelled_pool,
    without_broken,
)
from tests.pictures import write_pictures

KNOWN = PairList(8, [[0, 1, 1], [1, 2, 0], [4, 5, 1]])
NONE = np.empty(0, np.int64)


class TestSupervision:
    items = read_items(np.eye(4))

    def test_pairs_labels_or_the_items_own(self):
        assert isinstance(read_supervision(self.items, [[0, 1, 1], [1, 2, 0]], None), PairList)
        assert isinstance(read_supervision(self.items, None, [0, 0, 1, -1]), LabelPairs)
        own = Items(self.items.content, self.items.ids, np.array([0, 1, 1, -1]))
        assert read_supervision(own, None, None).labelled.tolist() == [0, 1, 2]
        assert read_supervision(own, None, [0, -1, 0, 1]).labelled.tolist() == [0, 2, 3]

    def test_refused(self):
        with pytest.raises(UserError, match="nothing is known of any pair"):
            read_supervision(self.items, None, None)
        with pytest.raises(UserError, match="pairs or labels, not both"):
            read_supervision(self.items, [[0, 1, 1]], [0, 1, 0, 1])


class TestPool:
    def test_all_that_are_in_no_known_pair(self):
        assert unlabelled_pool(8, KNOWN, None, NONE).tolist() == [3, 6, 7]
        assert unlabelled_pool(8, KNOWN, None, np.array([6])).tolist() == [3, 7]

    def test_chosen_ones(self):
        pool = unlabelled_pool(8, KNOWN, [7, 0, 3, 7], NONE)
        assert pool.tolist() == [3, 7] and pool.dtype == np.int64
        assert unlabelled_pool(8, KNOWN, [], NONE).dtype == np.int64

    @pytest.mark.parametrize("chosen", [[8], [-1], [0.5], np.ones(8, bool)])
    def test_refused(self, chosen):
        with pytest.raises(UserError, match="unlabelled"):
            unlabelled_pool(8, KNOWN, chosen, NONE)


class TestBroken:
    def test_found_by_position(self, tmp_path):
        write_pictures(tmp_path, 70)
        for name in ("66.png", "03.png"):
            (tmp_path / name).write_text("no picture")
        broken = find_broken(ImageFiles(sorted(tmp_path.iterdir())), 16)
        assert list(broken) == [3, 66] and "66.png" in broken[66]

    def test_their_pairs_are_forgotten_and_it_is_said(self):
        reasons = {position: f"{position}.png: cut" for position in (7, 0, 3, 6)}
        with pytest.warns(
            SkippedWarning, match=r"4 of 8 pictures .*: 0\.png: cut; 3\.png: cut; 6\.png: cut; \.\.\."
        ):
            known = without_broken(KNOWN, reasons, 8)
        assert known.pairs.tolist() == [[1, 2], [4, 5]]

    def test_none_is_no_news(self):
        assert without_broken(KNOWN, {}, 8) is KNOWN

    def test_all_of_them(self):
        with pytest.raises(UserError, match="none of the 8 pictures"):
            without_broken(KNOWN, dict.fromkeys(range(8), "cut"), 8)


def test_weights_that_do_not_cover_the_network_are_said(tmp_path):
    weights = {name: value for name, value in SmallConv().state_dict().items() if "stages.0" not in name}
    save_file(weights, tmp_path / "part.safetensors")
    config = Config(backbone="small", weights=str(tmp_path / "part.safetensors"))
    with pytest.warns(UserWarning, match=r"does not cover 1 tensors of small.*stages\.0\.weight"):
        load_backbone(config)
