"""The program itself: its help, its commands, and what it says of mistakes in typing."""

import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

import pts3h.cli
from pts3h.cli.app import COMMANDS
from pts3h.cli.setting_flags import flag_names
from pts3h.data.datasets.table import DATASETS
from pts3h.exchange import FORMATS
from pts3h.index.engines import ENGINES
from pts3h.losses.table import LOSSES
from pts3h.nets.backbones.table import BACKBONES
from pts3h.settings.asked import Settings
from pts3h.systems.table import SYSTEMS
from tests.cli.commands import PROGRAM

WIDE = {"COLUMNS": "400", "TERM": "dumb"}
ADDRESSES = [engine.address for engine in ENGINES]
LISTS = {  # what the help of a command lists, from the tables
    "fit": [*LOSSES.names(), *BACKBONES.names(), "timm:", "torchvision:"],
    "index": ADDRESSES,
    "search": ADDRESSES,
    "dedup": ADDRESSES,
    "export": [*ADDRESSES, *FORMATS.names()],
    "import": [*ADDRESSES, *FORMATS.names()],
    "bench": [*DATASETS.names(), *BACKBONES.names()],
    "data": DATASETS.names(),
}


@pytest.fixture
def wide(monkeypatch):
    """A window in which no line of the help is broken."""
    for name, value in WIDE.items():
        monkeypatch.setenv(name, value)


def test_every_command_has_a_file_and_every_file_is_known():
    """A file is a command, or serves several."""
    files = {path.stem for path in Path(pts3h.cli.__file__).parent.glob("*.py")} - {"__init__"}
    commands = {name for name in files if hasattr(import_module(f"pts3h.cli.{name}"), "EXAMPLE")}
    assert {name.removesuffix("_") for name in commands} == {*COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_comes_without_torch(command):
    code = (
        f"import sys; sys.argv = ['pts3h', {command!r}, '--help']\n"
        "from pts3h.cli.app import main\n"
        "try: main()\nfinally: sys.stderr.write(str('torch' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "False")
    assert f"Usage: pts3h {command}" in done.stdout


def test_a_search_does_not_wait_for_what_it_may_not_need():
    """Tables, pages of hits, files for other programs."""
    code = (
        "import sys; before = set(sys.modules)  # who measures coverage has some of them\n"
        "from pts3h.cli.app import load_command; load_command('search')\n"
        "print({'rich', 'html', 'pts3h.exchange', 'pts3h.nets'} & sys.modules.keys() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_that_would_be_understood(run, wide, command):
    done = run(command, "--help")
    assert (done.code, done.err) == (0, "")
    (example,) = re.findall(r"Example: (pts3h .+?) *$", done.out, re.MULTILINE)
    assert example.split()[1] == command
    for flag in re.findall(r"(?<= )--?[a-z][\w-]*", example):
        assert re.search(rf"(?<![\w-]){flag}(?![\w-])", done.out.replace(example, "")), flag


@pytest.mark.parametrize("command", LISTS)
def test_help_lists_what_the_tables_hold(run, wide, command):
    shown = run(command, "--help").out
    assert [name for name in LISTS[command] if name not in shown] == []


def test_the_systems_are_listed_too(run):
    assert run("bench", "--list").out.split() == SYSTEMS.names()


def test_every_setting_is_a_flag_of_fit(run, wide):
    shown = run("fit", "--help").out
    assert {*flag_names()} == {field.name for field in fields(Settings)}
    for spellings in flag_names().values():
        for flag in "/".join(spellings).split("/"):
            assert re.search(rf"(?<![\w-]){flag}(?![\w-])", shown), flag


def test_the_commands_are_listed(run):
    for arguments in (["--help"], []):
        done = run(*arguments)
        assert done.code == 0 and all(f" {name} " in done.out for name in COMMANDS)


def test_the_program_is_installed():
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"pts3h {pts3h.__version__}\n")


def test_a_forgotten_option(refused):
    refused("fit", "photos", "--pairs", "pairs.csv", says="'--out'")
    refused("encode", says="Missing argument")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["codify"], "No such command 'codify'"),
        (["--colour"], "No such option: --colour"),
        *[([command, "--colour"], "No such option: --colour") for command in COMMANDS],
        (["fit", "photos", "--out", "model", "--bist", "8"], "--bits"),
        (["encode", "model", "photos", "--netwrok", "student"], "--network"),
        (["evaluate", "a.npy", "b.npy", "--querylabels", "c.npy"], "--query-labels"),
    ],
)
def test_what_is_not_there(refused, arguments, says):
    refused(*arguments, says=says)
