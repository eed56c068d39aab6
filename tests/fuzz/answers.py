"""The one property of every parser: an answer, or a refusal of one line."""

import csv

from hypothesis import settings
from hypothesis import strategies as st

from pts3h.errors import UserError

MOST = 2_000  # characters of a message: whatever is quoted in it is cut

quickly = settings(deadline=None)  # nothing may depend on how busy the machine is

# What tables are made of, and what breaks them.
cells = st.one_of(
    st.sampled_from(["a", "b", "c", "0", "1", "2", "x y", "ä", "", " ", "-1", "1e3", "1e39", "nan", "007"]),
    st.sampled_from(["id", "path", "label", "similar", "Class", "true", "no", "TRUE", "[[", "{", '"']),
    st.sampled_from(["a.png", "sub/b.png", "../up.png", "/a.png", "n" * 300, "\0", "a\nb", "\u2028", "\x85"]),
    st.text(max_size=8),
)
tables = st.lists(st.lists(cells, min_size=1, max_size=4), max_size=6)
plain_cells = st.text(st.characters(exclude_characters='",\r\n\ufeff', exclude_categories=["Cs"]), max_size=6)
raw = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(str.encode),
    st.text(alphabet='ab01, \t\n\r"\ufeff\0', max_size=80).map(str.encode),
    tables.map(lambda rows: "\n".join(",".join(row) for row in rows).encode(errors="replace")),
)


def answer(parse, *arguments):
    """What a parser says, None for a refusal; whatever else it raises fails the test."""
    try:
        return parse(*arguments)
    except UserError as error:
        message = str(error)
        assert message and message.isprintable() and len(message) <= MOST, message[:300]
        return None


def write_rows(path, rows):
    """The rows as a spreadsheet writes them."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def filled(rows):
    """The rows that count: those with something in a cell."""
    return [row for row in rows if any(cell.strip() for cell in row)]
