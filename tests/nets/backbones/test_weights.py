"""Weight files: tensors only, checked before use."""

import hashlib
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from pts3h import UserError
from pts3h.nets.backbones.weights import (
    fetch_weights,
    load_weights,
    read_weights,
    with_published_weights,
)
from tests.pictures import serving

TENSORS = {"weight": torch.arange(6.0).view(2, 3), "bias": torch.ones(2)}


class Trap:
    """A pickle that runs code when it is read."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('code ran')",))


def same(got):
    return got.keys() == TENSORS.keys() and all(torch.equal(got[name], TENSORS[name]) for name in got)


class TestRead:
    def test_safetensors(self, tmp_path):
        save_file(TENSORS, tmp_path / "w.safetensors")
        assert same(read_weights(tmp_path / "w.safetensors"))

    def test_pytorch(self, tmp_path):
        torch.save(TENSORS, tmp_path / "w.pth")
        assert same(read_weights(str(tmp_path / "w.pth")))

    def test_a_pickle_with_code_is_not_run(self, tmp_path):
        torch.save({"weight": Trap()}, tmp_path / "w.pth")
        with pytest.raises(UserError, match=r"w\.pth is not a readable weight file"):
            read_weights(tmp_path / "w.pth")

    @pytest.mark.parametrize("content", [[torch.ones(2)], {"state_dict": TENSORS}, {"epoch": 3}])
    def test_more_than_a_table_of_tensors(self, tmp_path, content):
        torch.save(content, tmp_path / "w.pth")
        with pytest.raises(UserError, match="save the state_dict alone"):
            read_weights(tmp_path / "w.pth")

    @pytest.mark.parametrize("name", ["w.safetensors", "w.pth"])
    def test_damaged_or_missing(self, tmp_path, name):
        with pytest.raises(UserError, match=f"there is no weight file .*{name}"):
            read_weights(tmp_path / name)
        (tmp_path / name).write_bytes(b"\x08\0\0\0nonsense")
        with pytest.raises(UserError, match=f"{name} is not a readable weight file"):
            read_weights(tmp_path / name)


class TestFetch:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "www").mkdir()
        return tmp_path / "www"

    def digest_of(self, folder, content):
        """Write the weights; their digest."""
        torch.save(content, folder / "w.pth")
        return hashlib.sha256((folder / "w.pth").read_bytes()).hexdigest()

    def test_the_right_checksum(self, folder):
        sha256 = self.digest_of(folder, TENSORS)
        with serving(folder) as root:
            address = f"{root}/w.pth"
            assert same(fetch_weights("alexnet", address, sha256=sha256))
        assert same(fetch_weights("alexnet", address, sha256=sha256))  # kept, so no server is needed
        assert Path(torch.hub.get_dir(), "checkpoints", "w.pth").is_file()  # where others look for it, too

    def test_the_wrong_checksum(self, folder):
        """All of its digits count, not only the first eight, which a file can be made to have."""
        right = self.digest_of(folder, TENSORS)
        wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
        with (
            serving(folder) as root,
            pytest.raises(UserError, match="cannot get the weights of alexnet") as caught,
        ):
            fetch_weights("alexnet", f"{root}/w.pth", sha256=wrong)
        assert "its sha256 differs" in str(caught.value) and "weights='random'" in str(caught.value)
        assert not Path(torch.hub.get_dir(), "checkpoints", "w.pth").exists()

    def test_code_in_it_is_not_run(self, folder):
        sha256 = self.digest_of(folder, {"weight": Trap()})
        with serving(folder) as root, pytest.raises(UserError, match="cannot get the weights"):
            fetch_weights("alexnet", f"{root}/w.pth", sha256=sha256)

    def test_into_a_network_which_they_must_cover(self, folder):
        sha256 = self.digest_of(folder, TENSORS)
        with serving(folder) as root:
            net = with_published_weights(torch.nn.Linear(3, 2), "line", f"{root}/w.pth", sha256=sha256)
            assert same(net.state_dict())
            two = torch.nn.Linear(3, 2)
            two.register_buffer("more", torch.zeros(1))
            with pytest.raises(UserError, match="does not cover more: it is for another network than line"):
                with_published_weights(two, "line", f"{root}/w.pth", sha256=sha256)

    def test_nobody_answers(self):
        with pytest.raises(UserError, match=r"give a local file with weights="):
            fetch_weights("vgg16", "http://127.0.0.1:9/vgg16-397923af.pth", sha256="0" * 64)


def test_loaded_by_name():
    net = torch.nn.Linear(3, 2)
    assert load_weights(net, TENSORS, "file") == []
    assert same(net.state_dict())
    assert load_weights(net, {"bias": torch.zeros(2)}, "file") == ["weight"]
    assert net.bias.tolist() == [0, 0] and torch.equal(net.weight, TENSORS["weight"])
