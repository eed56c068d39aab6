"""A small collection of pictures, a model and an index, made once; servers of it in this process."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import pts3h
from pts3h.data.items import read_items
from pts3h.indexing import index_items
from pts3h.web.app import make_app
from pts3h.web.collection import Collection
from pts3h.web.guard import Access
from pts3h.web.jobs import Jobs
from pts3h.web.limits import Limits
from pts3h.web.opening import open_place
from pts3h.web.site import Site
from pts3h.web.teaching import Teaching
from pts3h.web.thumbnails import Thumbnails
from pts3h.web.workspace import Place, Pointer, Workspace
from tests.pictures import write_pictures

COUNT = 60
QUICK = {"backbone": "small", "freeze": True, "steps": 5, "hidden": 8, "views": 1, "image_size": 32}


@dataclass(frozen=True)
class World:
    """What there is to serve: pictures of three kinds in turn, their index, their model."""

    photos: Path
    index: Path
    model: Path


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Pictures, a model that was fitted without pairs, and an index."""
    folder = tmp_path_factory.mktemp("web")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PTS3H_CACHE", str(folder / "cache"))
        write_pictures(folder / "photos", COUNT)
        hasher = pts3h.Hasher(bits=16, look_bits=16, **QUICK)
        hasher.fit(folder / "photos", out=folder / "model", check=False, progress=False)
        items = read_items(folder / "photos")
        colours = {name: {"kind": int(name[:2]) % 3} for name in items.ids}
        with pts3h.open_index(folder / "index", 16, look_bits=16, model=hasher.fingerprint) as index:
            index_items(hasher.model, items, index, meta=colours, progress=False)
    return World(folder / "photos", folder / "index", folder / "model")


@pytest.fixture
def world(made, tmp_path, monkeypatch):
    """A copy of the index to work on; features are in the cache."""
    monkeypatch.setenv("PTS3H_CACHE", str(made.photos.parent / "cache"))
    shutil.copytree(made.index, tmp_path / "photos.index")
    return World(made.photos, tmp_path / "photos.index", made.model)


@pytest.fixture
def start(world, tmp_path):
    """Starts a server in this process: ``start(limits=..., access=...)`` returns a client."""
    running = []

    def begin(*, limits=None, access=None, workspace=True, client=("127.0.0.1", 50_000)):
        place = Place(0, str(world.index), world.model)
        collection = Collection(open_place(place), "photos")
        taught = jobs = None
        if workspace:
            space = Workspace(tmp_path / "photos.index.pts3h")
            if space.pointer() is None:
                space.point(Pointer(place))
            taught = Teaching(space.answers)
            jobs = Jobs(space, collection, taught, open_place)
        thumbnails = Thumbnails(tmp_path / "thumbnails")
        site = Site(collection, access or Access(), limits or Limits(), thumbnails, taught, jobs)
        client = TestClient(make_app(site), base_url="http://localhost", client=client)
        client.__enter__()
        running.append(client)
        return client

    yield begin
    for client in running:
        client.__exit__(None, None, None)


@pytest.fixture
def client(start):
    """A client of a server with the usual limits."""
    return start()
