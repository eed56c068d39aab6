"""Queries and what they find: as pictures, or as a table of ids where there are none."""

import html
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image

from ..data.images import Images
from ..data.items import Items
from ..util.markup import paragraph, table
from ..util.pictures import as_data, to_jpeg
from .queries import HITS, Hit, Query

SIDE = 112
WORDS = {True: ", alike", False: ", not alike", None: ""}
STYLES = {True: ' class="alike"', False: ' class="apart"', None: ""}


def gallery(queries: Sequence[Query], items: Items) -> str:
    """All queries with their hits."""
    if items.images is None:
        return id_table(queries, items.ids)
    shown = sorted({hit.position for query in queries for hit in query.hits} | {q.position for q in queries})
    pictures = thumbnails(items.images, shown)
    return "".join(picture_row(query, items.ids, pictures) for query in queries)


def thumbnails(images: Images, positions: Sequence[int]) -> dict[int, str]:
    """Pictures as addresses by position; one that has become unreadable is missing."""
    loaded = images.load(np.array(positions, np.int64), SIDE)
    return {
        position: as_data(to_jpeg(Image.fromarray(pixels.transpose(1, 2, 0))), "image/jpeg")
        for place, (position, pixels) in enumerate(zip(positions, loaded.pixels, strict=True))
        if place not in loaded.broken
    }


def picture_row(query: Query, ids: Sequence[str], pictures: Mapping[int, str]) -> str:
    """A query and its hits, nearest first."""
    name = ids[query.position]
    hits = "".join(
        f"<li{STYLES[hit.alike]}>{figure(ids[hit.position], pictures.get(hit.position), said(hit))}</li>"
        for hit in query.hits
    )
    more = paragraph(tied(query)) if query.as_near else ""
    return (
        f'<article class="query" aria-label="{html.escape(f"query {name}")}">'
        f"{figure(name, pictures.get(query.position), 'query')}<div><ol>{hits}</ol>{more}</div></article>\n"
    )


def figure(name: str, picture: str | None, caption: str) -> str:
    """A picture, what there is to say of it, and its name."""
    name = html.escape(name)
    shown = '<span class="none">no picture</span>'
    if picture is not None:
        shown = f'<img alt="picture {name}" width="{SIDE}" height="{SIDE}" src="{picture}">'
    return (
        f'<figure>{shown}<figcaption><b>{caption}</b> <span class="name">{name}</span></figcaption></figure>'
    )


def said(hit: Hit) -> str:
    """What stands below a hit."""
    return f"distance {hit.distance}{WORDS[hit.alike]}"


def tied(query: Query) -> str:
    """How many items the order of the collection has put behind the last hit."""
    verb = "is" if query.as_near == 1 else "are"
    return f"{query.as_near:,} more {verb} at distance {query.hits[-1].distance}."


def id_table(queries: Sequence[Query], ids: Sequence[str]) -> str:
    """One row per query."""
    most = max((len(query.hits) for query in queries), default=0)
    header = ["query", *(f"hit {rank}" for rank in range(1, most + 1)), "as near"]
    rows = [
        [ids[q.position], *(f"{ids[hit.position]} ({said(hit)})" for hit in q.hits), f"{q.as_near:,} more"]
        for q in queries
    ]
    return table(f"Queries and their {HITS} nearest ids", header, rows)
