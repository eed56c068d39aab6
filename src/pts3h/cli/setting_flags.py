"""Flags of the command line for settings, made from the settings themselves."""

import ast
import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from ..errors import UserError
from ..losses.table import LOSSES
from ..settings import asked
from ..settings.asked import Settings

# said by a flag of another name
ELSEWHERE = ("freeze",)
SHORT = {"bits": "-b"}
PANELS = {
    "Learning": ("omega", "ramp"),
    "Pictures": ("backbone", "jitter"),
    "Vectors": ("noise", "device"),
}


def setting_help() -> dict[str, str]:
    """What the docstring below each setting says, by name."""
    tree = ast.parse(inspect.getsource(asked))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    found = {}
    for field, below in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            found[field.target.id] = " ".join(str(below.value.value).split())
    found["loss"] = f"Pairwise loss: {', '.join(LOSSES.names())}."
    found["backbone"] = found["backbone"].partition(", or a")[0] + ". By default efficientnet-lite0."
    return found


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one flag per setting; it receives those that were typed as ``settings``."""
    texts, panel_of = setting_help(), panels()
    parameters = [p for p in inspect.signature(command).parameters.values() if p.name != "settings"]
    for field in fields(Settings):
        if field.name in ELSEWHERE:
            continue
        names = [f"--{field.name.replace('_', '-')}", *([SHORT[field.name]] if field.name in SHORT else [])]
        kind = plain_kind(field.type)
        if kind is bool:
            names = [f"{names[0]}/--no-{names[0][2:]}"]
        option = typer.Option(
            *names, help=texts[field.name], rich_help_panel=panel_of.get(field.name), show_default=False
        )
        parameters.append(
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=flag(kind, option)
            )
        )

    def run(**given: Any) -> None:
        names = {field.name for field in fields(Settings)} - set(ELSEWHERE)
        typed = {name: given.pop(name) for name in names if name in given}
        command(**given, settings={name: value for name, value in typed.items() if value is not None})

    described: Any = run
    described.__signature__ = inspect.Signature(parameters)
    described.__doc__, described.__name__ = command.__doc__, command.__name__
    return run


def flag(kind: type, option: Any) -> Any:
    """The annotation of a flag that may be left out."""
    annotations: Any = Annotated
    return annotations[kind | None, option]


def panels() -> dict[str, str]:
    """Which part of the help a setting is in."""
    names = [field.name for field in fields(Settings)]
    return {
        name: panel
        for panel, (first, last) in PANELS.items()
        for name in names[names.index(first) : names.index(last) + 1]
    }


def plain_kind(annotation: Any) -> type[Any]:
    """The type of a flag: rows of a user's own are given by name, choices as text."""
    if get_origin(annotation) is Literal:
        return str
    kinds = get_args(annotation) or (annotation,)
    return next(kind for kind in (bool, int, float, str) if kind in kinds)


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE with values as JSON, or as text where they are not."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UserError(f"--set takes NAME=VALUE, got {pair!r}")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value
    return settings


def parse_grid(pairs: list[str]) -> dict[str, list[float]]:
    """NAME=V,V,... as numbers."""
    grid = {}
    for pair in pairs:
        name, equals, values = pair.partition("=")
        try:
            grid[name.strip()] = [float(value) for value in values.split(",")]
        except ValueError:
            equals = ""
        if not equals:
            raise UserError(f"--grid takes NAME=number,number,..., got {pair!r}")
    return grid
