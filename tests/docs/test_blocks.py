"""Every block of README, CONTRIBUTING and docs/ runs, or, where it says why not, would be understood."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import run_page
from tests.docs.blocks import MARK, PROJECT, UNMARKED, blocks, kind_of, pages
from tests.docs.checks import check_command, check_python
from tests.docs.world import make_world

WITH_BLOCKS = {page: found for page in pages() if (found := blocks(page))}
RUN = [page for page, found in WITH_BLOCKS.items() if any(block.not_run is None for block in found)]
CHECKED = [
    pytest.param(block, id=f"{page}:{block.line}")
    for page, found in WITH_BLOCKS.items()
    for block in found
    if block.not_run is not None
]


@pytest.mark.parametrize("page", RUN)
def test_runs(page, tmp_path):
    """All blocks of a page, one after the other, in a folder with the pictures it speaks of."""
    make_world(tmp_path)
    todo = [
        (f"{page}:{block.line}", block.kind, block.code if block.kind == "python" else block.commands())
        for block in WITH_BLOCKS[page]
        if block.not_run is None
    ]
    script = tmp_path / "blocks.json"
    script.write_text(json.dumps(todo))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, run_page.__file__, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", CHECKED)
def test_would_be_understood(block):
    assert block.not_run, "say why the block is not run: <!-- checked, not run: reason -->"
    if block.kind == "python":
        check_python(block.code)
    else:
        for line in block.commands():
            check_command(line)


def test_every_mark_stands_above_a_block():
    for page in pages():
        marks = MARK.findall((PROJECT / page).read_text())
        held = [block for block in WITH_BLOCKS.get(page, []) if block.not_run and page not in UNMARKED]
        assert len(marks) == len(held), f"{page} has a mark that no block follows, or one without a reason"


@pytest.mark.parametrize(
    ("language", "code", "kind"),
    [
        ("python", "import pts3h", "python"),
        ("bash", "ls", "shell"),
        ("", "pts3h doctor", "shell"),
        ("", "$ pts3h doctor\nsearch: kernel", "shell"),
        ("", "src/\n  data/", None),
        ("text", "pts3h doctor", None),
    ],
)
def test_what_counts(language, code, kind):
    assert kind_of(language, code) == kind


@pytest.mark.parametrize(
    "line",
    [
        "pts3h fit photos/ --pears pairs.csv --out model/",
        "pts3h fit photos/ --bits many --out model/",
        "pts3h learn photos/",
        "make tests",
        "pip install '.[everything]'",
        "python benchmarks/no_such_file.py",
        "python -m pts3h.no_such_module",
        "torchrun --standalone --nproc-per-nodes 2 -m pts3h doctor",
        "torchrun --standalone --nproc-per-node 2 -m pts3h fit photos/ --pears pairs.csv --out model/",
        "frobnicate",
    ],
)
def test_a_mistake_is_seen(line):
    with pytest.raises(Exception, match=r".+"):
        check_command(line)


def test_an_unknown_name_is_seen():
    with pytest.raises(AssertionError, match="Hash is not public"):
        check_python("import pts3h\npts3h.Hash()")
