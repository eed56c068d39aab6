"""The page: what a model makes of items, in words, pictures, charts and tables. It needs nothing else."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import __version__
from ..model.verdict import verdict
from ..util.markup import paragraph
from .coded import Coded
from .course import courses, last_threshold
from .curves import curves
from .distances import Distances
from .figures import figures
from .gallery import gallery
from .histogram import histogram
from .queries import Query
from .style import STYLE

if TYPE_CHECKING:  # torch is imported by whoever has a model
    from ..model.model import Model

# nothing is loaded and nothing runs, whatever an item is called
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Findings:
    """What a model makes of items.

    Attributes:
        coded: the items and their codes.
        queries: some of them, with what they find.
        distances: of pairs, by kind.
        seed: what was drawn by.
    """

    coded: Coded
    queries: Sequence[Query]
    distances: Sequence[Distances]
    seed: int


def page(model: "Model", findings: Findings) -> str:
    """The whole page."""
    title = f"A model of {model.layout}"
    found = paragraph(" ".join(verdict(model.summary, counts=False)), "verdict")
    body = [
        f"<header><h1>{title}</h1>{headline(findings.coded)}{found}</header>",
        section("Queries and what they find", nearest(findings)),
        section(
            "Distances of pairs by meaning" if model.layout.look else "Distances of pairs",
            histogram(findings.distances, last_threshold(model.history), model.used.bits),
        ),
        section("Course of training", curves(courses(model.history))),
        section("Figures", figures(model, findings.coded.skipped)),
        f"<footer>Model {html.escape(model.fingerprint)}, page by pts3h {__version__}.</footer>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body><main>{''.join(body)}</main></body></html>\n"
    )


def section(title: str, content: str) -> str:
    """A part of the page under its heading."""
    return f"<section><h2>{title}</h2>\n{content}</section>\n"


def headline(coded: Coded) -> str:
    """How many items, and how well their codes tell them apart."""
    groups = coded.groups()
    count, distinct, largest = int(groups.sum()), len(groups), int(groups.max())
    noun = coded.noun
    lines = [f"{count:,} {noun} have {distinct:,} distinct codes ({distinct / count:.1%})."]
    if largest > 1:
        lines.append(
            f"The largest group of equal codes has {largest:,} {noun} ({largest / count:.1%}); search cannot "
            "tell them apart."
        )
    if coded.is_sample:
        lines.append(
            f"They were drawn by chance from {len(coded.items):,}, over which a fine-tuned network would "
            "take long."
        )
    if coded.skipped:
        lines.append(f"{len(coded.skipped):,} more cannot be read; they are named below.")
    return paragraph(" ".join(lines), "lead")


def nearest(findings: Findings) -> str:
    """Chance queries with their hits."""
    count, noun = len(findings.queries), findings.coded.noun
    words = (
        f"{count} {noun} drawn by chance (seed {findings.seed}), each with its nearest among "
        f"{len(findings.coded.positions):,}. Where several are equally near, the collection's order decides."
    )
    layout = findings.coded.layout
    if layout.look:
        words += f" A learned bit that differs counts {layout.weight}, a look bit 1."
    if any(hit.alike is not None for query in findings.queries for hit in query.hits):
        words += " Where a pair is known, it says so."
    return paragraph(words) + gallery(findings.queries, findings.coded.items)
