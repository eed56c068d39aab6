"""Follow every link inside the project's Markdown files: pages, headings and pictures. Nothing is fetched.

python tools/check_links.py
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

PROJECT = Path(__file__).resolve().parents[1]


@cache
def tokens(page: Path) -> list[Token]:
    """The parsed page. Code is set apart, so that a bracket in it is no link."""
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def links(page: Path) -> Iterator[tuple[int, str]]:
    """Line and target of each link and picture."""
    for block in tokens(page):
        line = block.map[0] + 1 if block.map else 0
        for part in block.children or []:
            target = part.attrGet("href") if part.type == "link_open" else part.attrGet("src")
            if target:
                yield line, str(target)


def anchors(page: Path) -> set[str]:
    """What can follow ``#``: headings in small letters without punctuation, numbered where repeated."""
    found: set[str] = set()
    parsed = tokens(page)
    for opening, inline in pairwise(parsed):
        if opening.type == "heading_open":
            text = "".join(part.content for part in inline.children or [])
            name = stem = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            again = 0
            while name in found:
                again += 1
                name = f"{stem}-{again}"
            found.add(name)
    return found


def complaint(page: Path, target: str) -> str | None:
    """What is wrong with a link, if anything."""
    address = urlsplit(target)
    if address.scheme or address.netloc:
        return None
    place = (page.parent / unquote(address.path)).resolve() if address.path else page
    if address.path.startswith("/") or not place.is_relative_to(PROJECT):
        return "leaves the project"
    if not place.exists():
        return "leads nowhere"
    if address.fragment and place.suffix == ".md" and address.fragment not in anchors(place):
        return f"has no such heading in {place.name}"
    return None


def project_pages() -> list[Path]:
    """Every Markdown file that git knows or would take in."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    return [PROJECT / name for name in listed.splitlines() if (PROJECT / name).exists()]


def main() -> None:
    """Print one line a dead link; exit code 1 if there is one."""
    dead = [
        f"{page.relative_to(PROJECT)}:{line}: {target} {wrong}"
        for page in project_pages()
        for line, target in links(page)
        if (wrong := complaint(page, target))
    ]
    print(*dead, sep="\n", end="\n" if dead else "")
    sys.exit(1 if dead else 0)


if __name__ == "__main__":
    main()
