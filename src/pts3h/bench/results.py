"""docs/RESULTS.md out of folders of cells: every number with the command that made it.

python -m pts3h.bench.results docs/RESULTS.md results/cifar10 results/mosaic
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from ..util.files import write_text
from .cells import read_results
from .pair_curves import pair_plot, pair_tables, read_curves
from .plots import Plot, all_plots
from .report import NOTE, code_text, read_note, summaries_of, tables_of, write_bytes
from .tables import Table, to_markdown
from .tuning import read_tries

LEAD = """# Results

Nothing stands here that was not run, and nothing is written by hand but the remarks: the page is made from
what the commands below wrote, which is in `results/`, by

```
{command}
```

{note}

What of the paper's tables is not here, and why:

- NUS-WIDE and ImageNet-100: their pictures are not at hand. Mosaics stand in for several labels per picture,
  and nothing stands in for a hundred classes. `configs/paper/` runs both for those who have them.
- AlexNet and VGG-F trained whole on 224 pixels for 20 to 240 passes, five seeds of each system: that takes a
  GPU. Most systems are compared on features of a frozen network instead, so figures compare with each other
  and not with the paper's, and the order of systems may differ from the paper's.

{contents}
"""


def write_results(page: Path, folders: Sequence[Path]) -> None:
    """Write the page, and the curves into ``figures/`` beside it."""
    command = shlex.join(
        ["python", "-m", "pts3h.bench.results", "docs/RESULTS.md", *(f"results/{f.name}" for f in folders)]
    )
    contents = "\n".join(f"- [{title(folder)}](#{folder.name})" for folder in folders)
    sections = [section(folder, page.parent) for folder in folders]
    write_text(page, "\n".join([LEAD.format(command=command, note=NOTE, contents=contents), *sections]))


def section(folder: Path, beside: Path) -> str:
    """One folder: what was run, remarks (its ``remarks.md``, if any), tables, curves."""
    if (folder / "bench.json").is_file():
        return section_of_cells(folder, beside)
    commands, rows = read_curves(folder)
    if not rows:
        raise UserError(f"{folder} holds neither cells nor curves yet")
    return put_together(folder, beside, commands, "", pair_tables(rows), [pair_plot(rows)])


def section_of_cells(folder: Path, beside: Path) -> str:
    """What ``pts3h bench`` wrote."""
    note, results = read_note(folder), read_results(folder)
    summaries = summaries_of(results, note)
    if not summaries:
        raise UserError(f"{folder} holds no finished cell yet")
    hours = sum(result["seconds"] for result in results) / 3600
    commands = [portable(command, folder.name) for command in note["commands"]]
    length = f"{len(results)} runs, {hours:.1f} hours of one core, by {code_text(results)}.\n"
    tables = tables_of(summaries, results[0]["map_at"], read_tries(folder))
    return put_together(folder, beside, commands, length, tables, all_plots(results, summaries))


def put_together(
    folder: Path,
    beside: Path,
    commands: Sequence[str],
    length: str,
    tables: Sequence[Table],
    plots: Sequence[Plot],
) -> str:
    """The text of a section; its pictures are written beside the page."""
    remarks = folder / "remarks.md"
    parts = [
        f"## {title(folder)}\n",
        "```\n" + "\n".join(commands) + "\n```\n",
        *([length] if length else []),
        *([remarks.read_text(encoding="utf-8")] if remarks.is_file() else []),
        *map(to_markdown, tables),
    ]
    for plot in plots:
        picture = Path("figures") / folder.name / f"{plot.name}.png"
        write_bytes(beside / picture, plot.png)
        parts.append(f"![{plot.title}]({picture.as_posix()})\n")
    return "\n".join(parts)


def title(folder: Path) -> str:
    """The heading of a folder's section."""
    return folder.name.replace("-", " ")


def portable(command: str, name: str) -> str:
    """The command as a user would type it, wherever cells and pictures were kept."""
    words = shlex.split(command)
    usual = {"--out": f"results/{name}", "-o": f"results/{name}", "--from": "FOLDER"}
    for place, word in enumerate(words[:-1]):
        if word in usual:
            words[place + 1] = usual[word]
    return shlex.join(words)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python -m pts3h.bench.results PAGE FOLDER [FOLDER ...]")
    write_results(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
