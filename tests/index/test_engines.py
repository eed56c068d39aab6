"""Which engine an address finds, and what is said when there is none."""

from pathlib import Path

import pytest

from pts3h.codes import DEFAULT_WEIGHT, Layout
from pts3h.errors import UserError
from pts3h.index import ENGINES, Engine, engine_of, open_index
from pts3h.util.table import load


def refused(message, address, **arguments):
    with pytest.raises(UserError, match=message) as caught:
        open_index(address, **arguments)
    assert "\n" not in str(caught.value)


def test_the_scheme_chooses():
    assert engine_of("photos.index").name == engine_of(Path("photos.index")).name == "local"
    assert engine_of("milvus://host/shop").name == "milvus"
    assert engine_of("photos.index", "milvus").name == "milvus"
    for scheme in ("postgresql", "postgres"):
        assert engine_of(f"{scheme}://host/data/shop").name == "postgres"


def test_every_row_is_complete():
    for row in ENGINES:
        assert row.help and row.address and callable(load(row.open))


@pytest.mark.parametrize("address", ["http://host/index", "milvsu://host/shop", "://", "MILVUS://host/shop"])
def test_an_unknown_scheme_lists_what_there_is(address):
    known = "a folder or milvus://host:port/collection or postgresql://host:port/database/table"
    refused(f"cannot open '.*': an index is {known}", address, bits=64)


def test_an_unknown_engine_lists_what_there_is(tmp_path):
    refused(
        "there is no engine 'tape': choose from local, milvus, postgres", tmp_path / "index", engine="tape"
    )
    refused("an engine is a name or an Engine, got 7", tmp_path / "index", engine=7)


@pytest.mark.parametrize("address", ["local://folder", "milvus://host/shop"])
def test_the_local_engine_takes_folders_only(address):
    refused("the local engine takes the path of a folder", address, bits=64, engine="local")


def test_an_unknown_option_is_named(tmp_path):
    refused("the local engine has no option 'token'; it has none", tmp_path / "index", bits=64, token="x")
    refused(
        "the milvus engine has no option 'tokn'; it has token, tls,", "milvus://h/shop", bits=64, tokn="x"
    )
    refused("no option 'engines'", tmp_path / "index", bits=64, engines="local")


def test_a_type_error_inside_an_engine_is_not_hidden():
    def open_broken(address, *, layout, model, read_only, size=None):
        return len(size)

    broken = Engine("broken", "Fails.", "broken://x", open_broken)
    with pytest.raises(TypeError, match="has no len"):
        open_index("broken://x", engine=broken)
    with pytest.raises(UserError, match="no option 'sise'; it has size"):
        open_index("broken://x", engine=broken, sise=1)


def test_an_engine_with_any_option_gets_them_all():
    got = {}
    anything = Engine("anything", "Takes all.", "anything://x", lambda address, **given: got.update(given))
    open_index("anything://x", 8, engine=anything, colour="red")
    assert got == {"layout": Layout(8), "model": None, "read_only": False, "colour": "red"}
    open_index("anything://x", 8, look_bits=4, engine=anything)
    assert got["layout"] == Layout(8, 4, DEFAULT_WEIGHT)
    refused("look_bits= needs bits=", "anything://x", look_bits=4)


def test_our_names_are_taken():
    mine = Engine("local", "Mine.", "local://x", lambda address, **given: None)
    refused("there is an engine called local already", "x", engine=mine)
