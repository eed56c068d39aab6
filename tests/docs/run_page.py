"""Run the blocks of a page in this folder, in order: ``python run_page.py BLOCKS.json``.

A program of its own: the Python blocks of a page share one namespace, and no test sees what they leave.
"""

import json
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any


def main() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for place, kind, code in json.loads(Path(sys.argv[1]).read_text()):
        if kind == "python":
            try:
                exec(compile(code, place, "exec"), namespace)
            except Exception:
                traceback.print_exc()
                sys.exit(f"{place}: this Python block fails")
            continue
        for command in code:
            done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                sys.exit(f"{place}: exit code {done.returncode} of {command}\n{done.stdout.decode()}")


if __name__ == "__main__":
    main()
