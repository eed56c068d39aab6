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
from .plots import all_plots
from .report import NOTE, read_note, summaries_of, tables_of, write_bytes
from .tables import to_markdown

LEAD = """# Results

Nothing stands here that was not run, and nothing is written by hand but the remarks: the page is made from
the cells that `pts3h bench` wrote, which are in `results/`, by

```
{command}
```

{note}

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
    note, results = read_note(folder), read_results(folder)
    summaries = summaries_of(results, note)
    if not summaries:
        raise UserError(f"{folder} holds no finished cell yet")
    remarks = folder / "remarks.md"
    hours = sum(result["seconds"] for result in results) / 3600
    parts = [
        f"## {title(folder)}\n",
        "```\n" + "\n".join(portable(command, folder.name) for command in note["commands"]) + "\n```\n",
        f"{len(results)} runs, {hours:.1f} hours of one core.\n",
        *([remarks.read_text(encoding="utf-8")] if remarks.is_file() else []),
        *(to_markdown(table) for table in tables_of(summaries, results[0]["map_at"])),
    ]
    for plot in all_plots(results, summaries):
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
