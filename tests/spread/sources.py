"""The same items as files of every kind, and what a folder of shards holds."""

import io
import tarfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from tests.pictures import pictures


def vectors(count=230, width=6, seed=1):
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def png(pixels):
    """The content of a file."""
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "png")
    return content.getvalue()


def picture_files(count, seed=5):
    """Name → content of PNG files."""
    return {
        f"{number:03}": png(pixels) for number, pixels in enumerate(pictures(count, seed=seed, side=20)[0])
    }


def write_table(path, ids, column, *, name="vector", kind=None, group=50):
    """A Parquet file with an id column and one of items."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"note": ["x"] * len(ids), "id": ids, name: pa.array(column, kind)})
    pq.write_table(table, path, row_group_size=group)


def write_tar(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def shard_files(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix == ".parquet")


def held(folder):
    """Ids and codes of all shards in the order of the parts, by pyarrow alone."""
    tables = [pq.read_table(folder / name) for name in shard_files(folder)]
    ids = [one for table in tables for one in table["id"].to_pylist()]
    codes = [code for table in tables for code in table["code"].to_pylist()]
    return ids, codes


def rows_of(codes):
    """Packed codes as Parquet holds them."""
    return [code.tobytes() for code in codes]
