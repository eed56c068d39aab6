"""Parts of HTML pages. Whatever is passed in as text is escaped."""

import html
from collections.abc import Iterable, Sequence


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first entry of each row names it. Where it is too wide, it scrolls, by keyboard too."""
    head = "".join(f'<th scope="col">{html.escape(entry)}</th>' for entry in header)
    body = "".join(f"<tr>{row_of(first, rest)}</tr>\n" for first, *rest in rows)
    label = html.escape(caption)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table><caption>{label}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
    )


def row_of(name: str, entries: Sequence[str]) -> str:
    """The cells of a row."""
    cells = "".join(f"<td>{html.escape(entry)}</td>" for entry in entries)
    return f'<th scope="row">{html.escape(name)}</th>{cells}'


def paragraph(text: str, style: str = "") -> str:
    """Plain words."""
    kind = f' class="{style}"' if style else ""
    return f"<p{kind}>{html.escape(text)}</p>\n"
