from xml.etree import ElementTree

from pts3h.util.markup import paragraph, table

HOSTILE = "<b>&\"'"


def test_a_table_is_read_back_as_it_was():
    region = ElementTree.fromstring(table(HOSTILE, ["name", HOSTILE], [["a", "1"], [HOSTILE, "2"]]))
    assert region.get("aria-label") == region.findtext(".//caption") == HOSTILE
    rows = [[(cell.tag, cell.text) for cell in row] for row in region.iter("tr")]
    assert rows == [
        [("th", "name"), ("th", HOSTILE)],
        [("th", "a"), ("td", "1")],
        [("th", HOSTILE), ("td", "2")],
    ]
    assert [cell.get("scope") for cell in region.iter("th")] == ["col", "col", "row", "row"]


def test_a_paragraph():
    words = ElementTree.fromstring(paragraph(HOSTILE, "lead"))
    assert (words.text, words.get("class")) == (HOSTILE, "lead")
    assert ElementTree.fromstring(paragraph("plain")).attrib == {}
