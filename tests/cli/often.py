"""``pts3h`` with a checkpoint every moment, for tests that stop it."""

from pts3h.cli.app import main
from pts3h.training import loop

loop.CHECKPOINT_SECONDS = 0.1

if __name__ == "__main__":
    main()
