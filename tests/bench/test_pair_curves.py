"""Curves of first pairs, from files to the page of results."""

import json

import numpy as np
import pytest

from pts3h import UserError
from pts3h.bench.pair_curves import pair_tables, read_curves
from pts3h.bench.results import write_results

SEEDS = [0.50, 0.52, 0.57]


def row(pairs, alike=0.5, system="pts3h-graph", data="cifar10", values=SEEDS):
    return {
        "data": data,
        "items": 6000,
        "system": system,
        "bits": 48,
        "pairs": pairs,
        "alike": alike,
        "seeds": len(values),
        "map": values,
    }


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "first-pairs"
    folder.mkdir()
    files = {
        "a": ("one", [row(0), row(20), row(0, 0, "itq", values=[0.4]), row(0, 0, "pca", values=[0.3])]),
        "b": ("two", [row(20, 0.1, values=[0.45]), row(20, 0.9, values=[0.6])]),
        "c": ("three", [row(20, data="digits"), row(0, 0, "itq", "digits", [0.2])]),
    }
    for name, (command, rows) in files.items():
        (folder / f"{name}.json").write_text(json.dumps({"command": command, "rows": rows}))
    return folder


def test_the_tables(folder):
    commands, rows = read_curves(folder)
    assert commands == ["one", "two", "three"]
    counts, shares = pair_tables(rows)
    assert list(counts.header)[3:] == ["ITQ", "PCA, rotated", "0", "20"]
    mean = f"{np.mean(SEEDS):.3f} ±{np.std(SEEDS, ddof=1):.3f}"
    assert counts.rows == [
        ["cifar10, 6,000", "48", "3", "0.400", "0.300", mean, mean],
        ["digits, 6,000", "48", "3", "0.200", "", "", mean],
    ]
    assert list(shares.header) == ["alike", "10%", "50%", "90%"]
    assert shares.rows == [["MAP", "0.450", mean, "0.600"]]


def test_they_are_a_section_of_the_page(folder, tmp_path):
    (folder / "remarks.md").write_text("Rising.\n")
    write_results(tmp_path / "docs" / "RESULTS.md", [folder])
    page = (tmp_path / "docs" / "RESULTS.md").read_text(encoding="utf-8")
    assert "## first pairs" in page and "one\ntwo\nthree" in page and "Rising." in page
    assert (tmp_path / "docs" / "figures" / "first-pairs" / "first-pairs.png").is_file()


def test_an_empty_folder(tmp_path):
    with pytest.raises(UserError, match="neither cells nor curves"):
        write_results(tmp_path / "RESULTS.md", [tmp_path])
