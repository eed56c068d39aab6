"""Learn short binary codes from a few known pairs, and search with them.

The public names are the ones in ``__all__``; everything else may move. They are loaded on first use, so that
``import pts3h`` costs nothing and codes can be packed and searched without importing torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .codes import hamming, pack, unpack
    from .errors import BrokenImage, CollapseWarning, Diverged, Interrupted, SkippedWarning, UserError
    from .evaluation import Report, evaluate
    from .exchange import export_index, import_index
    from .hasher import Hasher
    from .index import Hits, Index, open_index
    from .model.folder import load_model
    from .model.model import Model

__version__ = "0.1.0"
__all__ = [
    "BrokenImage",
    "CollapseWarning",
    "Diverged",
    "Hasher",
    "Hits",
    "Index",
    "Interrupted",
    "Model",
    "Report",
    "SkippedWarning",
    "UserError",
    "evaluate",
    "export_index",
    "hamming",
    "import_index",
    "load_model",
    "open_index",
    "pack",
    "unpack",
]

_HOME = {
    "BrokenImage": "errors",
    "CollapseWarning": "errors",
    "Diverged": "errors",
    "Hasher": "hasher",
    "Hits": "index",
    "Index": "index",
    "Interrupted": "errors",
    "Model": "model.model",
    "Report": "evaluation",
    "SkippedWarning": "errors",
    "UserError": "errors",
    "evaluate": "evaluation",
    "export_index": "exchange",
    "hamming": "codes",
    "import_index": "exchange",
    "load_model": "model.folder",
    "open_index": "index",
    "pack": "codes",
    "unpack": "codes",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pts3h' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
