"""docs/environment.md names every variable that the code reads, and no other."""

import ast
import re

from tests.docs.blocks import PROJECT

PAGE = (PROJECT / "docs" / "environment.md").read_text()
NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
LIBPQ = {"PGPASSWORD", "PGPASSFILE", "PGUSER", "PGSSLMODE", "PGSSLROOTCERT"}
READ_BY_OTHERS = {
    "TORCH_HOME",
    "OMP_NUM_THREADS",
} | LIBPQ  # by torch, OpenMP and libpq, not by a line of ours


def read(source):
    """Names of the variables that a file reads: the texts in calls, lookups and tests on ``os.environ``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Call, ast.Subscript, ast.Compare)) and re.search(
            r"os\.(environ\b|getenv)", ast.unparse(node.func if isinstance(node, ast.Call) else node)
        ):
            texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
            yield from (text for text in texts if isinstance(text, str) and NAME.fullmatch(text))


def variables():
    files = [path for folder in ("src", "tests", "benchmarks") for path in (PROJECT / folder).rglob("*.py")]
    return {name for path in files for name in read(path.read_text(encoding="utf-8"))}


def test_what_counts_as_reading():
    source = (
        'import os\nos.environ.get("A_B", "C")\nos.environ["D_E"]\nos.getenv("F_G")\n"H_I" in os.environ\n'
        'os.environ.setdefault("J_K", "1")\nprint("L_M")\n'
    )
    assert set(read(source)) == {"A_B", "D_E", "F_G", "H_I", "J_K"}


def test_every_variable_is_on_the_page():
    missing = variables() - set(re.findall(r"`([A-Z0-9_]+)`", PAGE))
    assert not missing, f"docs/environment.md lacks {sorted(missing)}"


def test_nothing_on_the_page_is_gone():
    first_cells = re.findall(r"^\| (`[A-Z].*?) \|", PAGE, re.MULTILINE)
    named = {name for cell in first_cells for name in re.findall(r"`([A-Z0-9_]+)`", cell)}
    code = "".join(
        path.read_text() for folder in ("src", "benchmarks") for path in (PROJECT / folder).rglob("*.py")
    )
    assert all(name in code for name in named - variables() - READ_BY_OTHERS)
    assert named >= READ_BY_OTHERS
