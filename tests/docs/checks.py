"""What can be said of a block without running it: flags, targets, extras, files and names exist."""

import ast
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Callable

from typer.main import get_command

import pts3h
from pts3h.cli.app import app
from tests.docs.blocks import PROJECT


def check_python(code: str) -> None:
    """It compiles, and every ``pts3h.name`` in it is public."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pts3h":
            assert node.attr in pts3h.__all__, f"pts3h.{node.attr} is not public"


def check_command(line: str) -> None:
    """The command and all its arguments would be understood."""
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    program = words[0].removeprefix(".venv/bin/")
    assert program in CHECKS, f"nothing here can check {program}: {line}"
    CHECKS[program](words[1:])


def check_pts3h(words: list[str]) -> None:
    """Click's own parser takes the command with every flag and value; nothing is run."""
    group = get_command(app)
    above = group.make_context("pts3h", list(words))
    name, command, rest = group.resolve_command(above, list(words))
    assert command is not None, f"there is no command {name}"
    command.make_context(name, rest, parent=above)


def check_make(words: list[str]) -> None:
    targets = set(re.findall(r"^([a-z]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    wanted = {word for word in words if "=" not in word}
    assert wanted <= targets, f"no make target {sorted(wanted - targets)}"


def check_pip(words: list[str]) -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert words[0] == "install"
    wanted = re.findall(r"\[([\w,-]+)\]", " ".join(words))
    extras = {extra for group in wanted for extra in group.split(",")}
    missing = extras - project["optional-dependencies"].keys()
    assert not missing, f"no extra {sorted(missing)}"


def check_program(words: list[str]) -> None:
    """``python -m module`` or ``python file.py``; anything else is beyond this check."""
    if words[0] == "-m":
        assert importlib.util.find_spec(words[1]) is not None, f"there is no module {words[1]}"
    else:
        assert (PROJECT / words[0]).is_file(), f"there is no {words[0]}"


def check_torchrun(words: list[str]) -> None:
    """torchrun's own parser takes its options, and ours takes the command behind them."""
    from torch.distributed.run import parse_args

    try:
        given = parse_args(words)
    except SystemExit as error:
        raise AssertionError(f"torchrun does not understand {words}") from error
    assert given.module and given.training_script == "pts3h", "torchrun starts pts3h as a module"
    check_pts3h(given.training_script_args)


def check_pytest(words: list[str]) -> None:
    for word in words:
        assert not word.startswith("tests") or (PROJECT / word).exists(), f"there is no {word}"


CHECKS: dict[str, Callable[[list[str]], None]] = {
    "pts3h": check_pts3h,
    "make": check_make,
    "pip": check_pip,
    "python": check_program,
    "pytest": check_pytest,
    "torchrun": check_torchrun,
}
