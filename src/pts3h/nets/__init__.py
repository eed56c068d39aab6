"""Networks: backbones, the hash network on top of them, and the teacher."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backbones.backbone import Backbone as Backbone
    from .backbones.build import build_backbone as build_backbone


def __getattr__(name: str) -> Any:  # names that have moved, until all imports are switched
    from importlib import import_module

    homes = {"Backbone": "backbone", "build_backbone": "build"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".backbones.{homes[name]}", __name__), name)
