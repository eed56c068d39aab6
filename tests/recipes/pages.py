"""The Python blocks of a recipe's page."""

import re
from pathlib import Path

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"


def python_blocks(page):
    """All of them, in order."""
    return re.findall(r"```python\n(.*?)```", (RECIPES / page).read_text(), re.DOTALL)


def run_blocks(page, blocks):
    """Run blocks one after the other in one namespace, which is returned."""
    names = {"__name__": "pasted"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    return names
