"""Write the locks: every version of constraints.txt with the sha256 of all its published files.

    python tools/lock.py [--check]

``pip install --require-hashes`` then takes these files and no others, on every platform. torch has a lock of
its own: of files that pip may take it prefers one whose digest the index names, so that a CPU build in a
folder of wheels would lose against the ordinary one, which brings CUDA along. ``--check`` writes nothing,
needs no network, and says whether the versions are the same.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
VERSIONS, LOCK, TORCH = (PROJECT / name for name in ("constraints.txt", "requirements.lock", "torch.lock"))
HEADER = "# Made from constraints.txt by `make lock`: the sha256 of every published file of each version.\n"
# The CPU build for Python 3.11 on Linux, x86-64, comes from another place, where no tool looks for digests.
CPU_TORCH = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
COMPILE = ["--no-deps", "--universal", "--python-version=3.11", "--generate-hashes", "--no-header"]


def published() -> str:
    """What uv finds in the registry: each version and the digests of its files."""
    # --no-config and the default index: what is written must not depend on this machine
    command = [sys.executable, "-m", "uv", "--no-config", "--quiet", "pip", "compile", str(VERSIONS)]
    done = subprocess.run([*command, *COMPILE, "--no-annotate"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"uv found no files for some version of {VERSIONS.name}:\n{done.stderr}")
    return done.stdout


def versions(text: str) -> set[str]:
    """``name==version`` of every line that has one, names as the registry compares them."""
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)
    return {f"{re.sub('[-_.]+', '-', name).lower()}=={version}" for name, version in found}


def differences() -> list[str]:
    """Versions that only one side has."""
    return sorted(versions(VERSIONS.read_text()) ^ versions(LOCK.read_text() + TORCH.read_text()))


def main() -> None:
    """Write the files, or compare."""
    parser = argparse.ArgumentParser(description="Write the locks, or check them.")
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        entries = re.split(r"\n(?=\S)", published().strip())
        torch = [entry for entry in entries if entry.startswith("torch==")]
        LOCK.write_text(HEADER + "\n".join(entry for entry in entries if entry not in torch) + "\n")
        TORCH.write_text(HEADER + "".join(f"{entry} \\\n    --hash=sha256:{CPU_TORCH}\n" for entry in torch))
    if wrong := differences():
        sys.exit(f"{VERSIONS.name} and the locks differ, run make lock: {', '.join(wrong)}")
    print(f"the locks have digests of every version in {VERSIONS.name}")


if __name__ == "__main__":
    main()
