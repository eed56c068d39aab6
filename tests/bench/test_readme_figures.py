"""The figures of the README are those of the cells in results/."""

import re
from pathlib import Path

import pytest

from pts3h.bench.cells import read_results
from pts3h.bench.plan import Cell

ROOT = Path(__file__).parents[2]
ROWS = {  # the line's first words: where the cells of its figures are, the system, and over how many seeds
    "frozen network, DSH": (["label-efficiency"], "dsh", 5),
    "frozen network, PTS3H-DSH": (["label-efficiency"], "pts3h-dsh", 5),
    "the same with neighbours": (["label-efficiency"], "pts3h-full", 5),
    "tuned alike, DSH": (["tuned"], "dsh", 5),
    "tuned alike, the best rival": (["tuned"], "sntg", 5),
    "tuned alike, PTS3H-DSH": (["tuned"], "pts3h-dsh", 5),
    "tuned alike, with neighbours": (["tuned"], "pts3h-full", 5),
    "upper half trained, encoded": (["fine-tuning-few-labels"], "dsh", 3),
    "upper half trained, with": (["fine-tuning-few-labels"], "pts3h-full", 3),
    "trained whole, DSH": (["fine-tuning-short", "fine-tuning"], "dsh", 1),
    "trained whole, PTS3H-DSH": (["fine-tuning"], "pts3h-dsh", 1),
}
LABELS = (100, 500, 1000, 5000)


def table():
    """The table under "48 bits", its lines as lists of texts."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = text.partition("48 bits:\n\n")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def maps(folder, method, labels):
    results = read_results(ROOT / "results" / folder)
    wanted = [Cell(method, 48, labels, seed) for seed in range(len(results))]
    return [result["map"] for result in results if result["cell"] in wanted]


def test_the_table_is_the_one_that_is_checked():
    header, _, *lines = table()
    assert header[1:] == ["100 labels", "500", "1,000", "5,000"]
    assert [next(name for name in ROWS if line[0].startswith(name)) for line in lines] == list(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_every_figure_has_its_cells(name):
    folders, method, seeds = ROWS[name]
    (line,) = (line for line in table()[2:] if line[0].startswith(name))
    assert any(line[1:])
    for labels, text in zip(LABELS, line[1:], strict=True):
        figures = [float(figure) for figure in re.findall(r"\.\d{3}", text)]
        found = [maps(folder, method, labels) for folder in folders] if text else []
        assert all(len(runs) == seeds for runs in found)
        assert figures == pytest.approx([sum(runs) / seeds for runs in found], abs=5.01e-4)
