"""Whether torchrun started this process, and which of how many it is. It says so in the environment."""

import os


def several_processes() -> bool:
    """Whether this is one of several processes that torchrun started to do one piece of work."""
    # other launchers set WORLD_SIZE too, for programs that are not meant to share their work
    return "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ["WORLD_SIZE"]) > 1


def own_rank() -> int:
    """The number of this process among all, from 0."""
    return int(os.environ["RANK"])
