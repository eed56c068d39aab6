"""The first time that a folder of pictures is opened: a model without pairs, and an index."""

from collections.abc import Callable
from pathlib import Path

from ..data.items import read_items
from ..errors import UserError
from ..hasher import Hasher
from ..indexing import index_items
from ..model.folder import load_model
from ..training.output_folder import is_finished, is_unfinished
from ..util.progress import bar_or_lines
from .sources import new_index
from .steps import first_settings
from .vectors import keep_outputs
from .workspace import Pointer, Workspace

FIRST = 1  # the generation


def prepare(
    photos: Path, workspace: Workspace, bits: int, look_bits: int, say: Callable[[str], None]
) -> None:
    """Learn codes without pairs and index everything; a run that was stopped goes on where it was."""
    shown = bar_or_lines()
    items, place = read_items(photos), workspace.generation(FIRST)
    say(f"{len(items):,} pictures; this is done once, and Ctrl-C loses nothing")
    if is_finished(place.model):
        model = load_model(place.model)
    else:
        hasher = Hasher(bits=bits, look_bits=look_bits)
        hasher.settings = first_settings(hasher.settings, len(items))
        going_on = is_unfinished(place.model)
        hasher.fit(items, out=place.model, resume=going_on, overwrite=not going_on, progress=shown)
        model = hasher.model
    with new_index(model, place.index) as index:
        done = index_items(model, items, index, progress=shown)
        if not index.count:
            raise UserError(f"none of the {len(items):,} pictures can be read")
    keep_outputs(model, items, place.model.parent)
    for reason in list(done.skipped.values())[:10]:
        say(f"skipped {reason}")
    workspace.point(Pointer(place))
