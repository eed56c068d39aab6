"""Search results as one HTML page: queries and what they found, with pictures."""

import html
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from ..data.decoding import decode_file
from ..errors import BrokenImage
from ..indexing import Answer, picture_of
from ..util.pictures import as_data, to_png


def answers_page(answers: Sequence[Answer]) -> str:
    """An HTML page of queries and what they found, with the pictures that still are what was indexed."""
    rows = "".join(answer_row(answer) for answer in answers)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Search results</title>
<style>
body {{ font: 14px/1.4 system-ui, sans-serif; color: #222; margin: 1rem }}
section {{ display: flex; flex-wrap: wrap; gap: .6rem; padding: .8rem 0; border-bottom: 1px solid #ccc }}
figure {{ margin: 0; width: 128px }} figure:first-child {{ margin-right: 1.5rem }}
img, .none {{ width: 128px; height: 128px; object-fit: cover; background: #eee; border-radius: 4px }}
img {{ outline: 1px solid #ddd }}
figcaption {{ overflow-wrap: anywhere; font-size: 12px }}
</style>
{rows}</html>
"""


def answer_row(answer: Answer) -> str:
    """A query and its hits."""
    figures = [figure(answer.path, f"query: {answer.query}")]
    for (name, distance), meta in zip(answer.hits, answer.meta, strict=True):
        figures.append(figure(picture_of(meta), f"{name}, distance {distance}"))
    return f"<section>{''.join(figures)}</section>\n"


def figure(path: Path | None, caption: str) -> str:
    """A thumbnail with its caption; an empty box where there is no picture."""
    picture = '<div class="none"></div>'
    if path is not None:
        try:
            thumbnail = to_png(Image.fromarray(decode_file(path, 128).transpose(1, 2, 0)))
            picture = f'<img alt="" src="{as_data(thumbnail)}">'
        except BrokenImage:
            pass  # it was moved or deleted since; the caption still names it
    return f"<figure>{picture}<figcaption>{html.escape(caption)}</figcaption></figure>"
