"""Flags of the command line for settings, made from the settings themselves."""

import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from ..errors import UserError
from ..losses.table import LOSSES
from ..nets.backbones.table import BACKBONES
from ..settings.asked import Settings
from ..settings.documented import GENERAL, documented_settings

SAID_BY = {"freeze": "--fine-tune"}  # settings with a flag of another name
SHORT = {"bits": "-b"}


def setting_help() -> dict[str, str]:
    """What each setting means, by name; what there is to choose from comes from the tables."""
    found = {setting.name: setting.plain for setting in documented_settings()}
    found["loss"] = f"Pairwise loss: {', '.join(LOSSES.names())}."
    found["backbone"] = (
        f"Image network: {', '.join(BACKBONES.names())}, timm:<model>, torchvision:<model>. "
        "By default efficientnet-lite0."
    )
    return found


def flag_names() -> dict[str, list[str]]:
    """How each setting is spelt on the command line, as typer takes it."""
    names = {}
    for field in fields(Settings):
        long = f"--{field.name.replace('_', '-')}"
        if plain_kind(field.type) is bool:
            long = f"{long}/--no-{long[2:]}"
        short = [SHORT[field.name]] if field.name in SHORT else []
        names[field.name] = [SAID_BY[field.name]] if field.name in SAID_BY else [long, *short]
    return names


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one flag per setting; it receives those that were typed as ``settings``."""
    texts, names = setting_help(), flag_names()
    panels = {setting.name: setting.group for setting in documented_settings()}
    parameters = [p for p in inspect.signature(command).parameters.values() if p.name != "settings"]
    for field in fields(Settings):
        if field.name in SAID_BY:
            continue
        panel = None if panels[field.name] == GENERAL else panels[field.name]
        option = typer.Option(
            *names[field.name], help=texts[field.name], rich_help_panel=panel, show_default=False
        )
        annotation = flag(plain_kind(field.type), option)
        parameters.append(
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        )

    def run(**given: Any) -> None:
        typed = {field.name: given.pop(field.name) for field in fields(Settings) if field.name in given}
        command(**given, settings={name: value for name, value in typed.items() if value is not None})

    described: Any = run
    described.__signature__ = inspect.Signature(parameters)
    described.__doc__, described.__name__ = command.__doc__, command.__name__
    return run


def flag(kind: type, option: Any) -> Any:
    """The annotation of a flag that may be left out."""
    annotations: Any = Annotated
    return annotations[kind | None, option]


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
        except (ValueError, RecursionError):  # no JSON, or more digits or brackets than Python reads
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
