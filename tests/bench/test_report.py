"""Tables that parse back, curves, and a page that needs nothing else."""

import csv
import io
import re
import struct
from xml.etree import ElementTree

import pytest

from pts3h.bench.report import tables_of, write_report
from pts3h.bench.results import portable, write_results
from pts3h.bench.summary import summarise
from pts3h.bench.tables import CSV_HEADER, map_table, print_table, to_csv, to_latex, to_markdown
from pts3h.errors import UserError
from tests.bench.cells import result, write


def matrix():
    values = {"pts3h-dsh": 0.8, "dsh": 0.7, "itq": 0.3, "lsh": 0.2}
    plain = [
        result(method, value + bits / 1000 + seed / 100 + labels / 1e5, bits=bits, labels=labels, seed=seed)
        for method, value in values.items()
        for bits in (12, 48)
        for labels in (500, 5000)
        for seed in range(3)
    ]
    course = [[step, -1 + step / 100] for step in range(1, 50)]
    varied = [
        result("pts3h-dsh", 0.5 + value / 10, bits=48, labels=5000, varied=(name, value), course=course)
        for name in ("omega", "gamma", "similar_share")
        for value in (0.1, 0.2, 0.4)
    ]
    return plain + varied


@pytest.fixture
def summaries():
    return summarise(matrix(), "cifar10")


class TestForms:
    def test_markdown_parses_back(self, summaries):
        lines = to_markdown(map_table(summaries, 5000, None)).splitlines()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
        assert rows[0] == ["method", "kind", "12 bits", "paper", "48 bits", "paper"]
        assert len({len(row) for row in rows}) == 1
        assert rows[2] == ["PTS3H-DSH", "semi-supervised", "0.872 ±0.010", "0.798", "0.908 ±0.010", "0.843"]
        assert [row[0] for row in rows[2:]] == ["PTS3H-DSH", "DSH", "ITQ", "LSH"]

    def test_latex_parses_back(self, summaries):
        text = to_latex(map_table(summaries, 5000, None))
        columns = re.search(r"\\begin{tabular}{(\w+)}", text)[1]
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert all(row.count("&") == len(columns) - 1 for row in rows) and len(rows) == 5
        assert r"0.872 $\pm$0.010" in text and text.count("{") == text.count("}")

    def test_csv_parses_back_in_full(self, summaries):
        rows = list(csv.DictReader(io.StringIO(to_csv(summaries))))
        assert tuple(rows[0]) == CSV_HEADER and len(rows) == len(summaries) == 16
        for row, summary in zip(rows, summaries, strict=True):
            assert (row["method"], int(row["bits"]), float(row["map"])) == (
                summary.method,
                summary.bits,
                summary.map,
            )
        gains = {row["base"]: float(row["gain"]) for row in rows if row["base"]}
        assert gains == {"dsh": pytest.approx(0.1)}

    def test_no_paper_columns_where_it_has_nothing(self, summaries):
        assert "paper" not in map_table(summaries, 500, None).header

    def test_nothing_is_cut_off_in_a_narrow_window(self, summaries, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "40")
        for table in tables_of(summaries, None, {}):
            print_table(table)
            shown = capsys.readouterr().out
            assert "…" not in shown and all(text in shown for row in table.rows for text in row)

    def test_the_metric_is_named(self, summaries):
        assert map_table(summaries, 500, 5000).title == "MAP@5000, 500 labelled items"


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A folder with every kind of cell, and its report."""
    folder = tmp_path_factory.mktemp("reported")
    write(folder, matrix(), settings={"steps": 7, "weights": "<b>"})
    write_report(folder)
    return folder


class TestFolder:
    def test_everything_is_written(self, reported):
        tables = (reported / "table.md").read_text()
        assert "**Precision within Hamming radius 2, 5,000 labelled items**" in tables
        plots = {
            "precision-radius-2",
            "precision-at-k",
            "precision-recall",
            "label-efficiency",
            "course-of-thr",
            "sensitivity-omega",
            "sensitivity-gamma",
            "sensitivity-similar_share",
        }
        for kind in ("png", "svg"):
            assert {path.stem for path in reported.glob(f"*.{kind}")} == plots
        width, height = struct.unpack(">II", (reported / "precision-at-k.png").read_bytes()[16:24])
        assert width > 800 and height > 400
        svg = (reported / "precision-radius-2.svg").read_text()
        assert ElementTree.fromstring(svg).tag.endswith("svg") and "<!-- PTS3H-DSH -->" in svg

    def test_the_page_needs_nothing_else(self, reported):
        page = (reported / "report.html").read_text()
        assert page.count("data:image/svg+xml;base64,") == 8
        assert not re.findall(r'(?:src|href)="(?!data:)', page)
        assert "PTS3H-DSH" in page and "pts3h bench cifar10" in page and "<b>" not in page

    def test_the_same_cells_give_the_same_files(self, tmp_path):
        write(tmp_path, matrix()[:4])
        write_report(tmp_path)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        write_report(tmp_path)
        assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def test_one_run_of_one_method(self, tmp_path):
        write(tmp_path, [result("itq", 0.3)])
        tables = write_report(tmp_path)
        assert tables[0].rows == [["ITQ", "unsupervised", "0.300"]]

    def test_a_torn_cell_is_named(self, tmp_path):
        write(tmp_path, [result("itq", 0.3)])
        (tmp_path / "itq-12bits-100labels-seed1.json").write_text('{"cell": {}')
        with pytest.raises(UserError, match=r"seed1\.json is not a cell"):
            write_report(tmp_path)

    def test_nothing_yet(self, tmp_path):
        write(tmp_path, [])
        with pytest.raises(UserError, match="no finished cell"):
            write_report(tmp_path)


class TestResultsPage:
    def test_every_number_has_its_command(self, tmp_path):
        folder = tmp_path / "frozen-features"
        write(folder, matrix()[:6])
        (folder / "remarks.md").write_text("It falls short by a little.\n")
        write_results(tmp_path / "docs" / "RESULTS.md", [folder])
        page = (tmp_path / "docs" / "RESULTS.md").read_text()
        assert "## frozen features" in page and "It falls short by a little." in page
        assert "pts3h bench cifar10 --out results/frozen-features" in page and str(tmp_path) not in page
        pictures = re.findall(r"!\[.+?\]\((.+?)\)", page)
        assert len(pictures) == 3 and all((tmp_path / "docs" / name).is_file() for name in pictures)

    def test_commands_are_portable(self):
        command = "pts3h bench nuswide21 --from /my/pictures -o '/somewhere of mine' --bits 12"
        assert portable(command, "whole") == "pts3h bench nuswide21 --from FOLDER -o results/whole --bits 12"


def test_tables_of_several_label_counts(summaries):
    titles = [table.title for table in tables_of(summaries, None, {})]
    assert titles[0] == "MAP, 5,000 labelled items" and titles[2] == "MAP, 500 labelled items"
    assert titles[-1].startswith("Seconds")
