"""A dead link inside the project is found, a living one is left alone."""

import pytest
from tools import check_links

from tests.docs.blocks import PROJECT

README = PROJECT / "README.md"


def test_every_link_of_the_project_leads_somewhere():
    pages = check_links.project_pages()
    assert {"README.md", "CONTRIBUTING.md", "docs/index.md"} <= {str(p.relative_to(PROJECT)) for p in pages}
    dead = [
        (str(page), line, target)
        for page in pages
        for line, target in check_links.links(page)
        if check_links.complaint(page, target)
    ]
    assert dead == []


@pytest.mark.parametrize(
    ("target", "wrong"),
    [
        ("docs/milvus.md", None),
        ("docs/milvus.md#options", None),
        ("docs/gallery.png", None),
        ("https://example.org/x", None),
        ("docs/nowhere.md", "leads nowhere"),
        ("docs/nothing.png", "leads nowhere"),
        ("docs/milvus.md#no-such-heading", "has no such heading in milvus.md"),
        ("#no-such-heading", "has no such heading in README.md"),
        ("../elsewhere.md", "leaves the project"),
        ("/README.md", "leaves the project"),
    ],
)
def test_complaints(target, wrong):
    assert check_links.complaint(README, target) == wrong


def test_links_pictures_and_headings_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b`, c!\n\n[x](y.md) `[no](no.md)` ![z](z.png)\n\n## Twice\n\n## Twice\n\n| [t](u.md) |\n|---|\n"
    )
    assert list(check_links.links(page)) == [(3, "y.md"), (3, "z.png"), (9, "u.md")]
    assert check_links.anchors(page) == {"a-b-c", "twice", "twice-1"}
