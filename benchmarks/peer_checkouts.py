"""Somebody else's code, imported from a checkout. None of it is part of this project."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from pts3h.errors import UserError


class Stub(ModuleType):
    """Stands for a module that the wanted part does not use: it has whatever is imported from it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda given=None, *_, **__: given


def checkout(peers: Path, repository: str) -> Path:
    """The folder of a repository."""
    folder = peers / repository.partition("/")[2]
    if not folder.is_dir():
        raise UserError(f"there is no {folder}: put a checkout of github.com/{repository} there")
    return folder


def import_file(path: Path, unused: tuple[str, ...]) -> Any:
    """A Python file of a checkout; the modules that are ``unused`` need not be there."""
    if not path.is_file():
        raise UserError(f"there is no {path}: the checkout is of another version")
    before = {name: sys.modules.get(name) for name in unused}
    sys.modules.update({name: Stub(name) for name in unused})
    try:
        spec = spec_from_file_location(f"peer_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name, module_before in before.items():
            sys.modules.pop(name)
            if module_before is not None:
                sys.modules[name] = module_before
    return module
