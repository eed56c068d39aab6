"""A Milvus server for the tests of this folder."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pts3h.index import Index, open_index

from .server import TOKEN, running_server


@dataclass
class MilvusPlace:
    """A server, and names on it that are gone at the end of a test."""

    server: str
    token: str
    made: int = 0
    prefix: str = f"pts3h_test_{os.getpid()}"

    def address(self) -> str:
        """A new address, nothing there yet."""
        self.made += 1
        return f"milvus://{self.server}/{self.prefix}_{self.made}"

    def open(self, address: str, **options) -> Index:
        return open_index(address, **({"token": self.token, "consistency": "strong"} | options))

    def clean(self) -> None:
        from pymilvus import MilvusClient

        client = MilvusClient(f"http://{self.server}", token=self.token, timeout=30, dedicated=True)
        for name in client.list_collections():
            if name.startswith(self.prefix):
                client.drop_collection(name)
        client.close()


@pytest.fixture(scope="package")  # an idle server takes a quarter of a core: it ends with its own tests
def milvus_server() -> Iterator[MilvusPlace]:
    """The server named in MILVUS_URI (http://host:port; MILVUS_TOKEN), or one started for this run."""
    uri = os.environ.get("MILVUS_URI")
    if uri:
        yield MilvusPlace(uri.split("://")[-1].rstrip("/"), os.environ.get("MILVUS_TOKEN", ""))
        return
    with running_server() as server:
        yield MilvusPlace(server, TOKEN)


@pytest.fixture
def milvus(milvus_server: MilvusPlace) -> Iterator[MilvusPlace]:
    yield milvus_server
    milvus_server.clean()
