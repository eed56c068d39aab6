"""docs/RESULTS.md says what the cells in results/ say."""

from pathlib import Path

from pts3h.bench.results import write_results

ROOT = Path(__file__).parents[2]


def test_the_page_is_made_from_the_cells(tmp_path):
    page = (ROOT / "docs" / "RESULTS.md").read_text(encoding="utf-8")
    command = next(line for line in page.splitlines() if line.startswith("python -m pts3h.bench.results"))
    folders = [ROOT / name for name in command.split()[4:]]
    assert {*folders} == {file.parent for file in ROOT.glob("results/*/*.json")}
    write_results(tmp_path / "RESULTS.md", folders)
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8") == page
    for picture in tmp_path.glob("figures/*/*.png"):
        assert (ROOT / "docs" / picture.relative_to(tmp_path)).is_file()
