"""Servers to be killed: ``python -m tests.web.victim INDEX MODEL WORKSPACE`` starts one for each line.

Everything is imported once, and each server is a fork, which takes a moment instead of seconds.
"""

import json
import os
import sys
from pathlib import Path

from pts3h import load_model
from pts3h.web.opening import Wanted, run


def one_server(index, model, workspace):
    """Serve in a child until it is killed; the child prints where."""

    def say(line):
        url = line.split(" at ")[1].split("/;")[0]
        print(json.dumps({"pid": os.getpid(), "url": url}), flush=True)

    run(Wanted(index, Path(model), Path(workspace), port=0, quiet=True), say)


def main():
    load_model(sys.argv[2])  # what it brings is imported once
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            sys.stdin.close()
            one_server(*sys.argv[1:])
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
