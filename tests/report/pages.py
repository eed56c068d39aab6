"""Pages read back by a parser that lets no unclosed or unknown tag pass, and codes to make them of."""

from html.parser import HTMLParser

import numpy as np

from pts3h.codes import Layout
from pts3h.data.items import read_items
from pts3h.report.coded import Coded

EMPTY = {"meta", "img"}
BLOCKS = {"html", "head", "title", "style", "body", "main", "header", "section", "article", "footer", "div"}
WORDS = {"h1", "h2", "p", "b", "span", "figure", "figcaption", "ol", "ul", "li", "details", "summary"}
TABLES = {"table", "caption", "thead", "tbody", "tr", "th", "td"}
KNOWN = EMPTY | BLOCKS | WORDS | TABLES | {"svg", "path", "text"}


class Page(HTMLParser):
    """What is on a page.

    Attributes:
        tags: (tag, attributes) in order.
        text: everything that is to be read, style aside.
        tables: rows of cells by caption.
    """

    def __init__(self, source):
        super().__init__()
        self.tags, self.text, self.tables = [], "", {}
        self._open, self._caption = [], None
        self.feed(source)
        self.close()
        assert self._open == [], "every tag is closed"

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN, tag
        self.tags.append((tag, dict(attributes)))
        if tag == "caption":
            self._caption = ""
        if tag == "tr":
            self.tables[self._caption].append([])
        if tag in ("th", "td"):
            self.tables[self._caption][-1].append("")
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag == "path", "only SVG has these"
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag
        if tag == "caption":
            self.tables[self._caption] = []

    def handle_data(self, data):
        if "style" in self._open:
            return
        self.text += data
        if "caption" in self._open:
            self._caption += data
        elif {"th", "td"} & set(self._open):
            self.tables[self._caption][-1][-1] += data

    def all(self, tag):
        """Attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]


def coded(count=50, layout=Layout(12), *, seed=0, chance=None, pairs=None):
    """Random codes of vectors, few enough bits that some are equal."""
    signs = np.random.default_rng(seed).random((count, layout.bits)) < 0.5
    everything = np.arange(count)
    return Coded(
        items=read_items(np.zeros((count, 2), np.float32)),
        positions=everything,
        codes=np.packbits(signs, axis=1),
        layout=layout,
        chance=everything if chance is None else chance,
        pairs=everything if pairs is None else pairs,
        skipped={},
    )


def brute_force(codes, layout):
    """(n, n) distances by both parts, bit by bit."""
    signs = np.unpackbits(codes, axis=1, count=layout.bits)
    differ = signs[:, None, :] != signs[None, :, :]
    return layout.weight * differ[..., : layout.meaning].sum(axis=2) + differ[..., layout.meaning :].sum(
        axis=2
    )
