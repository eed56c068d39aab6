"""Bring an index in step with its pictures, in a process of its own, so that no search has to wait.

``python -m pts3h.web.refresh SOURCE INDEX MODEL``: the source is a folder of pictures, or an index that names
them. Only what is new or changed is encoded. It prints what it did as JSON.
"""

import json
import sys
import warnings
from pathlib import Path

from ..data.items import read_items
from ..errors import UserError
from ..index.engines import open_index
from ..index.local.store import FILE
from ..indexing import index_items
from ..model.folder import load_model
from .process import prepare_process
from .sources import new_index, pictures_of


def refresh(source: str, address: str, folder: Path) -> dict[str, int]:
    """Encode what is new, remove what has gone; how many of each."""
    if is_index(source):
        with open_index(source, read_only=True) as held:
            items, meta = pictures_of(held)
    else:
        items, meta = read_items(source), {}
    model = load_model(folder)
    with warnings.catch_warnings(), new_index(model, address) as index:
        warnings.simplefilter("ignore")  # of pictures that cannot be read, each time again
        done = index_items(model, items, index, prune=True, meta=meta or None, progress=False)
    return {
        "added": done.added,
        "changed": done.changed,
        "removed": done.removed,
        "skipped": len(done.skipped),
    }


def is_index(source: str) -> bool:
    """Whether this is the address of an index, not a folder of pictures."""
    return "://" in source or (Path(source) / FILE).exists()


if __name__ == "__main__":
    prepare_process()
    try:
        print(json.dumps(refresh(sys.argv[1], sys.argv[2], Path(sys.argv[3]))))
    except UserError as error:
        sys.exit(str(error))
