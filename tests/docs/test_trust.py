"""Every test that the page on trust names is there, and each row of its tables names one."""

import ast
import re
from itertools import pairwise

import pytest

from tests.docs.blocks import PROJECT

PAGE = (PROJECT / "docs/TRUST.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py(?:::\w+)+)`", PAGE)))


def names(file):
    """Every function and ``Class::function`` of a file."""
    for node in ast.parse((PROJECT / "tests" / file).read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield from (
                f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)
            )
        elif isinstance(node, ast.FunctionDef):
            yield node.name


@pytest.mark.parametrize("test", NAMED)
def test_it_exists(test):
    file, _, name = test.partition("::")
    assert name.split("::")[-1].startswith("test_")
    assert name in set(names(file))


def test_each_row_names_one():
    lines = PAGE.splitlines()
    heads = [before for before, line in pairwise(lines) if line.startswith("|--")]
    rows = [line for line in lines if line.startswith("| ") and line not in heads]
    assert len(rows) > 40 and all("::test_" in row or "::Test" in row for row in rows)


def test_what_was_broken_is_numbered_without_a_gap():
    assert [int(number) for number in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)] == list(range(1, 26))
