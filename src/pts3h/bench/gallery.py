"""Queries beside what they find, as one PNG and one HTML page that needs nothing else."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ..util.pictures import as_data, to_png

TILE, GAP, FRAME = 64, 6, 3
GOOD, BAD, PLAIN = (46, 160, 67), (207, 60, 60), (150, 150, 150)
PAPER, INK = (255, 255, 255), (40, 40, 40)

Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Row:
    """A query and, for each panel, what it finds.

    Attributes:
        query: (h, w, 3).
        name: of the query's class.
        panels: for each panel the pictures found and whether each is relevant.
    """

    query: Picture
    name: str
    panels: Sequence[Sequence[tuple[Picture, bool]]]


def gallery_png(rows: Sequence[Row], titles: Sequence[str]) -> bytes:
    """All rows in one picture: query, then one block a panel; green frames are right, red ones wrong."""
    font = ImageFont.load_default(size=15)
    step = TILE + GAP
    per_panel = len(rows[0].panels[0])
    panel_width = per_panel * step + 3 * GAP
    label_width = 96
    width = label_width + step + 4 * GAP + len(titles) * panel_width
    sheet = Image.new("RGB", (width, 34 + len(rows) * step + GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    starts = [label_width + step + 4 * GAP + number * panel_width for number in range(len(titles))]
    for x, title in zip(starts, titles, strict=True):
        draw.text((x, 8), title, fill=INK, font=font)
    for number, row in enumerate(rows):
        y = 34 + number * step
        draw.text((GAP, y + TILE // 2 - 8), row.name, fill=INK, font=font)
        sheet.paste(tile(row.query, PLAIN), (label_width, y))
        for x, panel in zip(starts, row.panels, strict=True):
            for place, (picture, relevant) in enumerate(panel):
                sheet.paste(tile(picture, GOOD if relevant else BAD), (x + place * step, y))
    return to_png(sheet)


def tile(picture: Picture, colour: tuple[int, int, int]) -> Image.Image:
    """One picture in a coloured frame."""
    framed = Image.new("RGB", (TILE, TILE), colour)
    inner = TILE - 2 * FRAME
    framed.paste(
        Image.fromarray(np.ascontiguousarray(picture)).resize((inner, inner), Image.Resampling.BICUBIC),
        (FRAME, FRAME),
    )
    return framed


def gallery_page(
    title: str, lead: str, header: Sequence[str], table: Sequence[Sequence[str]], picture: bytes
) -> str:
    """An HTML page: a sentence, a table of figures, and the gallery."""
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in line) + "</tr>\n" for line in table
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; }}
body {{ margin: 2rem auto; max-width: 80rem; padding: 0 1rem }}
table {{ border-collapse: collapse; margin: 1rem 0 }} th, td {{ padding: .3rem .9rem; text-align: right }}
th {{ border-bottom: 2px solid #888 }} td:first-child, th:first-child {{ text-align: left }}
img {{ max-width: 100% }}
</style>
<h1>{html.escape(title)}</h1>
<p>{html.escape(lead)}</p>
<table><tr>{cells}</tr>
{body}</table>
<p>Queries drawn by chance, and their nearest pictures. Green is right, red is wrong.</p>
<img alt="queries and their nearest pictures before and after" src="{as_data(picture)}">
</html>
"""
