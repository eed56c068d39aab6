"""The command line: a table of commands, each loaded when it is asked for."""

import gc
import sys
import warnings
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..errors import UserError
from ..util.torchrun import several_processes
from .output import fail, show_warning

INTERRUPTED = 130  # what typer makes of Ctrl-C

# in the order in which people meet them; each is a module of this folder with a function of the same name,
# or with an underscore behind it where Python keeps the name for itself
COMMANDS = {
    "fit": "Learn codes from items and a few known pairs (or labels).",
    "report": "Write a page by which to judge a model.",
    "encode": "Write the packed codes of items.",
    "index": "Encode items and add them to an index.",
    "search": "Find the items most like a picture (or an embedding).",
    "open": "Search a folder of pictures in the browser, with nothing prepared.",
    "serve": "Serve the search page of an index.",
    "dedup": "Print groups of near-duplicates.",
    "export": "Write an index into a file that other programs read, or a model as ONNX.",
    "import": "Add the codes of a file to an index.",
    "evaluate": "Measure retrieval: MAP, precision, with ties by expectation.",
    "bench": "Compare systems on the same splits.",
    "data": "Get a data set, verify it, and show how it is split.",
    "demo": "Train PTS3H and its baseline on real pictures, and show what it gains.",
    "cache": "Show what is kept on disk, or remove it: features of pictures, data sets.",
    "doctor": "Say what is installed, and which search kernel is active.",
}


class Commands(TyperGroup):
    """The commands by name. A list of them loads none; a command is loaded when it runs or shows its help."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """A stand-in with its line of help."""
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, TyperCommand | None, list[str]]:
        """The command itself, for running it."""
        name, command, rest = super().resolve_command(ctx, args)
        if name != "fit" and several_processes():
            raise UserError(f"torchrun is for fit, whose work it shares: run pts3h {name} by itself")
        loaded = None if command is None or name is None else load_command(name)
        watch_garbage()
        return name, loaded, rest


def load_command(name: str) -> TyperCommand:
    """Import the module of a command and make typer read its function."""
    in_python = f"{name}_" if iskeyword(name) else name
    module = import_module(f".{in_python}", __package__)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=getattr(module, "COMMAND_CLASS", None), epilog=f"Example: {module.EXAMPLE}")(
        getattr(module, in_python)
    )
    command = typer.main.get_command(alone)
    command.name = name
    return cast(TyperCommand, command)


def watch_garbage() -> None:
    """Look for garbage from now on, if that was put off; not among what was imported, which stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


app = typer.Typer(
    name="pts3h",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn short binary codes from a few known pairs, and search with them.",
)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        print(f"pts3h {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn short binary codes from a few known pairs, and search with them."""


def main() -> None:
    """Run the command line."""
    if several_processes():
        from .as_one import run_as_one  # brings torch, which the help does without

        run_as_one(run)
    try:
        run()
    finally:
        gc.freeze()  # Python would look for rings among all objects, several times, before it ends


def run() -> NoReturn:
    """Run a command: a user's mistake is one line and exit code 2, no traceback."""
    warnings.showwarning = show_warning
    warnings.filterwarnings("ignore", "Image size .* exceeds limit")  # ours is told by name, in our words
    code: Any = None
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except UserError as error:
        fail(str(error), code=error.exit_code)
    except OSError as error:
        if error.filename is None and error.strerror is None:
            raise
        fail(f"{error.strerror}: {error.filename}" if error.filename else str(error))
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        fail(error.format_message())  # an option that typer does not understand
    if code == INTERRUPTED:
        fail("stopped; run the same command again to go on", code=INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)
