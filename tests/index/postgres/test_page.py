"""Every block of docs/postgres.md runs, in the order of the page, on a real server."""

import re
from pathlib import Path

import numpy as np
import psycopg
import pytest

import pts3h

from ..oracle import random_codes

pytestmark = pytest.mark.postgres

PAGE = (Path(__file__).parents[3] / "docs" / "postgres.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|sql)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
QUERY = bytes.fromhex("0123456789abcdef")


@pytest.fixture
def own_schema(postgres, monkeypatch):
    """A schema in which the names of the page are free, for every connection of the test."""
    name = f"{postgres.prefix}_page"
    with postgres.open(postgres.address(), bits=64):
        pass  # pgvector is there, elsewhere
    postgres.sql(f"CREATE SCHEMA {name}")
    monkeypatch.setenv("PGOPTIONS", f"-c search_path={name},public")
    yield
    postgres.sql(f"DROP SCHEMA {name} CASCADE")


def test_every_block_does_what_it_says(postgres, own_schema):
    ids = ["cats/1.jpg", *(f"{number:03}.jpg" for number in range(299))]
    codes = random_codes(np.random.default_rng(0), 300, 64, 0.05)
    names = {"pts3h": pts3h, "ids": ids, "codes": codes}
    answers = []
    shown = r"postgresql://me@host:5432/data"
    both = random_codes(np.random.default_rng(1), 50, 96)
    with postgres.open(f"{postgres.database}/photos", bits=64, look_bits=32, weight=3) as photos:
        photos.add(range(50), both)
        expected = photos.search(np.frombuffer(QUERY + QUERY[:4], np.uint8), 10)[0]
    with psycopg.connect(postgres.database, autocommit=True) as connection:
        connection.execute("CREATE TABLE product (name text, price int, photo text)")
        connection.execute("INSERT INTO product VALUES ('cat', 12, 'cats/1.jpg'), ('dog', 99, '001.jpg')")
        for language, block in BLOCKS:
            if language == "sql":
                cursor = connection.execute(block)
                answers.append(cursor.fetchall() if cursor.description else [])
            else:
                if "index" in names:
                    names["index"].close()
                exec(block.replace(shown, postgres.database), names)
        names["index"].close()
        (literal,) = connection.execute(f"SELECT {names['literal']} = {names['any_length']}").fetchone()
        assert literal
        own = connection.execute(f"SELECT id FROM shop WHERE meaning = {names['literal']}").fetchall()
        assert ("cats/1.jpg",) in own  # the order of bits is what the page says
    nearest, alike, joined, by_both, *made = answers
    with postgres.open(f"{postgres.database}/shop") as index:
        hits = index.search(np.frombuffer(QUERY, np.uint8), 10)[0]
        assert [(one, int(distance)) for one, distance in nearest] == list(hits)
        near = [hit for hit in index.within(codes[0], 8)[0] if hit[0] != "cats/1.jpg"]
        assert near and [(one, int(distance)) for one, distance in alike] == near
        ((_, distance),) = [
            hit for hit in index.search(np.frombuffer(QUERY, np.uint8), 300)[0] if hit[0] == ids[0]
        ]
        assert joined == [("cat", 12, distance)]
    assert [(one, int(distance)) for one, distance in by_both] == list(expected)
    assert made == [[], []]  # two indexes
    with postgres.open(f"{postgres.database}/photos", ef_search=100) as photos:
        assert set(photos._graphs) == {"both"}
