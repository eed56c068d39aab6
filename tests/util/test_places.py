"""Places: the same calls on a disk and in a store."""

import fsspec
import pytest

from pts3h import UserError
from pts3h.util.places import Place, matching


@pytest.fixture(params=["disk", "file", "memory"])
def root(request, tmp_path):
    """A folder, by path, by file:// and in memory."""
    if request.param == "memory":
        yield f"memory://{tmp_path.name}"
        store = fsspec.filesystem("memory")
        if store.exists(f"/{tmp_path.name}"):
            store.rm(f"/{tmp_path.name}", recursive=True)
    else:
        yield f"file://{tmp_path}" if request.param == "file" else str(tmp_path)


def put(place, content=b"content"):
    place.write(lambda file: file.write(content))


def test_written_found_and_read(root):
    folder = Place(root)
    for name in ("b.tar", "a/c.tar", "a.tar", ".hidden", ".deep/x.tar", "x[1].tar"):
        put(folder / name, name.encode())
    assert [one.name for one in folder.files()] == ["a.tar", "a/c.tar", "b.tar", "x[1].tar"]
    assert (folder / "a" / "c.tar").read() == b"a/c.tar" and (folder / "a/c.tar").name == "c.tar"
    assert (folder / "a.tar").is_file() and not (folder / "a.tar").is_folder()
    assert (folder / "a").is_folder() and not (folder / "none").is_file()
    with (folder / "b.tar").open() as file:
        file.seek(2)
        assert file.read() == b"tar"


def test_a_stamp_changes_with_the_file(root):
    place = Place(root) / "a"
    put(place)
    before = place.stamp()
    assert place.stamp() == before == Place(root).files()[0].stamp
    put(place, b"another")
    assert place.stamp() != before


def test_patterns(root):
    for name in ("s-1.tar", "s-0.tar", "t.tar", "deep/s-2.tar"):
        put(Place(root) / name)
    assert [place.name for place in matching(f"{root}/s-*.tar")] == ["s-0.tar", "s-1.tar"]
    assert [place.name for place in matching(f"{root}/t.tar")] == ["t.tar"]
    assert matching(f"{root}/*.jpg") == []


def test_a_pattern_of_the_folder_one_is_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(Place("a.tar"))
    assert [str(place) for place in matching("*.tar")] == ["a.tar"]


def test_mistakes_are_one_line(tmp_path):
    for wrong, says in (
        (lambda: Place(tmp_path / "none").read(), "there is no .*none"),
        (lambda: Place(tmp_path / "none").stamp(), "there is no .*none"),
        (lambda: Place("memory://none/at/all").read(), "there is no memory://none"),
        (lambda: Place("nowhere://bucket/x"), "cannot reach nowhere://bucket/x: .*nowhere"),
    ):
        with pytest.raises(UserError, match=says):
            wrong()


def test_what_may_be_a_password_is_not_shown():
    assert "secret" not in str(Place("memory://user:secret@bucket/x"))


def test_of_many_files_each_is_read_or_has_a_reason(tmp_path):
    folder = Place(f"memory://{tmp_path.name}")
    put(folder / "a")
    assert folder.read_below(["a"]) == [b"content"]
    read = folder.read_below(["a", "none"])
    assert read[0] == b"content" and isinstance(read[1], str) and read[1]
    assert all(isinstance(one, str) for one in folder.read_below(["none"]))
