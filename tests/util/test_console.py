"""What people read is what there is."""

import pytest
from rich.table import Table

from pts3h.util.console import plain_console, printable

NAMES = ["IMG[final].jpg", "a[/b].jpg", "[red]x", ":smile:.png", "\\[a].png"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_no_markup(name, capsys):
    table = Table(name, title=name)
    table.add_row(name)
    plain_console(60).print(table)
    assert capsys.readouterr().out.count(name) == 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("grün 图 [x]\\n", "grün 图 [x]\\n"),
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("two\nlines", "two\\nlines"),
        ("caf\udce9.png", "caf\\udce9.png"),
    ],
)
def test_what_cannot_be_printed_is_written_out(text, shown):
    assert printable(text) == shown
