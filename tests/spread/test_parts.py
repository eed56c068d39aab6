"""Collections are divided into parts: every item in one of them, always the same, with a stamp that tells."""

import os

import numpy as np
import pytest

from pts3h import UserError
from pts3h.spread.parts import Part, divide
from pts3h.spread.reading import read_part
from pts3h.spread.tables import Columns
from tests.pictures import write_pictures
from tests.spread.sources import picture_files, vectors, write_table, write_tar


def ids_in(division):
    return [one for part in division.parts for some in read_part(part) for one in some.ids]


@pytest.mark.parametrize("size", [1, 7, 10, 11, 1000])
def test_every_item_is_in_one_part(tmp_path, size):
    write_pictures(tmp_path / "photos", 10)
    np.save(tmp_path / "v.npy", vectors(10))
    for source, names in (("photos", [f"{n:02}.png" for n in range(10)]), ("v.npy", [*map(str, range(10))])):
        division = divide(tmp_path / source, size=size)
        assert [part.number for part in division.parts] == [*range(-(-10 // size))]
        assert sum(part.count for part in division.parts) == 10
        assert ids_in(division) == names and division.ids == "text"
        assert [Part.from_json(part.to_json()) for part in division.parts] == [*division.parts]


def test_a_stamp_changes_with_its_items_alone(tmp_path):
    write_pictures(tmp_path / "photos", 9)
    before = divide(tmp_path / "photos", size=3)
    assert divide(tmp_path / "photos", size=3) == before
    picture = tmp_path / "photos" / "04.png"
    os.utime(picture, ns=(1, picture.stat().st_mtime_ns + 1))
    after = divide(tmp_path / "photos", size=3)
    assert [a.stamp == b.stamp for a, b in zip(before.parts, after.parts, strict=True)] == [True, False, True]
    picture.rename(picture.with_name("04b.png"))
    assert divide(tmp_path / "photos", size=3).parts[1].stamp not in (
        before.parts[1].stamp,
        after.parts[1].stamp,
    )


def test_row_groups_stay_together(tmp_path):
    write_table(
        tmp_path / "a.parquet", [*range(100, 330)], vectors().tolist(), group=50
    )  # 50, 50, 50, 50, 30
    write_table(tmp_path / "b.parquet", [*range(10)], vectors(10).tolist())
    division = divide(f"{tmp_path}/*.parquet", size=60)
    assert [(part.where["groups"], part.count) for part in division.parts] == [
        ([0, 1], 100),
        ([2, 3], 100),
        ([4], 30),
        ([0], 10),
    ]
    assert division.ids == "int" and ids_in(division) == [*range(100, 330), *range(10)]


def test_a_tar_is_one_part_and_its_pictures_are_named_by_key(tmp_path):
    contents = picture_files(4)
    members = {f"deep.er/{name}.jpg": content for name, content in contents.items()}
    write_tar(tmp_path / "shards" / "0.tar", members | {"deep.er/000.json": b"{}", "deep.er/000.cls": b"1"})
    write_tar(tmp_path / "shards" / "1.tar.gz", {"a.seg.png": contents["000"]})
    division = divide(tmp_path / "shards")
    assert [part.count for part in division.parts] == [None, None]
    assert ids_in(division) == [*(f"deep.er/{name}" for name in contents), "a"]


def test_mistakes(tmp_path):
    def refused(source, says, **more):
        with pytest.raises(UserError, match=says):
            divide(tmp_path / source, **more)

    write_pictures(tmp_path / "photos", 3)
    refused("photos", "at least one item", size=0)
    refused("nowhere", "does not exist")
    refused("nowhere/*.tar", "there is no .*nowhere|no file matches")
    refused("photos/*.tar", "no file matches")
    refused("photos/*.png", "files of different kinds")
    (tmp_path / "rows.csv").write_text("id,x,y\na,1,2\n")
    refused("rows.csv", "vectors are read from .npy and .parquet")
    write_table(tmp_path / "photos" / "a.parquet", ["x"], vectors(1).tolist())
    refused("photos", r"more than one of pictures, .parquet files and .tar shards: .*photos/\*.parquet")
    write_table(tmp_path / "mixed" / "a.parquet", ["x"], vectors(1).tolist())
    write_table(tmp_path / "mixed" / "b.parquet", [1], vectors(1).tolist())
    refused("mixed", "b.parquet has int ids and a.parquet has text ids")
    refused("mixed/a.parquet", "has no column 'key'.*--id-column.*note, id, vector", columns=Columns("key"))
    refused("mixed/a.parquet", "no column 'v' of vectors", columns=Columns("id", "v"))
    refused("mixed/a.parquet", "column 'note'.*holds string", columns=Columns("id", "note"))
    write_table(tmp_path / "float.parquet", [1.5], vectors(1).tolist())
    refused("float.parquet", "must be integers or text, they are double")
    write_table(tmp_path / "none.parquet", ["x"], ["y"])
    refused("none.parquet", "has no column of vectors")
    write_table(tmp_path / "empty.parquet", [], [], kind=None, name="vector")
    refused("empty.parquet", "has no column of vectors|holds no rows")
    (tmp_path / "no.parquet").write_text("no table")
    refused("no.parquet", "cannot be read as Parquet")
