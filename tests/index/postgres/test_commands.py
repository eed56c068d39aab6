"""The commands with a table as index: the same paths as with a folder, and no password on the way."""

import numpy as np
import pytest

import pts3h
from tests.cli.commands import FIT_VECTORS
from tests.cli.conftest import here, kinds, run  # noqa: F401  (fixtures)
from tests.exchange.collections import contents

from .server import PASSWORD

pytestmark = pytest.mark.postgres


@pytest.fixture
def fitted(run, kinds):  # noqa: F811
    """A model in model/, with look bits."""
    assert run(*FIT_VECTORS, "--bits", "10", "--look-bits", "6").code == 0
    vectors = np.load("vectors.npy")
    np.save("vectors.npy", np.concatenate([vectors, vectors[:3]]))  # three are there twice
    np.save("query.npy", vectors[:2])


def test_index_search_and_dedup_agree_with_a_folder(postgres, run, fitted):  # noqa: F811
    table = postgres.address()
    answers = []
    for place in ("an.index", table):
        first = run("index", "model", "vectors.npy", "--to", place, "--json").json
        again = run("index", "model", "vectors.npy", "--to", place, "--json").json
        assert (first["added"], again["unchanged"], again["count"]) == (63, 63, 63)
        found = [
            run("search", place, "query.npy", *flags, "--json").json
            for flags in (["-k", 5], ["--radius", 3], ["-k", 5, "--by", "look"])
        ]
        groups = run("dedup", place, "--radius", 0, "--json").json
        assert {"0", "60"} <= {*groups[0]} or any({"0", "60"} <= {*group} for group in groups)
        answers.append((found, groups))
    assert answers[0] == answers[1]


def test_shards_make_the_table_that_items_make(postgres, run, fitted):  # noqa: F811
    by_items, by_shards = postgres.address(), postgres.address()
    assert run("index", "model", "vectors.npy", "--to", by_items).code == 0
    words = ["--on", "here", "--part-size", 20, "--out", "codes"]
    assert run("encode", "model", "vectors.npy", *words).code == 0
    first = run("index", "--from", "codes", "--to", by_shards, "--json").json
    again = run("index", "--from", "codes", "--to", by_shards, "--json").json
    assert (first["added"], again["unchanged"], again["count"]) == (63, 63, 63)
    assert contents(by_shards) == contents(by_items)


def test_no_command_shows_the_password(postgres, run, fitted):  # noqa: F811
    table = postgres.address()
    for command in (
        ["search", table, "query.npy"],
        ["index", "model", "vectors.npy", "--to", table],
        ["index", "model", "vectors.npy", "--to", table, "--json"],
        ["search", table, "query.npy"],
        ["dedup", table],
        ["search", f"{table}?sslmode=require", "query.npy"],
        ["index", "model", "vectors.npy", "--to", f"{table}-x"],
        ["serve", table, "--workspace", "w", "--model", "model"],
    ):
        done = run(*command)
        said = done.out + done.err
        assert PASSWORD not in said and "se%3Acr" not in said
    assert done.code == 2 and "leave the password out of the address: set PGPASSWORD" in done.err


def test_another_model_is_refused(postgres, run, fitted):  # noqa: F811
    table = postgres.address()
    with pts3h.open_index(table, 10, look_bits=6, weight=3, model="0" * 64):
        pass
    done = run("index", "model", "vectors.npy", "--to", table)
    assert done.code == 2 and "was made by another model" in done.err
    done = run("search", table, "query.npy")
    assert done.code == 2 and "name its folder with --model" in done.err
