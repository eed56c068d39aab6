"""The code blocks of a Markdown page, and which of them are to be run."""

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

PROJECT = Path(__file__).resolve().parents[2]
SHELL = ("bash", "sh", "shell", "console")
COMMANDS = (
    "pts3h",
    "make",
    "python",
    "pip",
    "pytest",
    ".venv/bin/",
)  # an unmarked block may start with these
MARK = re.compile(r"<!-- checked, not run:(.*)-->")

# Pages whose blocks carry no marks: page, why they are not run.
UNMARKED = {
    "docs/RESULTS.md": "it records runs of hours",
    "docs/milvus.md": "it needs a Milvus server",
    "docs/postgres.md": "tests/index/postgres/test_page.py runs them, beside a server",
}


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        line: of the page, where the fence opens.
        kind: "python" or "shell".
        code: what is between the fences.
        not_run: why it is only checked; None where it is run.
    """

    line: int
    kind: str
    code: str
    not_run: str | None

    def commands(self) -> list[str]:
        """The lines of a shell block; lines that end in a backslash go on."""
        lines = self.code.replace("\\\n", " ").splitlines()
        if any(line.startswith("$ ") for line in lines):  # a session: what has no prompt is output
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def pages() -> list[str]:
    """Names of the pages, as seen from the project."""
    documents = sorted((PROJECT / "docs").rglob("*.md"))
    return ["README.md", "CONTRIBUTING.md", *(str(path.relative_to(PROJECT)) for path in documents)]


def blocks(page: str) -> list[Block]:
    """The blocks of a page that hold Python or commands, in order."""
    found, above = [], ""
    for token in MarkdownIt("commonmark").parse((PROJECT / page).read_text(encoding="utf-8")):
        if token.type == "fence":
            mark = MARK.search(above)
            kind = kind_of(token.info.strip(), token.content)
            if kind is not None:
                not_run = mark[1].strip() if mark else UNMARKED.get(page)
                found.append(Block((token.map or [0])[0] + 1, kind, token.content, not_run))
        above = token.content if token.type == "html_block" else ""
    return found


def kind_of(language: str, code: str) -> str | None:
    """What a block holds; None for output, trees and signatures."""
    if language == "python":
        return "python"
    shell = language in SHELL or (not language and code.removeprefix("$ ").startswith(COMMANDS))
    return "shell" if shell else None
