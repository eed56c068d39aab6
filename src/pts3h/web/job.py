"""A training job, in a process of its own: ``python -m pts3h.web.job FOLDER train|switch``.

It reads ``request.json`` in its folder and tells how far it is in ``progress.jsonl``. Whatever happens to it,
the server and the model that is in use stay as they are.
"""

import sys
import traceback
from pathlib import Path

from ..errors import Interrupted, UserError
from .errors import without_paths
from .journal import Journal
from .process import prepare_process
from .request import Request
from .retraining import retrain, update


def main(folder: Path, stage: str) -> int:
    """Do the work; the exit code is for people, the journal says what happened."""
    prepare_process()
    request, journal = Request.read(folder), Journal(folder)
    try:
        if stage == "train":
            retrain(request, folder, journal)
        else:
            update(request, journal)
    except (KeyboardInterrupt, Interrupted):
        journal.write("state", state="cancelled")
        return 0
    except UserError as error:
        print(error, file=sys.stderr)
        journal.write("state", state="failed", error=without_paths(str(error)))
        return 2
    except Exception:
        traceback.print_exc()
        journal.write(
            "state", state="failed", error="an error in pts3h; log.txt in the job's folder has more"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
